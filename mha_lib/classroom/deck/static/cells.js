// Runs one cell, and finds out whether an error means that the setup was forgotten.

const hasTag = (tag) => (cell) => cell.model.getMetadata("tags")?.includes(tag);
export const isSetup = hasTag("setup");
export const mayFail = hasTag("raises-exception");

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

/**
 * Whether the error that the kernel replied last is a missing name that a setup cell defines, and whether that
 * cell, as it stands now, has not run in this kernel. The kernel itself knows both.
 */
export async function missesSetup(reply, { content: notebook, sessionContext }) {
  if (reply?.ename !== "NameError") return false;
  const sources = notebook.widgets.filter(isSetup).map(({ model }) => model.sharedModel.getSource());
  const user_expressions = { answer: question(sources) };
  const asked = sessionContext.session.kernel.requestExecute({ code: "", silent: true, user_expressions });
  const { content } = await asked.done;
  return content.user_expressions?.answer.data?.["text/plain"] === "True";
}

/** An expression of Python. A text of JSON is one of Python, too. */
const question = (sources) => `any(
    symbol.get_name() == error.name and symbol.is_local()
    for error in [__import__("sys").last_value]
    if type(error) is NameError
    for source in ${JSON.stringify(sources)}
    if source.rstrip("\\n") not in get_ipython().history_manager.input_hist_raw
    for symbol in __import__("symtable")
    .symtable(get_ipython().transform_cell(source), "setup", "exec")
    .get_symbols()
)`;
