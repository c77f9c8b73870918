// The line above a lesson: how much of its core path has run, how long the rest takes, which exercises are solved, and
// a button that shows the optional parts. All of it is read from the notebook, and so survives a restart: cells keep
// their numbers, and outputs of checks carry the state of their exercises (lesson/outputs.py).
import { checkedBy, hasRole } from "../deck/static/grammar.js";
import { coreMinutes, readSlides } from "../deck/static/slides.js";
import { fill } from "../deck/static/words.js";
import { SHOW_OPTIONAL } from "./commands.js";
import { hasFolded } from "./optional.js";

const CHECK = "mha_check"; // in the metadata of an output
const DELAY = 200; // ms, in which several changes are drawn at once

export async function showProgress({ app, load, panel, original, words }) {
  const { Widget } = await load("@lumino/widgets");
  const { content: notebook } = panel;
  const { model } = notebook;
  const parts = partsOf((await original.cells) ?? model.toJSON().cells);
  const line = new Widget();
  line.addClass("mha-progress");
  panel.contentHeader.addWidget(line);

  function show(id) {
    const index = [...model.cells].findIndex((cell) => cell.id === id);
    notebook.activeCellIndex = index;
    notebook.scrollToItem(index, "start");
  }

  // A button that is replaced while the mouse is down gets no click, and one that has the focus loses it: so all
  // elements stay, and are hidden where they have nothing to say.
  const sentences = [0, 1, 2].map(() => line.node.appendChild(document.createElement("span")));
  const goOn = addButton(words.go_on, () => show(here.first));
  const showAll = addButton(words.show_optional, () =>
    app.commands.execute(SHOW_OPTIONAL, { panel: panel.id }),
  );
  let here; // the part that is next

  function draw() {
    const cells = [...model.cells];
    const left = parts.filter(({ code }) =>
      cells.some((cell) => code.has(cell.id) && cell.executionCount === null),
    );
    here = left.find(({ first }) => cells.some(({ id }) => id === first));
    for (const [index, text] of sentencesOf(parts, left, cells, words).entries())
      Object.assign(sentences[index], { textContent: text, title: text, hidden: !text });
    goOn.hidden = !here;
    showAll.hidden = !hasFolded(model);
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

/** The three sentences; an empty text for one that has nothing to say. */
function sentencesOf(parts, left, cells, words) {
  const { exercises, solved } = exercisesOf(cells);
  const gaps = { parts: parts.length, done: parts.length - left.length, exercises, solved };
  const minutes = Math.ceil(left.reduce((sum, part) => sum + part.minutes, 0));
  return [
    parts.length ? fill(words.parts, gaps) : "",
    minutes ? fill(words.minutes, { minutes }) : "",
    exercises ? fill(words.exercises, gaps) : "",
  ];
}

/**
 * The core path, cut into parts that end with a slide that has code to run. No parts where no notes tell the
 * minutes: then they do not tell either which slides are optional.
 */
function partsOf(cells) {
  const parts = [];
  let slides = [];
  for (const slide of readSlides(cells).filter(({ isOptional }) => !isOptional)) {
    slides.push(slide);
    const code = slide.cells.filter(isToRun).map(({ id }) => id);
    if (!code.length) continue;
    parts.push({ first: slides[0].cells[0]?.id, code: new Set(code), minutes: coreMinutes(slides) });
    slides = [];
  }
  if (parts.length) parts.at(-1).minutes += coreMinutes(slides);
  return parts.some(({ minutes }) => minutes) ? parts : [];
}

/** Whether a student runs this cell: others run by the button for the setup, or are for instructors. */
const isToRun = (cell) => cell.cell_type === "code" && !hasRole(cell, "setup", "solution");

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
