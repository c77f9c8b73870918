// Code folds behind its result: a picture, a table or an explorer takes the slide. The button at the head of the slide,
// or a key, lays the code over it, large; it lies there too while its lines are lit. A cell with the role about_code
// keeps its code.
import { shownSection } from "./stage.js";

const RESULT = ".jp-OutputArea-output :is(.mha-explorer, img, table)";
const OVER = "data-over";

/** Fold the code of each cell whose result has come, with a button that shows it. */
export function foldCode(cells, label) {
  for (const cell of cells) {
    const isFolded = !("aboutCode" in cell.dataset) && Boolean(cell.querySelector(RESULT));
    if (isFolded === "folded" in cell.dataset) continue;
    cell.toggleAttribute("data-folded", isFolded);
    if (isFolded && cell.querySelector(".cm-content")) cell.prepend(buttonFor(cell, label));
    else cell.querySelector(":scope > .deck-fold")?.remove();
  }
  const folded = cells.filter((cell) => cell.matches(":has(> .deck-fold)"));
  for (const [place, cell] of folded.entries()) cell.style.setProperty("--fold-place", place);
}

function buttonFor(cell, label) {
  const button = document.createElement("button");
  Object.assign(button, { className: "deck-fold", textContent: label, ariaExpanded: "false" });
  button.onclick = () => layOver(cell.hasAttribute(OVER) ? null : cell);
  return button;
}

/** Lay the code of this cell over the slide, and that of no other. */
function layOver(cell) {
  for (const button of document.querySelectorAll(".deck-fold")) {
    const owner = button.parentElement;
    owner.toggleAttribute(OVER, owner === cell);
    button.ariaExpanded = String(owner === cell);
  }
}

/** Lay the slide's first folded code over it; again, the next one, until all were shown. False where there is none. */
export function showCode() {
  const seen = [...shownSection().querySelectorAll(".deck-fold:not(.fragment:not(.visible) *)")];
  const cells = seen.map((button) => button.parentElement);
  layOver(cells[cells.findIndex((cell) => cell.hasAttribute(OVER)) + 1]);
  return cells.length > 0;
}

export const hideCode = () => layOver(null);
document.addEventListener("slidechanged", hideCode);
