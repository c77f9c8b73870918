// The slides on the page: RISE makes each slide a section inside a section, in the order of the lesson.
import { fill } from "../shared/words.js";
import { countTaken } from "./steps.js";

export const sections = () => [...document.querySelectorAll(".slides > section > section")];

export const shownSection = () => document.querySelector(".slides > .present > .present");

export const isCore = (section) => !section.hasAttribute("data-optional");

export const coreMinutes = (those) =>
  those.filter(isCore).reduce((sum, { dataset }) => sum + Number(dataset.minutes), 0);

export const nextCore = (section) =>
  sections()
    .slice(sections().indexOf(section) + 1)
    .find(isCore);

export const LIT = "lineslit"; // the deck's own event: other lines of a cell's code are lit

/** Listen to every turn of the deck: to another slide, and to another step. */
export function onTurn(act) {
  for (const event of ["slidechanged", "fragmentshown", "fragmenthidden", LIT])
    document.addEventListener(event, act);
}

/** Where the deck stands: the slide, and how many of its steps are shown. */
export const position = () => `${shownSection().id}+${countTaken(shownSection())}`;

/** Where a cell stands, as the foot says it: its slide, which places.js explains. */
export const placeOf = ({ node }, words) =>
  fill(words.place, { slide: node.closest("[data-place]")?.dataset.place });

/** A copy of the slide's heading, with its formulas and without the link to itself; null where it has none. */
export function headingOf(section) {
  const heading = section.querySelector(":is(h1, h2, h3):not(aside *)")?.cloneNode(true);
  for (const link of heading?.querySelectorAll(".jp-InternalAnchorLink") ?? []) link.remove();
  return heading ?? null;
}

/**
 * Call a method of Reveal, such as "slide" or "togglePause". RISE keeps Reveal to itself, but it listens to
 * messages. This one is delivered at once: window.postMessage would deliver it after keys that come later.
 */
export const reveal = (method, ...args) =>
  window.dispatchEvent(new MessageEvent("message", { data: JSON.stringify({ method, args }) }));

/** Open what is folded on the slide, or fold all of it again; false where nothing is. */
export function toggleAnswers() {
  const answers = [...shownSection().querySelectorAll("details")];
  const isFolded = answers.some((answer) => !answer.open);
  for (const answer of answers) answer.open = isFolded;
  return answers.length > 0;
}

/** Change between the map and the arcs of the slide's explorers. */
export function changeView() {
  for (const button of shownSection().querySelectorAll(".mha-explorer .view")) button.click();
}

export function toggleDark() {
  const { dataset } = document.body;
  dataset.jpThemeLight ??= matchMedia("(prefers-color-scheme: light)").matches;
  dataset.jpThemeLight = dataset.jpThemeLight === "false";
}
