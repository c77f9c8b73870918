/** The list of the deck's keys, over the slide: the rows of keys.js that have a name. */
export function listKeys(dialog, rows, words) {
  const make = (tag, textContent) => Object.assign(document.createElement(tag), { textContent });
  const nameOf = (part) => words.key_names[part] ?? part;
  const labelOf = (keys) => keys.split(/[+ ]/).map(nameOf).join(" "); // "Shift+Enter" as "Shift Enter"
  const lines = rows
    .filter(({ name }) => name)
    .map(({ keys, label, name }) => [make("kbd", labelOf(label ?? keys)), make("span", words.help[name])]);
  dialog.replaceChildren(...lines.flat());
}
