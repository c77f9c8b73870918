// Runs the cell that is seen. Where it misses a name that comes from cells which have not run in this kernel, the foot
// says which, and a key runs them, with what they miss in turn, and then the cell again.

import { execute, isSetup } from "../shared/cells.js";
import { sourcesOfName } from "../shared/names.js";
import { UNTIL_RUN } from "../shared/runner.js";
import { fill } from "../shared/words.js";
import { placeOf } from "./stage.js";

export function needsOf({ panel, load, foot, words }) {
  let waiting = []; // the cell, and above it those that it needs, the first to run on top

  /** Run the cell on top of a pile: what it needs comes on top of it. An error of another kind ends the pile. */
  async function runTop(pile) {
    const cell = pile.at(-1);
    const reply = await execute(cell, { panel, load });
    const sources = reply?.status === "error" ? await sourcesOfName(cell, panel) : [];
    if (sources.length) pile.push(...sources.reverse());
    else pile.splice(reply?.status === "ok" ? -1 : 0);
  }

  async function run(cell) {
    const pile = [cell];
    await runTop(pile);
    waiting = pile;
    const source = pile.at(-1);
    if (!source) return;
    const place = placeOf(source, words);
    foot.say(fill(isSetup(source) ? words.setup_missing : words.cell_missing, { place }), UNTIL_RUN);
  }

  async function runPile(pile) {
    foot.clear();
    while (pile.length) await runTop(pile);
  }

  /** Run what waits; false where nothing does. */
  function runNeeded() {
    const pile = waiting.splice(0);
    if (pile.length) untilDead(runPile(pile));
    return pile.length > 0;
  }

  const untilDead = (running) => void running.catch(() => {}); // the foot says that the kernel has died
  return { run: (cell) => untilDead(run(cell)), runNeeded };
}
