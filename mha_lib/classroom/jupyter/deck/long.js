// Slides that are longer than the screen: their words become smaller, down to a limit, and what is too long even so
// scrolls. A key that goes on scrolls first, and turns when the end of the slide is seen.
import { shownSection } from "./stage.js";

const CELLS = ":scope > .jp-Cell:not(.reveal-skip), :scope > .fragment > .jp-Cell:not(.reveal-skip)";
const SIZES = [1, 0.9, 0.8, 0.7]; // of words: the smallest has letters of 18 u
const EXPLORER = ".mha-explorer";
const HAVE_THEIR_ROOM = `${EXPLORER}, .deck-error`; // they take what is left, and scroll by themselves
export const ASKS = ":not(:has(.fragment.visible))"; // the question stands alone, and large
const ALONE = `:has(> [data-asks])${ASKS}`;
const PAGE = 0.85; // of the screen: what was the last line is then the first

export const cellsOf = (section) => [...section.querySelectorAll(CELLS)];
const paddingBelow = (section) => Number.parseFloat(getComputedStyle(section).paddingBottom);
const bottomOf = (node) => node.getBoundingClientRect().bottom;

/** The place on the page where the room of a slide's cells ends, before it is scrolled. */
export const endOf = (section) => bottomOf(section) - paddingBelow(section) - section.scrollTop;

/** How much of a slide, in pixels, lies below what can be seen. */
function hiddenBelow(section) {
  const counted = cellsOf(section).filter((cell) => !(section.matches(ALONE) && cell.closest(".fragment")));
  const last = Math.max(...counted.map(bottomOf));
  const hidden = Math.ceil(last - endOf(section) - section.scrollTop);
  return hidden > 0.2 * paddingBelow(section) ? hidden : 0; // a little of the padding is free
}

/** The width of the place of a table or a formula; beside a drawing, it has no box of its own. */
const placeOf = (part) =>
  part.closest(".jp-RenderedHTMLCommon, .jp-OutputArea-output")?.clientWidth ||
  part.closest("section").clientWidth;

const isTooWide = (part) => part.offsetWidth > placeOf(part) + 1;
const isWide = (section) => [...section.querySelectorAll("table, mjx-math")].some(isTooWide);

/** Fit a slide by `fit`, with the largest words with which all of it is seen. */
export function shrink(section, fit) {
  const scrolled = section.scrollTop;
  section.scrollTop = 0;
  section.toggleAttribute("data-wide", false);
  const formulas = [...section.querySelectorAll("mjx-math")];
  for (const formula of formulas) formula.style.zoom = "";
  const isTooLarge = () => hiddenBelow(section) > 0 || isWide(section);
  let result;
  for (const size of section.querySelector(HAVE_THEIR_ROOM) ? [1] : SIZES) {
    section.style.setProperty("--shrink", size);
    section.toggleAttribute("data-shrunk", size < 1);
    result = fit();
    if (!isTooLarge()) break;
  }
  section.toggleAttribute("data-wide", isWide(section));
  for (const formula of formulas.filter(isTooWide))
    formula.style.zoom = placeOf(formula) / formula.offsetWidth;
  section.scrollTop = scrolled;
  return result;
}

/** Mark a slide that scrolls, once its errors have their room. */
export function markLong(section) {
  const scrolled = section.scrollTop;
  section.scrollTop = 0;
  section.toggleAttribute("data-long", !section.querySelector(EXPLORER) && hiddenBelow(section) > 0);
  section.scrollTop = scrolled;
}

export const hasMore = (section) => section.hasAttribute("data-long") && hiddenBelow(section) > 0;

export const isBelow = (part) =>
  part.getBoundingClientRect().top > endOf(shownSection()) + shownSection().scrollTop;

/** Scroll the slide that is shown by a page, down (1) or up (-1); false where nothing more is there. */
export function scrollOn(direction) {
  const section = shownSection();
  if (direction > 0 ? !hasMore(section) : !section.scrollTop) return false;
  section.scrollBy(0, direction * PAGE * (section.clientHeight - paddingBelow(section)));
  return true;
}

/** Begin each slide at its top, and tell, whenever that may change, whether more is below. */
export function followScroll(tell) {
  const now = () => tell(hasMore(shownSection()));
  document.addEventListener("slidechanged", () => {
    shownSection().scrollTop = 0;
    now();
  });
  document.addEventListener("scroll", now, true);
  document.addEventListener(FITTED, now);
}

export const FITTED = "slidefitted"; // the deck's own event
