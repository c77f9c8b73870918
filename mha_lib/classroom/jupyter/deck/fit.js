// Fits the code, the pictures and the explorers of a slide into its room: the size of their letters, and whether
// an output stands beside its code or below. The slide that is shown is measured and arranged when it comes, when
// the window changes, and when an output comes; then its code may only become smaller, so that it does not jump.
// The room of an output that is not there yet is kept free: guess.js tells it from the tags of the cell.
//
// The cell of an explorer has the height that the explorer may take as --explorer-room, in pixels. Folded code
// (fold.js) takes no room; --over-size are the letters in which it lies over the slide.
import { arrange, sizeOver, sum } from "./arrange.js";
import { fitBeside, putBeside } from "./earlier.js";
import { holdErrors, releaseErrors } from "./errors.js";
import { foldCode } from "./fold.js";
import { guessOutput } from "./guess.js";
import { ASKS, cellsOf, endOf, FITTED, markLong, shrink } from "./long.js";
import { shownSection } from "./stage.js";

const pen = document.createElement("canvas").getContext("2d");

/** The deck's length --u, in pixels of the page that holds the node. */
function unitOf({ ownerDocument: { defaultView } }) {
  return Math.min(defaultView.innerWidth / 1024, defaultView.innerHeight / 720);
}

const pixels = (node, length) => Number.parseFloat(getComputedStyle(node)[length]);
const isCode = (cell) => cell.matches(".jp-CodeCell");
const linesOf = (text) => text.replace(/\s+$/, "").split("\n");

export class Fit {
  #shown = ""; // the slide and the window of the last arrangement
  #largest; // the letters of its code

  constructor({ words }) {
    this.words = words;
    const refit = () => this.fit();
    document.addEventListener("slidechanged", refit);
    document.addEventListener("load", refit, true); // of a picture
    addEventListener("resize", refit);
    new MutationObserver((changes) => {
      if (changes.some(({ target }) => isOfSlide(target))) this.fit();
    }).observe(document.querySelector(".slides"), { childList: true, subtree: true });
    this.sizes = new ResizeObserver(() => requestAnimationFrame(refit));
    this.fit();
  }

  fit() {
    const section = shownSection();
    if (!section?.clientHeight || section.closest(".deck-picture")) return; // on paper it stays as it was laid out
    const shown = `${section.id} ${innerWidth} ${innerHeight} ${section.matches(ASKS)}`;
    if (shown !== this.#shown) {
      this.#shown = shown;
      this.#largest = undefined;
      this.sizes.disconnect();
      for (const cell of cellsOf(section)) this.sizes.observe(cell);
      releaseErrors(section);
      putBeside(section);
    }
    this.#largest = this.fitParts(section, this.#largest);
    document.dispatchEvent(new Event(FITTED));
  }

  /** Fit a slide that has a place on the page, explorers among its parts; returns the letters of its code. */
  fitParts(section, largest) {
    foldCode(codeCellsOf(section), this.words.code);
    const size = fitSlide(section, largest);
    for (const cell of codeCellsOf(section)) offerRoom(cell, section);
    holdErrors(section, (error) => roomBelow(error, section));
    markLong(section);
    return size;
  }
}

/** Arrange a slide that has a place on a page, such as one in the sorter; returns the letters of its code. */
export const fitSlide = (section, largest) => shrink(section, () => fitCells(section, largest));

function fitCells(section, largest) {
  fitBeside(section, endOf(section));
  const cells = codeCellsOf(section);
  const measured = cells.map(measure);
  const room = roomOf(section);
  const { size, places } = arrange(measured, room, largest);
  for (const [index, place] of places.entries())
    apply(cells[index], { ...place, over: sizeOver(measured[index].code, room.width) });
  return size;
}

const codeCellsOf = (section) => cellsOf(section).filter(isCode);

/** Whether a change concerns the layout. Explorers write into themselves too often to fit the slide each time. */
function isOfSlide(node) {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  return Boolean(element?.closest(".present > .present") && !element.closest(".mha-explorer, .cm-layer"));
}

/** The width of a slide's cells, and the height that its cells of text leave to those of code, in u. */
function roomOf(section) {
  const padding = (...sides) => sum(sides.map((side) => pixels(section, `padding${side}`)));
  const outer = (cell) => cell.offsetHeight + pixels(cell, "marginBottom");
  const texts = cellsOf(section).filter((cell) => !isCode(cell));
  const taken = sum(texts.map(outer));
  const u = unitOf(section);
  return {
    width: (section.clientWidth - padding("Left", "Right") - besideIn(section)) / u,
    height: (section.clientHeight - padding("Top", "Bottom") - taken) / u,
    margin: section.clientWidth < 1.5 * section.clientHeight ? 32 : 0, // as deck.css has it
  };
}

