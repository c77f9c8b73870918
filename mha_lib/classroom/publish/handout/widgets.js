// Widgets without a kernel: each figure that names a stored widget gets its module, its state and a stand-in
// for the model that Jupyter would give it. WORDS come from the page.

/** The part of Jupyter's widget model that a page can offer to a widget's module. */
function makeModel(stored) {
  const state = readState(stored);
  let listeners = [];
  const model = {
    get: (name) => state[name],
    set(name, value) {
      if (state[name] === value) return;
      state[name] = value;
      for (const { event, callback } of listeners) {
        if (event === `change:${name}`) callback(model, value);
        if (event === "change") callback(model);
      }
    },
    on(events, callback) {
      listeners = [...listeners, ...events.split(" ").map((event) => ({ event, callback }))];
    },
    off(events, callback) {
      const named = events?.split(" ");
      const isMeant = ({ event, callback: known }) =>
        (!named || named.includes(event)) && (!callback || callback === known);
      listeners = listeners.filter((listener) => !isMeant(listener));
    },
    save_changes() {},
    send() {},
  };
  return model;
}

/** The stored state, with its arrays of bytes at the places from which they were taken. */
function readState(stored) {
  const state = { ...stored.state };
  for (const [path, base64] of stored.buffers) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    const place = path.slice(0, -1).reduce((at, key) => at[key], state);
    place[path.at(-1)] = new DataView(bytes.buffer);
  }
  return state;
}

/** The widgets of the page; two views of one widget share its model, two widgets of one kind their module. */
class Widgets {
  constructor({ sources, models }) {
    this.sources = sources;
    this.stored = models;
    this.modules = {};
    this.models = {};
  }

  addStyles() {
    for (const name of new Set(Object.values(this.stored).map((stored) => stored.style))) {
      const style = document.createElement("style");
      style.textContent = this.sources[name];
      document.head.append(style);
    }
  }

  async show(figure) {
    const stored = this.stored[figure.dataset.widget];
    this.modules[stored.module] ??= this.importModule(stored.module);
    const widget = await this.modules[stored.module];
    this.models[figure.dataset.widget] ??= this.startModel(stored, widget);
    const model = await this.models[figure.dataset.widget];
    const view = document.createElement("div");
    view.className = "live";
    figure.append(view);
    try {
      await widget.render({ model, el: view });
      figure.classList.add("alive");
    } catch (error) {
      view.remove();
      throw error;
    }
  }

  async importModule(name) {
    const source = new Blob([this.sources[name]], { type: "text/javascript" });
    const { default: exported, ...named } = await import(URL.createObjectURL(source));
    return typeof exported === "function" ? exported() : (exported ?? named);
  }

  async startModel(stored, widget) {
    const model = makeModel(stored);
    await widget.initialize?.({ model });
    return model;
  }
}

function showWidgets() {
  const stored = document.querySelector("body > #widgets"); // a heading may have the same name
  if (!stored) return;
  const widgets = new Widgets(JSON.parse(stored.textContent));
  widgets.addStyles();
  for (const figure of document.querySelectorAll("[data-widget]")) {
    widgets.show(figure).catch((error) => {
      const note = document.createElement("p");
      note.className = "note";
      note.textContent = WORDS.failed.replace("{reason}", () => error.message);
      figure.append(note);
    });
  }
}

showWidgets();
