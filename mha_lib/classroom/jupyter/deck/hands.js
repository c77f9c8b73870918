// A show of hands: the instructor counts who has guessed what and types the counts; bars beside the result show them.
// The choices come from the lesson: `choices` in the metadata of a cell with the role guess. hands_file.js keeps the
// counts. Those of today are on the slide, in the deck alone; the newest of an earlier day are among its notes.

import { hasRole } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { sum } from "./arrange.js";
import { today } from "./hands_file.js";
import { onTurn, shownSection } from "./stage.js";

const PATIENCE = 600_000; // ms: to count hands takes a while
const BARS = ":scope > .hands";
const NOTES = ":scope > .hands-before";

const choicesOf = ({ model }) => (hasRole(model, "guess") && model.getMetadata("choices")) || [];
const sectionOf = ({ node }) => node.closest("section section");
const isText = ({ key, ctrlKey, altKey, metaKey }) => key.length === 1 && !ctrlKey && !altKey && !metaKey;

export class Hands {
  #entries = {}; // of the lesson, by the id of the cell, as hands_file.js has them
  #asked; // the cell whose counts are typed
  #typed = ""; // the text so far
  #question = null;
  #opened; // once the file is read: what is typed before that would be lost by what is read
  #kept = Promise.resolve(); // the last save: two at a time would lose the counts of one cell

  constructor({ panel, file, foot, fit, words }) {
    this.guesses = panel.content.widgets.filter((cell) => choicesOf(cell).length);
    Object.assign(this, { file, foot, words });
    // A step of the slide moves no cell, and yet the bars may come with it: they take room.
    onTurn(() => shownSection()?.querySelector(BARS) && fit.fit());
    document.addEventListener("slidechanged", () => this.isAsked() && foot.clear());
    if (!file) return;
    this.#opened = this.#open().catch(({ message }) => this.#sayFailure(words.not_read, { reason: message }));
  }

  async #open() {
    this.#entries = await this.file.read();
    for (const cell of this.guesses) this.#draw(cell);
  }

  isAsked() {
    return this.foot.asks(this.#question);
  }

  ask() {
    this.#asked = this.guesses.find(({ node }) => shownSection().contains(node));
    if (this.#asked) this.#ask("");
    else this.#sayFailure(this.words.no_choices);
  }

  /** Take a letter, whether it belongs to a count or not; any other key does what it always does. */
  type(event) {
    if (isText(event)) this.#ask(this.#typed + event.key);
    else this.foot.clear();
    return isText(event);
  }

  takeBack() {
    this.#ask(this.#typed.slice(0, -1));
  }

  /** Take the counts. Where there are more or less than choices, this is said, and they are asked for again. */
  go() {
    const choices = choicesOf(this.#asked);
    const counts = this.#typed.normalize("NFKC").match(/\d+/g) ?? []; // its digits may be of full width
    if (counts.length !== choices.length)
      return this.#ask(this.#typed, `${fill(this.words.wrong, { wanted: choices.length })}\n`);
    this.foot.clear();
    this.#keep(this.#asked, { date: today(), choices, counts: counts.map(Number) });
  }

  #ask(typed, fault = "") {
    const choices = choicesOf(this.#asked).join(" · ");
    this.#typed = typed;
    this.#question = fault + fill(this.words.ask, { choices, typed });
    this.foot.ask(this.#question, PATIENCE);
  }

  #sayFailure(sentence, gaps = {}) {
    this.foot.say(fill(sentence, gaps), "failed");
  }

  /** Keep the counts of today in the place of earlier ones of this day. */
  async #keep(cell, entry) {
    const { file, foot, words } = this;
    const { id } = cell.model;
    await this.#opened;
    const others = (this.#entries[id] ?? []).filter(({ date }) => date !== entry.date);
    this.#entries[id] = [...others, entry];
    this.#draw(cell);
    if (!sectionOf(cell).querySelector(BARS).checkVisibility()) foot.say(words.counted, "done");
    if (!file) return this.#sayFailure(words.no_copy);
    this.#kept = this.#kept
      .then(() => file.keep(id, this.#entries[id]))
      .catch(({ message }) => this.#sayFailure(words.not_kept, { reason: message }));
  }

  #draw(cell) {
    const section = sectionOf(cell);
    if (!section) return; // on no slide
    for (const old of section.querySelectorAll(`${BARS}, ${NOTES}`)) old.remove();
    const entries = this.#entries[cell.model.id] ?? [];
    const now = entries.find(({ date }) => date === today());
    const before = entries.findLast(({ date }) => date < today());
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
