// Shift+Enter along the core path: it runs a cell and goes to the next, past folded helpers and optional parts. The
// setup runs by itself before the first cell that needs it.
import { isSetup } from "../shared/cells.js";
import { hasRole } from "../shared/grammar.js";
import { isOpen, resultOf } from "./guesses.js";
import { Sight } from "./sight.js";

const WIDGET = "application/vnd.jupyter.widget-view+json";
const TOUCHES = ["pointerdown", "keydown", "input"];

const isCode = ({ model }) => model.type === "code";
/** Whether one goes past a cell: it is folded, or has run with the setup. */
const isPassed = (cell) => cell.inputHidden || isSetup(cell) || cell.headingCollapsed;
/** Whether a folded cell runs with the one before it: helpers that are no setup, and the ticks of a step. */
const runsAlong = (cell) =>
  isCode(cell) && cell.inputHidden && !isSetup(cell) && !hasRole(cell.model, "solution");

export class Walk {
  #touched = new WeakSet(); // cells with a live figure in which the student has done something since it was drawn
  #sent = Promise.resolve(); // once the cells of all steps so far are with the kernel

  constructor({ load, panel, setup, guesses }) {
    Object.assign(this, { load, notebook: panel.content, session: panel.sessionContext, setup, guesses });
    this.sight = new Sight(this.notebook);
    for (const touch of TOUCHES)
      this.notebook.node.addEventListener(touch, ({ target }) => this.#touch(target), true);
    this.notebook.node.addEventListener("click", ({ target }) => this.#unfold(target), true);
  }

  /** Run the selected cells, and those that run along; then go to the next cell, or to the place for a guess. */
  async step() {
    const { notebook } = this;
    const { activeCell: cell, activeCellIndex: index, widgets } = notebook;
    if (!cell) return;
    const selected = widgets.filter((each) => notebook.isSelectedOrActive(each));
    const after = widgets.slice(index + 1);
    const end = after.findIndex((each) => !isCode(each) || !(each.inputHidden || isSetup(each)));
    const along = after
      .slice(0, end < 0 ? undefined : end)
      .filter((each) => runsAlong(each) && !each.isHidden);
    notebook.mode = "command";
    if (hasRole(cell.model, "guess") && !isOpen(cell.model)) this.guesses.focus(cell);
    else this.goTo(this.next);
    const cells = [...selected, ...along].filter((each) => !this.#isInUse(each));
    await this.run(cells);
    this.sight.keep(cells, selected[0]);
  }

  /** The cell to which a step goes; none at the end of the core path. */
  get next() {
    const { activeCellIndex: index, widgets } = this.notebook;
    return widgets.find((each, at) => at > index && !each.isHidden && !isPassed(each));
  }

  /**
   * Run what the step shows after the cell that asks for a guess, as far as it has not run, and go to its end; what
   * was asked stays in sight above a result that leaves room for it.
   */
  async show(asking) {
    const result = resultOf(this.notebook, asking).filter((cell) => !cell.isHidden);
    const isNext = (cell) => isCode(cell) && !hasRole(cell.model, "exercise", "check", "solution");
    const shown = result.filter((cell) => !isPassed(cell));
    this.goTo(shown.find((cell) => !isCode(cell)) ?? shown.at(-1) ?? asking);
    await this.run(result.filter((cell) => isNext(cell) && cell.model.executionCount === null));
    this.sight.keep(result, asking);
  }

  /**
   * Run the cells, after those of earlier steps, also where steps have waited for the setup. Those that the kernel drops,
   * since a cell of an earlier step has failed, run again.
   */
  async run(cells) {
    const needsSetup = cells.some((cell) => isCode(cell) && !isSetup(cell));
    let sending;
    if (needsSetup) {
      const ready = this.setup.ready();
      sending = this.#sent.then(async () => (await ready) && this.#send(cells));
      this.#sent = sending.catch(() => {});
    } else {
      sending = this.#send(cells);
    }
    const { dropped } = (await sending) || {};
    if (await dropped) await this.run(cells);
  }

  /** Send the cells to the kernel; `dropped` is a promise of whether it has dropped them, and nobody has stopped it. */
  async #send(cells) {
    const { load, notebook, session } = this;
    const { NotebookActions } = await load("@jupyterlab/notebook");
    const first = cells.find(isCode);
    let isDropped = false;
    let isInterrupted = false; // by the student, who wants no cell that waits to run
    const hear = (_, { cell, error }) => {
      if (cell === first) isDropped = error && !error.errorName; // an error of its own has a name
      isInterrupted ||= error?.errorName === "KeyboardInterrupt";
    };
    NotebookActions.executed.connect(hear);
    const { mode } = notebook;
    const { activeElement } = document;
    const running = NotebookActions.runCells(notebook, cells, session);
    // JupyterLab goes to its command mode: out of an editor in which one has begun to write meanwhile.
    notebook.mode = mode;
    activeElement.focus({ preventScroll: true });
    const ended = running.finally(() => NotebookActions.executed.disconnect(hear));
    return { dropped: ended.then(() => isDropped && !isInterrupted) };
  }

  goTo(cell) {
    const { notebook } = this;
    if (!cell) return;
    notebook.deselectAll();
    notebook.activeCellIndex = notebook.widgets.indexOf(cell);
    notebook.activate();
    notebook.scrollToItem(notebook.activeCellIndex);
  }

  /** Whether a step leaves a cell as it is: run again, its figure would lose what the student has set in it. */
  #isInUse(cell) {
    return this.#touched.has(cell) && !cell.model.isDirty && !cell.node.dataset.kept;
  }

  #touch(target) {
    const cell = this.notebook.widgets.find(({ outputArea }) => outputArea?.node.contains(target));
    const { outputs } = cell?.model ?? {};
    if (!outputs?.toJSON().some(({ data }) => data?.[WIDGET])) return;
    this.#touched.add(cell);
    outputs.changed.connect(() => this.#touched.delete(cell));
  }

  /** Go to a part that a click has unfolded, once the button that had the focus is gone, and the keyboard with it. */
  #unfold(target) {
    if (!target.closest(".jp-showHiddenCellsButton")) return;
    const cell = this.notebook.widgets.find(({ node }) => node.contains(target));
    requestAnimationFrame(() => this.goTo(cell));
  }
}
