// Whose a key is that is pressed in the explorer: its own, or the page's.

const EDITING = /^(Arrow\w+|Home|End|Backspace|Delete|[acvxyz])$/i; // with Ctrl or Cmd, in a text box
const isText = ({ type }) => type === "text";

/** Whether the explorer keeps a key. What a key without Ctrl would do to a notebook, such as cutting a cell, is
 * never meant here; save, run, interrupt and the other shortcuts are Jupyter's as everywhere else. */
export function isOwnKey({ target, key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey) return isText(target) && (EDITING.test(key) || altKey);
  const isToRun = key === "Enter" && shiftKey;
  return !(isToRun || key === "Escape" || /^F\d+$/.test(key));
}

/** JupyterLab takes a key before the explorer does, unless the element that has the focus carries this mark:
 * in command mode its shortcuts are those of whatever has the focus in a notebook. */
export function hideOwnKeys(root, signal) {
  const mark = (event) => {
    if (!root.contains(event.target)) return;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", isOwnKey(event));
  };
  addEventListener("keydown", mark, { capture: true, signal });
}

/** In a deck the mouse leaves nothing behind that takes the keys: they turn the slides again. An open list and
 * a text box are still waiting for keys. */
export function letGo({ type, target }, root) {
  const isWaiting = isText(target) || (target.matches("select, option") && type === "click");
  const { activeElement } = document;
  if (root.closest(".reveal") && root.contains(activeElement) && !isWaiting) activeElement.blur();
}

/** Hand the focus to what is around the explorer. */
export function leave(root) {
  document.activeElement.blur();
  root.parentElement.closest("[tabindex]")?.focus();
}
