// Turns the deck. Whatever turns it calls one of these functions, and the deck has turned when they return: a key
// that comes a moment later finds it there. Reveal itself gets no keys and does not follow the page's address.
//
// The core path is what a clicker walks: all steps of a slide, then the next slide that is not optional. The
// arrows walk the columns: a slide with the slides below it, most of which are optional.
import { isBelow, scrollOn } from "./long.js";
import { isCore, LIT, nextCore, reveal, sections, shownSection } from "./stage.js";
import { finish, isTaken, light, stepsOf } from "./steps.js";

/** Take from Reveal what would turn the deck, or move the focus, later and by itself. */
export function takeOver() {
  reveal("configure", {
    keyboard: false,
    history: false,
    respondToHashChanges: false,
    focusBodyOnPageVisibilityChange: false,
  });
}

export function goTo(section) {
  if (!section) return;
  if (document.querySelector(".reveal.paused")) reveal("togglePause"); // the screen was black
  const [, column, row] = section.id.split("-").map(Number); // such as slide-3-0
  reveal("slide", column, row);
}

const nextStep = () => stepsOf(shownSection()).find((one) => !isTaken(one));

/** Show the next step of the slide, or what of a long slide stands before it; false where nothing is left. */
function stepOn() {
  const step = nextStep();
  if ((!step || isBelow(step[0])) && scrollOn(1)) return true;
  if (step) take(step, "nextFragment", 0);
  return Boolean(step);
}

function stepBack() {
  if (scrollOn(-1)) return true;
  const step = stepsOf(shownSection()).findLast(isTaken);
  if (step) take(step, "prevFragment", -1);
  return Boolean(step);
}

function take([part, number], fragment, back) {
  if (!number) reveal(fragment);
  else {
    light(part, number + back);
    document.dispatchEvent(new Event(LIT));
  }
}

/** Show the next step after a cell has run: whoever runs the code is done with its lines. */
export function stepPastLines() {
  const seen = shownSection().querySelectorAll("[data-highlight]:not(.fragment:not(.visible) *)");
  for (const cell of seen) finish(cell);
  document.dispatchEvent(new Event(LIT));
  const step = nextStep();
  if (step) take(step, "nextFragment", 0);
}

const seen = () => sections().slice(0, sections().indexOf(shownSection()));

export const goOn = () => stepOn() || goTo(nextCore(shownSection()));
export const goBack = () => stepBack() || goTo(seen().findLast(isCore));

/** The slide so many columns and rows further; a column is entered at its top. */
function neighbour(columns, rows) {
  const [, column, row] = shownSection().id.split("-").map(Number);
  return document.getElementById(`slide-${column + columns}-${columns ? 0 : row + rows}`);
}

export const goRight = () => stepOn() || goTo(neighbour(1, 0));
export const goLeft = () => stepBack() || goTo(neighbour(-1, 0));
export const goDown = () => stepOn() || goTo(neighbour(0, 1));
export const goUp = () => stepBack() || goTo(neighbour(0, -1));
export const goHome = () => goTo(sections()[0]);
export const goToEnd = () => goTo(sections().findLast(isCore));
