// The name of a slide is its number on the core path: "7" is the seventh slide of that path, "7.2" the second
// optional slide after it. The foot shows it, the messages use it, and each section has it as data-place. The
// page's address #/7 and the keys 7 Enter go there: Reveal itself would count from 0, and RISE begins at the
// first slide whatever the address says. The foot shows the number of the lesson before it, "3.7": the address
// by which students find the step in JupyterLab (lesson/slides.py). A route counts its own slides, and names the lesson's
// after that: "2 / 28   lesson 3.7".
import { identityOf, numberOf, stepOf } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { sections, shownSection } from "./stage.js";
import { goTo } from "./turn.js";

const NUMBER = /^#\/(\d+(?:\.\d+)?)$/;
const openedAt = window.location.hash; // read before RISE opens the notebook

/**
 * Write on every slide's section its place, the text of its foot, its minutes, its title, and whether it is optional. The
 * first of its cells that begins a step says so. A slide without such a cell, as in a notebook that is no copy of a
 * lesson, is on the core path and takes no time.
 */
export function markPlaces({ model, widgets }, words) {
  const all = sections();
  const steps = all.map((section) => stepIn(section, widgets));
  const count = steps.filter((step) => !step.is_optional).length;
  const lesson = numberOf(identityOf(model)?.lesson);
  let [core, beyond] = [0, 0];
  for (const [index, section] of all.entries()) {
    const { address: told, minutes, title, is_optional } = steps[index];
    [core, beyond] = is_optional ? [core, beyond + 1] : [core + 1, 0];
    const place = is_optional ? `${core}.${beyond}` : `${core}`;
    const address = lesson ? `${lesson}.${place}` : place;
    const counted = fill(words.foot[kindOf(section, steps[index], steps[index + 1])], { address, count });
    const isFromLesson = told && told !== address;
    Object.assign(section.dataset, {
      place,
      foot: counted + (isFromLesson ? fill(words.foot.from_lesson, { address: told }) : ""),
      minutes: Number(minutes) || 0,
      title: title ?? "",
    });
    section.toggleAttribute("data-optional", Boolean(is_optional));
  }
}

const stepIn = (section, widgets) =>
  widgets
    .filter(({ node }) => section.contains(node))
    .map(({ model }) => stepOf(model))
    .find(Boolean) ?? {};

/** The sentence of the foot that says where the slide stands; the next slide may lie below it. */
function kindOf(section, { is_optional }, next) {
  if (is_optional) return "optional";
  if (!section.nextElementSibling) return "core";
  return next.is_optional ? "above_optional" : "above_core";
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
      if (digits && !turnTo(digits)) foot.say(fill(words.no_slide, { number: digits, last }), "done");
    },
    /** Any other key does what it always does. */
    leave() {
      foot.clear();
      return false;
    },
  };
}
