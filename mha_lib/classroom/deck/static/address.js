// Which slide the page's address names: #/17 is slide 17, as the foot calls it. Reveal itself would count from 0, and RISE begins at
// the first slide whatever the address says.
import { isBare } from "./keys.js";
import { sections } from "./stage.js";
import { fill } from "./words.js";

const NUMBER = /^#\/(\d+(?:\.\d+)?)$/;
const openedAt = window.location.hash; // read before RISE opens the notebook

const findSlide = (place) => document.querySelector(`.slides [data-place="${place}"]`);
const lastPlace = () => sections().at(-1).dataset.place.replace(/\..*/, "");

/** Turn to the slide with that number; false where there is none. */
function turnTo(place) {
  const section = findSlide(place);
  if (section) window.location.hash = `#/${section.id}`;
  return Boolean(section);
}

/** Go where the page was opened or reloaded, and follow the numbers that are typed into the address. */
export function followAddress() {
  window.addEventListener(
    "hashchange",
    (event) => {
      const [, number] = NUMBER.exec(window.location.hash) ?? [];
      if (number && turnTo(number)) event.stopImmediatePropagation(); // Reveal would turn one slide further
    },
    true,
  );
  if (openedAt) window.location.hash = openedAt;
}

const FORGOTTEN_AFTER = 8000; // ms without a key

/** What takes the keys of a number: digits, then Enter or G; or G first. */
export function goByNumber({ foot, words }) {
  let digits = null; // those typed so far, null while nobody is asked
  let timer;
  const end = () => {
    clearTimeout(timer);
    digits = null;
    foot.clear();
  };
  const ask = (typed) => {
    clearTimeout(timer);
    timer = setTimeout(end, FORGOTTEN_AFTER);
    digits = typed;
    foot.say(fill(words.go_to, { number: digits }), "asking");
  };
  const go = () => {
    const number = digits;
    end();
    if (number && !turnTo(number)) foot.say(fill(words.no_slide, { number, last: lastPlace() }), "failed");
  };
  return (event) => {
    const { key } = event;
    const isDigit = /^\d$/.test(key) || (key === "." && /^\d+$/.test(digits));
    const isGo = key.toUpperCase() === "G" || (key === "Enter" && digits !== null);
    if (!isBare(event) || key === "Shift") return false;
    if (isDigit || (isGo && digits === null)) ask((digits ?? "") + (isDigit ? key : ""));
    else if (isGo) go();
    else if (digits === null) return false;
    else if (key === "Backspace") ask(digits.slice(0, -1));
    else {
      end();
      return key === "Escape"; // any other key does what it always does
    }
    return true;
  };
}
