// The room that is kept for the output of a cell, so that its code need not move when it comes. The cell's tags
// say what it shows, `room` and `picture` in its metadata how much: mha_lib/classroom/lesson/slides.py explains it.
import { hasRole, shownBy } from "../shared/grammar.js";

const EM = 0.602; // the width of a letter of code
// Lines and columns of a cell without `room`. A cell without any of the tags counts as text until it ran.
const PRINTED = { table: [5, 40], text: [4, 40], check: [1, 97], value: [1, 40] };
const PICTURE = [500, 230]; // pixels
const TABLE = { line: 33, column: 13 }; // heights and widths, in u

/** Write on each code cell what it will show; the copies of a cell, in pictures of its slide, have it too. */
export function markOutputs(notebook) {
  for (const { model, node } of notebook.widgets) {
    const isSilent = hasRole(model, "setup", "exercise");
    node.dataset.shows = shownBy(model).join(" ") || (isSilent ? "nothing" : "");
    node.toggleAttribute("data-asks", hasRole(model, "guess"));
    node.toggleAttribute("data-about-code", hasRole(model, "about_code"));
    for (const name of ["room", "picture"]) {
      const size = model.getMetadata(name);
      if (/^\d+ x \d+$/.test(size)) node.dataset[name] = size;
    }
  }
}

/** As fit.js measures an output that is there: {text, picture, explorer, fixed}. */
export function guessOutput({ dataset: { shows, room, picture } }, hasRun) {
  const isShown = (kind) => shows.split(" ").includes(kind) || (!shows && !hasRun && kind === "text");
  const kind = Object.keys(PRINTED).find(isShown);
  const [lines, columns] = room?.split("x").map(Number) ?? PRINTED[kind] ?? [];
  const [width, height] = picture?.split("x").map(Number) ?? PICTURE;
  return {
    text: kind && kind !== "table" ? Array(lines).fill(columns * EM) : [],
    fixed: kind === "table" ? { width: columns * TABLE.column, height: lines * TABLE.line } : null,
    picture: isShown("picture") ? { width, height } : null,
    explorer: false, // its code is folded away when it comes
  };
}
