// The field in the line above a lesson for whoever fell behind: it takes the address of a slide, such as 3.12, as the
// foot of the lecturer's slides shows it, runs what that step needs, and goes there.
import { execute } from "../deck/static/cells.js";
import { fill } from "../deck/static/words.js";
import { cellsToRun } from "../extension/names.js";
import { stepsOf } from "./steps.js";

const NOTEBOOK = /(?:^|\/)0*(\d+)_[^/]*\.ipynb$/;
const askedOf = new Map(); // addresses in lessons that are being opened, by the path of the file

// A handout that the same server shows leads here: lab/tree/work/en/03_….ipynb?step=3.12.
const [, opened] = /\/tree\/(.+)$/.exec(decodeURIComponent(window.location.pathname)) ?? [];
const step = new URLSearchParams(window.location.search).get("step");
if (opened && step) askedOf.set(opened, step);

export function offerAddresses(seat, steps, line) {
  const { panel, words } = seat;
  const addresses = steps.map(({ address }) => address).filter(Boolean);
  if (!addresses.length) return; // a copy from before steps had addresses
  const field = Object.assign(document.createElement("input"), {
    className: "mha-address",
    placeholder: fill(words.address, { address: addresses[0] }),
    ariaLabel: words.address_hint,
    title: words.address_hint,
  });
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  line.append(field, status);
  const say = (text) => Object.assign(status, { textContent: text, title: text });

  seat.goToAddress = async (typed) => {
    const address = addressOf(typed, addresses);
    const step = steps.find((each) => each.address === address);
    const known = { address: typed.trim(), first: addresses[0], last: addresses.at(-1) };
    if (step) return catchUp(seat, step, say);
    if (!(await openOther(seat, address))) return say(fill(words.no_address, known));
  };
  field.addEventListener("keydown", async (event) => {
    event.stopPropagation(); // JupyterLab's keys for cells
    if (event.key !== "Enter" || !field.value.trim()) return;
    say("");
    await seat.goToAddress(field.value).catch(({ message }) => say(message)); // the kernel is gone, say
  });
  const { path } = panel.context;
  if (!askedOf.has(path)) return;
  field.value = askedOf.get(path);
  askedOf.delete(path);
  seat.goToAddress(field.value);
}

/** The address that was typed, in digits of any width; of a number alone, in the lesson's own. */
function addressOf(typed, [first]) {
  const text = typed.normalize("NFKC").replace(/\s/g, "");
  return /^\d+$/.test(text) ? `${first.split(".")[0]}.${text}` : text;
}

/** Run the setup and the cells that a step needs, as far as they have not run as they are now; then go to the step. */
async function catchUp({ load, panel, original, setup, walk, words }, { address, first, needs }, say) {
  const { content: notebook, sessionContext } = panel;
  original.putBack(notebook.model, ({ id }) => id === first || needs.includes(id)); // a student may have deleted one
  const cellOf = (id) => notebook.widgets.find(({ model }) => model.id === id);
  if (!(await setup.ready())) return; // it says why
  const left = await cellsToRun(needs.map(cellOf), sessionContext, { all: true });
  for (const [done, cell] of left.entries()) {
    say(fill(words.catching_up, { address, done, all: left.length }));
    const reply = await execute(cell, { panel, load });
    if (reply?.status === "ok") continue;
    walk.goTo(cell);
    return say(fill(words.not_caught_up, { address }));
  }
  say("");
  walk.goTo(cellOf(first));
  notebook.scrollToItem(notebook.activeCellIndex, "start");
}

/** Open the copy of the lesson that an address names, if it lies beside this one, and go there; whether it does. */
async function openOther({ app, panel, seats }, address) {
  const { path } = panel.context;
  const { content } = await app.serviceManager.contents.get(path.replace(/[^/]*$/, ""));
  const [lesson] = address.split(".");
  const other = content.find(({ path: its }) => its !== path && NOTEBOOK.exec(its)?.[1] === lesson);
  if (!other) return false;
  const isOpen = [...seats].find((seat) => seat.panel.context.path === other.path);
  if (!isOpen) askedOf.set(other.path, address); // it goes there as soon as it is ready
  await app.commands.execute("docmanager:open", { path: other.path });
  await isOpen?.goToAddress(address);
  return true;
}

/** Open the handout of this lesson at the step of the active cell, if it lies on the server. */
export async function openHandout({ app, load, panel, original, words }) {
  const { contents } = app.serviceManager;
  const path = panel.context.path.replace(/work\/([^/]+\/[^/]+)\.ipynb$/, "build/handouts/$1.html");
  const isThere = await contents.get(path, { content: false }).catch(() => null);
  if (!isThere || path === panel.context.path) {
    const { Notification } = await load("@jupyterlab/apputils");
    return Notification.info(fill(words.no_handout, { path }), { autoClose: 8000 });
  }
  const active = panel.content.activeCell?.model.id;
  const step = stepsOf(original.cells).find(({ cells }) => cells.some(({ id }) => id === active));
  window.open(`${await contents.getDownloadUrl(path)}#${step?.address ?? ""}`, "_blank", "noopener");
}
