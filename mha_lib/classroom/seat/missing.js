// A line above the traceback of a NameError: the name comes from a cell that has not run in this kernel. A button
// runs that cell, or all setup cells, and then the cell that failed.
import { isSetup } from "../deck/static/cells.js";
import { cellsToRun } from "../extension/names.js";

export async function explainMissingNames({ load, panel, setup, words }) {
  const { content: notebook, sessionContext } = panel;
  const { NotebookActions } = await load("@jupyterlab/notebook");

  async function explain(failed) {
    const others = notebook.widgets.filter((cell) => cell.model.type === "code" && cell !== failed);
    const [first, ...further] = await cellsToRun(others, sessionContext);
    if (!first) return;
    const needsSetup = isSetup(first);
    const line = makeLine(
      ...(needsSetup ? [words.setup_missing, words.run_setup] : [words.cell_missing, words.run_cell]),
    );
    line.querySelector("button").addEventListener("click", async () => {
      const run = (cell) => NotebookActions.runCells(notebook, [cell], sessionContext);
      if (await (needsSetup ? setup.run() : run(further.at(-1) ?? first))) await run(failed);
    });
    const { node, model } = failed.outputArea;
    node.prepend(line);
    model.changed.connect(function remove() {
      model.changed.disconnect(remove);
      line.remove();
    });
  }

  NotebookActions.executed.connect((_, { notebook: its, cell, error }) => {
    if (its === notebook && error?.errorName === "NameError") explain(cell).catch(() => {}); // the kernel is gone
  });
}

function makeLine(text, label) {
  const line = Object.assign(document.createElement("p"), { className: "mha-missing", textContent: text });
  line.setAttribute("role", "status");
  line.append(
    Object.assign(document.createElement("button"), { className: "jp-Button", textContent: label }),
  );
  return line;
}
