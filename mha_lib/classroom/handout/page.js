// A widget's model without a kernel: what an anywidget may ask of Jupyter's, as far as a page can answer.
function makeModel(stored) {
  const state = { ...stored.state };
  for (const [path, base64] of stored.buffers) {
    const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
    path.slice(0, -1).reduce((at, key) => at[key], state)[path.at(-1)] = new DataView(bytes.buffer);
  }
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
    on: (events, callback) => {
      listeners = [...listeners, ...events.split(" ").map((event) => ({ event, callback }))];
    },
    off: (events, callback) => {
      const named = events?.split(" ");
      listeners = listeners.filter((known) =>
        (named && !named.includes(known.event)) || (callback && callback !== known.callback));
    },
    save_changes() {},
    send() {},
  };
  return model;
}

async function bringAlive(figure, { sources, models }, alive) {
  const id = figure.dataset.widget, stored = models[id];
  const address = () => URL.createObjectURL(new Blob([sources[stored.module]], { type: "text/javascript" }));
  const { default: exported, ...names } = await (alive[stored.module] ??= import(address()));
  const widget = typeof exported === "function" ? await exported() : exported ?? names;
  alive[id] ??= Promise.resolve(makeModel(stored)).then(async (model) => {
    await widget.initialize?.({ model });
    return model;
  });
  const el = document.createElement("div");
  el.className = "live";
  figure.append(el);
  try {
    await widget.render({ model: await alive[id], el });
    figure.classList.add("alive");
  } catch (error) {
    el.remove();
    throw error;
  }
}

const stored = document.getElementById("widgets");
if (stored) {
  const data = JSON.parse(stored.textContent), alive = {};
  for (const name of new Set(Object.values(data.models).map((model) => model.style)))
    document.head.append(Object.assign(document.createElement("style"), { textContent: data.sources[name] }));
  for (const figure of document.querySelectorAll("[data-widget]"))
    bringAlive(figure, data, alive).catch((error) => {
      const note = Object.assign(document.createElement("p"), { className: "note" });
      note.textContent = WORDS.failed + error.message;
      figure.append(note);
    });
}

// ---- the page: copying code, contents that show where one is, paper ----

for (const block of document.querySelectorAll(".code")) {
  const button = Object.assign(document.createElement("button"), { className: "copy", textContent: WORDS.copy });
  button.onclick = async () => {
    const code = block.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = WORDS.copied;
      setTimeout(() => (button.textContent = WORDS.copy), 1500);
    } catch {
      getSelection().selectAllChildren(code); // the reader's own Ctrl+C does the rest
    }
  };
  block.append(button);
}

function reachScrollers() { // what scrolls must scroll by keyboard too
  for (const box of document.querySelectorAll("pre, div.formula, .table, .html, .picture"))
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
}
addEventListener("resize", reachScrollers);
reachScrollers();

const contents = document.querySelector("nav details");
if (contents) {
  const beside = matchMedia("(min-width: 72rem)");
  contents.addEventListener("click", (event) => event.target.closest("a") && !beside.matches && (contents.open = false));
  const nav = contents.parentElement, items = [...contents.querySelectorAll("li")];
  const headings = items.map((item) => document.getElementById(decodeURIComponent(item.firstChild.hash.slice(1))));
  const sectionOf = (here) => items.findLastIndex((item, i) => i <= here && item.className === "level-2");
  const mark = () => {
    const here = headings.findLastIndex((heading) => heading?.getBoundingClientRect().top < innerHeight / 3);
    items.forEach((item, i) => {
      if (i === here) item.firstChild.setAttribute("aria-current", "true");
      else item.firstChild.removeAttribute("aria-current");
      item.hidden = beside.matches && item.className !== "level-2" && sectionOf(i) !== sectionOf(here);
    });
    if (here >= 0) nav.scrollTop = items[here].offsetTop - nav.clientHeight / 2;
  };
  addEventListener("scroll", mark, { passive: true });
  beside.onchange = () => {
    contents.open = beside.matches;
    mark();
  };
  beside.onchange();
}

// Paper can't be unfolded: answers are opened for it, and folded again.
const folded = [];
addEventListener("beforeprint", () => {
  for (const fold of document.querySelectorAll("main details:not([open], .fold-code)")) {
    fold.open = true;
    folded.push(fold);
  }
});
addEventListener("afterprint", () => {
  while (folded.length) folded.pop().open = false;
});
