// What a reload of the page finds: the outputs, for they are saved as soon as nothing runs any more, and alive
// the widgets of a kernel that lives. A widget whose kernel is gone says which key brings it back.

const WIDGET_VIEW = "application/vnd.jupyter.widget-view+json";

/** Save the lesson, where its file may be written, and without a word. */
export function keepOutputs({ context }) {
  if (context.contentsModel?.writable && context.model.dirty) context.save().catch(() => {});
}

/** Mark the outputs that show a widget of which the kernel knows nothing. */
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
