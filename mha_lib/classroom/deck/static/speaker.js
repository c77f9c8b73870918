// The speaker's window: the notes of the slide, the time, what comes next. The deck draws it, and gets the
// keys that are pressed in it.
import { coreMinutes } from "./slides.js";
import { numberOf, sections, shownSection } from "./stage.js";
import { fill } from "./words.js";

const PAGE = `
  <header><time></time> · <span></span></header>
  <main><h1></h1><article></article></main>
  <footer></footer>`;

export class Speaker {
  constructor({ slides, words, passKey }) {
    Object.assign(this, { slides, words, passKey });
  }

  /** Open the window, or bring it to the front; false where the browser blocks it. */
  open() {
    this.window = window.open("", "deck-speaker", "popup,width=900,height=640");
    if (!this.window) return false;
    this.window.onkeydown = this.passKey;
    drawPage(this.window.document);
    this.opened ??= Date.now();
    clearInterval(this.clock);
    this.clock = setInterval(() => this.#showTime(), 1000);
    this.show(shownSection());
    this.window.focus();
    return true;
  }

  /** Show what belongs to a slide, given as its section of the deck. */
  show(section) {
    if (!section || !this.window || this.window.closed) return;
    const number = numberOf(section);
    const [start, end] = [number - 1, number].map((count) => coreMinutes(this.slides.slice(0, count)));
    const gaps = { number, count: this.slides.length, start: rounded(start), end: rounded(end) };
    this.#find("span").textContent = fill(this.words.position, gaps);
    this.#find("h1").replaceChildren(...this.#titleOf(number));
    this.#find("article").innerHTML = notesOf(section).join("");
    const [before, after] = this.words.next.split("{title}");
    this.#find("footer").replaceChildren(before, ...this.#titleOf(number + 1), after);
    this.window.document.title = fill(this.words.title, { title: this.#find("h1").textContent });
    this.#showTime();
  }

  #find(selector) {
    return this.window.document.querySelector(selector);
  }

  /** The slide's heading as the slide shows it, with its formulas; without one, its first line. */
  #titleOf(number) {
    const heading = sections()[number - 1]?.querySelector(":is(h1, h2, h3):not(aside *)")?.cloneNode(true);
    if (!heading) return [this.slides[number - 1]?.title.replaceAll("`", "") ?? ""];
    for (const anchor of heading.querySelectorAll(".jp-InternalAnchorLink")) anchor.remove();
    return heading.childNodes;
  }

  #showTime() {
    if (this.window.closed) return;
    const minutes = Math.floor((Date.now() - this.opened) / 60_000);
    this.#find("time").textContent = fill(this.words.time, { minutes });
  }
}

function drawPage(page) {
  const formulas = [...(document.getElementById("MJX-CHTML-styles")?.sheet.cssRules ?? [])];
  const style = page.createElement("style");
  style.textContent = formulas.map((rule) => rule.cssText).join("\n");
  const href = new URL("speaker.css", import.meta.url).href;
  const looks = Object.assign(page.createElement("link"), { rel: "stylesheet", href });
  page.head.replaceChildren(looks, style);
  page.body.innerHTML = PAGE;
  page.documentElement.lang = document.documentElement.lang;
}

const notesOf = (section) =>
  [...section.querySelectorAll("aside.notes .jp-RenderedMarkdown")].map((note) => note.innerHTML);

const rounded = (minutes) => Number(minutes.toFixed(2));
