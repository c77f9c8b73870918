// The sign at a cell that runs or waits: a bar beside it, where it covers nothing. The foot tells for how long the
// cell runs, which key interrupts it, and its slide, where that is not the one shown. Another sign, at a widget, says
// that its kernel is gone, and which key brings it back.
import { save } from "./saves.js";
import { placeOf, shownSection } from "./stage.js";
import { fill } from "./words.js";

const IDLE_AFTER = 300; // ms: between two cells of a longer run there is less
const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";

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
    const place = fill(words.place, { slide: placeOf(cell.node), cell: cell.model.id });
    return fill(words.runs_elsewhere, { place, running });
  }

  function begin(cell) {
    clearTimeout(idle);
    busy.set(cell, Date.now());
    draw();
  }

  function end(cell) {
    const [first] = busy.keys();
    if (!busy.delete(cell)) return;
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

/** After a reload, mark the outputs that show a widget of which the kernel knows nothing. */
export async function markDeadWidgets({ panel, words }) {
  const cells = panel.content.widgets.filter((cell) => widgetsOf(cell).length);
  if (!cells.length) return;
  await panel.sessionContext.ready;
  const { kernel } = panel.sessionContext.session;
  const { content } = await kernel.requestCommInfo({ target_name: "jupyter.widget" });
  for (const cell of cells.filter((one) => !widgetsOf(one).every((widget) => widget in content.comms))) {
    cell.node.dataset.dead = words.widget_dead;
    cell.model.outputs.changed.connect(() => delete cell.node.dataset.dead);
  }
}

/** The ids of the widgets that a cell's outputs show. */
function widgetsOf({ model }) {
  const outputs = model.type === "code" ? model.outputs.toJSON() : [];
  return outputs.map(({ data }) => data?.[WIDGET_VIEW]?.model_id).filter(Boolean);
}
