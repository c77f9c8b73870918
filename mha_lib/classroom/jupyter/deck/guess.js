// The room that is kept for the output of a cell, so that its code need not move when it comes. The cell's tags
// say what it shows, `room` and `picture` in its metadata how much: mha_lib/classroom/lesson/slides.py explains it.
// Below a question the choices of its guess stand, or a line for what the class says: what was chosen or typed stays
// beside the result.
import { hasRole, shownBy } from "../shared/grammar.js";
import { shownSection } from "./stage.js";

const EM = 0.602; // the width of a letter of code
// Lines and columns of a cell without `room`. A cell without any of the tags counts as text until it ran.
const PRINTED = { table: [5, 40], text: [4, 40], check: [1, 97], value: [1, 40] };
const PICTURE = [500, 230]; // pixels
const HINT = 30; // letters of the line that stands for an explorer until its cell has run
const TABLE = { line: 33, column: 13 }; // heights and widths, in u

/** Write on each code cell what it will show; the copies of a cell, in pictures of its slide, have it too. */
export function markOutputs(notebook, words) {
  for (const { model, node } of notebook.widgets) {
    const isSilent = hasRole(model, "setup", "exercise");
    node.dataset.shows = shownBy(model).join(" ") || (isSilent ? "nothing" : "");
    node.toggleAttribute("data-asks", hasRole(model, "guess"));
    node.toggleAttribute("data-about-code", hasRole(model, "about_code"));
    if (hasRole(model, "guess")) node.append(placeForGuess(model.getMetadata("choices"), notebook, words));
    if (hasRole(model, "picture", "explorer", "table")) node.dataset.hint = words.run_hint;
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
    text: kind && kind !== "table" ? Array(lines).fill(columns * EM) : isShown("explorer") ? [HINT * EM] : [],
    fixed: kind === "table" ? { width: columns * TABLE.column, height: lines * TABLE.line } : null,
    picture: isShown("picture") ? { width, height } : null,
    explorer: false, // its code is folded away when it comes
  };
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);

/** The choices of a guess, of which one can be chosen; or, where it has none, a field. */
function placeForGuess(choices, notebook, words) {
  const place = make("div", { className: "deck-guess" });
  const buttons = choices?.map((textContent) => make("button", { textContent, ariaPressed: "false" })) ?? [];
  for (const button of buttons)
    button.onclick = () => choose(buttons, button.ariaPressed === "false" && button);
  place.append(...buttons);
  if (!choices) place.append(fieldFor(notebook, words));
  return place;
}

function fieldFor(notebook, words) {
  const field = make("input", { placeholder: words.class_says, ariaLabel: words.class_says });
  field.oninput = () => field.setAttribute("value", field.value); // so that copies of the slide have it, too
  field.onkeydown = ({ key, isComposing }) => {
    if (["Enter", "Escape"].includes(key) && !isComposing) notebook.node.focus(); // Enter ends a Chinese word, too
  };
  return field;
}

function choose(buttons, chosen) {
  for (const button of buttons) button.ariaPressed = String(button === chosen);
}

/** Choose the next choice on the slide, after the last one none; or go to the field. False where nothing is asked. */
export function takeGuess() {
  const parts = [...shownSection().querySelectorAll(".deck-guess > *")];
  if (parts[0]?.matches("input")) parts[0].focus();
  else choose(parts, parts[parts.findIndex(({ ariaPressed }) => ariaPressed === "true") + 1]);
  return parts.length > 0;
}
