// The steps of a lesson, as its copy names them in the metadata of the cell with which each begins
// (lesson/carried.py), and what of them a student has done: all of it is kept in the notebook.
import { hasRole, stepOf } from "../shared/grammar.js";
import { isOpen } from "./guesses.js";

/** Each step: {first, minutes, is_optional, cells}, the cells as the notebook's JSON has them. */
export function stepsOf(cells) {
  const steps = [];
  for (const cell of cells) {
    if (stepOf(cell)) steps.push({ ...stepOf(cell), first: cell.id, cells: [] });
    steps.at(-1)?.cells.push(cell);
  }
  return steps;
}

/** Whether a student runs this cell: others run with the setup, or are for instructors. */
export const isToRun = (cell) =>
  (cell.cell_type ?? cell.type) === "code" && !hasRole(cell, "setup", "solution");

/** The cells of a step in which there is something to do: code to run, and a guess. */
const work = ({ cells }) => cells.filter((cell) => isToRun(cell) || hasRole(cell, "guess"));

/**
 * The core path and how far the student is on it: {core, left, here}. `left` are the steps with something to do, `here`
 * is the first of them. A step without anything to do is left as long as one before it is, and as nothing is done. A
 * cell that a student has deleted is left: it can be brought back. `found` has the notebook's cells by their ids.
 */
export function progressOf(steps, found) {
  const isDone = (cell) => {
    const model = found.get(cell.id);
    return model && (model.type === "code" ? model.executionCount !== null : isOpen(model));
  };
  const core = steps.filter(({ is_optional }) => !is_optional);
  const here = core.find((step) => !work(step).every(isDone));
  const first = core.some((step) => work(step).some(isDone)) ? core.indexOf(here) : 0;
  const left = core.filter((step, at) =>
    work(step).length ? !work(step).every(isDone) : here && at >= first,
  );
  return { core, left, here };
}
