// Two things follow the mouse: a red dot in the place of the cursor, and a magnifier around it.

const MAGNIFIED = 2; // times

/** Both are drawn on the panel of the deck; each has a switch, and `leave` turns both off. */
export function pointersOf(panel) {
  const dot = Object.assign(document.createElement("i"), { id: "deck-laser", hidden: true });
  const slides = panel.content.node;
  const mouse = { x: window.innerWidth / 2, y: window.innerHeight / 2 };
  panel.node.append(dot);

  const follow = () => {
    dot.style.translate = `${mouse.x}px ${mouse.y}px`;
    slides.style.transformOrigin = `${mouse.x}px ${mouse.y}px`;
  };
  const point = (isOn) => {
    dot.hidden = !isOn;
    panel.node.classList.toggle("deck-pointing", isOn);
  };
  const magnify = (isOn) => {
    slides.style.scale = isOn ? MAGNIFIED : "";
  };
  window.addEventListener("pointermove", ({ clientX, clientY }) => {
    Object.assign(mouse, { x: clientX, y: clientY });
    follow();
  });
  document.addEventListener("slidechanged", () => magnify(false));
  follow();
  return {
    togglePointer: () => point(dot.hidden),
    toggleMagnifier: () => magnify(!slides.style.scale),
    leave: () => {
      point(false);
      magnify(false);
    },
  };
}
