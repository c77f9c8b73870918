// A notebook that nobody has trusted: the server withholds what would run in the page, such as stored widgets, and says
// so in the notebook (settings/jupyter_server_config.py). The page takes neither words nor styles from such a notebook,
// and lets what its metadata says decide nothing that runs. A line above it tells of that; its button trusts the
// notebook, and loads the page again.
import { metadataOf } from "./grammar.js";
import { save } from "./saves.js";

const WITHHELD = "mha_withheld"; // in the notebook's metadata, also where nothing had to be withheld

/** Whether somebody has trusted a notebook, given as its model or its JSON. */
export const isTrusted = (notebook) => !metadataOf(notebook, WITHHELD);

/** Read what a copy carries for its page, {words, style, handouts} (lesson/carried.py); {} if nobody has trusted it. */
export const carriedBy = (notebook) => (isTrusted(notebook) && metadataOf(notebook, "mha_page")) || {};

/**
 * Show all code of a notebook: what is folded would run unseen. The file keeps what it folds. JupyterLab unfolds a
 * heading itself when a cell below it becomes the active one.
 */
export function unfoldCode({ widgets }) {
  for (const cell of widgets) {
    cell.syncCollapse = false;
    cell.inputHidden = false;
  }
}

/** The line, as an element; null where the notebook is trusted. */
export function lineOfWithheld({ app, load, panel, words }) {
  if (isTrusted(panel.content.model)) return null;
  const line = Object.assign(document.createElement("div"), { className: "mha-withheld" });
  line.innerHTML = "<span></span><button></button>";
  const [text, button] = line.children;
  text.textContent = text.title = words.notice;
  button.textContent = words.trust;
  button.addEventListener("click", async () => {
    if (!window.confirm(words.sure)) return; // the browser's own question: nothing in the notebook covers it
    const isDone = (await save(panel.context)) && (await trust({ app, load, panel }).catch(() => false));
    if (isDone) window.location.reload();
    else text.textContent = words.failed;
  });
  return line;
}

/** Let the server sign the file as it is; false where it does not. */
async function trust({ app, load, panel }) {
  const { ServerConnection } = await load("@jupyterlab/services");
  const { serverSettings } = app.serviceManager;
  const path = panel.context.localPath.split("/").map(encodeURIComponent).join("/");
  const address = `${serverSettings.baseUrl}api/contents/${path}/trust`;
  const { ok } = await ServerConnection.makeRequest(address, { method: "POST" }, serverSettings);
  return ok;
}
