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

/** The same function, which answers from memory what it was asked before. */
function remembering(answer) {
  const known = {};
  return (name) => (known[name] ??= answer(name));
}

/** The widgets of the page; two views of one widget share its model, two widgets of one kind their module. */
function showWidgets({ sources, models }) {
  const moduleOf = remembering(async (name) => {
    const source = new Blob([sources[name]], { type: "text/javascript" });
    const { default: exported, ...named } = await import(URL.createObjectURL(source));
    return typeof exported === "function" ? exported() : (exported ?? named);
  });
  const modelOf = remembering(async (name) => {
    const widget = await moduleOf(models[name].module);
    const model = makeModel(models[name]);
    await widget.initialize?.({ model });
    return model;
  });

  async function show(figure) {
    const name = figure.dataset.widget;
    const widget = await moduleOf(models[name].module);
    const model = await modelOf(name);
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

  for (const name of new Set(Object.values(models).map(({ style }) => style))) {
    document.head.append(Object.assign(document.createElement("style"), { textContent: sources[name] }));
  }
  for (const figure of document.querySelectorAll("[data-widget]")) {
    show(figure).catch((error) => {
      const textContent = WORDS.failed.replace("{reason}", () => error.message);
      figure.append(Object.assign(document.createElement("p"), { className: "note", textContent }));
    });
  }
}

const stored = document.querySelector("body > #widgets"); // a heading may have the same name
if (stored) showWidgets(JSON.parse(stored.textContent));
