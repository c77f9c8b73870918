// Which slide the page's address names: #/17 is slide 17, as the foot calls it. Reveal itself would count
// from 0, and RISE begins at the first slide whatever the address says.
import { isBare } from "./keys.js";
import { sections } from "./stage.js";
import { fill } from "./words.js";

const NUMBER = /^#\/(\d+(?:\.\d+)?)$/;
const openedAt = window.location.hash; // read before RISE opens the notebook
let wanted = ""; // the address that is on its way to Reveal

const findSlide = (place) => document.querySelector(`.slides [data-place="${place}"]`);
const lastPlace = () => sections().at(-1).dataset.place.replace(/\..*/, "");

/** Turn to the slide with that number; false where there is none. */
function turnTo(place) {
  const section = findSlide(place);
  const address = `#/${section?.id}`;
  if (section && window.location.hash !== address) window.location.hash = wanted = address;
  return Boolean(section);
}

/** Follow the numbers that are typed into the address; called before Reveal listens, which does so too. */
export function followAddress() {
  window.addEventListener("hashchange", (event) => {
    // Reveal writes the slide's own address a moment after it has turned, which may be just before this.
    if (wanted && window.location.hash !== wanted) {
      window.location.hash = wanted;
      event.stopImmediatePropagation();
      return;
    }
    wanted = "";
    const [, number] = NUMBER.exec(window.location.hash) ?? [];
    if (number && turnTo(number)) event.stopImmediatePropagation();
  });
}

/** Go where the page was opened or reloaded. */
export function returnToSlide() {
  if (openedAt) window.location.hash = openedAt;
}

/** What takes the keys of a number: digits, then Enter or G; or G first. */
export function goByNumber({ foot, words }) {
  let digits = ""; // those typed so far
  const question = () => fill(words.go_to, { number: digits });
  const ask = (typed) => {
    digits = typed;
    foot.ask(question());
  };
  const go = () => {
    foot.clear();
    if (digits && !turnTo(digits))
      foot.say(fill(words.no_slide, { number: digits, last: lastPlace() }), "failed");
  };
  return (event) => {
    const { key } = event;
    const isAsked = foot.asks(question());
    const isDigit = /^\d$/.test(key) || (isAsked && key === "." && /^\d+$/.test(digits));
    const isGo = key.toUpperCase() === "G" || (isAsked && key === "Enter");
    if (!isBare(event) || key === "Shift") return false;
    if (isDigit) ask((isAsked ? digits : "") + key);
    else if (isGo && isAsked) go();
    else if (isGo) ask("");
    else if (!isAsked) return false;
    else if (key === "Backspace") ask(digits.slice(0, -1));
    else {
      foot.clear();
      return key === "Escape"; // any other key does what it always does
    }
    return true;
  };
}
