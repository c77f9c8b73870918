// The steps of a slide, in the order in which a lecturer takes them: a fragment is shown; lines of a cell's code are
// lit while the others are dim, and after the last of them all lines are as before; or a figure shows its next part;
// or an explorer that shows arcs goes on to its next word. lines.js marks the cells with such lines and figures, an
// explorer marks itself.
//
// A step is [part, number]: a fragment and 0, or a cell or an explorer and how many steps it has taken with this one,
// from 1.
import { showStep } from "../shared/figures.js";

const CELLS = "[data-highlight], .jp-Cell[data-steps]";
const EXPLORERS = ".mha-explorer[data-steps]";
const range = (length) => Array.from({ length }, (_, index) => index + 1);
const linesOf = (cell) => cell.dataset.highlight.split("|"); // such as ["1", "3 4", "6"]
const countIn = (cell) => (cell.dataset.highlight ? linesOf(cell).length + 1 : cell.dataset.steps - 1);

export function stepsOf(section) {
  const parts = [...section.querySelectorAll(`.fragment, ${CELLS}, ${EXPLORERS}`)];
  const numbersOf = (part) => (part.matches(".fragment") ? [0] : range(countIn(part)));
  return parts.flatMap((part) => numbersOf(part).map((number) => [part, number]));
}

export const isTaken = ([part, number]) =>
  number ? Number(part.dataset.taken ?? 0) >= number : part.matches(".visible");

export const countSteps = (section) => stepsOf(section).length;
export const countTaken = (section) => stepsOf(section).filter(isTaken).length;

/** Show a part as it is after so many steps: before the first and after the last, no lines of a cell are lit. */
export function light(cell, taken) {
  cell.dataset.taken = taken;
  cell.dispatchEvent(new Event("steptaken")); // for an explorer, which reads what is taken
  if (cell.dataset.steps) for (const image of cell.querySelectorAll("img")) showStep(image, taken + 1);
  const lines = cell.dataset.highlight && linesOf(cell)[taken - 1];
  if (lines) cell.dataset.lit = lines;
  else delete cell.dataset.lit;
}

export const finish = (cell) => light(cell, countIn(cell));

/** Take all steps of the code and the figures of a slide, or none of them; explorers stay as they are. */
export function passCells(section, isPast) {
  for (const cell of section.querySelectorAll(CELLS)) isPast ? finish(cell) : light(cell, 0);
}

/**
 * Show so many steps of a copy of a slide, at least those that are taken. In the deck itself Reveal shows and hides
 * fragments: turn.js.
 */
export function showSteps(copy, count) {
  for (const [index, [part, number]] of stepsOf(copy).entries()) {
    if (!number) part.classList.toggle("visible", index < count);
    else if (index < count) light(part, number);
  }
}
