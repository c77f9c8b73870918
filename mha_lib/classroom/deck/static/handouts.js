// Where the class finds the handouts: the address that course.json names, and its QR code, on the title slide.
import { sections } from "./stage.js";

/** `files` are the addresses of what lies beside the lesson, by name. */
export async function showHandouts(files, words) {
  if (!files["course.json"]) return;
  const { handouts } = await (await fetch(files["course.json"])).json();
  if (!handouts) return;
  const figure = Object.assign(document.createElement("figure"), { id: "deck-handouts" });
  const textContent = handouts.replace(/^https?:\/\/|\/$/g, "");
  figure.append(Object.assign(document.createElement("figcaption"), { textContent }));
  const picture = { src: files["handouts.svg"], alt: words.handouts_code };
  if (picture.src) figure.prepend(Object.assign(document.createElement("img"), picture));
  sections()[0].append(figure);
}
