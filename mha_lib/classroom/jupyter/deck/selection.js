// On a slide, the cell that runs is the one that is seen. The notebook has an active cell of its own, which
// knows nothing of slides: here it follows the slide and the fragment that are shown, at once.
// RISE does so half a second later, too late for a quick hand; mha_lib/classroom/jupyter/settings switches that off.
import { needsOf } from "./needs.js";
import { onTurn, shownSection } from "./stage.js";
import { goOn, stepPastLines } from "./turn.js";

const HIDDEN = ".reveal-skip, aside, .fragment:not(.visible), .lm-mod-hidden"; // the last: below a folded heading

/** The code cells that the class sees, in their order. */
function seenCells(notebook) {
  const section = shownSection();
  const isSeen = ({ node }) => section?.contains(node) && !node.closest(HIDDEN);
  return notebook.widgets.filter((cell) => cell.model.type === "code" && isSeen(cell));
}

/** The part that was shown last: a fragment, or the slide while none of its fragments is shown. */
const newestPart = () => [...shownSection().querySelectorAll(".fragment.visible")].at(-1) ?? shownSection();

const partOf = (cell) => cell.node.closest(".fragment") ?? cell.node.closest("section");

/** The first code of the newest part; where it has none, the active cell if it is seen, or else the last code. */
function cellToRun(notebook) {
  const seen = seenCells(notebook);
  const inNewest = seen.find((cell) => partOf(cell) === newestPart());
  if (inNewest) return inNewest;
  if (seen.includes(notebook.activeCell)) return notebook.activeCell;
  return seen.find((cell) => partOf(cell) === partOf(seen.at(-1)));
}

/** Make a cell the active one, or, where there is no code, the first that the slide shows. */
function select(notebook, cell) {
  const section = shownSection();
  const first = notebook.widgets.find(({ node }) => section?.contains(node) && !node.closest(HIDDEN));
  const index = notebook.widgets.indexOf(cell ?? first);
  if (index < 0 || index === notebook.activeCellIndex) return;
  notebook.mode = "command"; // an editor that was left on another slide
  notebook.activeCellIndex = index;
}

/** Let the active cell follow what is shown; returns the actions of the keys for that cell. */
export function followSlides({ panel, load, foot, words }) {
  const notebook = panel.content;
  const needs = needsOf({ panel, load, foot, words });
  const follow = () => shownSection() && select(notebook, cellToRun(notebook));
  onTurn(() => queueMicrotask(follow)); // when Reveal is done with the turn
  follow();

  /** The active cell if it is seen; without one, null. */
  function chosenCell() {
    if (!seenCells(notebook).includes(notebook.activeCell)) follow();
    return seenCells(notebook).includes(notebook.activeCell) ? notebook.activeCell : null;
  }

  /** Run the cell that is seen, out of its editor; false where there is none. */
  function run() {
    const cell = chosenCell();
    if (!cell) return false;
    notebook.mode = "command";
    needs.run(cell);
    return true;
  }

  return {
    run: () => void run(),
    runNeeded: needs.runNeeded,
    runAndGoOn: () => showNext(notebook, run()),
    /** Enter alone opens a cell's editor: that is kept from a cell that is not seen. */
    keepFromEditing: () => !seenCells(notebook).includes(notebook.activeCell),
  };
}

/** Go to the next code that is seen, or show the next fragment. Leave the slide only if nothing has run. */
function showNext(notebook, hasRun) {
  const seen = seenCells(notebook);
  const next = seen[seen.indexOf(notebook.activeCell) + 1];
  if (hasRun && next) select(notebook, next);
  else if (hasRun) stepPastLines();
  else goOn();
}
