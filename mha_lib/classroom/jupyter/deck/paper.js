// The deck on paper: its slides one below the other in the place of the deck, each with all its steps. The
// command `slides` opens a deck in a browser, calls this, and prints the page.

import { fill } from "../shared/words.js";
import { linkTo, pictureOf } from "./picture.js";
import { isCore, sections } from "./stage.js";
import { goTo } from "./turn.js";

const MOMENT = 40; // milliseconds, and two frames: beside other decks, a page may be drawn much later
const PATIENCE = 400; // moments in which a slide that keeps changing may come to rest

/** Turn to each slide, as only a slide that is shown is drawn, and lay all of them out; returns their number. */
export async function layOut(words, cells) {
  const pictures = [];
  const optional = sections().filter((one) => !isCore(one)).length;
  for (const section of sections()) {
    goTo(section);
    dispatchEvent(new Event("resize")); // fits the first slide, too, to which nobody turns
    for (const answer of section.querySelectorAll("details")) answer.open = false;
    await rest(section);
    if (hasHidden(section)) section.dataset.long = "";
    keepCode(section, cells);
    pictures.push(Object.assign(pictureOf(section, document), { inert: false })); // its headings are the outline
    writeCode(pictures.at(-1));
  }
  if (optional) tellOnTitle(pictures[0], fill(words.paper, { pages: pictures.length, optional }));
  const sheet = linkTo("picture.css", document);
  document.head.append(sheet);
  await new Promise((resolve) => sheet.addEventListener("load", resolve));
  document.body.dataset.jpThemeLight = true;
  document.body.classList.add("deck-paper");
  document.body.replaceChildren(...pictures);
  await document.fonts.ready;
  return pictures.length;
}

/** Whether code or an output of a slide scrolls by itself: on paper it goes on. */
const hasHidden = (section) =>
  [...section.querySelectorAll(".jp-InputArea-editor, .jp-Cell-outputArea, .jp-OutputArea-output")].some(
    (part) =>
      part.scrollHeight > part.clientHeight + 1 &&
      getComputedStyle(part).overflowY === "auto" &&
      !part.querySelector(".mha-explorer"),
  );

/** CodeMirror leaves out lines that are far off the screen: on paper such code stands whole, without colours. */
function keepCode(section, cells) {
  for (const { node, model } of cells)
    if (section.contains(node) && node.querySelector(".cm-gap"))
      node.dataset.code = model.sharedModel.getSource();
}

function writeCode(picture) {
  for (const cell of picture.querySelectorAll(".jp-CodeCell[data-code]")) {
    const lines = cell.dataset.code.split("\n").map((text) => text || " ");
    const write = (textContent) =>
      Object.assign(document.createElement("div"), { className: "cm-line", textContent });
    cell.querySelector(".cm-content").replaceChildren(...lines.map(write));
  }
}

function tellOnTitle(picture, textContent) {
  const line = Object.assign(document.createElement("p"), { className: "deck-pages", textContent });
  picture.querySelector("section > section").append(line);
}

const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));

async function wait() {
  await new Promise((resolve) => setTimeout(resolve, MOMENT));
  await frame();
  await frame();
}

/** Wait until everything on the slide is loaded, and the slide looks as it did a moment ago. */
async function rest(section) {
  let before;
  for (let moment = 0; moment < PATIENCE; moment += 1) {
    await wait();
    const look = isLoading(section) ? undefined : lookOf(section);
    if (look && look === before) return;
    before = look;
  }
}

const isLoading = (section) =>
  document.fonts.status === "loading" ||
  [...section.querySelectorAll("img")].some((image) => !image.complete) ||
  /Loading widget|Error displaying widget/.test(section.textContent); // until its stored state is read

const lookOf = (section) =>
  [section.outerHTML, ...[...section.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL())].join();
