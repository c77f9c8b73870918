// A line above the output of a cell that says which other cell has to run first: the one from which a missing name
// comes, or an answer that was changed since it ran. A button runs it, and then the cell again.
import { errorOf, isSetup } from "../shared/cells.js";
import { hasRole } from "../shared/grammar.js";
import { sourcesOfName } from "../shared/names.js";

export async function explainOutputs({ load, panel, setup, words }) {
  const { content: notebook, sessionContext } = panel;
  const { NotebookActions } = await load("@jupyterlab/notebook");
  const run = (cell) => NotebookActions.runCells(notebook, [cell], sessionContext);

  async function explainMissing(failed) {
    const { executionCount } = failed.model;
    const [source] = await sourcesOfName(failed, panel);
    if (failed.model.executionCount !== executionCount) return; // it ran again while the kernel was asked
    if (source && isSetup(source)) {
      addLine(failed, words.setup_missing, words.run_setup, async () => (await setup.run()) && run(failed));
    } else if (source) {
      addRunLine(failed, words.cell_missing, source);
    } else {
      const answer = answerBefore(failed, notebook);
      if (answer && errorOf(answer)) addLine(failed, words.answer_failed);
    }
  }

  function explainChanged(check) {
    const answer = answerBefore(check, notebook);
    if (answer?.model.isDirty) addRunLine(check, words.answer_changed, answer);
  }

  function addRunLine(cell, text, first) {
    addLine(cell, text, words.run_cell, async () => (await run(first)) && run(cell));
  }

  NotebookActions.executed.connect((_, { notebook: its, cell, error }) => {
    if (its !== notebook) return;
    if (error?.errorName === "NameError")
      explainMissing(cell).catch(() => {}); // the kernel is gone
    else explainChanged(cell);
  });
}

/** The answer that a check judges: it stands above, and no text between them. Nothing for a cell that is no check. */
function answerBefore(check, { widgets }) {
  if (!hasRole(check.model, "check")) return undefined;
  const above = widgets.slice(0, widgets.indexOf(check));
  const last = above.findLast(({ model }) => model.type !== "code" || hasRole(model, "exercise"));
  return last?.model.type === "code" ? last : undefined;
}

/** Add a line, with a button if it has a label, that stays until the cell's outputs change. */
function addLine({ outputArea: { node, model } }, text, label, act) {
  const line = make("p", text);
  line.className = "mha-explains";
  line.setAttribute("role", "status");
  if (label) {
    const button = line.appendChild(make("button", label));
    button.className = "jp-Button";
    button.addEventListener("click", act);
  }
  node.prepend(line);
  model.changed.connect(function remove() {
    model.changed.disconnect(remove);
    line.remove();
  });
}

const make = (tag, textContent) => Object.assign(document.createElement(tag), { textContent });
