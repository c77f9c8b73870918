// The controls: a labelled input for each entry of the setting, and for other traits of the widget.
import { fill, make } from "./elements.js";

const INPUTS = {
  slider: (texts) => make("input", { type: "range", max: texts.length - 1 }),
  switch: () => make("input", { type: "checkbox" }),
  choice: (texts) => make("select", {}, ...texts.map((text, place) => new Option(text, place))),
  text: () => make("input"),
};

/** A labelled input for a trait of the widget, or for an entry of it; `view.move` gets its new value. */
export function makeInput({ name, kind, texts, trait, at }, view) {
  const { model, words } = view;
  const input = Object.assign(INPUTS[kind](texts), { ariaLabel: name });
  // A slider's value has room for the longest: else the controls could wrap while the slider is dragged.
  const value = make("span");
  value.style.minWidth = `${Math.max(0, ...texts.map((text) => text.length))}ch`;
  const property = kind === "switch" ? "checked" : "value";
  const isEntry = at >= 0;
  const get = () => (isEntry ? model.get(trait)[at] : Number(model.get(trait)));
  const entryMoved = () => model.get(trait).map((old, place) => (place === at ? read() : old));
  const read = () => (kind === "text" ? input.value : Number(input[property]));
  input.oninput = () => view.move(trait, isEntry ? entryMoved() : read(), name);
  const element = make(
    "label",
    { className: trait === "setting" ? "" : trait },
    name,
    input,
    ...(kind === "slider" ? [value] : []),
  );
  const meaning = words[`${trait}_means`];
  if (meaning) input.ariaDescription = element.title = meaning;
  return {
    element,
    at,
    say: () => fill(words.setting, { name, value: texts[get()] ?? get() }),
    show() {
      if (read() !== get()) input[property] = get();
      if (kind === "slider") input.ariaValueText = value.textContent = texts[get()];
    },
  };
}