const besideIn = (section) => section.querySelector(".deck-earlier")?.offsetWidth ?? 0;

// ---- Measure ------------------------------------------------------------------------------------------

function measure(cell) {
  const editor = cell.querySelector(".cm-content"); // none where the notebook folds the code
  pen.font = `100px ${getComputedStyle(editor ?? cell.querySelector("pre") ?? cell).fontFamily}`;
  const lines = [...(editor?.querySelectorAll(".cm-line") ?? [])].map((line) => line.textContent);
  const code = lines.map((line) => ({ ems: emsOf(line), isBlank: !line.trim() }));
  const isFolded = !editor || "folded" in cell.dataset;
  const prompt = cell.querySelector(".jp-InputPrompt"); // none in a cell that JupyterLab has not drawn yet
  const hasRun = /\d/.test(prompt?.textContent);
  return { code, isFolded, ...(measureOutput(cell) ?? guessOutput(cell, hasRun)) };
}

const emsOf = (line) => pen.measureText(line).width / 100;

/** The size of what a cell shows; null while it has shown nothing. */
function measureOutput(cell) {
  const outputs = [...cell.querySelectorAll(".jp-OutputArea-output")].filter(
    (output) => output.clientHeight && !output.parentElement.closest(".jp-OutputArea-output"),
  );
  if (!outputs.length) return null;
  const explorer = outputs.some((output) => output.querySelector(".mha-explorer"));
  const image = cell.querySelector(".jp-OutputArea-output img");
  const texts = outputs.filter((output) => output.matches(".jp-RenderedText"));
  const text = texts.flatMap(linesOfOutput).map(emsOf);
  const boxes = outputs.filter(
    (output) => !output.matches(".jp-RenderedText, .jp-RenderedImage, .jp-RenderedSVG"),
  );
  const fixed = explorer ? null : boxAround(boxes, image);
  const { naturalWidth: width, naturalHeight: height } = image ?? {};
  return { text, explorer, picture: width ? { width, height } : null, fixed };
}

/** The lines of a printed output. The margins and the button of an error take the room of some more letters. */
function linesOfOutput(output) {
  const lines = [...output.querySelectorAll(":scope > pre")].flatMap((pre) => linesOf(pre.textContent));
  return output.matches(".deck-error") ? [...lines.map((line) => `${line}    `), "", ""] : lines;
}

/** The room that outputs of a fixed size need, such as tables and sliders, without the picture among them. */
function boxAround(boxes, image) {
  if (!boxes.length) return null;
  const u = unitOf(boxes[0]);
  const height = sum(boxes.map((box) => box.offsetHeight)) - (image?.offsetHeight ?? 0);
  const contents = boxes.flatMap((box) => [...box.querySelectorAll("table, .widget-hbox")]);
  const width = Math.max(...contents.map((content) => content.offsetWidth)); // of text: no limit
  return { width: Math.abs(width) / u, height: height / u };
}

// ---- Apply --------------------------------------------------------------------------------------------

function apply(cell, { size, outputSize, side, wraps, picture, over }) {
  const set = (name, value) => {
    const text = value === undefined ? "" : String(Math.floor(value * 100) / 100);
    const change = Math.abs(Number(text) - Number(cell.style.getPropertyValue(name) || 0));
    if (change > (name === "--picture-height" ? 3 : 0)) cell.style.setProperty(name, text);
  };
  set("--code-size", size);
  set("--over-size", over);
  set("--output-size", outputSize);
  set("--picture-height", picture);
  cell.dataset.output = side;
  cell.toggleAttribute("data-wraps", wraps);
}

/** Tell an explorer how high it may be. */
function offerRoom(cell, section) {
  const explorer = cell.querySelector(".mha-explorer");
  if (explorer) cell.style.setProperty("--explorer-room", `${roomBelow(explorer, section)}px`);
}

/** The height from the top of a part of a cell to the foot line, less the cells that follow, in pixels. */
function roomBelow(part, section) {
  const cells = cellsOf(section);
  const gap = 10 * unitOf(part);
  const later = cells.slice(cells.indexOf(part.closest(".jp-Cell")) + 1);
  const after = sum(later.map((next) => next.getBoundingClientRect().height + gap));
  return Math.floor(endOf(section) - part.getBoundingClientRect().top - after);
}
