// The line above a lesson: how far the student is on the core path, how many exercises are solved, and buttons that go
// on and open the menu. Cells keep their numbers and guesses in the notebook; what is solved stands in the file beside
// it (exercises/progress.py). So all of it survives a restart.
import { checkedBy, hasRole, stepOf } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { addAddress } from "./address.js";
import { progressOf, stepsOf } from "./lesson_steps.js";

const FILE = "progress.jsonl";
const DELAY = 200; // ms, in which several changes are drawn at once

export async function showProgress(seat, openMenu, seats) {
  const { app, load, panel, original, words } = seat;
  const { Widget } = await load("@lumino/widgets");
  const { content: notebook } = panel;
  const { model } = notebook;
  const steps = stepsOf(original.cells);
  const checked = original.cells.filter((cell) => !hasRole(cell, "solution")).map(checkedBy);
  const exercises = new Set(checked.filter(Boolean));
  let solved = 0;
  const line = addLine(panel, new Widget());
  const progress = () => progressOf(steps, original.find(model.cells));

  // A button that is replaced while the mouse is down gets no click, and one that has the focus loses it: so all
  // elements stay, and are hidden where they have nothing to say.
  const sentences = [0, 1, 2, 3].map(() => line.appendChild(document.createElement("span")));
  const goingOn = addButton(words.go_on, () => goOn(seat, progress()));
  goingOn.title = words.go_on_hint;

  const menu = addButton(words.menu, () => openMenu(seat, menu));
  menu.ariaHasPopup = "menu";
  await addAddress({ seat, seats, line });

  function draw() {
    const { core, left } = progress();
    const minutes = Math.ceil(left.reduce((sum, step) => sum + step.minutes, 0));
    const done = core.length - left.length;
    const isFresh = core.length && !done;
    const said = [
      core.length && fill(words.steps, { done, steps: core.length }),
      isFresh && words.how_to_go_on, // has no room where the window is narrow; the button has it as its title
      minutes && !isFresh && fill(words.minutes, { minutes }),
      exercises.size && !isFresh && fill(words.exercises, { exercises: exercises.size, solved }),
    ];
    for (const [index, text] of said.entries())
      Object.assign(sentences[index], { textContent: text || "", title: text || "", hidden: !text });
    sentences[0].title = words.steps_hint;
    goingOn.hidden = !core.length;
    numberTitles(notebook);
  }

  function addButton(label, act) {
    const button = line.appendChild(document.createElement("button"));
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

/** Add the line to the panel, as a part of the header. */
function addLine({ contentHeader }, header) {
  header.addClass("mha-header");
  const line = header.node.appendChild(document.createElement("div"));
  line.className = "mha-progress";
  contentHeader.addWidget(header);
  // JupyterLab gives a header no other height than its least one, and the line has two rows where the window is narrow.
  new ResizeObserver(() => {
    header.node.style.minHeight = `${line.offsetHeight}px`;
    header.fit();
    contentHeader.fit();
  }).observe(line);
  return line;
}

/**
 * Do what Shift+Enter does. Where a student comes back, and at the end, go to the first step that is left; what was
 * deleted of it comes back.
 */
function goOn({ panel: { content: notebook }, original, walk }, { core, left, here }) {
  const isBack = notebook.activeCellIndex === 0 && left.length < core.length;
  if (!here || (walk.next && !isBack)) return walk.step();
  const { model } = notebook;
  original.putBack(model, (cell) => here.cells.includes(cell));
  const first = original.find(model.cells).get(here.first);
  walk.goTo(notebook.widgets.find((each) => each.model === first));
  return notebook.scrollToItem(notebook.activeCellIndex, "start");
}

/** Let each step have its number, small at its title. */
function numberTitles({ widgets }) {
  for (const { node, model } of widgets) {
    const { address } = stepOf(model) ?? {};
    if (address) node.style.setProperty("--mha-step", `"${address}"`);
  }
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
