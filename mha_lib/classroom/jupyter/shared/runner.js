// Runs cells in order, and tells how far it is, and for how long it runs.
import { errorOf, execute, isSetup, mayFail } from "./cells.js";
import { fill } from "./words.js";

const MOST_FAILURES = 3; // more would cover a slide, and so would longer messages
const LONGEST_MESSAGE = 120;
export const UNTIL_RUN = "failed until-run"; // the state of what is said until a cell has run through

const hasRun = (cell) => cell.model.executionCount !== null && (mayFail(cell) || !errorOf(cell));

export class Runner {
  isRunning = false;

  /**
   * `teller` gets each sentence by `say(text, state, share)`, with the state "running", "done", "failed" or UNTIL_RUN and
   * the share of the run that is done; `sayDead()` says that the kernel has died. `placeOf` is the name of a cell's place.
   */
  constructor({ panel, load, teller, placeOf, words }) {
    Object.assign(this, { panel, load, teller, placeOf, words });
  }

  runSetup() {
    return this.#run(this.words.setup, this.#cells.filter(isSetup), { stopsAtError: true });
  }

  /** Run cells that something else needs; `run` is the name of the run. */
  runNeeded(run, cells) {
    return this.#run(run, cells, { stopsAtError: true });
  }

  /** Run everything from a fresh kernel. */
  runAll() {
    return this.#run(this.words.all, this.#cells, { afresh: true });
  }

  /** Run in a fresh kernel the setup, and then all cells that had run without an error. */
  revive() {
    const others = this.#cells.filter((cell) => hasRun(cell) && !isSetup(cell));
    const cells = [...this.#cells.filter(isSetup), ...others];
    return this.#run(this.words.revival, cells, { afresh: true, stopsAtError: true });
  }

  stop() {
    if (this.isRunning) this.interrupt();
  }

  /** Interrupt the cell that runs, also one that a key has run by itself. */
  interrupt() {
    this.isRunning = false;
    this.panel.sessionContext.session?.kernel?.interrupt().catch(() => this.teller.sayDead());
  }

  get #cells() {
    return this.panel.content.widgets.filter((cell) => cell.model.type === "code");
  }

  /** Run the cells; `run` is the name of the run. False if it was stopped or the kernel died. */
  async #run(run, cells, { afresh = false, stopsAtError = false } = {}) {
    if (this.isRunning) return false;
    this.isRunning = true;
    this.began = Date.now();
    const ticking = setInterval(() => this.#tick(), 1000);
    try {
      await this.panel.sessionContext.ready;
      if (afresh) await this.#changeKernel();
      return await this.#runCells(run, cells, stopsAtError);
    } catch {
      this.teller.sayDead(); // the kernel died under a running cell
      return false;
    } finally {
      clearInterval(ticking);
      this.isRunning = false;
    }
  }

  /** Change to a new kernel: a restart fails while the server itself restarts one that died. */
  async #changeKernel() {
    this.#begin(this.words.fresh_kernel, 0);
    const { sessionContext } = this.panel;
    await sessionContext.changeKernel({ name: sessionContext.session.kernel.name });
  }

  async #runCells(run, cells, stopsAtError) {
    const { words } = this;
    const count = cells.length;
    const failures = [];
    let ran = 0;
    for (const [done, cell] of cells.entries()) {
      const place = this.placeOf(cell);
      this.#begin(fill(words.running, { run, number: done + 1, count, place }), done / count, cell);
      const reply = await this.#runCell(cell);
      if (!this.isRunning) {
        this.teller.say(fill(words.stopped, { run, place }), UNTIL_RUN);
        return false;
      }
      if (reply?.status !== "error" || mayFail(cell)) ran += 1;
      else failures.push(this.#sayFailure(place, reply));
      if (stopsAtError && failures.length) break;
    }
    const summary = fill(words.finished, { run, ran, count, seconds: this.#seconds });
    const text = [summary, ...this.#first(failures)].join("\n");
    this.teller.say(text, failures.length ? "failed" : "done");
    return true;
  }

  get #seconds() {
    return Math.round((Date.now() - this.began) / 1000);
  }

  /** Tell what runs now; `share` is how much of the run is done, `cell` the cell that runs. */
  #begin(doing, share, cell) {
    this.now = { doing, share, cell };
    this.#tick();
  }

  /** Tell how long the run has taken, and how far the training in its cell is. */
  #tick() {
    const { doing, share, cell } = this.now;
    const line = fill(this.words.took, { doing, seconds: this.#seconds });
    this.teller.say([line, progressOf(cell)].filter(Boolean).join("\n"), "running", share);
  }

  /** Run a cell; again, where the kernel dropped it since another cell, which a key has run, failed meanwhile. */
  async #runCell(cell) {
    const reply = await execute(cell, this);
    return reply?.status === "aborted" && this.isRunning ? this.#runCell(cell) : reply;
  }

  #sayFailure(place, { ename, evalue }) {
    const [line] = evalue.split("\n");
    const message = line.length > LONGEST_MESSAGE ? `${line.slice(0, LONGEST_MESSAGE)}…` : line;
    return fill(this.words.failure, { place, error: ename, message });
  }

  #first(failures) {
    const more = failures.length - MOST_FAILURES;
    if (more <= 0) return failures;
    return [...failures.slice(0, MOST_FAILURES), fill(this.words.more_failures, { count: more })];
  }
}

/** How far the newest training of the cell is, in words, as its output says (lesson/outputs.py); none where none runs. */
function progressOf(cell) {
  const { outputs } = cell?.model ?? {};
  const numbers = Array.from({ length: outputs?.length ?? 0 }, (_, index) => index);
  return numbers.map((index) => outputs.get(index).metadata.mha_progress?.said).findLast(Boolean);
}
