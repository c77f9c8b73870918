// JupyterLab's own table of contents, open beside the first lesson that a student opens, once: whoever closes it
// is not bothered again. JupyterLab's workspace, which lies on the server, remembers that.

const SHOWN = "mha-deck:contents-shown";
const CONTENTS = "table-of-contents"; // the id of JupyterLab's panel

export async function openContents(app, load) {
  const { IStateDB } = await load("@jupyterlab/statedb");
  const state = await app.resolveOptionalService(IStateDB);
  await app.restored;
  if (!state || (await state.fetch(SHOWN))) return;
  await state.save(SHOWN, true);
  app.shell.activateById(CONTENTS);
}
