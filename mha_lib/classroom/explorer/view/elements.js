// Elements and sentences, for the explorer and for other widgets.

/** A sentence with its {gaps} filled. */
export const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);

export function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}
