// Finds the cells from which a missing name should have come.

/**
 * The cells that have not run in this kernel as they are now, and that define the name that the kernel has missed last,
 * or `all` such cells. The kernel itself knows both.
 */
export async function cellsToRun(cells, { session }, { all = false } = {}) {
  const sources = cells.map(({ model }) => model.sharedModel.getSource());
  const answer = `(lambda names: exec(${JSON.stringify(QUESTION)}, names) or names["answer"])(${JSON.stringify({ sources, wants_all: Number(all) })})`;
  const asked = session.kernel.requestExecute({ code: "", silent: true, user_expressions: { answer } });
  const { content } = await asked.done;
  const found = content.user_expressions?.answer.data?.["text/plain"] ?? "[]"; // a list of numbers
  return JSON.parse(found).map((index) => cells[index]);
}

/** In a route through several lessons the ids of a lesson's cells begin with its number: these share their names. */
const lessonOf = ({ model }) => /^\d+-/.exec(model.id)?.[0];

/** Find the cells that define the name which a cell has missed last: the setup, or else one other cell. */
export async function sourcesOfName(failed, { content: { widgets }, sessionContext }, isSetup) {
  const isAkin = (cell) => cell.model.type === "code" && lessonOf(cell) === lessonOf(failed);
  const others = widgets.filter((cell) => cell !== failed && isAkin(cell));
  const missing = await cellsToRun(others, sessionContext);
  return missing.some(isSetup) ? others.filter(isSetup) : missing.slice(-1);
}

// Python. A text of JSON is one of Python, too.
const QUESTION = `
import symtable, sys
from IPython import get_ipython
shell, error = get_ipython(), getattr(sys, "last_value", None)
def defines(source, name):
    try:
        table = symtable.symtable(shell.transform_cell(source), "cell", "exec")
    except (SyntaxError, ValueError):
        return False
    return any(symbol.is_local() for symbol in table.get_symbols() if symbol.get_name() == name)
have_run = shell.history_manager.input_hist_raw
answer = [
    index for index, source in enumerate(sources)
    if source.rstrip("\\n") not in have_run
    and (wants_all or type(error) is NameError and defines(source, error.name))
]
`;
