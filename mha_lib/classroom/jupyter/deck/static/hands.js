// A show of hands: the instructor counts who has guessed what and types the counts; bars beside the result show them.
// The choices come from the lesson: `choices` in the metadata of a cell with the role guess. hands_file.js keeps the
// counts. Those of today are on the slide, in the deck alone; the newest of an earlier day are among its notes.
import { sum } from "./arrange.js";
import { hasRole } from "./grammar.js";
import { today } from "./hands_file.js";
import { onTurn, shownSection } from "./stage.js";
import { fill } from "./words.js";

const PATIENCE = 600_000; // ms: to count hands takes a while
const BARS = ":scope > .hands";
const NOTES = ":scope > .hands-before";

const choicesOf = ({ model }) => (hasRole(model, "guess") && model.getMetadata("choices")) || [];
const sectionOf = ({ node }) => node.closest("section section");
const isText = ({ key, ctrlKey, altKey, metaKey }) => key.length === 1 && !ctrlKey && !altKey && !metaKey;

export class Hands {
  #typed = new Map(); // by cell, until its counts are right: the text so far
  #entries = {}; // of the lesson, by the id of the cell, as hands_file.js has them
  #asked; // the cell whose counts are typed
  #fault = ""; // of what was typed

  constructor({ panel, file, foot, fit, words }) {
    this.guesses = panel.content.widgets.filter((cell) => choicesOf(cell).length);
    Object.assign(this, { file, foot, words });
    // A step of the slide moves no cell, and yet the bars may come with it: they take room.
    onTurn(() => shownSection()?.querySelector(BARS) && fit.fit());
    document.addEventListener("slidechanged", () => this.isAsked() && foot.clear());
    if (file) this.#open().catch(({ message }) => this.#sayFailure(words.not_read, { reason: message }));
  }

  async #open() {
    this.#entries = await this.file.read();
    for (const cell of this.guesses) this.#draw(cell);
  }

  isAsked() {
    return Boolean(this.#asked) && this.foot.asks(this.#question);
  }

  ask() {
    const cell = this.guesses.find(({ node }) => shownSection().contains(node));
    if (cell) this.#ask(cell, this.#typed.get(cell) ?? "");
    else this.#sayFailure(this.words.no_choices);
  }

  /** Take a letter, whether it belongs to a count or not; any other key does what it always does. */
  type(event) {
    if (isText(event)) this.#ask(this.#asked, this.#text + event.key);
    else this.foot.clear();
    return isText(event);
  }

  takeBack() {
    this.#ask(this.#asked, this.#text.slice(0, -1));
  }

  /** Take the counts; where nothing was typed, take the bars away. Wrong counts are said, and asked for again. */
  go() {
    const cell = this.#asked;
    const choices = choicesOf(cell);
    const split = this.#text.normalize("NFKC").split(/[\s,;、]+/); // its digits may be of full width
    const counts = split.filter(Boolean);
    const isRight =
      [0, choices.length].includes(counts.length) && counts.every((count) => /^\d+$/.test(count));
    if (!isRight) return this.#ask(cell, this.#text, fill(this.words.wrong, { wanted: choices.length }));
    this.foot.clear();
    this.#typed.delete(cell);
    if (counts.length || this.#today(cell)) this.#keep(cell, choices, counts.map(Number));
  }

  get #text() {
    return this.#typed.get(this.#asked) ?? "";
  }

  get #question() {
    const { ask, ask_again } = this.words;
    const choices = choicesOf(this.#asked).join(" · ");
    const isFirst = this.#text || !this.#today(this.#asked);
    const question = fill(isFirst ? ask : ask_again, { choices, typed: this.#text });
    return [this.#fault, question].filter(Boolean).join("\n");
  }

  #ask(cell, text, fault = "") {
    this.#asked = cell;
    this.#fault = fault;
    this.#typed.set(cell, text);
    this.foot.ask(this.#question, PATIENCE);
  }

  #sayFailure(sentence, gaps = {}) {
    this.foot.say(fill(sentence, gaps), "failed");
  }

  #today({ model }) {
    return this.#entries[model.id]?.find(({ date }) => date === today());
  }

  async #keep(cell, choices, counts) {
    const { file, foot, words } = this;
    const { id } = cell.model;
    const others = (this.#entries[id] ?? []).filter(({ date }) => date !== today());
    this.#entries[id] = counts.length ? [...others, { date: today(), choices, counts }] : others;
    this.#draw(cell);
    if (!counts.length) foot.say(words.gone, "done");
    else if (!sectionOf(cell).querySelector(BARS).checkVisibility()) foot.say(words.counted, "done");
    if (!file) return this.#sayFailure(words.no_copy);
    await file
      .keep(id, this.#entries[id])
      .catch(({ message }) => this.#sayFailure(words.not_kept, { reason: message }));
  }

  #draw(cell) {
    const section = sectionOf(cell);
    if (!section) return; // on no slide
    for (const old of section.querySelectorAll(`${BARS}, ${NOTES}`)) old.remove();
    const now = this.#today(cell);
    const before = this.#entries[cell.model.id]?.findLast(({ date }) => date < today());
    if (now) section.append(barsOf(now, this.words.total, this.words));
    if (!before) return;
    const notes = Object.assign(document.createElement("aside"), { className: "notes hands-before" });
    notes.append(barsOf(before, this.words.before, this.words));
    section.append(notes);
  }
}

/** A bar for each choice, with its count and its share; the longest bar is as long as there is room. */
function barsOf({ date, choices, counts }, caption, words) {
  const make = (tag, textContent = "") => Object.assign(document.createElement(tag), { textContent });
  const total = sum(counts);
  const rows = choices.map((choice, place) => {
    const [count, row] = [counts[place], make("p")];
    const share = Math.round((100 * count) / Math.max(total, 1));
    row.style.setProperty("--length", count / Math.max(...counts, 1));
    row.append(make("span", choice), make("b", fill(words.count, { count, share })), make("i"));
    return row;
  });
  const figure = Object.assign(make("figure"), { className: "hands" });
  figure.append(make("figcaption", fill(caption, { total, date })), ...rows);
  return figure;
}
