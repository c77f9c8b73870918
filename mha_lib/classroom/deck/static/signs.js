// The sign at a cell: for how long it has run, and which key interrupts it; or that the kernel of its widget is
// gone, and which key brings it back. The foot tells of a cell that runs on another slide than the one shown.
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
    draw();
  }

  function end(cell) {
    const [first] = busy.keys();
    if (!busy.delete(cell)) return;
    delete cell.node.dataset.busy;
    removeBlanks(cell.model.outputs);
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

/** Remove the blanks with which a training has written over its line of progress. */
function removeBlanks(outputs) {
  const { text } = outputs?.length === 1 ? outputs.get(0).toJSON() : {};
  if (text && ![text].flat().join("").trim()) outputs.clear();
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
