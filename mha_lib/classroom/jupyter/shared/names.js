// Finds the cells that have not run in this kernel, and among them those from which a missing name should have come.
import { errorOf, isSetup } from "./cells.js";
import { metadataOf } from "./grammar.js";
import { isTrusted } from "./withheld.js";

const BINDS = "mha_binds"; // in the metadata of a cell: the names that it binds, as the copy says (lesson/carried.py)
const QUOTED = /'([^']+)'/; // in the message of a NameError: the name
const ALL_OF_KERNEL = {
  hist_access_type: "range",
  session: 0,
  start: 0,
  stop: null,
  output: false,
  raw: true,
};

/** The cells that have not run in this kernel as they are now: Jupyter keeps what has. */
export async function cellsToRun(cells, { session }) {
  const { content } = await session.kernel.requestHistory(ALL_OF_KERNEL);
  const haveRun = new Set(content.history.map(([, , source]) => source));
  return cells.filter(({ model }) => !haveRun.has(model.sharedModel.getSource().replace(/\n+$/, "")));
}

/** In a route through several lessons the ids of a lesson's cells begin with its number: these share their names. */
const lessonOf = ({ model }) => /^\d+-/.exec(model.id)?.[0];

/**
 * The cells that bind the name which a cell has just missed: the setup, or else one other cell. None for another error;
 * and none for a name of a cell that the student has added, since the copy does not know which names that one binds.
 */
export async function sourcesOfName(failed, { content: { model, widgets }, sessionContext }) {
  const { ename, evalue } = errorOf(failed) ?? {};
  const [, name] = QUOTED.exec(evalue) ?? [];
  if (ename !== "NameError" || !isTrusted(model)) return [];
  const isAkin = (cell) => cell.model.type === "code" && lessonOf(cell) === lessonOf(failed);
  const others = widgets.filter((cell) => cell !== failed && isAkin(cell));
  const binding = others.filter((cell) => metadataOf(cell.model, BINDS)?.includes(name));
  const missing = await cellsToRun(binding, sessionContext);
  return missing.some(isSetup) ? others.filter(isSetup) : missing.slice(-1);
}
