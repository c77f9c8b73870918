// The field in the line above a lesson that goes to a step by its address, the number at the foot of its slide: "3.12", or
// "12" in lesson 3. First it runs what the step needs: the setup, and the cells that the copy names (lesson/needs.py).
// No answer is among them. A link to a step goes there, too, and runs nothing until a button is pressed: anybody can
// write one.
import { hasRole, identityOf, numberOf } from "../shared/grammar.js";
import { fill } from "../shared/words.js";
import { stepsOf } from "./lesson_steps.js";

const ADDRESS = /^\d+(\.\d+){0,2}$/;
const waiting = new Map(); // by the path of a notebook that is opening: the address to go to, and whether by a link

// A handout that the same server shows leads here: lab/tree/work/en/03_….ipynb?step=3.12.
const [, opened] = /\/tree\/(.+)$/.exec(decodeURIComponent(window.location.pathname)) ?? [];
const asked = new URLSearchParams(window.location.search).get("step");
if (opened && asked) waiting.set(opened, [asked, true]);

export async function addAddress({ seat, seats, line }) {
  const { app, load, panel, words, original } = seat;
  const { Notification } = await load("@jupyterlab/apputils");
  const steps = stepsOf(original.cells).filter(({ address }) => address);
  if (!steps.length) return; // the copy is older than addresses
  const lesson = numberOf(identityOf(panel.content.model).lesson);
  const core = steps.filter(({ is_optional }) => !is_optional);
  const [first, last] = [core[0], core.at(-1)].map((step) => (step ?? steps[0]).address);
  const label = line.appendChild(document.createElement("label"));
  const field = document.createElement("input");
  label.append(words.address, field);
  const offered = line.appendChild(document.createElement("button"));
  offered.className = "mha-needed";
  offered.hidden = true;
  label.title = fill(words.address_hint, { address: last });
  field.placeholder = last;
  field.autocomplete = "off";
  let said;
  let isBusy = false;

  function refuse(sentence, gaps) {
    field.ariaInvalid = "true";
    said = Notification.error(fill(sentence, gaps), { autoClose: false });
  }

  /** Go to the address as it was typed, or as a link has it; what was typed stays where that fails. */
  async function go(typed, isLink) {
    Notification.dismiss(said);
    offered.hidden = true;
    field.ariaInvalid = "false";
    field.value = typed;
    const address = readAddress(typed, lesson);
    const step = steps.find((each) => each.address === address);
    if (step) return isLink ? offer(step) : goToStep(step);
    if (!ADDRESS.test(address)) return refuse(words.no_address, { typed, address: last });
    const [other] = address.split(".");
    if (other === lesson || !address.includes(".")) return refuse(words.no_step, { address, first, last });
    const path = await notebookBeside(panel.context.path, other, app.serviceManager.contents);
    if (!path) return refuse(words.no_lesson, { address, lesson: other });
    const open = [...seats].find(({ panel: { context } }) => context.path === path);
    if (!open) waiting.set(path, [address, isLink]);
    await app.commands.execute("docmanager:open", { path });
    return open?.go?.(address, isLink);
  }

  async function goToStep(step) {
    if (await runNeeds(seat, step)) await arriveAt(step);
  }

  /** Show the step, and a button that runs what it needs. */
  async function offer(step) {
    const count = countNeeds(original, step);
    offered.textContent = fill(words.run_needed, { address: step.address, count });
    offered.onclick = () => seat.go(step.address);
    offered.hidden = !count;
    await arriveAt(step);
  }

  async function arriveAt({ first: begin }) {
    await showCell(seat, begin);
    field.value = "";
  }

  seat.go = async (typed, isLink = false) => {
    if (isBusy) return;
    isBusy = true;
    await go(typed, isLink).finally(() => {
      isBusy = false;
    });
  };
  field.addEventListener("keydown", ({ key, isComposing }) => {
    if (key === "Enter" && !isComposing && field.value.trim()) seat.go(field.value);
  });
  const { path } = panel.context;
  if (waiting.has(path)) seat.go(...waiting.get(path));
  waiting.delete(path);
}

/** Run what a step needs, without an answer; false where a cell fails. */
function runNeeds(
  { panel: { content: notebook }, words, original, setup },
  { address, first: begin, needs },
) {
  original.putBack(notebook.model, ({ id }) => id === begin || needs.includes(id)); // a student may have deleted one
  const byId = new Map(notebook.widgets.map((cell) => [cell.model.id, cell]));
  const needed = needs.map((id) => byId.get(id)).filter(({ model }) => model.type === "code");
  return setup.runNeeded(fill(words.address_needs, { address }), needed);
}

function countNeeds({ cells }, { needs }) {
  const isNeeded = (cell) => hasRole(cell, "setup") || needs.includes(cell.id);
  return cells.filter((cell) => cell.cell_type === "code" && isNeeded(cell)).length;
}

/** Go to the cell, out of what folds it; nowhere if a student has deleted it. */
async function showCell({ load, panel: { content: notebook }, walk }, id) {
  const { NotebookActions } = await load("@jupyterlab/notebook");
  const cell = notebook.widgets.find(({ model }) => model.id === id);
  if (!cell) return;
  if (cell.headingCollapsed) cell.headingCollapsed = false;
  NotebookActions.expandParent(cell, notebook);
  walk.goTo(cell);
  notebook.scrollToItem(notebook.activeCellIndex, "start");
}

/**
 * The address that was typed, in half-width digits and without zeros in front: " ３．１２ " and "03.12" are "3.12". Without
 * the lesson's number, "12" is a step of this lesson.
 */
function readAddress(typed, lesson) {
  const plain = typed
    .normalize("NFKC")
    .trim()
    .replace(/。/g, ".")
    .replace(/(^|\.)0+(?=\d)/g, "$1");
  return plain.includes(".") || !lesson ? plain : `${lesson}.${plain}`;
}

/** The path of the notebook of the lesson of that number, in the folder of this one. */
async function notebookBeside(path, number, contents) {
  const { content } = await contents.get(path.replace(/\/?[^/]*$/, ""));
  const notebooks = content.filter(({ name }) => /^[^.]+\.ipynb$/.test(name)); // no 04_….new.ipynb
  return notebooks.find(({ name }) => numberOf(name) === number)?.path;
}

/** Open the handout of this lesson at the step of the active cell, if it lies on the server. */
export async function openHandout({ app, load, panel, original, words }) {
  const { contents } = app.serviceManager;
  const { path } = panel.context;
  const handout = path.replace(/work\/([^/]+\/[^/]+)\.ipynb$/, "build/handouts/$1.html");
  const isThere = await contents.get(handout, { content: false }).catch(() => null);
  if (!isThere || handout === path) {
    const { Notification } = await load("@jupyterlab/apputils");
    return Notification.info(fill(words.no_handout, { path: handout }), { autoClose: 8000 });
  }
  const active = panel.content.activeCell?.model.id;
  const step = stepsOf(original.cells).find(({ cells }) => cells.some(({ id }) => id === active));
  const address = await contents.getDownloadUrl(handout);
  window.open(`${address}#${step?.address ?? ""}`, "_blank", "noopener");
}
