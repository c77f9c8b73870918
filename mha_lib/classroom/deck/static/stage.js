// What the page shows: RISE makes each slide a section inside a section, in the order of the lesson.

export const sections = () => [...document.querySelectorAll(".slides > section > section")];

export const shownSection = () => document.querySelector(".slides > .present > .present");

/** The number of the slide that holds the node; the first slide is 1, and 0 stands for none. */
export const numberOf = (node) => sections().findIndex((section) => section.contains(node)) + 1;

/** What the foot calls the slide that holds the node; places.js explains it. */
export const placeOf = (node) => node.closest("[data-place]")?.dataset.place;

/** A copy of the slide's heading, with its formulas and without the link to itself; null where it has none. */
export function headingOf(section) {
  const heading = section.querySelector(":is(h1, h2, h3):not(aside *)")?.cloneNode(true);
  for (const link of heading?.querySelectorAll(".jp-InternalAnchorLink") ?? []) link.remove();
  return heading ?? null;
}

/** Ask Reveal for what its users know, such as "down" or "togglePause": RISE keeps it to itself, and it
 *  listens to messages. */
export const reveal = (method, ...args) =>
  window.postMessage(JSON.stringify({ method, args }), window.location.origin);

export function goTo(section) {
  const [, column, row] = section.id.split("-").map(Number); // such as slide-3-0
  reveal("slide", column, row);
}
