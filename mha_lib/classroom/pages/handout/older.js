// Browsers of 2022 are served, older ones told: the page marks itself, and its style shows the sentence. This script
// stands alone in the head, in words that any browser reads.
const isServed =
  "at" in Array.prototype &&
  "replaceChildren" in Element.prototype &&
  CSS.supports("selector(:focus-visible)");
if (!isServed) document.documentElement.setAttribute("data-older", "");
// Firefox has had these properties of elements since version 119 only.
for (const name of [
  "role",
  "ariaBusy",
  "ariaCurrent",
  "ariaDescription",
  "ariaExpanded",
  "ariaHidden",
  "ariaLabel",
  "ariaPressed",
  "ariaValueText",
]) {
  const attribute = name.replace("aria", "aria-").toLowerCase();
  const property = {
    get() {
      return this.getAttribute(attribute);
    },
    set(value) {
      if (value === null) this.removeAttribute(attribute);
      else this.setAttribute(attribute, value);
    },
  };
  if (!(name in Element.prototype)) Object.defineProperty(Element.prototype, name, property);
}
