// The line at the foot of the deck: the lesson's title, its status, and the place of the slide.
import { UNTIL_RUN } from "../shared/runner.js";

const FORGOTTEN_AFTER = 8000; // ms
const MENTION = "mentioned";
const NOTHING = { text: "", state: "" };

export class Foot {
  said = NOTHING;
  question = "";

  constructor(panel, words) {
    this.words = words;
    const line = `<footer id="deck-foot"><b></b><output></output><b></b></footer>`;
    panel.node.insertAdjacentHTML("beforeend", line);
    const [title, status, position] = panel.node.querySelectorAll("#deck-foot > *");
    title.textContent = panel.content.model.getMetadata("title") ?? "";
    Object.assign(this, { status, position });
    panel.sessionContext.statusChanged.connect((_, now) => {
      if (now === "autorestarting" || now === "dead") this.sayDead();
    });
  }

  /** `state` is running, done, failed or UNTIL_RUN; `share` is how much of the work is done, from 0 to 1. */
  say(text, state, share = 1) {
    this.said = { text, state, share };
    this.#draw();
  }

  /** A question stays, whatever is said meanwhile, so that its answer can be typed. */
  #draw() {
    const { text, state, share } = this.question ? { text: this.question, state: "asking" } : this.said;
    Object.assign(this.status, { textContent: text, className: state });
    this.status.style.setProperty("--share", share ?? 1);
  }

  /** Say that a cell runs, unless the line says something else; an empty text takes it back. */
  mention(text) {
    const { state } = this.said;
    if (text ? ["", "done", MENTION].includes(state) : state === MENTION) this.say(text, text && MENTION);
  }

  /** A cell has run through: what was said until then is over. */
  settle() {
    if (this.said.state === UNTIL_RUN) this.say("", "");
  }

  /** Ask for a further key; the question goes if none comes. What was said goes, too, unless it still changes. */
  ask(question) {
    this.question = question;
    if (this.said.state !== "running") this.said = NOTHING;
    this.#draw();
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => this.asks(question) && this.clear(), FORGOTTEN_AFTER);
  }

  asks(question) {
    return this.question === question;
  }

  sayDead() {
    this.say(this.words.kernel_died, "failed");
  }

  greet(...notices) {
    this.say([...notices, this.words.keys_hint].filter(Boolean).join("\n"), "done");
  }

  /** Take the question back, or else what was said. */
  clear() {
    if (this.question) this.question = "";
    else this.said = NOTHING;
    this.#draw();
  }

  showPosition(section) {
    this.position.textContent = section.dataset.foot;
  }

  /** Say that the slide goes on below. */
  showMore(isMore) {
    this.position.dataset.more = isMore ? this.words.foot.more : "";
    this.position.parentElement.classList.toggle("is-over", isMore);
  }
}
