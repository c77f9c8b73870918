// Keeps the counts of shows of hands in a small file of the instructor's own, beside the folder of the deck's copy,
// such as work/hands-en.json: {lesson: {cell: [{date, choices, counts}, …]}}, the oldest entry first. A day has one
// entry for each cell. make_deck_copy writes into the folder of the copy, and never meets this file.
// mha_lib/classroom/pages/hands.py reads it for the running order.

/** The local date, such as 2026-11-27: Swedes write it in this way. */
export const today = () => new Date().toLocaleDateString("sv");

export class HandsFile {
  constructor({ identity, path, contents }) {
    this.folder = path.split("/").slice(0, -2).join("/");
    this.name = `hands-${identity.language}.json`;
    Object.assign(this, { lesson: identity.lesson, contents });
  }

  /** The entries of the lesson by cell; an error where the file is no JSON. */
  async read() {
    return (await this.#tree())[this.lesson] ?? {};
  }

  /** Keep these entries of a cell. Where the file can't be read, this is an error, too, and the file stays. */
  async keep(cell, entries) {
    const tree = await this.#tree(); // another deck may have written since
    tree[this.lesson] = { ...tree[this.lesson], [cell]: entries };
    const content = `${JSON.stringify(tree, null, 1)}\n`;
    await this.contents.save(`${this.folder}/${this.name}`, { type: "file", format: "text", content });
  }

  async #tree() {
    const { content: files } = await this.contents.get(this.folder);
    if (!files.some(({ name }) => name === this.name)) return {};
    const asText = { type: "file", format: "text", content: true };
    const { content } = await this.contents.get(`${this.folder}/${this.name}`, asText);
    return JSON.parse(content);
  }
}
