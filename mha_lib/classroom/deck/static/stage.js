// What the page shows: RISE makes each slide a section inside a section, in the order of the lesson.

export const sections = () => [...document.querySelectorAll(".slides > section > section")];

export const shownSection = () => document.querySelector(".slides > .present > .present");

/** The number of the slide that holds the node; the first slide is 1, and 0 stands for none. */
export const numberOf = (node) => sections().findIndex((section) => section.contains(node)) + 1;
