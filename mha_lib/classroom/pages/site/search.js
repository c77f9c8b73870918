// Lists the steps and sections that say every word asked for: those with the words in their titles come
// first, then those that define them, then the others.
const list = document.querySelector(".found");
const state = document.querySelector("[role=status]");

/** Small and narrow letters in place of capital and wide ones, one for one: places in the text stay. */
const fold = (text) => text.replace(/[^ -~]/g, narrow).toLowerCase();
const narrow = (letter) => {
  const plain = letter.normalize("NFKC");
  return plain.length === 1 ? plain : letter;
};
/** A Latin word is found by its beginning, "norm" in "normalise" but not in "abnormal"; Chinese anywhere. */
const patternOf = (word) =>
  (/^[a-z0-9]/.test(word) ? "\\b" : "") + word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&");

const entries = JSON.parse(document.querySelector("#entries").textContent).map((entry) => ({
  ...entry,
  places: [entry.title, entry.terms.join("\n"), entry.lines.join("\n")].map(fold),
}));
const WORTH = [9, 3, 1]; // of a word in the title, in a bold term, in the text

const rankOf = ({ places }, words) => {
  const worth = words.map((word) => WORTH[places.findIndex((place) => word.test(place))] ?? 0);
  return Math.min(...worth) && worth.reduce((sum, each) => sum + each);
};

/** The text with its found words marked, from a little before the first one. */
const marked = (text, any) => {
  const first = fold(text).search(any);
  const start = first < 60 ? 0 : first - 40;
  const shown = text.slice(start, start + 180);
  const pieces = [start ? "…" : ""];
  let end = 0;
  for (const { index, 0: word } of fold(shown).matchAll(any)) {
    const mark = document.createElement("mark");
    mark.textContent = shown.slice(index, index + word.length);
    pieces.push(shown.slice(end, index), mark);
    end = index + word.length;
  }
  return [...pieces, shown.slice(end), start + 180 < text.length ? "…" : ""];
};

const made = (name, content, more = {}) => {
  const element = Object.assign(document.createElement(name), more);
  element.append(...content);
  return element;
};
const item = (entry, words, any) => {
  const count = (line) => words.filter((word) => word.test(fold(line))).length;
  const [line = ""] = [...entry.lines].sort((one, other) => count(other) - count(one));
  const link = made("a", marked(entry.title, any), { href: entry.href });
  const number = made("span", [entry.number], { className: "number" });
  const page = made("span", [entry.page], { className: "note" });
  return made("li", [number, " ", link, " ", page, made("p", marked(line, any))]);
};

const search = () => {
  const patterns = fold(form.q.value).split(/\s+/).filter(Boolean).map(patternOf);
  const words = patterns.map((pattern) => new RegExp(pattern));
  const any = new RegExp(patterns.join("|"), "g");
  const ranked = words.length ? entries.map((entry) => [rankOf(entry, words), entry]) : [];
  const found = ranked.filter(([rank]) => rank).sort(([one], [other]) => other - one);
  list.replaceChildren(...found.map(([, entry]) => item(entry, words, any)));
  const said = found.length ? WORDS.found.replace("{count}", found.length) : WORDS.none;
  state.textContent = words.length ? said : "";
};
form.q.value = new URLSearchParams(location.search).get("q") ?? "";
search();
form.q.addEventListener("input", () => {
  search();
  history.replaceState(null, "", `?q=${encodeURIComponent(form.q.value)}`);
});
