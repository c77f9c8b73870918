// A place to write a guess, below the cell that asks for it. What is written stays in the metadata of that cell, and
// goes nowhere else. What the step shows after it waits until the student asks for it.
import { errorOf } from "../shared/cells.js";
import { hasRole, stepOf } from "../shared/grammar.js";

const KEPT = "mha_guess"; // in the cell's metadata: {text, is_open}
const WAITS = "mha-waits"; // the class of a cell whose output, or text, waits

const isCode = ({ model }) => model.type === "code";
export const isOpen = (model) => Boolean(model.getMetadata(KEPT)?.is_open);

/** The cells of the step after the one that asks: up to the next step. */
export function resultOf(notebook, asking) {
  const { widgets } = notebook;
  const after = widgets.slice(widgets.indexOf(asking) + 1);
  const end = after.findIndex(({ model }) => stepOf(model));
  return end < 0 ? after : after.slice(0, end);
}

/** Add the places; `open(cell)` is called when a student asks for the result of the step. */
export function askForGuesses({ panel: { content: notebook }, words }, open) {
  const fields = new WeakMap();

  async function addField(cell) {
    fields.set(cell, make("div", { className: "mha-guess" }));
    await cell.ready;
    const { model } = cell;
    const field = make("textarea", { rows: 1, placeholder: words.your_guess, ariaLabel: words.your_guess });
    field.value = model.getMetadata(KEPT)?.text ?? "";
    const button = make("button", { textContent: words.show_result, title: words.show_result_hint });
    const keep = (change) => model.setMetadata(KEPT, { ...model.getMetadata(KEPT), ...change });
    let isWarned = false; // that the field is empty
    const show = () => {
      keep({ text: field.value, is_open: true });
      open(cell);
    };
    field.addEventListener("input", () => keep({ text: field.value }));
    field.addEventListener("keydown", (event) => {
      if (event.isComposing) return; // Enter ends a Chinese word
      if (event.key === "Escape") notebook.activate();
      else if (event.key !== "Enter") return event.stopPropagation();
      else if (field.value.trim() || isWarned) show();
      else {
        isWarned = true;
        field.placeholder = words.no_guess_yet;
      }
      event.preventDefault();
      event.stopPropagation();
    });
    button.addEventListener("click", show);
    const line = fields.get(cell);
    line.append(field, button);
    cell.node.append(line);
    model.metadataChanged.connect((_, { key }) => key === KEPT && draw());
  }

  /** Hide what waits; errors and exercises never do. */
  function draw() {
    for (const cell of notebook.widgets) {
      const asks = hasRole(cell.model, "guess");
      if (asks && !fields.has(cell)) addField(cell);
      if (!asks) continue;
      cell.toggleClass("mha-asks", !isOpen(cell.model));
      for (const after of resultOf(notebook, cell)) {
        const isSeen = hasRole(after.model, "exercise", "check") || (isCode(after) && errorOf(after));
        after.toggleClass(WAITS, !isOpen(cell.model) && !isSeen);
      }
    }
  }

  notebook.model.contentChanged.connect(draw);
  draw();
  return { focus: (cell) => fields.get(cell)?.firstChild?.focus() };
}

const make = (tag, properties) => Object.assign(document.createElement(tag), properties);
