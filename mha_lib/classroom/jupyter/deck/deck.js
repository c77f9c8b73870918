// The deck of an instructor: keys that run cells, a line at the foot, a window with the notes. Each part has a
// file of its own; this one puts them together.

import { markKept } from "../shared/earlier_outputs.js";
import { identityOf } from "../shared/grammar.js";
import { queueSaves } from "../shared/saves.js";
import { carriedBy, isTrusted, lineOfWithheld, unfoldCode } from "../shared/withheld.js";
import { fill, readWords } from "../shared/words.js";
import { markExercises } from "./earlier.js";
import { drawErrors, hideTraceback } from "./errors.js";
import { Fit } from "./fit.js";
import { hideCode } from "./fold.js";
import { Foot } from "./foot.js";
import { markOutputs } from "./guess.js";
import { isCut } from "./headings.js";
import {
  answerDialogs,
  dropMessages,
  dropStyles,
  keepRendered,
  prepareNotebooks,
  stopCommands,
} from "./jupyterlab.js";
import { holdKeys, listenToKeys } from "./keyboard.js";
import { keysOf, listKeys } from "./keys.js";
import { markSteps } from "./lines.js";
import { followScroll } from "./long.js";
import { layOut } from "./paper.js";
import { followAddress, markPlaces, typedNumber } from "./places.js";
import { pointersOf } from "./pointer.js";
import { DeckRunner } from "./runs.js";
import { followSlides } from "./selection.js";
import { showBusy } from "./signs.js";
import { Sorter } from "./sorter.js";
import { Speaker } from "./speaker.js";
import { onTurn, sections, shownSection } from "./stage.js";
import { adoptStyles } from "./styles.js";
import { takeOver } from "./turn.js";

const isPaper = new URLSearchParams(window.location.search).has("paper"); // it is printed as it ran

/** Words and styles come first: RISE opens the notebook only when this function is done. */
export default async function prepareDeck(app, load) {
  const { notebookPath } = JSON.parse(document.getElementById("jupyter-config-data").textContent);
  const { contents } = app.serviceManager;
  holdKeys();
  dropMessages();
  prepareNotebooks(app);
  dropStyles();
  stopCommands();
  const { content: lesson } = await contents.get(notebookPath);
  const identity = identityOf(lesson);
  const carried = carriedBy(lesson);
  const [{ words, notice }] = await Promise.all([
    readWords(identity?.language, carried.words),
    adoptStyles(carried.style),
  ]);
  await drawErrors({ app, load, words: words.deck });
  const { Dialog } = await load("@jupyterlab/apputils");
  const isOwnCopy = isTrusted(lesson) && identity?.kind === "deck"; // it was made for the deck alone
  const open = () => {
    openDeck({ app, load, Dialog, isOwnCopy, carried, words, notice });
    const { currentWidget: panel } = app.shell;
    if (!isPaper) panel.node.append(lineOfWithheld({ app, load, panel, words: words.withheld }) ?? "");
  };
  document.addEventListener("ready", open, { once: true }); // Reveal's event
}

function openDeck({ app, load, Dialog, isOwnCopy, carried, words: inAll, notice }) {
  const { deck: words } = inAll;
  const panel = app.shell.currentWidget;
  const notebook = panel.content;
  if (!isTrusted(notebook.model)) unfoldCode(notebook);
  markPlaces(notebook, words);
  markOutputs(notebook, words);
  markExercises(notebook);
  markSteps(notebook);
  keepRendered(notebook);
  showHandouts(carried.handouts, words);
  const execute = (command) => app.commands.execute(`RISE:${command}`);
  const passKey = (event) => notebook.node.dispatchEvent(new KeyboardEvent("keydown", event));
  const foot = new Foot(panel, words);
  answerDialogs(Dialog, { isOwnCopy, foot, words });
  queueDeckSaves(panel.context, { foot, words });
  const runner = new DeckRunner({ panel, load, foot, words });
  const fit = new Fit({ words });
  const speaker = new Speaker({ words: inAll.speaker, passKey, fit });
  followDeck({ foot, speaker });
  foot.greet(notice, isCut(notebook.model) && words.cut);
  showBusy({ panel, foot, words });
  if (!isPaper) {
    markKept(panel, words.widget_dead).then(
      (isKept) => isKept && foot.greet(words.kept),
      () => {},
    );
  }

  const pointers = pointersOf(panel);
  // Escape ends all of these in one press, wherever the focus is. A part with a mode of its own is added here.
  const endModes = () => {
    for (const end of [pointers.leave, hideTraceback, hideCode]) end();
    return false;
  };
  const leave = () => {
    runner.stop();
    foot.clear();
    endModes();
    notebook.node.focus();
  };
  const opened = {
    help: panel.node.appendChild(Object.assign(document.createElement("dialog"), { id: "deck-help" })),
    sorter: new Sorter({ panel, title: words.help.sorter, passKey, fit }),
    number: typedNumber({ foot, words }),
  };
  const cell = followSlides({ panel, load, foot, words });
  const openNotes = () => speaker.open() || foot.say(words.notes_blocked, "failed");
  const orSay = (act, what) => () => act() || foot.say(words.nothing[what], "done");
  const parts = { panel, foot, runner, pointers, cell, execute, leave, endModes, openNotes, orSay };
  const keys = keysOf({ ...opened, ...parts });
  listKeys(opened.help, keys, words);
  // RISE turns to the first slide after this event, in the same turn of the browser's event loop.
  setTimeout(() => {
    takeOver();
    followAddress();
    listenToKeys({ notebook, keys, opened });
    window.mhaDeck = {
      layOut: () => layOut(words, notebook.widgets),
      shutDown: () => panel.sessionContext.shutdown(), // its kernel
    };
    Object.assign(document.body.dataset, { deck: "ready" });
  });
}

/** Let the foot and the speaker's window tell of the slide that is shown. */
function followDeck({ foot, speaker }) {
  const arrive = () => {
    const section = shownSection();
    if (!section) return; // as for a moment while the page opens at another slide than the first
    foot.showPosition(section);
    speaker.show(section);
  };
  onTurn(arrive);
  arrive();
  followScroll((isMore) => foot.showMore(isMore));
}

/** Queue the saves; the foot says that one has failed, and that the next has not. */
function queueDeckSaves(context, { foot, words }) {
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

/** Show on the title slide where the class finds its handouts, with the QR code, if the copy carries them. */
function showHandouts(handouts, words) {
  if (!handouts) return;
  const figure = Object.assign(document.createElement("figure"), { id: "deck-handouts" });
  const textContent = handouts.address.replace(/^https?:\/\/|\/$/g, "");
  const picture = { src: handouts.code, alt: words.handouts_code };
  figure.append(Object.assign(document.createElement("img"), picture));
  figure.append(Object.assign(document.createElement("figcaption"), { textContent }));
  sections()[0].append(figure);
}
