// Reads which lesson a file is, by its own word, and which roles its cells have, by the table lesson/grammar.json, which
// is installed beside the deck. lesson/grammar.py reads the same table. Nobody else reads a tag or learns from a path.
// Which slides a lesson has, and for how long, the page learns from its copy alone: Python reads that (lesson/slides.py).

const answer = await fetch(new URL("../grammar.json", import.meta.url));
const ROLES = await answer.json();

/** An entry of the metadata of a notebook or a cell: of its model, or of its JSON. */
export const metadataOf = (one, name) => (one.getMetadata ? one.getMetadata(name) : one.metadata?.[name]);

/** Whether a cell has one of these roles; an unknown role is an error. */
export function hasRole(cell, ...roles) {
  const tags = metadataOf(cell, "tags") ?? [];
  return roles.some((role) => tags.includes(ROLES[role].tag));
}

/** The roles of a cell that say what it shows: text, value, table, picture, explorer, check, nothing. */
export const shownBy = (cell) =>
  Object.keys(ROLES).filter((role) => ROLES[role].tag.startsWith("shows-") && hasRole(cell, role));

/** The step that a cell begins, as the copy of the lesson says (lesson/carried.py); nothing for another cell. */
export const stepOf = (cell) => metadataOf(cell, "mha_step");

/** The name of the exercise that a cell checks; undefined for another cell. */
export const checkedBy = (cell) => (hasRole(cell, "check") ? metadataOf(cell, "checks") : undefined);

/** The number of a lesson, without zeros in front, by its name or its file's; nothing where it has none. */
export const numberOf = (name) => /^0*(\d+)/.exec(name)?.[1];

/** The identity that a lesson names: {lesson, language, kind, edition}; nothing for a notebook that is no lesson. */
export const identityOf = (notebook) => metadataOf(notebook, "mha");
