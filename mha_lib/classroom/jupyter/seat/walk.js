// Shift+Enter along the core path: it runs a cell and goes to the next, past folded helpers and optional parts. The
// setup runs by itself before the first cell that needs it.
import { isSetup } from "../shared/cells.js";
import { hasRole } from "../shared/grammar.js";
import { isOpen, resultOf } from "./guesses.js";

const isCode = ({ model }) => model.type === "code";
/** Whether one goes past a cell: it is folded, or has run with the setup. */
const isPassed = (cell) => cell.inputHidden || isSetup(cell) || cell.headingCollapsed;
/** Whether a folded cell runs with the one before it: helpers that are no setup, and the ticks of a step. */
const runsAlong = (cell) =>
  isCode(cell) && cell.inputHidden && !isSetup(cell) && !hasRole(cell.model, "solution");

export class Walk {
  constructor({ load, panel, setup, guesses }) {
    Object.assign(this, { load, notebook: panel.content, session: panel.sessionContext, setup, guesses });
  }

  /** Run the selected cells, and those that run along; then go to the next cell, or to the place for a guess. */
  async step() {
    const { notebook } = this;
    const { activeCell: cell, activeCellIndex: index, widgets } = notebook;
    if (!cell) return;
    const selected = widgets.filter((each) => notebook.isSelectedOrActive(each));
    const end = widgets.findIndex((each, at) => at > index && !runsAlong(each));
    const along = widgets.slice(index + 1, end < 0 ? undefined : end).filter((each) => !each.isHidden);
    notebook.mode = "command";
    if (hasRole(cell.model, "guess") && !isOpen(cell.model)) this.guesses.focus(cell);
    else this.goTo(widgets.find((each, at) => at > index && !each.isHidden && !isPassed(each)));
    await this.run([...selected, ...along]);
  }

  /**
   * Run what the step shows after the cell that asks for a guess, as far as it has not run, and go to its end; what
   * was asked stays in sight above a tall result.
   */
  async show(asking) {
    const result = resultOf(this.notebook, asking).filter((cell) => !cell.isHidden);
    const isNext = (cell) => isCode(cell) && !hasRole(cell.model, "exercise", "check", "solution");
    const shown = result.filter((cell) => !isPassed(cell));
    this.goTo(shown.find((cell) => !isCode(cell)) ?? shown.at(-1) ?? asking);
    await this.run(result.filter((cell) => isNext(cell) && cell.model.executionCount === null));
    await this.notebook.scrollToItem(this.notebook.widgets.indexOf(asking));
  }

  async run(cells) {
    const { load, notebook, session, setup } = this;
    const { NotebookActions } = await load("@jupyterlab/notebook");
    const needsSetup = cells.some((cell) => isCode(cell) && !isSetup(cell));
    if (!needsSetup || (await setup.ready())) await NotebookActions.runCells(notebook, cells, session);
  }

  goTo(cell) {
    const { notebook } = this;
    if (!cell) return;
    notebook.deselectAll();
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    notebook.activate();
    notebook.scrollToItem(notebook.activeCellIndex);
  }
}
