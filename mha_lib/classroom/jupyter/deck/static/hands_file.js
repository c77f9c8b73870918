// Keeps the counts of shows of hands in a small file of the instructor's own, beside the folder of the deck's copy,
// such as work/hands-en.json: {lesson: {cell: [{date, choices, counts}, …]}}, the oldest entry first. A day has one
// entry for each cell. make_deck_copy writes into the folder of the copy, and never meets this file.
// mha_lib/classroom/pages/hands.py reads it for the running order.

const MOMENT = 500; // ms

const isTable = (one) => typeof one === "object" && one !== null && !Array.isArray(one);
const isEntry = ({ date, choices, counts }) =>
  /^\d{4}-\d\d-\d\d$/.test(date) &&
  Array.isArray(choices) &&
  counts.every(Number.isInteger) &&
  choices.length === counts.length;

/** The local date, such as 2026-11-27. */
export function today() {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60_000).toISOString().slice(0, 10);
}

/** The tree in the text of the file; an error where it is not such a tree. */
function parse(text) {
  const tree = JSON.parse(text);
  const entries = Object.values(tree).flatMap((lesson) => Object.values(lesson).flat());
  if (![tree, ...Object.values(tree)].every(isTable) || !entries.every(isEntry)) throw new SyntaxError();
  return tree;
}

export class HandsFile {
  #last = Promise.resolve(); // the newest reading or writing: they wait for one another

  /** The name that a file which can't be read was given is said by this function. */
  saySetAside = () => {};

  constructor({ identity, path, contents }) {
    this.folder = path.split("/").slice(0, -2).join("/");
    this.stem = `hands-${identity.language}`;
    Object.assign(this, { lesson: identity.lesson, contents });
  }

  /** The entries of the lesson by cell, the oldest first. */
  read() {
    return this.#inTurn(async () => (await this.#tree())[this.lesson] ?? {});
  }

  /** Let a cell have these choices and counts today; without counts, it has no entry of today. */
  keep(cell, choices, counts) {
    return this.#inTurn(async () => {
      const tree = await this.#tree(); // another deck may have written since
      const entries = (tree[this.lesson]?.[cell] ?? []).filter(({ date }) => date !== today());
      if (counts.length) entries.push({ date: today(), choices, counts });
      tree[this.lesson] = { ...tree[this.lesson], [cell]: entries };
      const content = `${JSON.stringify(tree, null, 1)}\n`;
      await this.contents.save(this.#pathOf(this.stem), { type: "file", format: "text", content });
    });
  }

  #inTurn(act) {
    this.#last = this.#last.catch(() => {}).then(act);
    return this.#last;
  }

  #pathOf(stem) {
    return [this.folder, `${stem}.json`].filter(Boolean).join("/");
  }

  /** A file that can't be read, also a moment later, gets another name; then there are no counts. */
  async #tree() {
    const { content: files } = await this.contents.get(this.folder);
    const isFree = (stem) => files.every(({ name }) => name !== `${stem}.json`);
    if (isFree(this.stem)) return {};
    const tree = await this.#parsed();
    if (tree) return tree;
    await new Promise((resolve) => setTimeout(resolve, MOMENT)); // the server may be writing it for another deck
    return (await this.#parsed()) ?? this.#setAside(isFree);
  }

  async #parsed() {
    const asText = { type: "file", format: "text", content: true };
    const { content } = await this.contents.get(this.#pathOf(this.stem), asText);
    try {
      return parse(content);
    } catch {
      return null;
    }
  }

  async #setAside(isFree) {
    let aside = `${this.stem}.broken`;
    for (let number = 2; !isFree(aside); number += 1) aside = `${this.stem}.broken${number}`;
    await this.contents.rename(this.#pathOf(this.stem), this.#pathOf(aside));
    this.saySetAside(`${aside}.json`);
    return {};
  }
}
