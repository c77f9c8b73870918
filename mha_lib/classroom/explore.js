// The view of the heatmap explorer. Python computes the weights, this file draws them:
// decode -> arrange -> paint, and a little page around it. All state lives in the model's traits.

const THEMES = {
  light: {
    paper: "#ffffff", ink: "#1b1b1b", quiet: "#585858", line: "#b5b5b5",
    forbidden: "#ececec", hatch: "#8c8c8c", queries: "#0067A5", keys: "#B04500",
  },
  dark: {
    paper: "#111111", ink: "#ececec", quiet: "#b4b4b4", line: "#5c5c5c",
    forbidden: "#2b2b2b", hatch: "#8c8c8c", queries: "#56B4E9", keys: "#F0954E",
  },
};
const VIRIDIS = 
  "440154471164482071472e7c443c843f488939558c34618d2f6c8e2a768e26818e228b8d" +
  "1f958b1fa08824aa8330b47c41bd7257c6666fcf578ad647a7db35c4e021e2e418fde725";
const FONT = "system-ui, sans-serif";
const NO_LABELS = [];

// ---- decode: float16 whose sign bit says "the mask forbids this cell" ----

const HALVES = Float32Array.from({ length: 0x7c00 }, (_, bits) =>
  bits < 1024 ? bits * 2 ** -24 : (1024 + (bits & 1023)) * 2 ** ((bits >> 10) - 25),
);
const weightOf = (bits) => HALVES[bits & 0x7fff];
const isForbidden = (bits) => bits > 0x7fff;

