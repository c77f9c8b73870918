// Which lines of a cell's code are lit one after the other: "1|3-4|6" under `highlight` in its metadata, which
// docs/en/write.md explains. tests/classroom/lesson/highlights.json lists what it reads. And which cells hold a figure
// in steps (jupyter/shared/figures.js).
import { sections, shownSection } from "./stage.js";
import { finish, light, passCells } from "./steps.js";

const LINES = /^([0-9]+)(?:-([0-9]+))?$/;

/** The lines of each step; none where the text is not of that form or names lines that are not there. */
export function readHighlight(text, count) {
  if (typeof text !== "string") return [];
  const steps = text.split("|").map((step) => step.split(",").flatMap(readLines));
  return steps.flat().every((line) => line >= 1 && line <= count) ? steps : [];
}

function readLines(text) {
  const [, first, last = first] = LINES.exec(text)?.map((found) => found && Number(found)) ?? [];
  return first <= last ? Array.from({ length: last - first + 1 }, (_, index) => first + index) : [NaN];
}

/** Write on each cell its steps: through a figure, or through its code, for as long as that came with the lesson. */
export function markSteps(notebook) {
  let most = 0;
  for (const { model, node } of notebook.widgets) {
    const drawn = model.getMetadata("steps");
    if (drawn > 1) node.dataset.steps = drawn;
    const came = model.sharedModel.getSource();
    const steps = readHighlight(model.getMetadata("highlight"), came.split("\n").length);
    if (model.type !== "code" || !steps.length) continue;
    most = Math.max(most, ...steps.flat());
    const highlight = steps.map((lines) => lines.join(" ")).join("|");
    const mark = () => {
      if (model.sharedModel.getSource() === came) node.dataset.highlight = highlight;
      else if (node.dataset.highlight) {
        finish(node);
        delete node.dataset.highlight;
      }
    };
    mark();
    model.contentChanged.connect(mark);
  }
  if (most) adoptRules(most);
  document.addEventListener("slidechanged", followSlides);
  document.addEventListener("load", keepStep, true);
  followSlides();
}

/** As Reveal does with fragments: a slide that was passed shows all its steps, one that comes none. */
function followSlides() {
  const shown = sections().indexOf(shownSection());
  for (const [place, section] of sections().entries()) if (place !== shown) passCells(section, place < shown);
}

/** JupyterLab gives a figure its address late, and again where its cell is drawn anew. */
function keepStep({ target }) {
  const figure = target.closest?.(".reveal [data-steps]");
  if (figure) light(figure, Number(figure.dataset.taken ?? 0));
}

/** Rules for lines by their number, for CodeMirror draws its lines anew as it likes. */
function adoptRules(most) {
  const lit = Array.from({ length: most }, (_, index) => index + 1)
    .map((line) => `[data-lit~="${line}"] .cm-line:nth-child(${line})`)
    .join();
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`[data-lit] .cm-line { opacity: 0.3; } ${lit} { opacity: 1; }`);
  document.adoptedStyleSheets.push(sheet);
}
