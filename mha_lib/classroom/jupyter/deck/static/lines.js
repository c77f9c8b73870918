// Which lines of a cell's code are lit one after the other: "1|3-4|6" under `highlight` in its metadata, which
// docs/en/write.md explains. tests/classroom/lesson/highlights.json lists what it reads.
import { sections, shownSection } from "./stage.js";
import { finishLines, passLines } from "./steps.js";

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

/** Write on each cell the lines of its steps, for as long as its code is the one that came with the lesson. */
export function markLines(notebook) {
  let most = 0;
  for (const { model, node } of notebook.widgets) {
    const came = model.sharedModel.getSource();
    const steps = readHighlight(model.getMetadata("highlight"), came.split("\n").length);
    if (model.type !== "code" || !steps.length) continue;
    most = Math.max(most, ...steps.flat());
    const highlight = steps.map((lines) => lines.join(" ")).join("|");
    const mark = () => {
      if (model.sharedModel.getSource() === came) node.dataset.highlight = highlight;
      else if (node.dataset.highlight) {
        finishLines(node);
        delete node.dataset.highlight;
      }
    };
    mark();
    model.contentChanged.connect(mark);
  }
  if (most) adoptRules(most);
  document.addEventListener("slidechanged", followSlides);
  followSlides();
}

/** As Reveal does with fragments: a slide that was passed shows all its steps, one that comes none. */
function followSlides() {
  const shown = sections().indexOf(shownSection());
  for (const [place, section] of sections().entries()) if (place !== shown) passLines(section, place < shown);
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
