// Reads the words of the deck from words/<language>/interface.json. The lesson says its language, by the same rules as
// in language.py: zh-CN finds zh, a sentence that a language lacks is said in English, and so is everything in a
// language without words. Words that a program makes, as those in traditional Chinese, a copy carries itself.

const ENGLISH = "en";
const TAG = /^[a-z]{2,8}(-[a-z\d]{1,8})*$/i; // such as zh, zh-CN, zh-Hant

/**
 * The words of a language by who says them, and a notice where it has none. `carried` are those that the lesson carries,
 * and `node` holds it on the page: its language is set.
 */
export async function readWords(language = ENGLISH, carried = null, node = document.documentElement) {
  const english = await readFile(wordsIn(ENGLISH));
  if (language === ENGLISH) return { words: english };
  const words = carried ?? (await readNearest(language));
  if (!words) return { words: english, notice: fill(english.language.unknown, { language }) };
  node.lang = language;
  return { words: filledUp(words, english) };
}

/** The sentence with its gaps filled: fill("slide {number}", {number: 3}) is "slide 3". */
export const fill = (sentence, gaps) => sentence.replace(/\{(\w+)\}/g, (gap, name) => gaps[name] ?? gap);

async function readNearest(language) {
  const parts = TAG.test(language) ? String(language).split("-") : [];
  for (; parts.length; parts.pop()) {
    const words = await readFile(wordsIn(parts.join("-")));
    if (words) return words;
  }
  return null;
}

const wordsIn = (language) => new URL(`../words/${language}/interface.json`, import.meta.url);

async function readFile(address) {
  const answer = await fetch(address);
  return answer.ok ? answer.json() : null;
}

/** The words, with the English ones in the place of those that are missing. */
function filledUp(words, english) {
  if (typeof english !== "object") return words ?? english;
  const entries = Object.entries(english).map(([name, said]) => [name, filledUp(words?.[name], said)]);
  return Object.fromEntries(entries);
}
