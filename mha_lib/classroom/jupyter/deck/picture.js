// A slide as a picture: a copy of the slide, in the page of a frame or a window. The page is as large as a slide
// and has the deck's styles; nothing in it answers to keys or clicks.
import { putBeside } from "./earlier.js";
import { fitSlide } from "./fit.js";
import { countSteps, showSteps } from "./steps.js";

const FORMULAS = "MJX-CHTML-styles";
const PATIENCE = 60; // frames of the screen in which an explorer draws itself

/** Make an empty page look as the deck does. */
export function dress(page) {
  const sheets = [...document.styleSheets, ...document.adoptedStyleSheets];
  page.head.replaceChildren(...sheets.map((sheet) => copyOfStyles(sheet, page)), linkTo("picture.css", page));
  page.documentElement.lang = document.documentElement.lang;
  page.documentElement.className = document.documentElement.className;
  page.body.className = document.body.className;
  followTheme(page);
}

/** A link to a style sheet beside this script; picture.css comes after the styles of the deck. */
export function linkTo(sheet, page) {
  const { href } = new URL(sheet, import.meta.url);
  return Object.assign(page.createElement("link"), { rel: "stylesheet", href });
}

function copyOfStyles(sheet, page) {
  const { href, ownerNode } = sheet;
  if (href) return linkTo(href, page);
  const textContent = [...sheet.cssRules].map((rule) => rule.cssText).join("\n");
  return Object.assign(page.createElement("style"), { textContent, id: ownerNode?.id ?? "" });
}

/** MathJax adds rules to its style sheet when a formula needs them: a page that is kept gets them, too. */
export function copyFormulaStyles(page) {
  const sheet = document.getElementById(FORMULAS)?.sheet;
  const old = page.getElementById(FORMULAS);
  if (!sheet || old?.sheet?.cssRules.length === sheet.cssRules.length) return;
  old?.remove();
  page.head.append(copyOfStyles(sheet, page));
}

export function followTheme(page) {
  const { jpThemeLight } = document.body.dataset;
  if (jpThemeLight) page.body.dataset.jpThemeLight = jpThemeLight;
}

/** The picture of a slide, given as its section of the deck, for the page: with so many of its steps, or all. */
export function pictureOf(section, page, steps = countSteps(section)) {
  if (!section.querySelector(".deck-earlier")) putBeside(section);
  const copy = page.importNode(section, true);
  copyDrawings(section, copy);
  for (const unseen of copy.querySelectorAll(UNSEEN)) unseen.remove();
  const stack = asShown(page.importNode(section.parentElement, false));
  stack.dataset.foot = section.dataset.foot;
  stack.append(asShown(copy));
  showSteps(copy, steps);
  const picture = inShellsOf(section.parentElement.parentElement, stack, page);
  picture.classList.add("deck-picture");
  picture.inert = true;
  return picture;
}

/** Fit the slides of a page's pictures that the deck has not shown, and therefore not fitted, yet. */
export function fitPictures(page) {
  for (const section of page.querySelectorAll("section > section")) {
    if (section.querySelector(".jp-CodeCell:not([data-output])")) fitSlide(section);
  }
}

const UNSEEN =
  ".jp-mod-rendered .jp-InputArea-editor, .reveal-skip, aside.notes, .jp-Toolbar, .jp-cell-toolbar, .jp-Placeholder";

/** A copied canvas is empty, and a copied list has forgotten what was chosen. */
function copyDrawings(section, copy) {
  const copies = copy.querySelectorAll("canvas, select");
  for (const [index, original] of section.querySelectorAll("canvas, select").entries()) {
    if (original.value !== undefined) copies[index].value = original.value;
    else if (original.width * original.height) copies[index].getContext("2d").drawImage(original, 0, 0);
  }
}

/** A section as Reveal has it while its slide is shown, whatever slide is shown now. */
function asShown(section) {
  const shrunk = section.style.getPropertyValue("--shrink");
  for (const name of ["hidden", "aria-hidden", "style"]) section.removeAttribute(name);
  section.classList.remove("past", "future");
  section.classList.add("present");
  section.style.setProperty("--shrink", shrunk);
  return section;
}

/** Around the content an empty copy of each element that holds the slides, so that the same styles apply. */
function inShellsOf(node, content, page) {
  const shell = page.importNode(node, false);
  shell.removeAttribute("style");
  shell.append(content);
  return node.matches(".reveal") ? shell : inShellsOf(node.parentElement, shell, page);
}

const isDrawn = (explorer) => Boolean(explorer.querySelector("[role=application]"));

/**
 * Draw the explorers of a slide that nobody has turned to. An explorer draws itself once it has a size, so the
 * slide is laid out, unseen, until all have; `fit` gives them their room. True if something new was drawn.
 */
export async function drawUnseen(section, fit) {
  const explorers = [...section.querySelectorAll(".mha-explorer")].filter((one) => !isDrawn(one));
  if (!explorers.length) return false;
  const hidden = [section.parentElement, section].filter((part) => !part.matches(".present"));
  for (const part of hidden) part.classList.add("deck-unseen");
  fit.fitParts(section);
  for (let frame = 0; frame < PATIENCE && !explorers.every(isDrawn); frame += 1)
    await new Promise(requestAnimationFrame);
  for (const part of hidden) part.classList.remove("deck-unseen");
  return explorers.some(isDrawn);
}
