// The line above a lesson: how far the student is on the core path, which exercises are solved, and buttons that go on
// and open the menu. All of it is read from the notebook, and so survives a restart: cells keep their numbers
// and guesses, and outputs of checks carry the state of their exercises (lesson/outputs.py).
import { checkedBy, hasRole } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { addAddress } from "./address.js";
import { progressOf, stepsOf } from "./steps.js";

const CHECK = "mha_check"; // in the metadata of an output
const DELAY = 200; // ms, in which several changes are drawn at once

export async function showProgress(seat, openMenu, seats) {
  const { load, panel, original, walk, words } = seat;
  const { Widget } = await load("@lumino/widgets");
  const { content: notebook } = panel;
  const { model } = notebook;
  const steps = stepsOf(original.cells);
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
    const { exercises, solved } = exercisesOf([...model.cells]);
    const minutes = Math.ceil(left.reduce((sum, step) => sum + step.minutes, 0));
    const done = core.length - left.length;
    const isFresh = core.length && !done;
    const said = [
      core.length && fill(words.steps, { done, steps: core.length }),
      isFresh && words.how_to_go_on,
      minutes && !isFresh && fill(words.minutes, { minutes }),
      exercises && !isFresh && fill(words.exercises, { exercises, solved }),
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
  draw();
}

/** How many exercises the lesson checks, and how many of them are solved. */
function exercisesOf(models) {
  const cells = models.filter((model) => model.type === "code" && !hasRole(model, "solution"));
  const names = new Set(cells.map(checkedBy).filter(Boolean));
  const told = cells
    .flatMap(({ outputs }) => outputs.toJSON().map(({ metadata }) => metadata?.[CHECK]))
    .filter(Boolean);
  // Verdicts kept from earlier sessions come first: one that stands in this notebook is newer, and wins.
  const states = Object.assign({}, ...told.map(({ report }) => report));
  for (const { exercise, state } of told) if (exercise) states[exercise] = state;
  return { exercises: names.size, solved: [...names].filter((name) => states[name] === "solved").length };
}
