// Answers pointer and keys in the explorer: they point at cells, and open and leave heads.
import { clamp } from "./decode.js";
import { isOwnKey, leave } from "./own_keys.js";

const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

/** A mouse shows the cell below it, and a click enlarges the head. A finger hides the cell below it: the
 * first tap shows the cell and keeps it, the second tap enlarges. */
export function answerPointer(view) {
  const { overlay, root } = view;
  const isTouch = ({ pointerType }) => pointerType === "touch";
  const follow = (event) => isTouch(event) || view.aim(cellUnder(view, event));
  overlay.onpointerdown = follow;
  overlay.onpointermove = follow;
  overlay.onpointerout = (event) => isTouch(event) || view.aim(null);
  overlay.onclick = (event) => answerClick(view, cellUnder(view, event));
  const note = ({ pointerType }) => Object.assign(view, { pointer: pointerType });
  root.addEventListener("pointerdown", note, true);
}

function answerClick(view, cell) {
  const { pointed, drawing } = view;
  if (drawing.overview) return view.openHead(cell.head);
  const isNear = (axis, size) => Math.abs(cell[axis] - pointed[axis]) * size <= drawing.em;
  const isAgain =
    pointed?.head === cell.head && isNear("query", drawing.cellHeight) && isNear("key", drawing.cellWidth);
  if (view.pointer === "touch" && !isAgain) view.aim(cell);
  else view.toggle(cell.head);
}

export function answerKeys(view) {
  const { overlay, root } = view;
  overlay.onkeydown = (event) => answerKey(view, event);
  root.onkeydown = (event) => {
    view.pointer = "";
    if (event.key === "Escape") answerEscape(view, event);
    else if (isOwnKey(event)) {
      event.stopPropagation(); // it must not turn the slide
      answerViewKey(view, event);
    }
  };
}

function answerKey(view, event) {
  const head = Number(event.target.dataset.head);
  const isToEnlarge = ["Enter", " "].includes(event.key) && isOwnKey(event);
  if (isToEnlarge) view.toggle(head);
  const step = STEPS[event.key];
  if (isToEnlarge || step) event.preventDefault(); // it must not scroll
  if (!step) return;
  const [down, right] = step;
  const { overview, across, heads } = view.drawing;
  if (overview) {
    const index = heads.indexOf(head) + down * across + right;
    return view.overlay.children[index]?.focus();
  }
  const { query, key } = view.pointed?.head === head ? view.pointed : { query: -1, key: -1 };
  view.aim(nearestCell(view, head, query + down, key + right));
}

const HAVE_SPACE = "button, select, summary, input:not([type=range]), [role=application]";

/** V changes between the map and the arcs; Space takes a step of the arcs, and with Shift takes it back. */
function answerViewKey({ arcs }, event) {
  const { key, shiftKey, target } = event;
  if (target.type === "text") return;
  if (key.toLowerCase() === "v") arcs.toggle();
  else if (key === " " && arcs.isOn && !target.matches(HAVE_SPACE)) {
    event.preventDefault(); // it must not scroll
    arcs.goTo(arcs.step + (shiftKey ? -1 : 1));
  }
}

/** Return to all heads; if all are on show already, leave, and let the page have the key too. */
function answerEscape(view, event) {
  if (!view.canGoBack()) return leave(view.root);
  event.stopPropagation();
  view.goBack();
}

function cellUnder(view, { target, offsetX, offsetY }) {
  const { cellWidth, cellHeight } = view.drawing;
  return nearestCell(view, Number(target.dataset.head), offsetY / cellHeight, offsetX / cellWidth);
}

function nearestCell(view, head, row, column) {
  const query = clamp(Math.floor(row), 0, view.drawing.queries - 1);
  const key = clamp(Math.floor(column), 0, view.drawing.keys - 1);
  return { head, query, key };
}
