// What a slide is called: its number on the core path. "7" is the seventh slide of that path, "7.2" the second
// optional slide after it. The foot shows it, the messages name it, and each section carries it as data-place.
import { sections } from "./stage.js";
import { fill } from "./words.js";

/** Write on every slide's section its place, what the foot says there, and whether it is optional. */
export function markPlaces(slides, words) {
  const count = slides.filter((slide) => !slide.isOptional).length;
  const places = placesOf(slides);
  for (const [index, section] of sections().entries()) {
    const { place, isOptional } = places[index];
    const foot = fill(words.foot[kindOf(section, places[index], places[index + 1])], { place, count });
    Object.assign(section.dataset, { place, foot });
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

/** Which sentence of the foot says where the slide stands; what comes next may lie below it. */
function kindOf(section, { isOptional }, next) {
  if (isOptional) return "optional";
  if (!section.nextElementSibling) return "core";
  return next.isOptional ? "above_optional" : "above_core";
}
