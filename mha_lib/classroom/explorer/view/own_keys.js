// Decides which keys the explorer handles and which go on to the page.

const EDITING = /^(Arrow\w+|Home|End|Backspace|Delete|[acvxyz])$/i; // in a text box, with Ctrl or Cmd
const isText = ({ type }) => type === "text";

/** Whether the explorer keeps a key. A bare key, such as X, must not cut a cell of the notebook; Ctrl+S and the
 * other shortcuts stay Jupyter's, as everywhere else. */
export function isOwnKey({ target, key, ctrlKey, metaKey, altKey, shiftKey }) {
  if (ctrlKey || metaKey || altKey) return isText(target) && (EDITING.test(key) || altKey);
  const isToRun = key === "Enter" && shiftKey;
  return !(isToRun || key === "Escape" || /^F\d+$/.test(key));
}

/** Mark the element under the focus, so that JupyterLab leaves the explorer's keys alone. In command mode it
 * otherwise takes every key in a notebook before the explorer does. */
export function hideOwnKeys(root, signal) {
  const mark = (event) => {
    if (!root.contains(event.target)) return;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", isOwnKey(event));
  };
  addEventListener("keydown", mark, { capture: true, signal });
}

/** Hand the focus to the cell around the explorer. */
export function leave(root) {
  document.activeElement.blur();
  root.parentElement.closest("[tabindex]")?.focus();
}
