// A pen: strokes over the slide. Each slide has a drawing of its own on its section, in the deck's lengths (u), so
// that the strokes stay in their places when the window changes, and the pictures of the slide have them, too.
// Nothing else keeps them: after a reload they are gone.
import { shownSection } from "./stage.js";

const SVG = "http://www.w3.org/2000/svg";

/** While the pen is on, a sheet lies over the deck and takes what mouse, finger and pen do. */
export function penOf({ panel, foot, words }) {
  const sheet = Object.assign(document.createElement("div"), { id: "deck-pen", hidden: true });
  sheet.dataset.preventSwipe = true; // Reveal would turn the slide where a finger draws
  panel.node.append(sheet);
  let line = null; // the stroke that is being drawn

  const end = () => {
    line = null;
  };
  const draw = (event) => {
    if (!line || !sheet.hasPointerCapture(event.pointerId)) return;
    for (const one of [...event.getCoalescedEvents(), event])
      line.points.appendItem(pointOf(one, line.parentElement));
  };
  sheet.onpointerdown = (event) => {
    if (line || event.button > 0) return;
    line = inkOf(shownSection()).appendChild(document.createElementNS(SVG, "polyline"));
    sheet.setPointerCapture(event.pointerId);
    draw(event);
    draw(event); // a click alone is a dot
  };
  sheet.onpointermove = draw;
  sheet.onlostpointercapture = end;
  document.addEventListener("slidechanged", end);

  const show = (isOn) => {
    sheet.hidden = !isOn;
    end();
  };
  return {
    toggle: () => {
      show(sheet.hidden);
      if (!sheet.hidden) foot.say(words.pen, "done");
    },
    leave: () => show(false),
    clear: () => {
      end();
      shownSection().querySelector(".deck-ink")?.remove();
    },
  };
}

function inkOf(section) {
  const ink = section.querySelector(":scope > .deck-ink");
  if (ink) return ink;
  const drawing = `<svg class="deck-ink" viewBox="0 0 1024 720" aria-hidden="true"></svg>`;
  section.insertAdjacentHTML("beforeend", drawing);
  return section.lastElementChild;
}

/** Where on the slide the pointer is, in u, also under the magnifier. */
function pointOf({ clientX, clientY }, ink) {
  const { left, top, width } = ink.getBoundingClientRect();
  const u = width / 1024;
  return Object.assign(ink.createSVGPoint(), { x: (clientX - left) / u, y: (clientY - top) / u });
}
