// The seat of a student: what JupyterLab gets for a lesson. Each part has a file of its own; this one puts them
// together. A notebook is a lesson if it says so and is trusted, also when it was renamed, copied or moved.

import { markKept } from "../shared/earlier_outputs.js";
import { addSlider } from "../shared/figures.js";
import { formulaColours } from "../shared/formulas.js";
import { identityOf } from "../shared/grammar.js";
import { passKernelNames } from "../shared/jupyterlab.js";
import { queueSaves } from "../shared/saves.js";
import { carriedBy, lineOfWithheld, unfoldCode } from "../shared/withheld.js";
import { readWords } from "../shared/words.js";
import { addCommands } from "./commands.js";
import { explainOutputs } from "./explain.js";
import { askForGuesses } from "./guesses.js";
import { watchMoments } from "./moments.js";
import { Original } from "./original.js";
import { showProgress } from "./progress.js";
import { Setup } from "./setup.js";
import { Walk } from "./walk.js";

export default async function prepareSeat(app, load) {
  const seats = new Set(); // one for each open lesson: {panel, words, original, setup, walk}
  const { addButton, openMenu } = await addCommands({ app, load, seats });
  const [palette, own] = await Promise.all(["../look.css", "seat.css"].map(readSheet));
  document.adoptedStyleSheets.push(own, formulaColours(palette, ".jp-Notebook.mha-lesson"));

  async function open(panel) {
    const { context, content: notebook } = panel;
    passKernelNames(context);
    await context.ready;
    if (panel.isDisposed) return;
    const identity = identityOf(notebook.model);
    const { words } = await readWords(identity?.language, carriedBy(notebook.model).words, notebook.node);
    const line = lineOfWithheld({ app, load, panel, words: words.withheld });
    if (line) {
      const { Widget } = await load("@lumino/widgets");
      panel.contentHeader.addWidget(new Widget({ node: line }));
      unfoldCode(notebook);
    }
    if (!identity || line) return;
    queueSaves(context);
    const original = new Original(notebook.model);
    const setup = new Setup({ load, panel, words, original });
    const seat = { app, load, panel, words: words.seat, original, setup };
    seat.guesses = askForGuesses(seat, (cell) => seat.walk.show(cell));
    seat.walk = new Walk(seat);
    notebook.addClass("mha-lesson");
    offerSteps(seat);
    seats.add(seat);
    panel.disposed.connect(() => seats.delete(seat));
    addButton(seat);
    explainOutputs(seat);
    watchMoments(seat);
    markKept(panel, words.seat.kept).catch(() => {}); // the kernel is gone
    await showProgress(seat, openMenu, seats);
    panel.node.dataset.seat = "ready";
  }

  app.docRegistry.addWidgetExtension("Notebook", { createNew: (panel) => void open(panel) });
}

/** Put a slider below each figure in steps, whenever JupyterLab has drawn it. */
function offerSteps({ panel: { content: notebook }, words }) {
  const offer = (image) => {
    const cell = notebook.widgets.find(({ node }) => node.contains(image));
    const steps = cell?.model.getMetadata("steps");
    if (steps && !image.parentElement.querySelector(".figure-steps"))
      addSlider(image, steps, words.figure_steps);
  };
  for (const image of notebook.node.querySelectorAll("img")) offer(image);
  notebook.node.addEventListener("load", ({ target }) => offer(target), true);
}

async function readSheet(name) {
  const answer = await fetch(new URL(name, import.meta.url));
  return new CSSStyleSheet().replace(await answer.text());
}
