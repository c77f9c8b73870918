// Gives a cell back as the lesson has it.
import { hasRole } from "../shared/grammar.js";
import { sourceOf } from "./original.js";

/** Give the active cell back. What the student wrote stays in the cell's history: Ctrl+Z brings it back. */
export async function giveBack(seat) {
  const { load, panel, words } = seat;
  const found = await findChanged(seat);
  if (!found) return;
  const { content: notebook } = panel;
  const { id } = found.cell.model;
  const isAnswer = hasRole(found.cell.model, "exercise");
  if (isAnswer && !(await confirm(load, words))) return;
  if (found.type !== found.cell.model.type) await changeType(notebook, found, load);
  const cell = notebook.widgets.find(({ model }) => model.id === id);
  if (!cell) return; // it was deleted meanwhile
  replace(cell.model.sharedModel, found.source);
  if (cell.model.type === "markdown") cell.rendered = true;
  if (cell === notebook.activeCell) notebook.activate();
  const { Notification } = await load("@jupyterlab/apputils");
  Notification.info(words.is_back, { autoClose: 5000 });
}

/** JupyterLab changes the type of the active cell alone. */
async function changeType(notebook, { cell, type }, load) {
  const { NotebookActions } = await load("@jupyterlab/notebook");
  const { activeCellIndex } = notebook;
  notebook.deselectAll();
  notebook.activeCellIndex = notebook.widgets.indexOf(cell);
  NotebookActions.changeCellType(notebook, type);
  notebook.activeCellIndex = activeCellIndex;
}

/** The active cell, and its type and source in the lesson; nothing, with a sentence that says why, where none differs. */
async function findChanged({ load, panel, words, original }) {
  const cell = panel.content.activeCell;
  const { Notification } = await load("@jupyterlab/apputils");
  const say = (sentence) => void Notification.info(sentence, { autoClose: 5000 });
  if (!original.cells.length) return say(words.no_original);
  const lesson = original.cell(cell.model.id);
  if (!lesson) return say(words.own_cell);
  const [source, type] = [sourceOf(lesson), lesson.cell_type];
  if (type === cell.model.type && source === cell.model.sharedModel.getSource())
    return say(words.not_changed);
  return { cell, type, source };
}

async function confirm(load, words) {
  const { Dialog, showDialog } = await load("@jupyterlab/apputils");
  const buttons = [Dialog.cancelButton({ label: words.keep }), Dialog.warnButton({ label: words.take })];
  const { button } = await showDialog({
    title: words.answer,
    body: words.answer_sure,
    buttons,
    defaultButton: 0,
  });
  return button.accept;
}

/** A step of its own in the cell's history, however quickly it comes after the last letter. */
function replace(shared, source) {
  shared.undoManager?.stopCapturing();
  shared.setSource(source);
  shared.undoManager?.stopCapturing();
}