async function inflate(view) {
  if (!view.byteLength) return new Uint16Array();
  const stream = new Blob([view]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint16Array(await new Response(stream).arrayBuffer());
}

/** A setting's picture: {heads, queries, keys, samples, queryLabels, keyLabels}, or {error, traceback}. */
function decode(entry, maps, labels) {
  if (entry.error) return entry;
  const [, heads, queries, keys] = entry.shape;
  const size = heads * queries * keys;
  return {
    heads, queries, keys,
    samples: entry.at.map((start) => maps.subarray(start, start + size)),
    queryLabels: labels[entry.query_labels] ?? [NO_LABELS],
    keyLabels: labels[entry.key_labels] ?? [NO_LABELS],
  };
}

/** What is on show of a picture: one sample, all heads or the enlarged one. */
function choose(picture, sample, enlarged) {
  const { heads, queries, keys, samples, queryLabels, keyLabels } = picture;
  const which = Math.min(sample, samples.length - 1);
  const maps = samples[which];
  const all = Array.from({ length: heads }, (_, head) => head);
  return {
    maps, queries, keys,
    heads: enlarged >= 0 && enlarged < heads ? [enlarged] : all,
    queryLabels: queryLabels[which] ?? queryLabels[0],
    keyLabels: keyLabels[which] ?? keyLabels[0],
    largest: largestOf(maps),
    hatched: maps.some(isForbidden),
  };
}

function largestOf(maps) {
  let at = 0;
  for (let i = 1; i < maps.length; i++) if ((maps[i] & 0x7fff) > (maps[at] & 0x7fff)) at = i;
  return at;
}

const at = (shown, { head, query, key }) => shown.maps[(head * shown.queries + query) * shown.keys + key];

// ---- arrange: where everything goes ----

const clean = (label) => Array.from(String(label).slice(0, 200).replace(/\s+/g, " "));

/** The label cut to `room` pixels. */
function fit(ctx, label, room) {
  const letters = clean(label);
  let text = letters.join(""), count = letters.length;
  for (let width; count && (width = ctx.measureText(text).width) > room; text = letters.slice(0, count).join("") + "…")
    count = Math.min(count - 1, Math.floor((count * room) / width));
  return text;
}

const widest = (ctx, labels) =>
  labels.reduce((width, label) => Math.max(width, ctx.measureText(clean(label).join("")).width), 0);

/** Every how many-th label can be read at `cell` pixels a label of `need` pixels. */
const stepFor = (cell, need) => [1, 2, 5, 10, 20, 50, 100, 200, 500].find((step) => step * cell >= need) ?? 1000;

/** The grid of heads with the largest cells: {em, width, height, tiles, cellWidth, cellHeight, ...}. */
function arrange(ctx, shown, room) {
  const { em } = room;
  ctx.font = `${em}px ${FONT}`;
  const numbers = (count) => widest(ctx, [count - 1]);
  const queryRoom = shown.queryLabels.length
    ? Math.min(widest(ctx, shown.queryLabels), em * 8, room.width / 4) : numbers(shown.queries);
  const keyWidth = shown.keyLabels.length ? widest(ctx, shown.keyLabels) : numbers(shown.keys);
  const left = Math.ceil(queryRoom + em * 2.2), top = Math.ceil(em * 2.4), title = Math.ceil(em * 1.5);
  const gap = Math.ceil(em * 0.9);
  const count = shown.heads.length;

  const grid = (columns, below, height) => {
    const rows = Math.ceil(count / columns);
    const wide = (room.width - left - em - (columns - 1) * gap) / columns;
    const high = (height - top - below - rows * title - (rows - 1) * gap) / rows;
    const square = Math.min(wide / shown.keys, high / shown.queries, em * 7);
    const stretch = Math.max(square, em * 1.6); // a single row of many keys may be taller than wide
    const snap = (cell) => (cell * room.density < 5 ? cell : Math.floor(cell * room.density) / room.density);
    return {
      columns, rows,
      cellWidth: snap(Math.min(wide / shown.keys, stretch)),
      cellHeight: snap(Math.min(high / shown.queries, stretch)),
    };
  };
  const side = (g) => Math.max(g.cellWidth * shown.keys, g.cellHeight * shown.queries);
  const best = (below) => {
    const grids = shown.heads.map((_, i) => grid(i + 1, below, room.height));
    const area = (g) => (g.cellWidth > 0 && g.cellHeight > 0 ? g.cellWidth * g.cellHeight : 0);
    const largest = grids.reduce((a, b) => (area(b) > area(a) ? b : a));
    if (side(largest) >= em * 8) return largest;
    const tall = shown.heads.map((_, i) => grid(i + 1, below, Infinity)); // rather scroll down than squint
    return tall.findLast((g) => side(g) >= em * 8) ?? tall[0];
  };
  let turned = false, below = em * 2.6;
  let chosen = best(below);
  if (shown.keyLabels.length && keyWidth > chosen.cellWidth - em * 0.3) {
    turned = true;
    below = Math.min(keyWidth, em * 8) + em * 1.6;
    chosen = best(below);
  }
  const { columns, rows, cellWidth, cellHeight } = chosen;
  const w = cellWidth * shown.keys, h = cellHeight * shown.queries;
  const onPixel = (x) => Math.round(x * room.density) / room.density;
  const tiles = shown.heads.map((head, i) => ({
    head, w, h,
    x: onPixel(left + (i % columns) * (w + gap)),
    y: onPixel(top + Math.floor(i / columns) * (h + title + gap) + title),
    leftmost: i % columns === 0,
    lowest: i + columns >= count,
  }));
  return {
    em, tiles, cellWidth, cellHeight, turned, queryRoom,
    keyRoom: turned ? below - em * 1.6 : Math.max(cellWidth, numbers(shown.keys)),
    queryStep: stepFor(cellHeight, em * 1.1),
    keyStep: stepFor(cellWidth, turned ? em * 1.1 : keyWidth + em * 0.3),
    width: room.width,
    height: Math.ceil(top + rows * (h + title) + (rows - 1) * gap + below),
  };
}

// ---- paint: the same code for the screen and for the saved picture ----

const COLOURS = viridis();

function viridis() {
  const anchors = VIRIDIS.match(/../g).map((hex) => parseInt(hex, 16));
  return Uint32Array.from({ length: 256 }, (_, i) => {
    const place = (i / 255) * (anchors.length / 3 - 1), low = Math.min(Math.floor(place), anchors.length / 3 - 2);
    const mix = (c) => Math.round(anchors[3 * low + c] + (place - low) * (anchors[3 * low + 3 + c] - anchors[3 * low + c]));
    return (255 << 24) | (mix(2) << 16) | (mix(1) << 8) | mix(0);
  });
}

const sheet = document.createElement("canvas"); // the weights at one pixel a cell, before they are scaled

function paintHeats(ctx, shown, plan, theme, top) {
  const rows = shown.maps.length / shown.keys;
  sheet.width = shown.keys;
  sheet.height = rows;
  const image = new ImageData(shown.keys, rows);
  const pixels = new Uint32Array(image.data.buffer);
  const grey = parseInt(theme.forbidden.slice(1, 3), 16);
  const empty = (255 << 24) | (grey << 16) | (grey << 8) | grey;
  shown.maps.forEach((bits, i) => {
    pixels[i] = bits === 0x8000 ? empty : COLOURS[Math.min(255, Math.round((weightOf(bits) / top) * 255))];
  });
  sheet.getContext("2d").putImageData(image, 0, 0);
  ctx.imageSmoothingEnabled = false;
  for (const { head, x, y, w, h } of plan.tiles)
    ctx.drawImage(sheet, 0, head * shown.queries, shown.keys, shown.queries, x, y, w, h);
}

function hatching(ctx, colour, density) {
  const tile = document.createElement("canvas");
  tile.width = tile.height = 6 * density;
  const pen = tile.getContext("2d");
  pen.scale(density, density);
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  for (const shift of [-6, 0, 6]) {
    pen.moveTo(shift - 1, 7);
    pen.lineTo(shift + 7, -1);
  }
  pen.stroke();
  const pattern = ctx.createPattern(tile, "repeat");
  pattern.setTransform(new DOMMatrix().scale(1 / density));
  return pattern;
}

/** Hatch the cells that the mask forbids, a run of neighbours at a time. */
function paintHatches(ctx, shown, plan) {
  ctx.beginPath();
  for (const { head, x, y } of plan.tiles)
    for (let query = 0; query < shown.queries; query++) {
      const row = (head * shown.queries + query) * shown.keys;
      for (let key = 0, start = 0; key < shown.keys; start = ++key) {
        while (key < shown.keys && isForbidden(shown.maps[row + key])) key++;
        if (key > start)
          ctx.rect(x + start * plan.cellWidth, y + query * plan.cellHeight, (key - start) * plan.cellWidth, plan.cellHeight);
      }
    }
  ctx.fill();
}

function paintAxes(ctx, shown, plan, theme, pointed) {
  const { em, cellWidth, cellHeight } = plan;
  const text = (label, x, y, align, colour) => {
    ctx.fillStyle = colour;
    ctx.textAlign = align;
    ctx.fillText(label, x, y);
  };
  const turnedText = (label, x, y, align, colour) => {
    ctx.save();
    ctx.translate(x, y);
    ctx.rotate(-Math.PI / 2);
    text(label, 0, 0, align, colour);
    ctx.restore();
  };
  ctx.textBaseline = "middle";
  for (const tile of plan.tiles) {
    const weight = pointed ? `  ${format(weightOf(at(shown, { ...pointed, head: tile.head })))}` : "";
    text(`head ${tile.head}${weight}`, tile.x, tile.y - em * 0.75, "left", theme.ink);
    ctx.strokeStyle = theme.line;
    ctx.lineWidth = 1;
    ctx.strokeRect(tile.x - 0.5, tile.y - 0.5, tile.w + 1, tile.h + 1);
    if (tile.leftmost) {
      for (let query = 0; query < shown.queries; query += plan.queryStep)
        text(fit(ctx, shown.queryLabels[query] ?? query, plan.queryRoom),
          tile.x - em * 0.4, tile.y + (query + 0.5) * cellHeight, "right", theme.ink);
      turnedText("queries", tile.x - plan.queryRoom - em * 1.3, tile.y + tile.h / 2, "center", theme.queries);
    }
    if (tile.lowest) {
      const under = tile.y + tile.h + em * 0.4;
      for (let key = 0; key < shown.keys; key += plan.keyStep) {
        const label = fit(ctx, shown.keyLabels[key] ?? key, plan.keyRoom), x = tile.x + (key + 0.5) * cellWidth;
        if (plan.turned) turnedText(label, x, under, "right", theme.ink);
        else text(label, x, under + em * 0.5, "center", theme.ink);
      }
      text("keys", tile.x + tile.w / 2, under + (plan.turned ? plan.keyRoom + em * 0.6 : em * 1.6), "center", theme.keys);
    }
  }
}

/** Outline the pointed-at row and column in every head: dark on light, so that it shows on any colour. */
function paintPointer(ctx, plan, pointed) {
  const { cellWidth, cellHeight } = plan;
  for (const { x, y, w, h } of plan.tiles)
    for (const [colour, width] of [["#000", 3], ["#fff", 1]]) {
      ctx.strokeStyle = colour;
      ctx.lineWidth = width;
      ctx.strokeRect(x, y + pointed.query * cellHeight, w, cellHeight);
      ctx.strokeRect(x + pointed.key * cellWidth, y, cellWidth, h);
    }
}

/** The colour bar, shared by all heads, and what the hatching means. */
function paintLegend(ctx, shown, plan, theme, top) {
  const { em } = plan, x = em * 1.4, y = em * 0.3, width = em * 9, height = em * 0.9;
  const bar = new ImageData(new Uint8ClampedArray(COLOURS.slice().buffer), 256, 1);
  sheet.width = 256;
  sheet.height = 1;
  sheet.getContext("2d").putImageData(bar, 0, 0);
  ctx.drawImage(sheet, x, y, width, height);
  ctx.fillStyle = theme.ink;
  ctx.textAlign = "left";
  ctx.textBaseline = "middle";
  ctx.fillText("0", em * 0.5, y + height / 2);
  const end = `${+top.toPrecision(3)} weight`;
  ctx.fillText(end, x + width + em * 0.4, y + height / 2);
  if (!shown.hatched) return;
  const next = x + width + em * 1.8 + ctx.measureText(end).width;
  ctx.fillText("masked", next + em * 1.8, y + height / 2);
  ctx.fillStyle = theme.forbidden;
  ctx.fillRect(next, y, em * 1.4, height);
  ctx.fillStyle = hatching(ctx, theme.hatch, plan.density ?? 1);
  ctx.fillRect(next, y, em * 1.4, height);
}

function paint(ctx, shown, plan, theme, top, pointed, density) {
  ctx.setTransform(density, 0, 0, density, 0, 0);
  ctx.fillStyle = theme.paper;
  ctx.fillRect(0, 0, plan.width, plan.height);
  ctx.font = `${plan.em}px ${FONT}`;
  paintHeats(ctx, shown, plan, theme, top);
  if (shown.hatched) {
    ctx.fillStyle = hatching(ctx, theme.hatch, density);
    paintHatches(ctx, shown, plan);
  }
  paintAxes(ctx, shown, plan, theme, pointed);
  paintLegend(ctx, shown, plan, theme, top);
  if (pointed) paintPointer(ctx, plan, pointed);
}

// ---- words ----

const format = (weight) => (weight === 0 ? "0" : weight < 0.001 ? weight.toExponential(0) : weight.toFixed(3));
const named = (labels, i) => (labels.length ? `${i} “${clean(labels[i]).join("")}”` : `${i}`);
const plural = (count, one, many) => `${count} ${count === 1 ? one : many}`;

function sayCell(shown, { head, query, key }) {
  const bits = at(shown, { head, query, key });
  const weight = isForbidden(bits) ? (weightOf(bits) ? `${format(weightOf(bits))}, although masked` : "masked") : format(weightOf(bits));
  return `head ${head}, query ${named(shown.queryLabels, query)} → key ${named(shown.keyLabels, key)}: ${weight}`;
}

function cellOf(shown, index) {
  const size = shown.queries * shown.keys;
  return { head: Math.floor(index / size), query: Math.floor((index % size) / shown.keys), key: index % shown.keys };
}

function sayPicture(shown) {
  const heads = plural(shown.maps.length / shown.queries / shown.keys, "head", "heads");
  const size = `${plural(shown.queries, "query", "queries")} × ${plural(shown.keys, "key", "keys")}`;
  return `${heads}, ${size}. Largest weight: ${sayCell(shown, cellOf(shown, shown.largest))}`;
}

// ---- the page around the picture ----

/** An element; what it says is always text, never HTML. */
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  if (/input|select|button|summary/i.test(tag)) element.dataset.lmSuppressShortcuts = "true";
  return element;
}

