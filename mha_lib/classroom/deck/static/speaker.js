// The speaker's window: the notes of the slide, the time, what comes next. The deck draws it and
// takes the keys that are pressed in it.
let speaker, opened, clock;

const notesOf = (slide) => [...slide.querySelectorAll("aside.notes .jp-RenderedMarkdown")];
const titleOf = (slide) =>
  slide?.querySelector("h1, h2, h3, .jp-CodeCell .cm-line")?.textContent.replace("¶", "") ?? "";
// "3 min. Ask first." counts, "Optional, 3 min." does not: as in the running order (notes.py).
const minutes = (note) => Number(/^\s*([\d.]+)\s*(min|分)/.exec(note.textContent)?.[1] ?? 0);
const minutesOf = (slides) => slides.flatMap(notesOf).reduce((sum, note) => sum + minutes(note), 0);

const STYLE = `
  :root { color-scheme: light dark; font: 22px/1.5 system-ui, sans-serif }
  body { margin: 1.5em 2em }
  header, footer { color: gray }
  .anchor-link { display: none }`;

/** Open the window, or bring it to the front; false where the browser blocks it. */
export function openSpeaker(onkeydown) {
  speaker = window.open("", "deck-speaker", "popup,width=900,height=640");
  if (!speaker) return false;
  Object.assign(speaker, { onkeydown });
  opened ??= Date.now();
  clearInterval(clock);
  clock = setInterval(drawClock, 1000);
  const parts = "<header><time></time> · <span></span></header><main></main><footer></footer>";
  const formulas = [...(document.getElementById("MJX-CHTML-styles")?.sheet.cssRules ?? [])];
  const style = STYLE + formulas.map((rule) => rule.cssText).join("");
  speaker.document.body.innerHTML = `<style>${style}</style>${parts}`;
  speaker.focus();
  return true;
}

export function showNotes(slides, current) {
  if (!speaker || speaker.closed) return;
  const find = (tag) => speaker.document.querySelector(tag);
  const index = slides.indexOf(current);
  const [start, end] = [index, index + 1].map((slide) => minutesOf(slides.slice(0, slide)));
  const notes = notesOf(current).map((note) => note.innerHTML);
  find("span").textContent = `slide ${index + 1} of ${slides.length}, planned for minute ${start} to ${end}`;
  find("main").innerHTML = `<h1>${titleOf(current)}</h1>${notes.join("")}`;
  find("footer").textContent = `Next: ${titleOf(slides[index + 1])}`;
  speaker.document.title = `Notes: ${titleOf(current)}`;
  drawClock();
}

function drawClock() {
  if (!speaker || speaker.closed) return;
  speaker.document.querySelector("time").textContent = `minute ${Math.floor((Date.now() - opened) / 60_000)}`;
}
