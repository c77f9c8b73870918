// What the deck says, from words/<language>.json beside this script. The folder of the lesson tells the
// language, by the same rules as in language.py: zh-CN finds zh.json, a sentence that a language lacks is
// said in English, and so is everything in a language without a file of its own. Lessons whose words are
// made, as those in traditional Chinese are, have them beside them.

const ENGLISH = "en";
const FOLDER = /^(.*\/)?(?:notebooks|work)\/(?:deck-)?([^/]+)\/[^/]+$/; // such as work/deck-zh/03.ipynb
const MADE = "words.json";
const TAG = /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i; // such as zh, zh-CN, zh-Hant

/** The words by who says them, and a notice where the lesson's language has none. */
export async function readWords(lesson, contents) {
  const english = await readFile(ENGLISH);
  const [, root = "", language = ENGLISH] = FOLDER.exec(lesson) ?? [];
  if (language === ENGLISH) return { words: english };
  const names = await namesIn(`${root}notebooks/${language}`, contents);
  if (!names) return { words: english };
  const words = names.includes(MADE)
    ? await readMade(`${root}notebooks/${language}/${MADE}`, contents)
    : await readNearest(language);
  if (!words) return { words: english, notice: fill(english.language.unknown, { language }) };
  document.documentElement.lang = language;
  return { words: filledUp(words, english) };
}

/** The sentence with its gaps filled: fill("slide {number}", {number: 3}) is "slide 3". */
export const fill = (sentence, gaps) => sentence.replace(/\{(\w+)\}/g, (gap, name) => gaps[name] ?? gap);

/** What is in a folder; null where there is none, and the lesson, in work/mine say, is no course's. */
async function namesIn(folder, contents) {
  const listing = await contents.get(folder, { content: true }).catch(() => null);
  return listing?.type === "directory" ? listing.content.map(({ name }) => name) : null;
}

async function readMade(file, contents) {
  const { content } = await contents.get(file, { type: "file", format: "text", content: true });
  return JSON.parse(content);
}

async function readNearest(language) {
  if (!TAG.test(language)) return null;
  const parts = language.split("-");
  for (let end = parts.length; end > 0; end -= 1) {
    const words = await readFile(parts.slice(0, end).join("-"));
    if (words) return words;
  }
  return null;
}

async function readFile(language) {
  const answer = await fetch(new URL(`words/${language}.json`, import.meta.url));
  return answer.ok ? answer.json() : null;
}

/** The words, with the English ones in the place of those that are missing. */
function filledUp(words, english) {
  if (typeof english !== "object") return words;
  const entries = Object.entries(english).map(([name, said]) => [
    name,
    name in words ? filledUp(words[name], said) : said,
  ]);
  return Object.fromEntries(entries);
}
