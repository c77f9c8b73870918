// The steps of a slide, in the order in which a lecturer takes them.

const stepsOf = (section) => [...section.querySelectorAll(".fragment")];
const isTaken = (step) => step.matches(".visible");

export const countSteps = (section) => stepsOf(section).length;
export const countTaken = (section) => stepsOf(section).filter(isTaken).length;

/** Show so many steps of a copy of a slide. In the deck itself Reveal shows and hides them: turn.js. */
export function showSteps(copy, count) {
  for (const [index, step] of stepsOf(copy).entries()) step.classList.toggle("visible", index < count);
}
