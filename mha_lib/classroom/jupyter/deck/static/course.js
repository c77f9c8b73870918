// The files of the course that a lesson needs: course.css, and course.json with the address of the handouts.
import { sections } from "./stage.js";

const SETTINGS = "course.json";
const COPY = /^(.*\/)?work\/(?:deck-)?([^/]+)\/[^/]+$/;

/**
 * The folder of the lessons from which a copy was made: notebooks/<language>, or build/<language> for lessons that a
 * program makes. Null where the notebook is no copy of a lesson. Folders are looked up in the list of the folder above
 * them, and files in that of theirs: to ask for what is not there would be an error in the browser's console.
 */
export async function lessonsOf(path, contents) {
  const [, root = "", language] = COPY.exec(path) ?? [];
  for (const folder of language ? ["notebooks", "build"] : []) {
    const { content } = await contents.get(root + folder);
    if (content.some(({ name }) => name === language)) return `${root}${folder}/${language}`;
  }
  return null;
}

/**
 * The address of each file beside the lesson, by its name. A student's copy holds lessons alone: the files of the course
 * lie where it was made from.
 */
export async function filesOf(lesson, contents) {
  const beside = await filesIn(lesson.replace(/\/?[^/]*$/, ""), contents);
  if (beside[SETTINGS]) return beside;
  const lessons = await lessonsOf(lesson, contents).catch(() => null); // in no course
  return lessons === null ? beside : { ...(await filesIn(lessons, contents)), ...beside };
}

async function filesIn(folder, contents) {
  const { content } = await contents.get(folder);
  const files = content.filter(({ type }) => type === "file");
  const addresses = files.map(async ({ name, path }) => [name, await contents.getDownloadUrl(path)]);
  return Object.fromEntries(await Promise.all(addresses));
}

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
