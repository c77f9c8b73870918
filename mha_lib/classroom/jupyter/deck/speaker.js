// The speaker's window: the clock, the notes of the slide, the slide itself, and the step or slide that comes next.
// The deck draws the window, and receives the keys that are pressed in it. The window closes when the deck leaves the
// page; the clock goes on. Each tab has a window of its own.

import { fill } from "../shared/words.js";
import { Clock, minutesBehind } from "./clock.js";
import { errorsOn } from "./errors.js";
import { Frame } from "./frame.js";
import { copyFormulaStyles, drawUnseen, linkTo } from "./picture.js";
import { coreMinutes, headingOf, isCore, nextCore, position, sections, shownSection } from "./stage.js";
import { countSteps, countTaken } from "./steps.js";

const PAGE = `
  <header>
    <output id="elapsed"></output><output id="plan"></output><time></time>
    <nav><button id="pause" type="button"></button><button id="reset" type="button"></button></nav>
    <span></span>
  </header>
  <main><h1></h1><article></article></main>
  <aside><figure></figure><p></p><p></p><figure></figure></aside>`;
const AT_REST = 400; // ms without a change, after which the pictures are drawn again

export class Speaker {
  clock = new Clock();

  constructor({ words, passKey, fit }) {
    Object.assign(this, { words, passKey, fit });
    setInterval(() => this.#isOpen && this.#showTime(), 1000);
    const changes = { childList: true, characterData: true, subtree: true };
    new MutationObserver(() => {
      clearTimeout(this.resting);
      this.resting = setTimeout(() => this.show(shownSection()), AT_REST);
    }).observe(document.querySelector(".slides"), changes);
    addEventListener("pagehide", () => this.window?.close());
  }

  /** Open the window, or bring it to the front; false where the browser blocks it. */
  open() {
    if (!this.#isOpen) {
      const opened = window.open("", "", "popup,width=1200,height=740");
      if (!opened) return false;
      this.#take(opened);
    }
    this.window.focus();
    return true;
  }

  /** Show the notes of a slide, given as its section of the deck, and what comes next. */
  show(section) {
    if (!section || !this.#isOpen) return;
    if (this.clock.isWaiting && position() !== this.begunAt) this.clock.begin(this.#planOf(section).start);
    const [taken, all] = [countTaken(section), countSteps(section)];
    const next = nextCore(section);
    copyFormulaStyles(this.window.document);
    this.#find("span").textContent = this.#placeOf(section);
    this.#find("h1").replaceChildren(...this.#titleOf(section));
    this.#find("article").innerHTML = notesOf(section).join("");
    this.window.document.title = fill(this.words.title, { title: this.#find("h1").textContent });
    const [steps, coming] = this.window.document.querySelectorAll("aside p");
    steps.textContent = taken < all ? fill(this.words.steps, { count: all - taken }) : "";
    const [before, after] = this.words.next.split("{title}");
    const title = taken < all ? [this.words.step] : next ? this.#titleOf(next) : [];
    coming.replaceChildren(before, ...title, after);
    this.now.show(section, taken);
    if (taken < all) this.next.show(section, taken + 1);
    else this.next.show(next, 0);
    this.#showTime();
    this.#drawUnseen(next);
  }

  get #isOpen() {
    return Boolean(this.window && !this.window.closed && this.#find("header"));
  }

  #find(selector) {
    return this.window.document.querySelector(selector);
  }

  #take(window) {
    const page = window.document;
    this.window = window;
    page.head.replaceChildren(linkTo("speaker.css", page));
    page.body.innerHTML = PAGE;
    page.documentElement.lang = document.documentElement.lang;
    [this.now, this.next] = [...page.querySelectorAll("figure")].map((figure) => new Frame(figure));
    window.onkeydown = this.passKey;
    window.onresize = () => [this.now, this.next].map((frame) => frame.fit());
    this.#find("#reset").textContent = this.words.reset;
    this.#listen("#pause", () => this.clock.togglePause());
    this.#listen("#reset", () => this.clock.reset());
    this.begunAt = position();
    this.show(shownSection());
  }

  #listen(button, act) {
    this.#find(button).onclick = () => {
      act();
      this.begunAt = position();
      this.#showTime();
      this.#find(button).blur(); // the next key is for the deck
    };
  }

  /** The minutes for which a slide is planned, on the core path. */
  #planOf(section) {
    const index = sections().indexOf(section);
    const [start, end] = [index, index + 1].map((count) => coreMinutes(sections().slice(0, count)));
    return { start, end };
  }

  #placeOf(section) {
    const { start, end } = this.#planOf(section);
    const count = sections().filter(isCore).length;
    const { place } = section.dataset;
    return fill(this.words.position, { place, count, start: rounded(start), end: rounded(end) });
  }

  /** The slide's heading as the slide shows it, with its formulas; without one, its first line. */
  #titleOf(section) {
    return headingOf(section)?.childNodes ?? [section.dataset.title.replaceAll("`", "")];
  }

  #showTime() {
    const { clock, words } = this;
    const seconds = Math.floor(clock.minutes * 60);
    this.#find("time").textContent = new Date().toLocaleTimeString([], { hourCycle: "h23" });
    this.#find("#elapsed").textContent =
      `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
    const next = clock.isWaiting ? "begin" : clock.isPaused ? "go_on" : "pause";
    this.#find("#pause").textContent = words[next];
    const behind = minutesBehind(clock.minutes, this.#planOf(shownSection()));
    const plan = clock.isWaiting ? "waiting" : behind > 0 ? "behind" : behind < 0 ? "ahead" : "on_time";
    const said = coreMinutes(sections()) ? fill(words[plan], { minutes: Math.abs(behind) }) : "";
    Object.assign(this.#find("#plan"), { textContent: said, className: plan });
  }

  /** Explorers on the next slide that were not shown yet come a moment later. */
  async #drawUnseen(next) {
    const isNew = next && (await drawUnseen(next, this.fit));
    if (isNew) this.show(shownSection());
  }
}

/** The messages of the errors on a slide, and then its notes, as HTML. */
const notesOf = (section) => [
  ...errorsOn(section).map((said) => said.outerHTML),
  ...[...section.querySelectorAll("aside.notes .jp-RenderedMarkdown")].map((note) => note.innerHTML),
];

const rounded = (minutes) => Number(minutes.toFixed(2));
