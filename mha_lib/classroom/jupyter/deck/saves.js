// Queues the saves of a deck, and lets its foot say what became of them.
import { queueSaves } from "../shared/saves.js";
import { fill } from "../shared/words.js";

/** The foot says that a save has failed, and that the next has not. */
export function queueDeckSaves(context, { foot, words }) {
  let hasFailed = false;
  queueSaves(context, (error) => {
    if (error) foot.say(sayFailure(error, words), "failed");
    else if (hasFailed) foot.say(words.saved, "done");
    hasFailed = Boolean(error);
  });
}

function sayFailure({ name, message, response }, words) {
  if (name === "ModalCancelError") return words.file_kept;
  return response?.status === 403 ? words.login_over : fill(words.not_saved, { reason: message });
}
