// The speaker's window: the time, the notes of the slide, and the next slide of the core path as a picture. The
// deck draws the window, and receives the keys that are pressed in it.
import { copyOfStyles, drawUnseen, dress, fitPictures, followTheme, linkTo, pictureOf } from "./picture.js";
import { coreMinutes } from "./slides.js";
import { headingOf, sections, shownSection } from "./stage.js";
import { fill } from "./words.js";

const PAGE = `
  <header><time></time><output></output><button type="button"></button><span></span></header>
  <main><h1></h1><article></article></main>
  <aside><p></p><p></p><figure><iframe inert srcdoc="<!doctype html>"></iframe></figure></aside>`;
const STARTED = `deck-started ${window.location.pathname}`; // in the storage of the tab, which outlives a reload

export class Speaker {
  constructor({ slides, words, passKey, fit }) {
    Object.assign(this, { slides, words, passKey, fit });
    setInterval(() => this.#showTime(), 1000);
  }

  /** Open the window, or bring it to the front; false where the browser blocks it. */
  open() {
    this.window = window.open("", "deck-speaker", "popup,width=1100,height=640");
    if (!this.window) return false;
    this.window.onkeydown = this.passKey;
    this.window.onresize = () => this.#fitPicture();
    drawPage(this.window.document);
    this.#makeButton();
    this.#find("iframe").onload = () => this.#drawNext();
    this.started = Number(sessionStorage.getItem(STARTED)) || this.#start();
    this.show(shownSection());
    this.window.focus();
    return true;
  }

  /** Show the notes of a slide, given as its section of the deck, and the slide that comes next. */
  show(section) {
    if (!section || !this.window || this.window.closed) return;
    const index = sections().indexOf(section);
    this.next = sections().find((_, later) => later > index && !this.slides[later].isOptional);
    this.#find("span").textContent = this.#planOf(section, index);
    this.#find("h1").replaceChildren(...this.#titleOf(section));
    this.#find("article").innerHTML = notesOf(section).join("");
    const [steps, next] = this.window.document.querySelectorAll("aside p");
    const count = section.querySelectorAll(".fragment:not(.visible)").length;
    steps.textContent = count ? fill(this.words.steps, { count }) : "";
    const [before, after] = this.words.next.split("{title}");
    next.replaceChildren(before, ...(this.next ? this.#titleOf(this.next) : []), after);
    this.window.document.title = fill(this.words.title, { title: this.#find("h1").textContent });
    this.#drawNext();
    this.#showTime();
    this.#drawUnseen(this.next);
  }

  #find(selector) {
    return this.window.document.querySelector(selector);
  }

  #start() {
    this.started = Date.now();
    sessionStorage.setItem(STARTED, this.started);
    return this.started;
  }

  #makeButton() {
    const button = this.#find("button");
    button.textContent = this.words.reset;
    button.onclick = () => {
      this.#start();
      this.#showTime();
      button.blur(); // the next key is for the deck
    };
  }

  #planOf(section, index) {
    const { place } = section.dataset;
    const [start, end] = [index, index + 1].map((count) => coreMinutes(this.slides.slice(0, count)));
    const count = this.slides.filter((slide) => !slide.isOptional).length;
    return fill(this.words.position, { place, count, start: rounded(start), end: rounded(end) });
  }

  /** The slide's heading as the slide shows it, with its formulas; without one, its first line. */
  #titleOf(section) {
    const firstLine = () => this.slides[sections().indexOf(section)].title.replaceAll("`", "");
    return headingOf(section)?.childNodes ?? [firstLine()];
  }

  #showTime() {
    if (!this.window || this.window.closed) return;
    const now = new Date();
    const seconds = Math.floor((now - this.started) / 1000);
    this.#find("time").textContent = now.toLocaleTimeString([], { hourCycle: "h23" });
    this.#find("output").textContent = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  #drawNext() {
    const page = this.#find("iframe").contentDocument;
    if (!page?.body) return; // not yet loaded
    if (!page.head.children.length) dress(page);
    followTheme(page);
    page.body.replaceChildren(...(this.next ? [pictureOf(this.next, page)] : []));
    this.#fitPicture();
    fitPictures(page);
  }

  /** Explorers on the next slide that were not shown yet come a moment later. */
  async #drawUnseen(next) {
    const isNew = next && (await drawUnseen(next, this.fit));
    if (isNew && !this.window.closed) this.#drawNext();
  }

  /** The picture is a page as large as the deck, scaled down. */
  #fitPicture() {
    const { innerWidth: width, innerHeight: height } = window;
    const figure = this.#find("figure");
    const scale = figure.clientWidth / width;
    figure.style.height = `${height * scale}px`;
    Object.assign(this.#find("iframe").style, { width: `${width}px`, height: `${height}px`, scale });
  }
}

function drawPage(page) {
  const formulas = [...document.styleSheets].filter(({ ownerNode }) => ownerNode.id === "MJX-CHTML-styles");
  const styles = formulas.map((sheet) => copyOfStyles(sheet, page));
  page.head.replaceChildren(linkTo("speaker.css", page), ...styles);
  page.body.innerHTML = PAGE;
  page.documentElement.lang = document.documentElement.lang;
}

const notesOf = (section) =>
  [...section.querySelectorAll("aside.notes .jp-RenderedMarkdown")].map((note) => note.innerHTML);

const rounded = (minutes) => Number(minutes.toFixed(2));
