// What an instructor gets in a deck: keys that run cells, a line at the foot, a window with the notes.
// Each part has a file of its own; this one puts them together.
import { followAddress, goByNumber, returnToSlide } from "./address.js";
import { filesBeside } from "./beside.js";
import { showBusy } from "./busy.js";
import { commandsOf } from "./commands.js";
import { Fit } from "./fit.js";
import { returnFocus } from "./focus.js";
import { Foot } from "./foot.js";
import { showHandouts } from "./handouts.js";
import { Help } from "./help.js";
import { listenToKeys } from "./keys.js";
import { markPlaces } from "./places.js";
import { presenting } from "./presenting.js";
import { keepOutputs, markDeadWidgets } from "./reload.js";
import { Runner } from "./runner.js";
import { followSlides } from "./selection.js";
import { cellsOf, readSlides } from "./slides.js";
import { Speaker } from "./speaker.js";
import { shownSection } from "./stage.js";
import { adoptStyles } from "./styles.js";
import { removeToolbar } from "./toolbar.js";
import { readWords } from "./words.js";

/** Words and styles come first: RISE opens the notebook only when this function is done. */
export default async function prepareDeck(app, load) {
  const { notebookPath } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
  const { contents } = app.serviceManager;
  removeToolbar(app);
  followAddress();
  const files = await filesBeside(notebookPath, contents);
  const [{ words, notice }] = await Promise.all([
    readWords(notebookPath, contents),
    adoptStyles(files["course.css"]),
  ]);
  const open = () => openDeck({ app, load, files, words, notice });
  document.addEventListener("ready", open, { once: true }); // Reveal's event
}

function openDeck({ app, load, files, words, notice }) {
  const panel = app.shell.currentWidget;
  const slides = readSlides(cellsOf(panel.content.model));
  markPlaces(slides, words.deck);
  showHandouts(files, words.deck);
  const foot = new Foot(panel, words.deck);
  const runner = new Runner({ panel, load, foot, words: words.deck });
  const passKey = (event) => panel.content.node.dispatchEvent(new KeyboardEvent("keydown", event));
  const fit = new Fit({ words: words.deck });
  const speaker = new Speaker({ slides, words: words.speaker, passKey, fit });
  const help = new Help(panel, words.deck);
  const show = presenting({ panel, passKey, fit, words: words.deck });
  const commands = commandsOf({ app, panel, foot, runner, speaker, help, show, words: words.deck });
  help.list(commands);

  const arrive = () => {
    const section = shownSection();
    if (!section) return; // as for a moment while the page opens at another slide than the first
    foot.showPosition(section);
    speaker.show(section);
  };
  for (const event of ["slidechanged", "fragmentshown", "fragmenthidden"])
    document.addEventListener(event, arrive);
  arrive();
  foot.greet(notice);
  const takers = followInstructor({ panel, load, foot, words: words.deck });
  listenToKeys({ panel, help, show, commands, takers });
  // RISE turns to the first slide after this event, in the same turn of the browser's event loop.
  setTimeout(() => {
    returnToSlide();
    Object.assign(document.body.dataset, { deck: "ready" });
  });
}

/** What goes on beside the keys of the commands; returns what takes further keys. */
function followInstructor({ panel, load, foot, words }) {
  const notebook = panel.content;
  returnFocus(notebook);
  showBusy({ notebook, foot, words, onIdle: () => keepOutputs(panel) });
  markDeadWidgets({ panel, words });
  return [goByNumber({ foot, words }), followSlides({ panel, load, words })];
}
