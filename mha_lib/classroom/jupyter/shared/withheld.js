// A line above a notebook that nobody has trusted: the server withholds what would run in the page, such as stored
// widgets (settings/jupyter_server_config.py). A button trusts the notebook, and loads the page again.
import { save } from "./saves.js";

const WITHHELD = "mha_withheld"; // in the notebook's metadata

/** The line, as an element; null where nothing is withheld. */
export function lineOfWithheld({ app, load, panel, words }) {
  if (!panel.content.model.getMetadata(WITHHELD)) return null;
  const line = Object.assign(document.createElement("div"), { className: "mha-withheld" });
  line.innerHTML = "<span></span><button></button>";
  const [text, button] = line.children;
  text.textContent = text.title = words.notice;
  button.textContent = words.trust;
  button.addEventListener("click", async () => {
    const isTrusted = (await save(panel.context)) && (await trust({ app, load, panel }).catch(() => false));
    if (isTrusted) window.location.reload();
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
