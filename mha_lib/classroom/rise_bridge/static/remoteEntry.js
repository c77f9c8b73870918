// RISE serves its page from a JupyterLab core of its own. That core lacks @jupyterlab/console, which
// the ipywidgets manager asks for; without it every widget of a deck turns into text. This extension
// puts a stub of the module into webpack's share scope. In JupyterLab itself it does nothing.
(() => {
  const name = "mha-rise-bridge";
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

  // Keys pressed inside a widget belong to the widget: the arrows move its slider, not the slide.
  // Keys pressed nowhere belong to the notebook, so that Ctrl+Enter runs a cell before any click.
  function directKeys(app) {
    const turning = ["ArrowLeft", "ArrowRight", " ", "PageUp", "PageDown"];
    const inWidget = (event) => event.target.closest?.(".jp-OutputArea-output");
    const inEditor = (event) => event.target.closest?.(".cm-editor");
    // JupyterLab's shortcuts listen on the way down and look for this attribute, Reveal's on the way up.
    const hideFromJupyter = ({ target }) => {
      if (target.hasAttribute("data-lm-suppress-shortcuts")) return;
      target.setAttribute("data-lm-suppress-shortcuts", "true");
      setTimeout(() => target.removeAttribute("data-lm-suppress-shortcuts"));
    };
    const goingDown = (event) => {
      const notebook = app.shell.currentWidget?.content.node;
      if (event.target === document.body && notebook) {
        event.stopImmediatePropagation();
        notebook.focus();
        notebook.dispatchEvent(new KeyboardEvent("keydown", event));
      } else if (inWidget(event) || (turning.includes(event.key) && !inEditor(event))) hideFromJupyter(event);
    };
    const goingUp = (event) => inWidget(event) && event.stopImmediatePropagation();
    window.addEventListener("keydown", goingDown, true);
    document.addEventListener("keydown", goingUp);
  }

  const plugin = {
    id: `${name}:deck`,
    autoStart: true,
    activate(app) {
      if (app.name === "Rise") directKeys(app);
    },
  };

  const get = async () => () => ({ __esModule: true, default: [plugin] });
  (window._JUPYTERLAB ??= {})[name] = { init, get };
})();
