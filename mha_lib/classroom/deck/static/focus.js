// Who has the keys. A widget that was moved with the mouse does not keep them: after a click or a drag they are
// the deck's again, but where one types. With the keyboard, Escape leaves whatever has them.
import { EDITORS } from "./keys.js";

const WIDGET = ".jp-OutputArea-output";

export function returnFocus(notebook) {
  const toDeck = () => notebook.node.focus({ preventScroll: true });
  let isPointed = false; // the last thing done was done with the mouse, a finger or a pen
  const note = (value) => () => {
    isPointed = value;
  };
  const release = () => {
    const { activeElement } = document;
    const isControl = activeElement?.closest(`${WIDGET}, summary, button`);
    if (isControl && !activeElement.closest(EDITORS)) toDeck();
  };
  window.addEventListener("pointerdown", note(true), true);
  window.addEventListener("keydown", note(false), true);
  // The control itself acts first, at the click that comes with the pointer's release.
  for (const end of ["pointerup", "pointercancel"])
    window.addEventListener(end, () => setTimeout(release), true);
  window.addEventListener("change", ({ target }) => isPointed && target.closest("select") && toDeck(), true);

  // Listened to on its way down, for a widget may keep its keys from going up.
  window.addEventListener(
    "keydown",
    ({ key, target }) => key === "Escape" && target.closest?.(WIDGET) && setTimeout(toDeck),
    true,
  );
}
