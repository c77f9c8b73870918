// Every key of the deck. A row says
//   keys    which keys: "B ." are two keys, "Shift+R" is one
//   modes   where they hold: "help" and "sorter" while these are open, "number" while the number of a slide is
//           typed; else by what has the focus: the "deck", a "widget", or an "editor";
//           no key stands twice in one mode
//   name    the row's sentence in the help, under deck.help in the words; `label` stands there for the keys
//   act     what they do; where it returns false, the key goes on to the next mode that holds
// The help lists the rows that have a name, in this order.

import { save } from "../shared/saves.js";
import { showTraceback } from "./errors.js";
import { showCode } from "./fold.js";
import { takeGuess } from "./guess.js";
import { changeView, reveal, toggleAnswers, toggleDark } from "./stage.js";
import { goBack, goDown, goHome, goLeft, goOn, goRight, goToEnd, goUp } from "./turn.js";

export const keysOf = (deck) => [
  { keys: "S", modes: "deck widget", name: "setup", act: () => deck.runner.runSetup() },
  { keys: "Shift+R", modes: "deck widget", name: "all", act: () => deck.runner.runAll() },
  { keys: "K", modes: "deck widget", name: "revival", act: () => deck.runner.revive() },
  { keys: "I", modes: "deck widget", name: "interrupt", act: () => deck.runner.interrupt() },
  { keys: "C", modes: "deck widget", name: "clear", act: () => deck.runner.clear() },
  { keys: "T", modes: "deck widget", name: "notes", act: deck.openNotes },
  { keys: "D", modes: "deck widget", name: "dark", act: toggleDark },
  { keys: "F", modes: "deck widget", name: "full_screen", act: () => deck.execute("fullscreenHelp") },
  { keys: "Escape", modes: "deck", name: "stop", act: deck.leave },
  { keys: "Escape", modes: "widget editor", act: deck.endModes }, // which have it, too, and give the focus back
  { keys: "?", modes: "deck widget", name: "keys", act: () => deck.help.showModal() },
  { keys: "PageDown", modes: "deck widget editor", name: "next", label: "PageDown Space", act: goOn },
  { keys: "PageUp", modes: "deck widget editor", act: goBack },
  { keys: "Space", modes: "deck", act: goOn },
  { keys: "Shift+Space", modes: "deck", act: goBack },
  { keys: "ArrowRight", modes: "deck", name: "right", label: "→", act: goRight },
  { keys: "ArrowLeft", modes: "deck", act: goLeft },
  { keys: "ArrowDown", modes: "deck", name: "down", act: goDown },
  { keys: "ArrowUp", modes: "deck", name: "up", act: goUp },
  { keys: "Home", modes: "deck", name: "first", act: goHome },
  { keys: "End", modes: "deck", name: "last", act: goToEnd },
  { keys: "O", modes: "deck widget", name: "sorter", act: () => deck.sorter.open() },
  { keys: "B .", modes: "deck widget", name: "black", act: () => reveal("togglePause") },
  { keys: "A", modes: "deck widget", name: "answers", act: deck.orSay(toggleAnswers, "answers") },
  { keys: "X", modes: "deck widget", name: "code", act: deck.orSay(showCode, "code") },
  { keys: "W", modes: "deck widget", name: "guess", act: deck.orSay(takeGuess, "guess") },
  { keys: "L", modes: "deck widget", name: "laser", act: deck.pointers.togglePointer },
  { keys: "V", modes: "deck widget", name: "view", act: changeView },
  { keys: "M", modes: "deck widget", name: "magnifier", act: deck.pointers.toggleMagnifier },
  { keys: "Digit", modes: "number deck widget", name: "go_to", label: "17 Enter", act: deck.number.type },
  { keys: "Shift+Enter", modes: "deck widget editor", name: "run_cell", act: deck.cell.runAndGoOn },
  { keys: "Control+Enter", modes: "deck widget editor", act: deck.cell.run },
  { keys: "N", modes: "deck widget", name: "needed", act: deck.orSay(deck.cell.runNeeded, "needed") },
  { keys: "Enter", modes: "deck widget", act: deck.cell.keepFromEditing },
  { keys: "E", modes: "deck widget", name: "traceback", act: deck.orSay(showTraceback, "traceback") },
  { keys: "Control+s", modes: "deck widget editor", act: () => save(deck.panel.context) },

  { keys: "G Shift+G", modes: "deck widget", act: deck.number.ask },
  { keys: "G Shift+G Enter Shift+Enter", modes: "number", act: deck.number.go },
  { keys: ".", modes: "number", act: deck.number.typePoint },
  { keys: "Backspace", modes: "number", act: deck.number.takeBack },
  { keys: "Escape", modes: "number", act: () => deck.foot.clear() },
  { keys: "Any", modes: "number", act: deck.number.leave },

  { keys: "ArrowLeft", modes: "sorter", act: () => deck.sorter.move(-1) },
  { keys: "ArrowRight", modes: "sorter", act: () => deck.sorter.move(1) },
  { keys: "ArrowUp PageUp", modes: "sorter", act: () => deck.sorter.move(-deck.sorter.columns) },
  { keys: "ArrowDown PageDown", modes: "sorter", act: () => deck.sorter.move(deck.sorter.columns) },
  { keys: "Home", modes: "sorter", act: () => deck.sorter.move(Number.NEGATIVE_INFINITY) },
  { keys: "End", modes: "sorter", act: () => deck.sorter.move(Number.POSITIVE_INFINITY) },
  { keys: "Enter Space", modes: "sorter", act: () => deck.sorter.leaveForChosen() },
  { keys: "O Escape", modes: "sorter", act: () => deck.sorter.close() },

  { keys: "Any", modes: "help", act: () => deck.help.close() },
];

/** The list of the deck's keys, over the slide: the rows of keys.js that have a name. */
export function listKeys(dialog, rows, words) {
  const make = (tag, textContent) => Object.assign(document.createElement(tag), { textContent });
  const nameOf = (part) => words.key_names[part] ?? part;
  const labelOf = (keys) => keys.split(/[+ ]/).map(nameOf).join(" "); // "Shift+Enter" as "Shift Enter"
  const lines = rows
    .filter(({ name }) => name)
    .map(({ keys, label, name }) => [make("kbd", labelOf(label ?? keys)), make("span", words.help[name])]);
  dialog.replaceChildren(...lines.flat());
}
