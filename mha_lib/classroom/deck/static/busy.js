// The sign at a cell that runs: for how long it has, and the key that interrupts it. While the slide that is
// shown is another one, the foot says so.
import { placeOf, shownSection } from "./stage.js";
import { fill } from "./words.js";

const IDLE_AFTER = 300; // ms: between two cells of a longer run there is less

/** `onIdle` is called each time when all cells are done. */
export function showBusy({ notebook, foot, words, onIdle }) {
  const busy = new Map(); // the cells that run or wait, in their order, and since when each runs
  let clock;
  let idle;

  function draw() {
    const [first] = busy.keys();
    for (const [{ node }, since] of busy) {
      const seconds = Math.floor((Date.now() - since) / 1000);
      node.dataset.busy = node === first.node ? fill(words.cell_runs, { seconds }) : words.cell_waits;
    }
    foot.mention(first && !shownSection()?.contains(first.node) ? sayElsewhere(first) : "");
  }

  function sayElsewhere({ node, model }) {
    const place = fill(words.place, { slide: placeOf(node), cell: model.id });
    return fill(words.runs_elsewhere, { place, running: node.dataset.busy });
  }

  function begin(cell) {
    clearTimeout(idle);
    busy.set(cell, Date.now());
    clock ??= setInterval(draw, 1000);
    draw();
  }

  function end(cell) {
    const [first] = busy.keys();
    if (!busy.delete(cell)) return;
    delete cell.node.dataset.busy;
    const [next] = busy.keys();
    if (next && cell === first) busy.set(next, Date.now());
    draw();
    if (next) return;
    clearInterval(clock);
    clock = undefined;
    idle = setTimeout(onIdle, IDLE_AFTER);
  }

  document.addEventListener("slidechanged", draw);
  for (const cell of notebook.widgets)
    cell.model.stateChanged.connect((_, { name, newValue }) => {
      if (name === "executionState") (newValue === "running" ? begin : end)(cell);
    });
}
