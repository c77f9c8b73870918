// Runs the setup cells of a lesson, as the deck does; the button in the toolbar tells how far.
import { errorOf, isSetup } from "../shared/cells.js";
import { hasRole } from "../shared/grammar.js";
import { cellsToRun } from "../shared/names.js";
import { Runner } from "../shared/runner.js";
import { fill } from "../shared/words.js";

const GONE = ["restarting", "autorestarting", "dead"];

export class Setup {
  /** Called with the share of the work that is done whenever the label changes. */
  changed = () => {};
  #isDone = false; // in this kernel
  #running; // a promise
  #needed = []; // cells that ran last after the setup
  #said = []; // notifications of what failed, which go when the setup runs again

  constructor({ load, panel, words: { deck, seat }, original }) {
    Object.assign(this, { load, panel, words: seat, original });
    const teller = {
      say: (text, state, share) => this.#hear(text, state, share),
      sayDead: () => this.#fail(seat.kernel_gone),
    };
    const placeOf = ({ model }) => fill(seat.place, { line: model.sharedModel.getSource().split("\n")[0] });
    this.runner = new Runner({ panel, load, teller, placeOf, words: deck });
    const { sessionContext } = panel;
    sessionContext.kernelChanged.connect(() => this.#forget());
    sessionContext.statusChanged.connect((_, status) => GONE.includes(status) && this.#forget());
  }

  get hasCells() {
    return this.panel.content.widgets.some(isSetup);
  }

  get isRunning() {
    return this.runner.isRunning;
  }

  get label() {
    if (this.isRunning) return this.words.setting_up;
    return this.#isDone ? this.words.is_set_up : this.words.set_up;
  }

  /** Whether the setup has run in this kernel, or runs now without an error. */
  async ready() {
    if (this.#isDone) return true;
    const { content, sessionContext } = this.panel;
    await sessionContext.ready;
    const left = await cellsToRun(content.widgets.filter(isSetup), sessionContext);
    this.#isDone = !this.isRunning && !left.length;
    this.changed(0);
    return this.#isDone || this.run();
  }

  /** Whether all setup cells have run without an error; a call while they run waits for them. */
  run() {
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /**
   * Run the setup, and then those of the cells that have not run in this kernel as they are now, or ended with an error;
   * `run` names them. Returns whether all of them have run without an error.
   */
  async runNeeded(run, cells) {
    await this.#dismiss();
    if (!(await this.ready())) return false;
    const fresh = await cellsToRun(cells, this.panel.sessionContext);
    const left = cells.filter((cell) => fresh.includes(cell) || errorOf(cell));
    if (!left.length) return true;
    this.#needed = left;
    await this.runner.runNeeded(run, left);
    this.changed(0);
    return this.#isDone;
  }

  async #run() {
    await this.#dismiss();
    const { model } = this.panel.content;
    this.original.putBack(model, (cell) => hasRole(cell, "setup")); // a student may have deleted one
    await this.runner.runSetup();
    this.changed(0);
    return this.#isDone;
  }

  #hear(text, state, share) {
    if (state.startsWith("failed")) return this.#fail(text);
    this.#isDone = state === "done";
    this.changed(share);
  }

  async #dismiss() {
    const { Notification } = await this.load("@jupyterlab/apputils");
    for (const id of this.#said.splice(0)) Notification.dismiss(id);
  }

  /** Say what failed, and show the cell. Whoever writes in another one meanwhile goes on writing there. */
  async #fail(text) {
    const { load, panel, words } = this;
    const { Notification } = await load("@jupyterlab/apputils");
    const say = (sentence) => this.#said.push(Notification.error(sentence, { autoClose: false }));
    say(text.replaceAll("\n", " · ")); // a notification has no line breaks
    const { content: notebook } = panel;
    const index = notebook.widgets.findIndex((cell) => this.#ran(cell) && errorOf(cell));
    if (index < 0) return;
    if (notebook.mode !== "edit") notebook.activeCellIndex = index;
    notebook.scrollToItem(index, "start");
    const failed = notebook.widgets[index];
    if (errorOf(failed).ename !== "ModuleNotFoundError") return;
    say(this.original.isChanged(failed.model) ? words.own_import : words.wrong_kernel);
  }

  #ran(cell) {
    return isSetup(cell) || this.#needed.includes(cell);
  }

  #forget() {
    this.#isDone = false;
    this.changed(0);
  }
}
