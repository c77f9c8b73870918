// The line above a lesson: how far the student is on the core path, how many exercises are solved, and buttons that go
// on and open the menu. Cells keep their numbers and guesses in the notebook; what is solved stands in the file beside
// it (exercises/progress.py). So all of it survives a restart.
import { checkedBy, hasRole } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { addAddress } from "./address.js";
import { progressOf, stepsOf } from "./lesson_steps.js";

const FILE = "progress.jsonl";
const DELAY = 200; // ms, in which several changes are drawn at once

export async function showProgress(seat, openMenu, seats) {
  const { app, load, panel, original, walk, words } = seat;
  const { Widget } = await load("@lumino/widgets");
  const { content: notebook } = panel;
  const { model } = notebook;
  const steps = stepsOf(original.cells);
  const checked = original.cells.filter((cell) => !hasRole(cell, "solution")).map(checkedBy);
  const exercises = new Set(checked.filter(Boolean));
  let solved = 0;
  const line = new Widget();
  line.addClass("mha-progress");
  panel.contentHeader.addWidget(line);

  /** Go to the first step that is left; from there, and from the steps after it, to the next one. */
  function goOn() {
    const { core, here } = progressOf(steps, model.cells);
    const active = notebook.activeCell?.model.id;
    const now = core.findIndex(({ cells }) => cells.some(({ id }) => id === active));
    const next = now < core.indexOf(here) ? here : (core[now + 1] ?? here ?? core[0]);
    const cell = notebook.widgets.find((each) => each.model.id === next.first);
    walk.goTo(cell);
    notebook.scrollToItem(notebook.activeCellIndex, "start");
  }

  // A button that is replaced while the mouse is down gets no click, and one that has the focus loses it: so all
  // elements stay, and are hidden where they have nothing to say.
  const sentences = [0, 1, 2, 3].map(() => line.node.appendChild(document.createElement("span")));
  const goingOn = addButton(words.go_on, goOn);

  const menu = addButton(words.menu, () => openMenu(seat, menu));
  menu.ariaHasPopup = "menu";
  await addAddress({ seat, seats, line: line.node });

  function draw() {
    const { core, left } = progressOf(steps, model.cells);
    const minutes = Math.ceil(left.reduce((sum, step) => sum + step.minutes, 0));
    const done = core.length - left.length;
    const isFresh = core.length && !done;
    const said = [
      core.length && fill(words.steps, { done, steps: core.length }),
      isFresh && words.how_to_go_on,
      minutes && !isFresh && fill(words.minutes, { minutes }),
      exercises.size && !isFresh && fill(words.exercises, { exercises: exercises.size, solved }),
    ];
    for (const [index, text] of said.entries())
      Object.assign(sentences[index], { textContent: text || "", title: text || "", hidden: !text });
    sentences[0].title = words.steps_hint;
    goingOn.hidden = !core.length;
  }

  function addButton(label, act) {
    const button = line.node.appendChild(document.createElement("button"));
    button.textContent = label;
    button.addEventListener("click", act);
    return button;
  }

  let waiting;
  model.contentChanged.connect(() => {
    clearTimeout(waiting);
    waiting = setTimeout(draw, DELAY);
  });
  async function count() {
    const found = await solvedBeside(panel.context.path, app.serviceManager.contents).catch(() => []);
    solved = [...exercises].filter((name) => found.includes(name)).length;
    draw();
  }
  let counting = count();
  panel.sessionContext.statusChanged.connect((_, status) => {
    if (status === "idle") counting = counting.then(count);
  });
  await counting;
}

/** The names of the exercises that were ever solved in the folder of a lesson. */
async function solvedBeside(path, contents) {
  const { content: files } = await contents.get(path.replace(/\/?[^/]*$/, ""));
  const file = files.find(({ name }) => name === FILE); // there is none before the first check
  if (!file) return [];
  const asBytes = { type: "file", format: "base64", content: true }; // one that is damaged is no text
  const { content } = await contents.get(file.path, asBytes);
  const verdicts = atob(content).split("\n").map(verdictIn);
  return verdicts.filter((verdict) => verdict?.state === "solved").map(({ exercise }) => exercise);
}

function verdictIn(line) {
  try {
    return JSON.parse(line);
  } catch {
    return null; // an empty line, or a damaged one
  }
}
