// Beside an exercise stands, small, the picture that it is about: the last one of the nearest core slide before it that
// shows one, or of the slide of the cell that `beside` names in the exercise's metadata.
import { hasRole } from "../shared/grammar.js";
import { isCore, sections } from "./stage.js";

const PICTURE = ".jp-OutputArea-output img, .mha-explorer .map > canvas, .jp-MarkdownOutput img[src*='.svg']";
const COMES = ".jp-CodeCell:is([data-shows~=picture], [data-shows~=explorer])";
const WIDEST = 40; // letters of a line of code: a longer one would be wrapped beside a picture
const LEAST = 0.25; // of the height of a slide: a lower picture is not worth its place

const showsPicture = (section) => Boolean(section.querySelector(`${COMES}, ${PICTURE}`));
const isOf = (name) => (cell) => cell.model.id === name || cell.model.id.endsWith(`-${name}`); // as in a route

function isWide(model) {
  const isShown = model.type === "code" && !model.getMetadata("jupyter")?.source_hidden;
  const lines = model.sharedModel.getSource().split("\n");
  return isShown && lines.some(({ length }) => length > WIDEST);
}

/** Mark the exercises of the core path that show no picture of their own, and whose code is not wide. */
export function markExercises({ widgets }) {
  for (const { model, node } of widgets) {
    const section = node.closest("section");
    if (!section || !hasRole(model, "exercise") || !isCore(section) || showsPicture(section)) continue;
    const isHere = (cell) => cell.node.closest("section") === section;
    if (widgets.some((cell) => isHere(cell) && isWide(cell.model))) continue;
    const named = widgets.find(isOf(model.getMetadata("beside")));
    section.dataset.beside = named?.node.closest("section").id ?? "";
  }
}

/** Put the picture beside the exercise as it is now; a slide whose picture has not come yet gets none. */
export function putBeside(section) {
  const { beside } = section.dataset;
  if (beside === undefined) return;
  const before = sections().slice(0, sections().indexOf(section));
  const source =
    document.getElementById(beside) ?? before.findLast((one) => isCore(one) && showsPicture(one));
  const picture = [...(source?.querySelectorAll(PICTURE) ?? [])].findLast(({ width }) => width);
  section.querySelector(".deck-earlier")?.remove();
  if (!picture) return;
  const copy = picture.cloneNode();
  if (copy.getContext) copy.getContext("2d").drawImage(picture, 0, 0);
  copy.removeAttribute("style");
  const figure = Object.assign(document.createElement("figure"), { className: "deck-earlier" });
  figure.append(copy);
  section.querySelector(":scope > .jp-CodeCell, :scope > .fragment").before(figure);
}

/** Give it the height that is left below the words, in pixels. */
export function fitBeside(section, end) {
  const figure = section.querySelector(".deck-earlier");
  if (!figure) return;
  figure.hidden = false;
  const height = Math.floor(end - figure.getBoundingClientRect().top);
  figure.style.height = `${height}px`;
  figure.hidden = height < LEAST * section.clientHeight;
}
