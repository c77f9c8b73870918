// Gives the code, the pictures and the explorers of a slide the room that it has: how large its letters are, and
// whether an output stands beside its code or below. The slide that is shown is measured and arranged when it
// comes, when the window changes, and when an output comes; then its code may only become smaller, so that it
// does not jump. An output that is not there yet is guessed from the code (guess.js), and its room kept free.
//
// An explorer finds the height that it may take as --explorer-room, in pixels, on the cell that shows it. Its
// code is folded away once it is there: a button at the head of the slide shows it again.
import { arrange } from "./arrange.js";
import { guessOutput } from "./guess.js";
import { shownSection } from "./stage.js";

const CELLS = ":scope > .jp-Cell:not(.reveal-skip), :scope > .fragment > .jp-Cell:not(.reveal-skip)";
const pen = document.createElement("canvas").getContext("2d");

const unit = () => Math.min(innerWidth / 1280, innerHeight / 720);
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
    if (!section?.clientHeight || section.closest(".overview")) return;
    const cells = [...section.querySelectorAll(CELLS)];
    const codeCells = cells.filter(isCode);
    const shown = `${section.id} ${innerWidth} ${innerHeight}`;
    if (shown !== this.#shown) this.#arrive(shown, cells);
    for (const cell of codeCells) offerFold(cell, this.words);
    const room = roomOf(section, cells);
    const { size, places } = arrange(codeCells.map(measure), room, this.#largest);
    this.#largest = size;
    for (const [index, place] of places.entries()) apply(codeCells[index], place);
    for (const cell of codeCells) offerRoom(cell, cells, section);
  }

  #arrive(shown, cells) {
    this.#shown = shown;
    this.#largest = undefined;
    this.sizes.disconnect();
    for (const cell of cells) this.sizes.observe(cell);
  }
}

/** Not what an explorer writes into itself: it is asked too often. */
function isOfSlide(node) {
  const element = node.nodeType === Node.ELEMENT_NODE ? node : node.parentElement;
  return Boolean(element?.closest(".present > .present") && !element.closest(".mha-explorer, .cm-layer"));
}

/** The width of a slide's cells, and the height that its cells of text leave to those of code, in u. */
function roomOf(section, cells) {
  const style = getComputedStyle(section);
  const [top, right, bottom, left] = ["Top", "Right", "Bottom", "Left"].map((side) =>
    Number.parseFloat(style[`padding${side}`]),
  );
  const outer = (cell) => cell.offsetHeight + Number.parseFloat(getComputedStyle(cell).marginBottom);
  const texts = cells.filter((cell) => !isCode(cell)).map(outer);
  const taken = texts.reduce((total, height) => total + height, 0);
  const u = unit();
  return {
    width: (section.clientWidth - left - right) / u,
    height: (section.clientHeight - top - bottom - taken) / u,
  };
}

// ---- Measure ------------------------------------------------------------------------------------------

function measure(cell) {
  const editor = cell.querySelector(".cm-content");
  pen.font = `100px ${getComputedStyle(editor).fontFamily}`;
  const lines = [...editor.querySelectorAll(".cm-line")].map((line) => line.textContent);
  const code = lines.map((line) => ({ ems: emsOf(line), isBlank: !line.trim() }));
  const isHidden = Boolean(cell.querySelector(".jp-Cell-inputWrapper .jp-Placeholder-content"));
  const isFolded = isHidden || "folded" in cell.dataset;
  return { code, isFolded, ...(measureOutput(cell) ?? guessOutput(lines)) };
}

const emsOf = (line) => pen.measureText(line).width / 100;

/** What a cell shows; nothing where it has not shown anything yet. */
function measureOutput(cell) {
  const outputs = [...cell.querySelectorAll(".jp-OutputArea-output")].filter(
    (output) => output.clientHeight && !output.parentElement.closest(".jp-OutputArea-output"),
  );
  if (!outputs.length) return null;
  const explorer = outputs.some((output) => output.querySelector(".mha-explorer"));
  const image = cell.querySelector(".jp-OutputArea-output img");
  const texts = outputs.filter((output) => output.matches(".jp-RenderedText"));
  const text = texts.flatMap((output) => linesOf(output.textContent)).map(emsOf);
  const boxes = outputs.filter(
    (output) => !output.matches(".jp-RenderedText, .jp-RenderedImage, .jp-RenderedSVG"),
  );
  const fixed = explorer ? null : boxAround(boxes, image);
  return { text, explorer, picture: image?.naturalWidth ? naturalBox(image) : null, fixed };
}

const naturalBox = ({ naturalWidth, naturalHeight }) => ({ width: naturalWidth, height: naturalHeight });

/** What outputs of a fixed size need, such as tables and sliders, without the picture among them. */
function boxAround(boxes, image) {
  const u = unit();
  const height = boxes.reduce((total, box) => total + box.offsetHeight, 0) - (image?.offsetHeight ?? 0);
  const contents = boxes.flatMap((box) => [...box.querySelectorAll("table, .widget-hbox")]);
  const width = Math.max(0, ...contents.map((content) => content.offsetWidth));
  return boxes.length ? { width: width / u, height: height / u } : null;
}

// ---- Apply --------------------------------------------------------------------------------------------

function apply(cell, { size, outputSize, side, wraps, picture }) {
  const set = (name, value) => {
    const text = value === undefined ? "" : String(Math.floor(value * 100) / 100);
    const change = Math.abs(Number(text) - Number(cell.style.getPropertyValue(name) || 0));
    if (change > (name === "--picture-height" ? 3 : 0)) cell.style.setProperty(name, text);
  };
  set("--code-size", size);
  set("--output-size", outputSize);
  set("--picture-height", picture);
  if (cell.dataset.output !== side) cell.dataset.output = side;
  cell.toggleAttribute("data-wraps", wraps);
}

/** Tell an explorer how high it may be: from its top to the foot line, less the cells that follow. */
function offerRoom(cell, cells, section) {
  const explorer = cell.querySelector(".mha-explorer");
  if (!explorer) return;
  const { paddingBottom } = getComputedStyle(section);
  const end = section.getBoundingClientRect().bottom - Number.parseFloat(paddingBottom);
  const following = cells.slice(cells.indexOf(cell) + 1).map((next) => next.getBoundingClientRect().height);
  const after = following.reduce((total, height) => total + height + 10 * unit(), 0);
  const room = `${Math.floor(end - explorer.getBoundingClientRect().top - after)}px`;
  if (cell.style.getPropertyValue("--explorer-room") === room) return;
  cell.style.setProperty("--explorer-room", room);
  dispatchEvent(new Event("resize")); // an explorer measures its room then
}

/** Fold the code away when its explorer has come, with a button that shows it. */
function offerFold(cell, words) {
  const button = cell.querySelector(":scope > .deck-fold");
  const hasExplorer = Boolean(cell.querySelector(".mha-explorer"));
  if (hasExplorer === Boolean(button)) return;
  cell.toggleAttribute("data-folded", hasExplorer);
  if (!hasExplorer) button.remove();
  else cell.prepend(foldButton(cell, words));
}

function foldButton(cell, words) {
  const button = Object.assign(document.createElement("button"), {
    className: "deck-fold",
    textContent: words.code,
    ariaExpanded: "false",
  });
  button.onclick = () => {
    button.ariaExpanded = String(!cell.toggleAttribute("data-folded"));
    dispatchEvent(new Event("resize"));
  };
  return button;
}