/** The inputs of one control; `places` are its entries' places in the state. */
function makeInputs(control, places, change) {
  return control.texts.map((texts, i) => {
    const place = places + i;
    const name = control.isVector ? `${control.name}[${i}]` : control.name;
    const value = make("output");
    const makers = {
      slider: () => make("input", { type: "range", min: 0, max: texts.length - 1, step: 1 }),
      switch: () => make("input", { type: "checkbox" }),
      choice: () => make("select", {}, ...texts.map((text, i) => make("option", { value: i, textContent: text }))),
      text: () => make("input", { type: "text" }),
    };
    const input = makers[control.kind]();
    const read = () => (control.kind === "text" ? input.value : control.kind === "switch" ? +input.checked : +input.value);
    input.addEventListener("input", (event) => event.isComposing || change(place, read()));
    input.addEventListener("compositionend", () => change(place, read()));
    const show = (state) => {
      if (read() !== state[place])
        if (control.kind === "switch") input.checked = !!state[place];
        else input.value = state[place];
      if (control.kind !== "slider") return;
      value.textContent = texts[state[place]];
      input.setAttribute("aria-valuetext", texts[state[place]]);
    };
    const label = make("label", { className: control.kind }, make("span", { textContent: name }), input);
    if (control.kind === "slider") label.append(value);
    return { label, show, say: (state) => `${name} is ${texts[state[place]] ?? state[place]}` };
  });
}

