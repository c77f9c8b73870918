(() => {
  "use strict";

  // A widget's model without a kernel: what an anywidget may ask of Jupyter's, kept to what a page can answer.
  function makeModel(stored) {
    const state = { ...stored.state };
    for (const [path, base64] of stored.buffers) {
      const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
      path.slice(0, -1).reduce((at, key) => at[key], state)[path.at(-1)] = new DataView(bytes.buffer);
    }
    const listeners = [];
    const model = {
      get: (name) => state[name],
      set(name, value) {
        if (state[name] === value) return;
        state[name] = value;
        for (const [event, callback] of [...listeners]) {
          if (event === `change:${name}`) callback(model, value);
          if (event === "change") callback(model);
        }
      },
      on: (events, callback) => events.split(" ").forEach((event) => listeners.push([event, callback])),
      off(events, callback) {
        const gone = ([event, known]) =>
          (!events || events.split(" ").includes(event)) && (!callback || callback === known);
        listeners.splice(0, listeners.length, ...listeners.filter((listener) => !gone(listener)));
      },
      save_changes() {},
      send() {},
    };
    return model;
  }

  async function bringAlive(figure, data, models, modules) {
    const stored = data.models[figure.dataset.widget];
    const source = data.sources[stored.module];
    modules[stored.module] ??= import(URL.createObjectURL(new Blob([source], { type: "text/javascript" })));
    const { default: exported, ...legacy } = await modules[stored.module];
    const widget = typeof exported === "function" ? await exported() : (exported ?? legacy);
    if (!models[figure.dataset.widget]) {
      models[figure.dataset.widget] = makeModel(stored);
      await widget.initialize?.({ model: models[figure.dataset.widget] });
    }
    const el = document.createElement("div");
    el.className = "live";
    figure.append(el);
    try {
      await widget.render({ model: models[figure.dataset.widget], el });
      figure.classList.add("alive");
    } catch (error) {
      el.remove();
      throw error;
    }
  }

  const element = document.getElementById("widgets");
  if (element) {
    const data = JSON.parse(element.textContent);
    const models = {}, modules = {};
    for (const { style } of Object.values(data.models)) {
      if (document.getElementById(`style-${style}`)) continue;
      const sheet = document.createElement("style");
      sheet.id = `style-${style}`;
      sheet.textContent = data.sources[style];
      document.head.append(sheet);
    }
    for (const figure of document.querySelectorAll("[data-widget]")) {
      bringAlive(figure, data, models, modules).catch((error) => {
        console.warn("A widget could not start:", error);
        const note = document.createElement("p");
        note.className = "note";
        note.textContent = `This interactive figure could not start here (${error.message}).`;
        figure.append(note);
      });
    }
  }
})();
