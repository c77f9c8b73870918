// What an instructor gets in a deck: keys that run cells, a line at the foot, a window with the notes.
// Each part has a file of its own; this one puts them together.
import { commandsOf } from "./commands.js";
import { Fit } from "./fit.js";
import { Foot } from "./foot.js";
import { Help } from "./help.js";
import { listenToKeys } from "./keys.js";
import { Runner } from "./runner.js";
import { cellsOf, readSlides } from "./slides.js";
import { Speaker } from "./speaker.js";
import { numberOf, shownSection } from "./stage.js";
import { adoptStyles } from "./styles.js";
import { readWords } from "./words.js";

/** Words and styles come first: RISE opens the notebook only when this function is done. */
export default async function prepareDeck(app, load) {
  const { notebookPath } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
  const { contents } = app.serviceManager;
  const [{ words, notice }] = await Promise.all([
    readWords(notebookPath, contents),
    adoptStyles(notebookPath, contents),
  ]);
  document.addEventListener("ready", () => openDeck({ app, load, words, notice }), { once: true }); // Reveal's event
}

function openDeck({ app, load, words, notice }) {
  const panel = app.shell.currentWidget;
  const slides = readSlides(cellsOf(panel.content.model));
  const foot = new Foot(panel, words.deck);
  const runner = new Runner({ panel, load, foot, words: words.deck });
  const passKey = (event) => panel.content.node.dispatchEvent(new KeyboardEvent("keydown", event));
  const speaker = new Speaker({ slides, words: words.speaker, passKey });
  const help = new Help(panel, words.deck);
  const commands = commandsOf({ app, panel, foot, runner, speaker, help, words: words.deck });
  help.list(commands);

  const arrive = () => {
    foot.showPosition(numberOf(shownSection()), slides.length);
    speaker.show(shownSection());
  };
  document.addEventListener("slidechanged", arrive);
  arrive();
  foot.greet(notice);
  listenToKeys({ panel, help, commands });
  new Fit({ words: words.deck });
  // RISE turns to the first slide after this event, in the same turn of the browser's event loop.
  setTimeout(() => Object.assign(document.body.dataset, { deck: "ready" }));
}