function isDark() {
  const light = document.body.dataset.jpThemeLight;
  if (matchMedia("print").matches) return false;
  return light ? light === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
}

async function render({ model, el }) {
  const inHandout = document.documentElement.hasAttribute("data-handout");
  const controls = model.get("controls");
  const root = make("div", { className: "mha-explorer" });
  const canvas = make("canvas");
  const heads = make("div", { className: "heads" });
  const scale = make("button", { type: "button" });
  const save = make("button", { type: "button", textContent: "save PNG" });
  const problem = make("p", { className: "message" });
  const trace = make("pre");
  const details = make("details", {}, make("summary", { textContent: "traceback" }), trace);
  const error = make("div", { className: "problem", hidden: true }, problem, details);
  error.setAttribute("role", "alert");
  const status = make("p", { className: "status" });
  status.setAttribute("role", "status");
  const panel = make("div", { className: "controls" });
  const tools = make("div", { className: "tools" }, scale, save);
  const stage = make("div", { className: "stage" }, canvas, heads);
  root.append(panel, error, stage, status);
  el.append(root);

  const cache = new Map(); // every setting's picture that is known here
  const keyOf = (state) => JSON.stringify(state);
  const table = await inflate(model.get("table"));
  for (const entry of model.get("directory"))
    cache.set(keyOf(entry.state), decode(entry, table, model.get("labels")));

  let shown, plan, pointed = null, theme, settled;

  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const change = (place, value) => set("chosen", model.get("chosen").with(place, value));
  let places = 0;
  const inputs = controls.flatMap((control) => {
    const made = makeInputs(control, places, change);
    places += control.texts.length;
    return made;
  });
  const samples = Math.max(...[...cache.values()].map((picture) => picture.samples?.length ?? 1));
  if (samples > 1) {
    const texts = [Array.from({ length: samples }, (_, i) => `${i}`)];
    const [input] = makeInputs({ name: "sample", kind: "slider", texts }, 0, (_, value) => set("sample", value));
    inputs.push({ ...input, show: () => input.show([model.get("sample")]), say: () => `sample is ${model.get("sample")}` });
  }
  panel.append(...inputs.map((input) => input.label), tools);

  function room() {
    const width = root.clientWidth;
    const em = Math.max(12, Math.min(16, width / 90));
    const shrunk = root.getBoundingClientRect().width / root.offsetWidth || 1; // a slide may be scaled
    return { width, em, density: devicePixelRatio * shrunk, height: Math.max(300, innerHeight * 0.74 - panel.offsetHeight - em * 3) };
  }

  function draw() {
    if (!shown) return;
    const { density } = plan;
    const top = topOf(shown, model.get("to_max"));
    paint(canvas.getContext("2d"), shown, plan, theme, top, pointed, density);
  }

  function resize() {
    if (!shown || !root.clientWidth) return;
    const space = room();
    const ctx = canvas.getContext("2d");
    plan = { ...arrange(ctx, shown, space), density: space.density };
    const size = [Math.round(plan.width * plan.density), Math.round(plan.height * plan.density)];
    if (canvas.width !== size[0] || canvas.height !== size[1]) {
      [canvas.width, canvas.height] = size;
      Object.assign(canvas.style, { width: `${plan.width}px`, height: `${plan.height}px` });
    }
    root.style.fontSize = `${plan.em}px`;
    placeHeads();
    draw();
  }

  function placeHeads() {
    while (heads.children.length > plan.tiles.length) heads.lastChild.remove();
    while (heads.children.length < plan.tiles.length) heads.append(makeHead(heads.children.length));
    plan.tiles.forEach(({ x, y, w, h }, i) => {
      heads.children[i].style.cssText = `left:${x}px;top:${y}px;width:${w}px;height:${h}px`;
    });
  }

  function makeHead(i) {
    const element = make("div", { className: "head", tabIndex: 0 });
    element.dataset.lmSuppressShortcuts = "true";
    element.setAttribute("role", "application");
    element.setAttribute("aria-roledescription", "heatmap");
    const point = (event) => {
      const { head, w, h } = plan.tiles[i];
      const cell = (offset, size, count) => Math.max(0, Math.min(count - 1, Math.floor((offset / size) * count)));
      aim({ head, query: cell(event.offsetY, h, shown.queries), key: cell(event.offsetX, w, shown.keys) });
    };
    element.addEventListener("pointermove", point);
    element.addEventListener("pointerdown", point);
    element.addEventListener("pointerleave", () => aim(null));
    element.addEventListener("blur", () => aim(null));
    element.addEventListener("click", () => enlarge(plan.tiles[i].head));
    element.addEventListener("keydown", (event) => steer(event, plan.tiles[i].head));
    return element;
  }

  const enlarge = (head) => set("enlarged", model.get("enlarged") === head ? -1 : head);

  function steer(event, head) {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (event.key === "Enter" || event.key === " ") enlarge(head);
    else if (event.key === "Escape") set("enlarged", -1);
    else if (step) {
      const clamp = (value, count) => Math.max(0, Math.min(count - 1, value));
      const from = pointed?.head === head ? pointed : { query: -step[0], key: -step[1] };
      aim({ head, query: clamp(from.query + step[0], shown.queries), key: clamp(from.key + step[1], shown.keys) });
    } else return;
    event.preventDefault();
  }

  function aim(cell) {
    pointed = cell;
    draw();
    status.textContent = cell ? sayCell(shown, cell) : sayPicture(shown);
  }

  /** Show the current setting; where it isn't known yet, the last picture stays, dimmed. */
  function show() {
    const state = model.get("chosen");
    for (const input of inputs) input.show(state);
    const picture = cache.get(keyOf(state));
    root.classList.toggle("waiting", !picture);
    if (!picture) {
      status.textContent = inHandout ? sayMissing(model.get("carries")) : "computing…";
      return;
    }
    error.hidden = !picture.error;
    stage.hidden = status.hidden = !!picture.error;
    if (picture.error) {
      problem.textContent = picture.error;
      trace.textContent = picture.traceback;
      shown = null;
      return;
    }
    shown = choose(picture, model.get("sample"), model.get("enlarged"));
    if (pointed && !(pointed.query < shown.queries && pointed.key < shown.keys && shown.heads.includes(pointed.head))) pointed = null;
    scale.textContent = model.get("to_max") ? "0–1" : "0–max";
    resize();
    clearTimeout(settled);
    settled = setTimeout(settle, 150);
  }

  /** What can wait until the slider rests: words for screen readers. */
  function settle() {
    if (!shown) return;
    status.textContent = pointed ? sayCell(shown, pointed) : sayPicture(shown);
    plan.tiles.forEach(({ head }, i) => heads.children[i].setAttribute("aria-label", `head ${head}`));
  }

  function takeAnswer() {
    const { entry, labels, maps } = model.get("answer");
    if (!entry) return;
    const bytes = new Uint8Array(maps.buffer.slice(maps.byteOffset, maps.byteOffset + maps.byteLength));
    cache.set(keyOf(entry.state), decode(entry, new Uint16Array(bytes.buffer), labels));
    show();
  }

  function retheme() {
    theme = isDark() ? THEMES.dark : THEMES.light;
    for (const [name, colour] of Object.entries(theme)) root.style.setProperty(`--${name}`, colour);
    draw();
  }

  scale.addEventListener("click", () => set("to_max", !model.get("to_max")));
  save.addEventListener("click", () => savePicture(shown, topOf(shown, model.get("to_max")), inputs.map((input) => input.say(model.get("chosen")))));
  root.addEventListener("keydown", (event) => event.stopPropagation());
  const traits = ["chosen", "sample", "enlarged", "to_max"];
  for (const trait of traits) model.on(`change:${trait}`, show);
  model.on("change:answer", takeAnswer);
  const sizes = new ResizeObserver(resize);
  sizes.observe(root);
  const themes = new MutationObserver(retheme);
  themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  const queries = ["print", "(prefers-color-scheme: dark)"].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener("change", retheme);
  addEventListener("resize", resize);
  retheme();
  takeAnswer();
  show();

  return () => {
    for (const trait of traits) model.off(`change:${trait}`, show);
    model.off("change:answer", takeAnswer);
    sizes.disconnect();
    themes.disconnect();
    for (const query of queries) query.removeEventListener("change", retheme);
    removeEventListener("resize", resize);
    clearTimeout(settled);
  };
}

const topOf = (shown, toMax) => {
  const largest = weightOf(shown.maps[shown.largest]);
  return toMax ? largest || 1 : Math.max(1, largest);
};

function sayMissing(carries) {
  const held = {
    all: "all settings but other texts",
    ranges: "each slider's own range, with the others where they start",
    some: "only the first settings of each slider",
  };
  return `This setting is not in the handout, which carries ${held[carries]}. The notebook computes it.`;
}

/** Light, at twice the size, with the settings above it. */
function savePicture(shown, top, settings) {
  const canvas = document.createElement("canvas");
  const ctx = canvas.getContext("2d");
  const plan = arrange(ctx, shown, { width: 1000, height: 640, em: 14, density: 2 });
  const caption = settings.length ? 28 : 0;
  canvas.width = 2 * plan.width;
  canvas.height = 2 * (plan.height + caption);
  paint(ctx, shown, plan, THEMES.light, top, null, 2);
  canvas.toBlob((blob) => {
    const link = make("a", { href: URL.createObjectURL(blob), download: "attention.png" });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  });
}

export default { render };
