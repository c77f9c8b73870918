// The line at the foot of the deck: the lesson's title, its status, and the place of the slide.

const FORGOTTEN_AFTER = 8000; // ms
const MENTION = "elsewhere";

export class Foot {
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

  /** `state` is running, done or failed; `share` is how much of the work is done, from 0 to 1. */
  say(text, state, share = 1) {
    Object.assign(this.status, { textContent: text, className: state });
    this.status.style.setProperty("--share", share);
  }

  /** Say that a cell runs on another slide, unless the line says something else; an empty text takes it back. */
  mention(text) {
    const { className } = this.status;
    if (text ? ["", "done", MENTION].includes(className) : className === MENTION)
      this.say(text, text && MENTION);
  }

  /** Ask for a further key; the question goes if none comes. */
  ask(question) {
    this.say(question, "asking");
    clearTimeout(this.forgetting);
    this.forgetting = setTimeout(() => this.asks(question) && this.clear(), FORGOTTEN_AFTER);
  }

  asks(question) {
    return this.status.textContent === question;
  }

  sayDead() {
    this.say(this.words.kernel_died, "failed");
  }

  greet(notice) {
    this.say([notice, this.words.keys_hint].filter(Boolean).join("\n"), "done");
  }

  clear() {
    this.say("", "");
  }

  showPosition(section) {
    this.position.textContent = section.dataset.foot;
  }
}
