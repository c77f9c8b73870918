// Runs cells in order, past those that fail, without moving the deck; the line at the foot tells how far.
import { placeOf } from "./stage.js";
import { fill } from "./words.js";

export class Runner {
  isRunning = false;

  constructor({ panel, load, foot, words }) {
    Object.assign(this, { panel, load, foot, words });
  }

  /** Run the wanted cells, in a fresh kernel if need be; `run` is what the foot calls it. */
  async run(run, isWanted, { afresh = false } = {}) {
    if (this.isRunning) return;
    this.isRunning = true;
    const isCode = (cell) => cell.model.type === "code";
    const cells = this.panel.content.widgets.filter((cell) => isCode(cell) && isWanted(cell));
    try {
      await this.panel.sessionContext.ready;
      if (afresh) await this.#changeKernel();
      await this.#runCells(run, cells);
    } catch {
      this.foot.sayDead(); // the kernel died under a running cell
    } finally {
      this.isRunning = false;
    }
  }

  stop() {
    if (this.isRunning) this.panel.sessionContext.session.kernel.interrupt();
    this.isRunning = false;
  }

  /** A new kernel, for a restart fails while the server is at restarting a dead one by itself. */
  async #changeKernel() {
    this.foot.say(this.words.fresh_kernel, "busy", 0);
    const { Dialog } = await this.load("@jupyterlab/apputils");
    Dialog.flush(); // such as "The kernel appears to have died"
    const { sessionContext } = this.panel;
    await sessionContext.changeKernel({ name: sessionContext.session.kernel.name });
  }

  async #runCells(run, cells) {
    const { CodeCell } = await this.load("@jupyterlab/cells");
    const { words, foot } = this;
    const count = cells.length;
    const failures = [];
    for (const [done, cell] of cells.entries()) {
      const place = fill(words.place, { slide: placeOf(cell.node), cell: cell.model.id });
      foot.say(fill(words.running, { run, number: done + 1, count, place }), "busy", done / count);
      const reply = (await CodeCell.execute(cell, this.panel.sessionContext))?.content;
      if (!this.isRunning) {
        foot.say(fill(words.stopped, { run, place }), "failed");
        return;
      }
      if (reply?.status === "error")
        failures.push(fill(words.failure, { place, error: reply.ename, message: reply.evalue }));
    }
    const summary = fill(words.finished, { run, ran: count - failures.length, count });
    foot.say([summary, ...failures].join("\n"), failures.length ? "failed" : "done");
  }
}
