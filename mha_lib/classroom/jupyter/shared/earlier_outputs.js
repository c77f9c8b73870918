// Outputs that an earlier kernel has left are marked with a sentence, until their cells run again.
import { cellsToRun } from "./names.js";

const GONE = ["restarting", "autorestarting", "dead"];

/** Mark them, also when a kernel goes later; whether there were some when the lesson opened. */
export async function markKept({ content: notebook, sessionContext }, sentence) {
  const shown = () => notebook.widgets.filter(({ model }) => model.outputs?.length);
  const mark = (cell) => {
    cell.node.dataset.kept = sentence;
    cell.model.outputs.changed.connect(() => delete cell.node.dataset.kept);
  };
  sessionContext.kernelChanged.connect((_, { oldValue }) => oldValue && shown().map(mark));
  sessionContext.statusChanged.connect((_, status) => GONE.includes(status) && shown().map(mark));
  await sessionContext.ready;
  if (!shown().length) return false;
  const kept = await cellsToRun(shown(), sessionContext);
  return kept.map(mark).length > 0;
}
