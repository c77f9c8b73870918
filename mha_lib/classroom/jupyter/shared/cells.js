// Runs one cell, and knows the roles that matter for that.
import { hasRole } from "./grammar.js";

export const isSetup = ({ model }) => hasRole(model, "setup");
export const mayFail = ({ model }) => hasRole(model, "may_fail");

/** The error that a cell's outputs show. */
export const errorOf = ({ model }) => model.outputs.toJSON().find((output) => output.output_type === "error");

/**
 * Run a cell as soon as there is a kernel, and return what the kernel replied. JupyterLab's own action for this
 * takes the focus, again when the kernel is there and the cell has run: from an editor in which one types by then.
 */
export async function execute(cell, { panel: { sessionContext }, load }) {
  cell.model.executionState = "running"; // it waits: the deck shows that at once
  await sessionContext.ready;
  if (sessionContext.hasNoKernel) await sessionContext.startKernel();
  const { CodeCell } = await load("@jupyterlab/cells");
  const reply = (await CodeCell.execute(cell, sessionContext))?.content;
  if (reply?.status !== "ok") cell.model.executionState = "idle"; // also where the kernel did not come to run it
  return reply;
}
