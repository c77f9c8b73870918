// The runs of cells that the keys of a deck start. The foot tells how far they are, and they do not move the deck.
import { Runner } from "../shared/runner.js";
import { save } from "../shared/saves.js";
import { placeOf, position } from "./stage.js";
import { goHome } from "./turn.js";

export class DeckRunner extends Runner {
  constructor({ panel, load, foot, words }) {
    super({ panel, load, teller: foot, placeOf: (cell) => placeOf(cell, words), words });
  }

  /** Run everything from a fresh kernel; then go to the first slide, if the instructor has stayed on this one. */
  async runAll() {
    const start = position();
    const isDone = await super.runAll();
    if (isDone && start === position()) goHome();
  }

  /** Clear all outputs when asked twice: only running the cells brings them back. */
  async clear() {
    const { teller: foot, words } = this;
    if (!foot.asks(words.clear_sure)) return foot.ask(words.clear_sure);
    foot.clear();
    const { NotebookActions } = await this.load("@jupyterlab/notebook");
    NotebookActions.clearAllOutputs(this.panel.content);
    if (await save(this.panel.context)) foot.say(words.cleared, "done"); // a reload brings no output back
  }
}
