// Shows on the title slide where the class finds its handouts.
import { SETTINGS } from "../shared/course.js";
import { sections } from "./stage.js";

/** Show the address of the handouts and its QR code on the title slide. */
export async function showHandouts(files, words) {
  if (!files[SETTINGS]) return;
  const { handouts } = await (await fetch(files[SETTINGS])).json();
  if (!handouts) return;
  const figure = Object.assign(document.createElement("figure"), { id: "deck-handouts" });
  const textContent = handouts.replace(/^https?:\/\/|\/$/g, "");
  figure.append(Object.assign(document.createElement("figcaption"), { textContent }));
  const picture = { src: files["handouts.svg"], alt: words.handouts_code };
  if (picture.src) figure.prepend(Object.assign(document.createElement("img"), picture));
  sections()[0].append(figure);
}
