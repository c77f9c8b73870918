// Who has the keys. A control that was moved with the mouse does not keep them: after a click or a drag they
// are the deck's again, but where one types. With the keyboard, Escape leaves whatever has them.
import { EDITORS } from "./keys.js";

const WIDGET = ".jp-OutputArea-output";
const MODIFIERS = ["Shift", "Control", "Alt", "Meta"];

/** Called before the deck listens to keys. */
export function returnFocus(notebook) {
  const toDeck = () => notebook.node.focus({ preventScroll: true });
  let isPointed = false; // the last thing done was done with the mouse, a finger or a pen
  let isLeft = false; // Escape was pressed in a widget, and the focus has yet to move

  const isInWidget = ({ target }) => target.closest?.(WIDGET);
  const isForControl = ({ target }) =>
    target.closest?.(`${WIDGET}, summary, button`) && !target.closest(EDITORS);
  const leave = () => {
    isLeft = false;
    toDeck();
  };

  window.addEventListener(
    "pointerdown",
    () => {
      isPointed = true;
    },
    true,
  );
  window.addEventListener("change", ({ target }) => isPointed && target.closest("select") && toDeck(), true);
  window.addEventListener(
    "keydown",
    (event) => {
      if (MODIFIERS.includes(event.key)) return;
      // Seen on its way down, for a widget may keep its keys from going up. It has Escape first, and so the
      // focus moves when the key is let go; the next key may come before.
      if (event.key === "Escape" && isInWidget(event)) isLeft = true;
      else if ((isLeft && isInWidget(event)) || (isPointed && isForControl(event))) {
        leave();
        event.preventDefault();
        event.stopImmediatePropagation();
        notebook.node.dispatchEvent(new KeyboardEvent("keydown", event));
      }
      isPointed = false;
    },
    true,
  );
  window.addEventListener("keyup", ({ key }) => key === "Escape" && isLeft && leave(), true);
}
