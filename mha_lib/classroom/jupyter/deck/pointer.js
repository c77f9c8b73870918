// Two things follow the mouse: a red dot in the place of the cursor, and a magnifier around it.

const MAGNIFIED = 2; // times

/** Both are drawn on the panel of the deck; each has a switch, and `leave` turns both off. */
export function pointersOf(panel) {
  const dot = Object.assign(document.createElement("i"), { id: "deck-laser", hidden: true });
  const slides = panel.content.node;
  panel.node.append(dot);

  const follow = ({ clientX, clientY }) => {
    dot.style.translate = slides.style.transformOrigin = `${clientX}px ${clientY}px`;
  };
  const point = (isOn) => {
    dot.hidden = !isOn;
    panel.node.classList.toggle("deck-pointing", isOn);
  };
  const magnify = (isOn) => {
    slides.style.scale = isOn ? MAGNIFIED : "";
  };
  window.addEventListener("pointermove", follow);
  document.addEventListener("slidechanged", () => magnify(false));
  follow({ clientX: window.innerWidth / 2, clientY: window.innerHeight / 2 });
  return {
    togglePointer: () => point(dot.hidden),
    toggleMagnifier: () => magnify(!slides.style.scale),
    leave: () => {
      point(false);
      magnify(false);
    },
  };
}
