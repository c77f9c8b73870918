// The deck on paper: its slides one below the other in the place of the deck, each with all its steps. The
// command `slides` opens a deck in a browser, calls this, and prints the page.
import { linkTo, pictureOf } from "./picture.js";
import { sections } from "./stage.js";
import { goTo } from "./turn.js";

const MOMENT = 150; // milliseconds
const PATIENCE = 100; // moments in which a slide that keeps changing may come to rest

/** Turn to each slide, as only a slide that is shown is drawn, and lay all of them out; returns their number. */
export async function layOut() {
  const pictures = [];
  for (const ink of document.querySelectorAll(".deck-ink")) ink.remove();
  for (const section of sections()) {
    goTo(section);
    await rest(section);
    pictures.push(Object.assign(pictureOf(section, document), { inert: false })); // its headings are the outline
  }
  const sheet = linkTo("picture.css", document);
  document.head.append(sheet);
  await new Promise((resolve) => sheet.addEventListener("load", resolve));
  document.body.dataset.jpThemeLight = true;
  document.body.classList.add("deck-paper");
  document.body.replaceChildren(...pictures);
  await document.fonts.ready;
  return pictures.length;
}

const wait = () => new Promise((resolve) => setTimeout(resolve, MOMENT));

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
  section.textContent.includes("Loading widget");

const lookOf = (section) =>
  [section.innerHTML, ...[...section.querySelectorAll("canvas")].map((canvas) => canvas.toDataURL())].join();
