// The name of a slide is its number on the core path: "7" is the seventh slide of that path, "7.2" the second
// optional slide after it. The foot shows it, the messages use it, and each section has it as data-place. The
// page's address #/7 and the keys 7 Enter go there: Reveal itself would count from 0, and RISE begins at the
// first slide whatever the address says. The foot shows the number of the lesson before it, "3.7": the address
// by which students find the step in JupyterLab (lesson/slides.py). A route shows both, "3.7   2".
import { identityOf, numberOf } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { sections, shownSection } from "./stage.js";
import { goTo } from "./turn.js";

const NUMBER = /^#\/(\d+(?:\.\d+)?)$/;
const openedAt = window.location.hash; // read before RISE opens the notebook

/** Write on every slide's section its place, the text of its foot, and whether it is optional. */
export function markPlaces(slides, words, notebook) {
  const count = slides.filter((slide) => !slide.isOptional).length;
  const places = placesOf(slides);
  const lesson = numberOf(identityOf(notebook)?.lesson);
  for (const [index, section] of sections().entries()) {
    const { place, isOptional } = places[index];
    const counted = lesson ? `${lesson}.${place}` : place;
    const told = slides[index].cells[0]?.metadata.mha_step?.address || counted;
    const address = [...new Set([told, counted])].join("   ");
    const kind = kindOf(section, places[index], places[index + 1]);
    const foot = fill(words.foot[kind], { address, count });
    Object.assign(section.dataset, { place, address, foot });
    section.toggleAttribute("data-optional", isOptional);
  }
}

function placesOf(slides) {
  let [core, beyond] = [0, 0];
  return slides.map(({ isOptional }) => {
    [core, beyond] = isOptional ? [core, beyond + 1] : [core + 1, 0];
    return { isOptional, place: isOptional ? `${core}.${beyond}` : `${core}` };
  });
}

/** The sentence of the foot that says where the slide stands; the next slide may lie below it. */
function kindOf(section, { isOptional }, next) {
  if (isOptional) return "optional";
  if (!section.nextElementSibling) return "core";
  return next.isOptional ? "above_optional" : "above_core";
}

/** Turn to the slide with that number; false where there is none. */
function turnTo(place) {
  const section = document.querySelector(`.slides [data-place="${place}"]`);
  goTo(section);
  return Boolean(section);
}

/** Turn to the slide of an address such as #/7.2 or, as the deck writes it, #/slide-3-0. */
function follow(hash) {
  const [, number] = NUMBER.exec(hash) ?? [];
  if (number) turnTo(number);
  else goTo(sections().find(({ id }) => hash === `#/${id}`));
}

/** Go where the page was opened or reloaded; then let deck and address follow each other. */
export function followAddress() {
  const write = () => {
    const address = `#/${shownSection().id}`;
    if (window.location.hash !== address) window.history.pushState(null, "", address);
  };
  follow(openedAt);
  write();
  document.addEventListener("slidechanged", write);
  window.addEventListener("hashchange", ({ newURL }) => {
    const { hash } = window.location;
    if (new URL(newURL).hash !== hash) return; // the deck has turned, and written another address, since
    follow(hash);
    write();
  });
}

/** The number of a slide that is being typed: digits, then Enter or G; or G first. */
export function typedNumber({ foot, words }) {
  let digits = "";
  const question = () => fill(words.go_to, { number: digits });
  const isAsked = () => foot.asks(question());
  const ask = (typed) => {
    digits = typed;
    foot.ask(question());
  };
  return {
    isAsked,
    ask: () => ask(""),
    type: ({ key }) => ask((isAsked() ? digits : "") + key),
    typePoint: () => /^\d+$/.test(digits) && ask(`${digits}.`),
    takeBack: () => ask(digits.slice(0, -1)),
    go() {
      foot.clear();
      const last = sections().at(-1).dataset.place.replace(/\..*/, "");
      if (digits && !turnTo(digits)) foot.say(fill(words.no_slide, { number: digits, last }), "failed");
    },
    /** Any other key does what it always does. */
    leave() {
      foot.clear();
      return false;
    },
  };
}
