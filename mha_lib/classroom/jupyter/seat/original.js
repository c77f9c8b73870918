// The lesson from which a student's copy was made, which the copy names; one that has another name by now is known by
// its title.
import { lessonsOf } from "../deck/static/course.js";

const SHARED = "](../../img/"; // the figures as the lessons name them,
const OWN = "](img/"; // and as a copy does that has figures of its own: lesson/figures.py explains it

export class Original {
  #cells;

  constructor({ identity, context, contents }) {
    Object.assign(this, { identity, context, contents });
  }

  /** The cells of the lesson, as the notebook's JSON has them; null where the notebook is no copy of a lesson. */
  get cells() {
    this.#cells ??= this.#read().catch(() => {
      this.#cells = undefined; // the network may be gone for a moment
      return null;
    });
    return this.#cells;
  }

  /** The lesson's cell of this id. */
  async cell(id) {
    return (await this.cells)?.find((cell) => cell.id === id);
  }

  async #read() {
    const { contents, context, identity } = this;
    const folder = await lessonsOf(identity, context.localPath, contents);
    const lesson = folder && (await this.#find(folder));
    return lesson ? this.#named(lesson.cells) : null;
  }

  /** The lesson in the folder that the copy names, or else the one with its title. */
  async #find(folder) {
    const name = `${this.identity.lesson}.ipynb`;
    const lessons = (await this.#list(folder)).filter(({ type }) => type === "notebook");
    lessons.sort((one) => (one.name === name ? -1 : 1));
    const title = this.context.model.getMetadata("title");
    for (const { path } of lessons) {
      const { content } = await this.contents.get(path);
      if (content.metadata.title === title) return content;
    }
    return null;
  }

  /** The cells, with the figures named as in the copy. */
  async #named(cells) {
    const copy = this.context.localPath.replace(/\/[^/]*$/, "");
    const hasOwn = (await this.#list(copy)).some(({ name, type }) => type === "directory" && name === "img");
    const named = (source) => (hasOwn ? source.replaceAll(SHARED, OWN) : source);
    return cells.map((cell) => ({ ...cell, source: named([cell.source].flat().join("")) }));
  }

  async #list(folder) {
    const { content } = await this.contents.get(folder);
    return content;
  }
}
