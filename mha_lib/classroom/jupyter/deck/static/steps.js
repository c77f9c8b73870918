// The steps of a slide, in the order in which a lecturer takes them: a fragment is shown; or lines of a cell's code
// are lit while the others are dim, and after the last of them all lines are as before. lines.js says which lines.
//
// A step is [part, number]: a fragment and 0, or a cell and how often its light has moved, from 1.

const range = (length) => Array.from({ length }, (_, index) => index + 1);
const linesOf = (cell) => cell.dataset.highlight.split("|"); // such as ["1", "3 4", "6"]

export function stepsOf(section) {
  const parts = [...section.querySelectorAll(".fragment, [data-highlight]")];
  const numbersOf = (part) => (part.matches(".fragment") ? [0] : range(linesOf(part).length + 1));
  return parts.flatMap((part) => numbersOf(part).map((number) => [part, number]));
}

export const isTaken = ([part, number]) =>
  number ? Number(part.dataset.taken ?? 0) >= number : part.matches(".visible");

export const countSteps = (section) => stepsOf(section).length;
export const countTaken = (section) => stepsOf(section).filter(isTaken).length;

/** Light the lines of a cell whose turn it is after so many steps; before the first and after the last, none. */
export function light(cell, taken) {
  const lines = linesOf(cell)[taken - 1];
  cell.dataset.taken = taken;
  if (lines) cell.dataset.lit = lines;
  else delete cell.dataset.lit;
}

export const finishLines = (cell) => light(cell, linesOf(cell).length + 1);

/** Take all steps through the lines of a slide's code, or none of them. */
export function passLines(section, isPast) {
  for (const cell of section.querySelectorAll("[data-highlight]"))
    isPast ? finishLines(cell) : light(cell, 0);
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
