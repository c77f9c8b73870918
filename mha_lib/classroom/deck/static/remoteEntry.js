// RISE serves its page from a JupyterLab core of its own. That core lacks @jupyterlab/console, which
// the ipywidgets manager asks for; without it every widget of a deck turns into text. This extension
// puts a stub of the module into webpack's share scope, and gives the deck the keys of deck.js.
// In JupyterLab itself it does nothing.
(() => {
  const name = "mha-deck";
  let scope; // webpack's share scope: {module: {version: {get}}}
  const load = async (module) => (await Object.values(scope[module])[0].get())();

  function init(sharedScope) {
    scope = sharedScope;
    if (scope["@jupyterlab/console"]) return;
    const [version] = Object.keys(scope["@jupyterlab/notebook"]); // JupyterLab's packages move together
    const stub = async () => {
      const { Token } = await load("@lumino/coreutils");
      return () => ({ IConsoleTracker: new Token("@jupyterlab/console:IConsoleTracker") });
    };
    scope["@jupyterlab/console"] = { [version]: { get: stub, from: name, eager: false } };
  }

  async function activate(app) {
    if (app.name === "Rise") (await import("./deck.js")).default(app, load);
  }
  const plugin = { id: `${name}:deck`, autoStart: true, activate };
  const get = async () => () => ({ __esModule: true, default: [plugin] });
  (window._JUPYTERLAB ??= {})[name] = { init, get };
})();
