// JupyterLab loads this file, by its name. It starts the deck in RISE, and the student's seat elsewhere.
// It is also the bridge that lets widgets live in a deck. RISE serves its page from a JupyterLab core of its own,
// which lacks @jupyterlab/console. The ipywidgets manager asks for that module; without it every widget of a deck
// turns into text. So, in RISE, this puts a stub of the module into webpack's share scope.
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

  // JupyterLab's themes name no colour scheme: without one, drawings and figures follow that of the system.
  function schemePictures() {
    const sheet = new CSSStyleSheet();
    const rule = (isLight, scheme) =>
      `[data-jp-theme-light="${isLight}"] .jp-Notebook img { color-scheme: ${scheme}; }`;
    sheet.replaceSync(rule(true, "light") + rule(false, "dark"));
    document.adoptedStyleSheets.push(sheet);
  }

  // RISE's button opens a notebook's path as it is: a # or % in a name would end or change it.
  function mendAddresses() {
    const open = window.open.bind(window);
    const encode = (path) => path.split("/").map(encodeURIComponent).join("/");
    window.open = (address, ...rest) => {
      const [, start, path, query] = /^(.*?\/rise\/)(.*)(\?activeCellIndex=\d+)$/.exec(address) ?? [];
      return open(path ? start + encode(path) + query : address, ...rest);
    };
  }

  async function activate(app) {
    schemePictures();
    mendAddresses();
    const part = app.name === "Rise" ? "../deck/deck.js" : "../seat/seat.js";
    await (await import(part)).default(app, load);
  }
  const plugin = { id: `${name}:start`, autoStart: true, activate };
  const get = async () => () => ({ __esModule: true, default: [plugin] });
  window._JUPYTERLAB ??= {};
  window._JUPYTERLAB[name] = { init, get };
})();
