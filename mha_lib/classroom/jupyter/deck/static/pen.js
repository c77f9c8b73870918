// A pen: strokes over the slide. Each slide has a drawing of its own on its section, in the deck's lengths (u), so
// that the strokes stay in their places when the window changes, and the pictures of the slide have them, too.
// The tab keeps them over a reload until they are cleared; the lesson's file knows nothing of them.
import { sections, shownSection } from "./stage.js";

const KEPT = `deck-ink ${window.location.pathname}`;
const COLOURS = 3; // panels.css has them
const WIDTH = 4; // u
const SVG = "http://www.w3.org/2000/svg";

export class Pen {
  #colour = 1;
  #strokes = JSON.parse(sessionStorage.getItem(KEPT)) ?? {}; // by the id of the slide: {colour, width, points}
  #cleared = {}; // by the id of the slide, so that clearing can be taken back
  #drawn = null; // what is being drawn: its stroke, and the pointer that draws it

  /** The sheet lies over the deck while the pen is on, and takes what mouse, finger and pen do. */
  constructor({ panel, foot, words }) {
    Object.assign(this, { foot, words });
    this.sheet = Object.assign(document.createElement("div"), { id: "deck-pen", hidden: true });
    this.sheet.dataset.colour = this.#colour;
    this.sheet.onpointerdown = (event) => this.#begin(event);
    this.sheet.onpointermove = (event) => this.#goOn(event);
    this.sheet.onlostpointercapture = () => this.#end();
    panel.node.append(this.sheet);
    document.addEventListener("slidechanged", () => this.#end());
    for (const section of sections()) if (this.#strokes[section.id]) this.#draw(section);
  }

  get isOn() {
    return !this.sheet.hidden;
  }

  toggle = () => {
    this.sheet.hidden = this.isOn;
    if (this.isOn) this.foot.say(this.words.pen, "done");
    else this.#end();
  };

  leave = () => this.isOn && this.toggle();

  changeColour = () => {
    this.#colour = (this.#colour % COLOURS) + 1;
    this.sheet.dataset.colour = this.#colour;
  };

  /** Take back the last stroke of the slide, or that the slide was cleared. */
  undo = () => {
    const { id } = shownSection();
    const strokes = this.#strokes[id] ?? [];
    if (strokes.length) this.#change(id, strokes.slice(0, -1));
    else if (this.#cleared[id]) this.#change(id, this.#cleared[id]);
  };

  clear = () => {
    const { id } = shownSection();
    const strokes = this.#strokes[id] ?? [];
    this.#change(id, []);
    if (strokes.length) this.#cleared[id] = strokes;
  };

  #begin(event) {
    if (this.#drawn || event.button > 0) return;
    const section = shownSection();
    const stroke = { colour: this.#colour, width: WIDTH, points: [] };
    const line = inkOf(section).appendChild(document.createElementNS(SVG, "polyline"));
    this.#drawn = { section, stroke, line, pointer: event.pointerId };
    this.sheet.setPointerCapture(event.pointerId);
    this.#goOn(event);
    this.#goOn(event); // a click alone is a dot
  }

  #goOn(event) {
    if (event.pointerId !== this.#drawn?.pointer) return;
    const { section, stroke, line } = this.#drawn;
    const events = event.getCoalescedEvents();
    for (const one of events.length ? events : [event]) {
      stroke.points.push(pointOf(one, section));
      if (one.pointerType === "pen") stroke.width = Math.max(stroke.width, WIDTH * (0.5 + one.pressure));
    }
    drawLine(line, stroke);
  }

  #end() {
    if (!this.#drawn) return;
    const { section, stroke } = this.#drawn;
    this.#drawn = null;
    this.#change(section.id, [...(this.#strokes[section.id] ?? []), stroke]);
  }

  #change(id, strokes) {
    this.#strokes[id] = strokes;
    delete this.#cleared[id];
    this.#draw(document.getElementById(id));
    try {
      sessionStorage.setItem(KEPT, JSON.stringify(this.#strokes));
    } catch {
      // The storage is full: a reload will find what is kept so far.
    }
  }

  #draw(section) {
    const lines = this.#strokes[section.id].map((stroke) =>
      drawLine(document.createElementNS(SVG, "polyline"), stroke),
    );
    inkOf(section).replaceChildren(...lines);
  }
}

function inkOf(section) {
  const ink = section.querySelector(":scope > .deck-ink");
  if (ink) return ink;
  section.insertAdjacentHTML(
    "beforeend",
    `<svg class="deck-ink" viewBox="0 0 1280 720" aria-hidden="true"></svg>`,
  );
  return section.lastElementChild;
}

/** Where on the slide the pointer is, in u, also under the magnifier. */
function pointOf({ clientX, clientY }, section) {
  const { left, top, width } = inkOf(section).getBoundingClientRect();
  return [clientX - left, clientY - top].map((length) => Number(((length * 1280) / width).toFixed(1)));
}

function drawLine(line, { colour, width, points }) {
  line.dataset.colour = colour;
  line.setAttribute("stroke-width", width);
  line.setAttribute("points", points.join(" "));
  return line;
}
