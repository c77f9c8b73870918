// The sign at a cell that runs or waits: a bar beside it, where it covers nothing. The foot tells for how long the
// cell runs, which key interrupts it, and its slide, where that is not the one shown.
import { errorOf } from "../shared/cells.js";
import { save } from "../shared/saves.js";
import { fill } from "../shared/words.js";
import { placeOf, shownSection } from "./stage.js";

const IDLE_AFTER = 300; // ms: between two cells of a longer run there is less

/** Mark the cells that run or wait, and save the lesson when all are done: a reload finds their outputs. */
export function showBusy({ panel, foot, words }) {
  const busy = new Map(); // the cells that run or wait, in their order, and since when each runs
  let idle;

  function draw() {
    const [first] = busy.keys();
    const { isReady } = panel.sessionContext;
    if (first && !isReady) busy.set(first, Date.now());
    for (const cell of busy.keys()) cell.node.dataset.busy = cell === first && isReady ? "runs" : "waits";
    foot.mention(first ? saying(first, isReady) : "");
  }

  /** The foot's sentence about the first cell; empty in the cell's first second. */
  function saying(cell, isReady) {
    if (!isReady) return words.kernel_starts;
    const seconds = Math.floor((Date.now() - busy.get(cell)) / 1000);
    if (!seconds) return "";
    const running = fill(words.cell_runs, { seconds });
    if (shownSection()?.contains(cell.node)) return running;
    return fill(words.runs_elsewhere, { place: placeOf(cell, words), running });
  }

  function begin(cell) {
    clearTimeout(idle);
    busy.set(cell, Date.now());
    draw();
  }

  function end(cell) {
    const [first] = busy.keys();
    if (!busy.delete(cell)) return;
    if (!errorOf(cell)) foot.settle();
    delete cell.node.dataset.busy;
    const [next] = busy.keys();
    if (next && cell === first) busy.set(next, Date.now());
    draw();
    if (!next) idle = setTimeout(() => save(panel.context), IDLE_AFTER);
  }

  setInterval(draw, 1000);
  document.addEventListener("slidechanged", draw);
  for (const cell of panel.content.widgets)
    cell.model.stateChanged.connect((_, { name, newValue }) => {
      if (name === "executionState") (newValue === "running" ? begin : end)(cell);
    });
}
