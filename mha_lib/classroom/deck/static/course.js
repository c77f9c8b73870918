// Files of the course beside the lesson: course.css, and course.json with the address of the handouts.
import { sections } from "./stage.js";

/**
 * The address of each file in the folder of the lesson, by its name. They are looked up in the list of the
 * folder: to ask for a file that is not there would be an error in the browser's console.
 */
export async function filesBeside(lesson, contents) {
  const folder = lesson.replace(/[^/]*$/, "");
  const { content } = await contents.get(folder);
  const files = content.filter(({ type }) => type === "file");
  const addresses = files.map(async ({ name }) => [name, await contents.getDownloadUrl(folder + name)]);
  return Object.fromEntries(await Promise.all(addresses));
}

/** Show the address of the handouts and its QR code on the title slide. */
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
