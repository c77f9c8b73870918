// Runs cells in order, without moving the deck; the line at the foot tells how far.
import { placeOf } from "./stage.js";
import { fill } from "./words.js";

const MOST_FAILURES = 3; // more would cover the slide

const hasTag = (tag) => (cell) => cell.model.getMetadata("tags")?.includes(tag);
const isSetup = hasTag("setup");
const mayFail = hasTag("raises-exception");
const hasFailed = ({ model }) => model.outputs.toJSON().some((output) => output.output_type === "error");
const hasRun = (cell) => cell.model.executionCount !== null && (mayFail(cell) || !hasFailed(cell));

export class Runner {
  isRunning = false;

  constructor({ panel, load, foot, words }) {
    Object.assign(this, { panel, load, foot, words });
  }

  runSetup() {
    return this.#run(this.words.setup, this.#cells.filter(isSetup), { stopsAtError: true });
  }

  /** Run everything from a fresh kernel; `whenDone` is called if the instructor has stayed on the slide. */
  async runAll(whenDone) {
    const { hash } = window.location;
    const isDone = await this.#run(this.words.all, this.#cells, { afresh: true });
    if (isDone && hash === window.location.hash) whenDone();
  }

  /** Restore in a fresh kernel what had run: first the setup, on which all else stands. */
  revive() {
    const others = this.#cells.filter((cell) => hasRun(cell) && !isSetup(cell));
    const cells = [...this.#cells.filter(isSetup), ...others];
    return this.#run(this.words.revival, cells, { afresh: true, stopsAtError: true });
  }

  stop() {
    if (this.isRunning) this.interrupt();
    this.isRunning = false;
  }

  /** Interrupt what runs, whoever has begun it. */
  interrupt() {
    this.isRunning = false;
    this.panel.sessionContext.session?.kernel?.interrupt().catch(() => this.foot.sayDead());
  }

  /** Clear all outputs, when asked twice: nothing brings them back but running the cells. */
  async clear() {
    const { foot, words } = this;
    if (!foot.asks(words.clear_sure)) return foot.ask(words.clear_sure);
    const { NotebookActions } = await this.load("@jupyterlab/notebook");
    NotebookActions.clearAllOutputs(this.panel.content);
    foot.say(words.cleared, "done");
  }

  get #cells() {
    return this.panel.content.widgets.filter((cell) => cell.model.type === "code");
  }

  /** Run the cells; `run` is what the foot calls it. True once all were tried that should be. */
  async #run(run, cells, { afresh = false, stopsAtError = false } = {}) {
    if (this.isRunning) return false;
    this.isRunning = true;
    try {
      await this.panel.sessionContext.ready;
      if (afresh) await this.#changeKernel();
      return await this.#runCells(run, cells, stopsAtError);
    } catch {
      this.foot.sayDead(); // the kernel died under a running cell
      return false;
    } finally {
      this.isRunning = false;
    }
  }

  /** A new kernel, for a restart fails while the server is at restarting a dead one by itself. */
  async #changeKernel() {
    this.foot.say(this.words.fresh_kernel, "busy", 0);
    const { Dialog } = await this.load("@jupyterlab/apputils");
    Dialog.flush(); // such as "The kernel appears to have died"
    const { sessionContext } = this.panel;
    await sessionContext.changeKernel({ name: sessionContext.session.kernel.name });
  }

  async #runCells(run, cells, stopsAtError) {
    const { CodeCell } = await this.load("@jupyterlab/cells");
    const { words, foot } = this;
    const count = cells.length;
    const failures = [];
    let ran = 0;
    for (const [done, cell] of cells.entries()) {
      const place = fill(words.place, { slide: placeOf(cell.node), cell: cell.model.id });
      foot.say(fill(words.running, { run, number: done + 1, count, place }), "busy", done / count);
      const reply = (await CodeCell.execute(cell, this.panel.sessionContext))?.content;
      if (!this.isRunning) {
        foot.say(fill(words.stopped, { run, place }), "failed");
        return false;
      }
      if (reply?.status !== "error" || mayFail(cell)) ran += 1;
      else failures.push(fill(words.failure, { place, error: reply.ename, message: reply.evalue }));
      if (stopsAtError && failures.length) break;
    }
    const summary = fill(words.finished, { run, ran, count });
    foot.say([summary, ...this.#shortened(failures)].join("\n"), failures.length ? "failed" : "done");
    return true;
  }

  #shortened(failures) {
    const more = failures.length - MOST_FAILURES;
    if (more <= 0) return failures;
    return [...failures.slice(0, MOST_FAILURES), fill(this.words.more_failures, { count: more })];
  }
}
