// The heatmap explorer's view: decode what Python computed, arrange the heads, paint them, and the page
// around the picture. All state is in the model's traits. Labels are data: drawn as text, never as HTML.

const THEMES = {
  light: { paper: "#fff", ink: "#1b1b1b", quiet: "#585858", grey: "#ececec", queries: "#0067A5", keys: "#B04500" },
  dark: { paper: "#111", ink: "#ececec", quiet: "#b4b4b4", grey: "#2b2b2b", queries: "#56B4E9", keys: "#F0954E" },
};
const VIRIDIS = 
  "440154471164482071472e7c443c843f488939558c34618d2f6c8e2a768e26818e228b8d" +
  "1f958b1fa08824aa8330b47c41bd7257c6666fcf578ad647a7db35c4e021e2e418fde725";
const HATCHING = "#8c8c8c", FONT = "system-ui, sans-serif";
const numbersTo = (count) => Array.from({ length: count }, (_, i) => i);

// ---- decode ----

/** Every float16 that is not negative. The sign bit says that the mask forbids the cell. */
const HALVES = Float32Array.from(numbersTo(0x7c00), (bits) =>
  bits < 1024 ? bits * 2 ** -24 : (1024 + (bits % 1024)) * 2 ** ((bits >> 10) - 25),
);
const weightOf = (bits) => HALVES[bits & 0x7fff];
const isForbidden = (bits) => bits > 0x7fff;

async function inflate(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint16Array(await new Response(stream).arrayBuffer());
}

/** The picture of a setting: maps and labels of each sample; or an error. */
function decode(entry, numbers, lists) {
  if (entry.error) return entry;
  const [, heads, queries, keys] = entry.shape;
  return {
    heads, queries, keys,
    samples: entry.at.map((start) => numbers.subarray(start, start + heads * queries * keys)),
    queryLabels: lists[entry.query_labels],
    keyLabels: lists[entry.key_labels],
  };
}

/** What is on show of a picture: one sample, of all heads or of the enlarged one. */
function choose(picture, sample, enlarged, toMax) {
  const { samples, queryLabels, keyLabels } = picture, heads = numbersTo(picture.heads);
  const which = Math.min(sample, samples.length - 1), maps = samples[which];
  const largest = maps.reduce((best, bits, i) => ((bits & 0x7fff) > (maps[best] & 0x7fff) ? i : best), 0);
  const most = weightOf(maps[largest]);
  return {
    ...picture, maps, largest,
    heads: enlarged in heads ? [enlarged] : heads,
    queryLabels: queryLabels[which] ?? queryLabels[0],
    keyLabels: keyLabels[which] ?? keyLabels[0],
    top: toMax && most ? most : Math.max(1, most),
    isMasked: maps.some(isForbidden),
  };
}

const bitsAt = ({ maps, queries, keys }, { head, query, key }) => maps[(head * queries + query) * keys + key];

// ---- arrange: lengths are in the canvas's pixels ----

const oneLine = (label) => Array.from(label.replace(/\s+/g, " ")).slice(0, 60).join("");
const widest = (ctx, labels) => Math.max(...labels.map((label) => ctx.measureText(oneLine(label)).width));

function fit(ctx, label, room) {
  const letters = Array.from(oneLine(label)), { length } = letters;
  while (letters.length && ctx.measureText(letters.join("")).width > room) letters.pop();
  return letters.join("") + (letters.length < length ? "…" : "");
}

/** Where everything goes, with the cells as large as the room allows. */
function arrange(ctx, { queries, keys, heads, queryLabels, keyLabels }, { width, height, em }) {
  ctx.font = `${em}px ${FONT}`;
  const queryRoom = Math.min(widest(ctx, queryLabels), 8 * em, width / 4), keyWidth = widest(ctx, keyLabels);
  const left = queryRoom + 2.2 * em, top = 2 * em, title = 1.5 * em;

  function grid(columns, below, height) {
    const rows = Math.ceil(heads.length / columns);
    const w = ((width - left) / columns - em) / keys, h = ((height - top - below) / rows - title - em) / queries;
    const cell = Math.min(w, h, 7 * em), most = Math.max(cell, 1.6 * em); // one long row is drawn thicker
    const whole = (x) => (x > 6 ? Math.floor(x) : Math.max(x, 0));
    return { columns, rows, below, w: whole(Math.min(w, most)), h: whole(Math.min(h, most)) };
  }
  function largestGrid(below) {
    const grids = (height) => heads.map((_, i) => grid(i + 1, below, height));
    const isLegible = ({ w, h }) => Math.max(w * keys, h * queries) >= 8 * em;
    const best = grids(height).reduce((a, b) => (b.w * b.h > a.w * a.h ? b : a));
    return isLegible(best) ? best : (grids(Infinity).findLast(isLegible) ?? grid(1, below, Infinity));
  }
  let best = largestGrid(2.6 * em);
  const turned = keyWidth > best.w - 0.3 * em && keyLabels.some((label, i) => label !== `${i}`);
  const keyRoom = turned ? Math.min(keyWidth, 8 * em) : Math.max(keyWidth, best.w);
  if (turned) best = largestGrid(keyRoom + 1.8 * em);

  const { columns, rows, below, w, h } = best;
  const stepFor = (need, cell) => 2 ** Math.max(0, Math.ceil(Math.log2(need / cell)));
  const tiles = heads.map((head, i) => ({
    head,
    x: Math.round(left + (i % columns) * (w * keys + em)),
    y: Math.round(top + title + Math.floor(i / columns) * (h * queries + title + em)),
    isLeft: i % columns === 0,
    isLowest: i + columns >= heads.length,
  }));
  return {
    em, tiles, w, h, turned, queryRoom, keyRoom, width,
    height: Math.ceil(top + rows * (title + h * queries + em) - em + below),
    queryStep: stepFor(em, h),
    keyStep: stepFor(turned ? em : keyWidth + 0.3 * em, w),
  };
}

// ---- paint: on the screen, and for the saved picture ----

const COLOURS = Uint32Array.from(numbersTo(256), (i) => {
  const place = (i / 255) * 23, low = Math.min(Math.floor(place), 22), part = place - low;
  const [from, to] = [low, low + 1].map((anchor) => parseInt(VIRIDIS.slice(6 * anchor, 6 * anchor + 6), 16));
  const mix = (shift) => Math.round((1 - part) * ((from >> shift) & 255) + part * ((to >> shift) & 255));
  return (255 << 24) | (mix(0) << 16) | (mix(8) << 8) | mix(16);
});
const sheet = document.createElement("canvas"); // one pixel a cell, to be scaled

function fillSheet(width, height, colourOf) {
  Object.assign(sheet, { width, height });
  const image = new ImageData(width, height), pixels = new Uint32Array(image.data.buffer);
  for (let i = 0; i < pixels.length; i++) pixels[i] = colourOf(i);
  sheet.getContext("2d").putImageData(image, 0, 0);
}

function paintWeights(ctx, { maps, queries, keys, top }, { tiles, w, h }, theme) {
  const unreached = (255 << 24) | (parseInt(theme.grey.slice(1, 3), 16) * 0x10101);
  const colourOf = (bits) => (bits === 0x8000 ? unreached : COLOURS[Math.round((weightOf(bits) / top) * 255)]);
  fillSheet(keys, maps.length / keys, (i) => colourOf(maps[i]));
  for (const { head, x, y } of tiles)
    ctx.drawImage(sheet, 0, head * queries, keys, queries, x, y, w * keys, h * queries);
}

function hatching(ctx, em) {
  const tile = document.createElement("canvas"), size = Math.round(em / 2), pen = tile.getContext("2d");
  Object.assign(tile, { width: size, height: size });
  Object.assign(pen, { strokeStyle: HATCHING, lineWidth: em / 13 });
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - size, 2 * size);
    pen.lineTo(shift + 2 * size, -size);
  }
  pen.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** Hatch what the mask forbids, neighbours in a row together. */
function paintMask(ctx, { maps, queries, keys }, { em, tiles, w, h }) {
  ctx.beginPath();
  for (const { head, x, y } of tiles)
    for (let query = 0; query < queries; query++)
      for (let key = 0, start = 0; key <= keys; key++) {
        if (key < keys && isForbidden(maps[(head * queries + query) * keys + key])) continue;
        if (key > start) ctx.rect(x + start * w, y + query * h, (key - start) * w, h);
        start = key + 1;
      }
  ctx.fillStyle = hatching(ctx, em);
  ctx.fill();
}

function write(ctx, text, x, y, colour, align, turned) {
  ctx.save();
  ctx.translate(x, y);
  if (turned) ctx.rotate(-Math.PI / 2);
  Object.assign(ctx, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
  ctx.fillText(text, 0, 0);
  ctx.restore();
}

function paintAxes(ctx, shown, plan, theme, pointed) {
  const { em, w, h, turned } = plan, width = w * shown.keys, height = h * shown.queries;
  for (const { head, x, y, isLeft, isLowest } of plan.tiles) {
    const weight = pointed ? `  ${sayWeight(bitsAt(shown, { ...pointed, head }))}` : "";
    write(ctx, `head ${head}${weight}`, x, y - 0.8 * em, theme.ink, "left");
    if (isLeft) {
      write(ctx, "queries", x - plan.queryRoom - 1.3 * em, y + height / 2, theme.queries, "center", true);
      for (let i = 0; i < shown.queries; i += plan.queryStep) {
        const label = fit(ctx, shown.queryLabels[i], plan.queryRoom);
        write(ctx, label, x - 0.4 * em, y + (i + 0.5) * h, theme.ink, "right");
      }
    }
    if (isLowest) {
      const under = y + height + (turned ? 0.4 : 0.9) * em;
      write(ctx, "keys", x + width / 2, under + (turned ? plan.keyRoom + 0.7 * em : 1.1 * em), theme.keys, "center");
      for (let i = 0; i < shown.keys; i += plan.keyStep) {
        const label = fit(ctx, shown.keyLabels[i], plan.keyRoom);
        write(ctx, label, x + (i + 0.5) * w, under, theme.ink, turned ? "right" : "center", turned);
      }
    }
  }
}

/** The colour bar, one for all heads, and what the hatching means. */
function paintLegend(ctx, { top, isMasked }, { em }, theme) {
  const end = `${+top.toPrecision(3)} weight`, bar = 9 * em;
  fillSheet(256, 1, (i) => COLOURS[i]);
  ctx.drawImage(sheet, 1.4 * em, 0.4 * em, bar, 0.9 * em);
  write(ctx, "0", 0.5 * em, 0.85 * em, theme.ink, "left");
  write(ctx, end, bar + 1.8 * em, 0.85 * em, theme.ink, "left");
  if (!isMasked) return;
  const x = bar + 3.2 * em + ctx.measureText(end).width;
  for (const fill of [theme.grey, hatching(ctx, em)]) {
    ctx.fillStyle = fill;
    ctx.fillRect(x, 0.4 * em, 1.6 * em, 0.9 * em);
  }
  write(ctx, "masked", x + 2 * em, 0.85 * em, theme.ink, "left");
}

/** Outline the row and the column in every head; light on dark, to be seen on any colour. */
function paintPointer(ctx, { queries, keys }, { em, tiles, w, h }, { query, key }) {
  ctx.beginPath();
  for (const { x, y } of tiles) {
    ctx.rect(x, y + query * h, w * keys, h);
    ctx.rect(x + key * w, y, w, h * queries);
  }
  for (const [strokeStyle, lineWidth] of [["#000", em / 4], ["#fff", em / 10]]) {
    Object.assign(ctx, { strokeStyle, lineWidth });
    ctx.stroke();
  }
}

function paint(ctx, shown, plan, theme, pointed) {
  ctx.fillStyle = theme.paper;
  ctx.fillRect(0, 0, ctx.canvas.width, ctx.canvas.height);
  Object.assign(ctx, { font: `${plan.em}px ${FONT}`, imageSmoothingEnabled: false });
  paintWeights(ctx, shown, plan, theme);
  if (shown.isMasked) paintMask(ctx, shown, plan);
  paintAxes(ctx, shown, plan, theme, pointed);
  paintLegend(ctx, shown, plan, theme);
  if (pointed) paintPointer(ctx, shown, plan, pointed);
}

/** On white paper, cut to what is drawn, with the settings below. */
function savePicture(shown, caption) {
  const canvas = document.createElement("canvas"), ctx = canvas.getContext("2d"), em = 28;
  const plan = arrange(ctx, shown, { width: 2000, height: 1300, em });
  const width = Math.max(30 * em, ...plan.tiles.map(({ x }) => x + plan.w * shown.keys + em));
  Object.assign(canvas, { width, height: plan.height + 2 * em });
  paint(ctx, shown, plan, THEMES.light);
  write(ctx, fit(ctx, caption, width - em), em / 2, plan.height + em, THEMES.light.quiet, "left");
  canvas.toBlob((blob) => make("a", { href: URL.createObjectURL(blob), download: "attention.png" }).click());
}

// ---- words ----

function sayWeight(bits) {
  const weight = weightOf(bits);
  const number = weight && weight < 0.001 ? weight.toExponential(0) : weight.toFixed(3);
  if (!isForbidden(bits)) return number;
  return weight ? `${number} although masked` : "masked";
}

function sayCell(shown, cell) {
  const token = (labels, i) => (labels[i] === `${i}` ? i : `${i} “${oneLine(labels[i])}”`);
  const query = token(shown.queryLabels, cell.query), key = token(shown.keyLabels, cell.key);
  return `head ${cell.head}, query ${query} → key ${key}: ${sayWeight(bitsAt(shown, cell))}`;
}

function sayPicture(shown) {
  const { maps, queries, keys, largest } = shown, size = queries * keys;
  const cell = { head: Math.floor(largest / size), query: Math.floor((largest % size) / keys), key: largest % keys };
  return `Heads: ${maps.length / size}, queries: ${queries}, keys: ${keys}. Largest weight: ${sayCell(shown, cell)}`;
}

// ---- the page around the picture ----

function make(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.dataset.lmSuppressShortcuts = "true"; // keys pressed here are not JupyterLab's
  element.append(...children);
  return element;
}

const INPUTS = {
  slider: (texts) => make("input", { type: "range", max: texts.length - 1 }),
  switch: () => make("input", { type: "checkbox" }),
  choice: (texts) => make("select", {}, ...texts.map((text, i) => new Option(text, i))),
  text: () => make("input", { type: "text" }),
};

/** A labelled input for a trait, or for its entry `at`. */
function makeInput(model, set, { name, kind, texts, trait, at }) {
  const input = INPUTS[kind](texts), output = make("output"), property = kind === "switch" ? "checked" : "value";
  const get = () => model.get(trait)[at] ?? +model.get(trait);
  const read = () => (kind === "text" ? input.value : +input[property]);
  const change = () => set(trait, at < 0 ? read() : model.get(trait).with(at, read()));
  input.addEventListener("input", (event) => event.isComposing || change());
  input.addEventListener("compositionend", change);
  return {
    label: make("label", {}, name, input, output),
    say: () => `${name}: ${texts[get()] ?? get()}`,
    show() {
      if (read() !== get()) input[property] = get();
      if (kind === "slider") input.ariaValueText = output.textContent = texts[get()];
    },
  };
}

function isDark() {
  const { jpThemeLight } = document.body.dataset;
  if (matchMedia("print").matches) return false;
  return jpThemeLight ? jpThemeLight === "false" : matchMedia("(prefers-color-scheme: dark)").matches;
}

async function render({ model, el }) {
  const ahead = new Map(), answers = new Map(), keyOf = (state) => JSON.stringify(state); // pictures by setting
  const numbers = await inflate(model.get("table"));
  for (const entry of model.get("directory")) ahead.set(keyOf(entry.state), decode(entry, numbers, model.get("labels")));
  const pictures = [...ahead.values()].filter((picture) => !picture.error);

  let room, theme, shown, plan, pointed, timer;
  const set = (name, value) => {
    model.set(name, value);
    model.save_changes();
  };
  const inputs = model.get("controls").map((control) => makeInput(model, set, control));
  const onclick = () => savePicture(shown, inputs.map((input) => input.say()).join(",  "));
  const save = make("button", { textContent: "save PNG", onclick });
  const controls = make("div", { className: "settings" }, ...inputs.map((input) => input.label), save);
  const trace = make("pre", { tabIndex: 0 }), message = make("p");
  const details = make("details", {}, make("summary", { textContent: "traceback" }), trace);
  const problem = make("div", { className: "problem", role: "alert" }, message, details);
  const canvas = make("canvas"), ctx = canvas.getContext("2d"), status = make("p", { role: "status" });
  const ariaLabel = "heads: arrow keys move over the cells, Enter enlarges, Escape returns";
  const heads = make("div", { role: "group", ariaLabel });
  const stage = make("div", { className: "stage" }, canvas, heads, status);
  const root = make("div", { className: "mha-explorer" }, controls, problem, stage);
  el.append(root);

  /** The room there is. Where the pictures differ in size, all of it is kept, so that nothing jumps. */
  function measure() {
    const width = controls.clientWidth, em = Math.max(12, Math.min(16, width / 90));
    if (!width) return;
    root.style.fontSize = `${em}px`;
    const density = (devicePixelRatio * root.getBoundingClientRect().width) / root.offsetWidth; // slides are scaled
    const height = Math.max(280, 0.74 * innerHeight - controls.offsetHeight - 3 * em);
    const differ = new Set(pictures.map(({ samples }) => samples[0].length)).size > 1;
    stage.style.minHeight = differ ? `${height + 3 * em}px` : "";
    heads.style.scale = 1 / density;
    room = { width: Math.round(width * density), height: height * density, em: em * density };
    show();
  }

  /** Show the current setting; while it is unknown, the last picture stays, dimmed. */
  function show() {
    const key = keyOf(model.get("chosen")), picture = ahead.get(key) ?? answers.get(key), error = picture?.error;
    for (const input of inputs) input.show();
    clearTimeout(timer);
    stage.ariaBusy = !picture;
    problem.hidden = !error;
    stage.hidden = save.disabled = !!error;
    if (error) [message.textContent, trace.textContent] = [error, picture.traceback];
    else if (!picture) wait();
    else if (room) {
      shown = choose(picture, model.get("sample"), model.get("enlarged"), model.get("to_max"));
      pointed = null;
      plan = arrange(ctx, shown, room);
      place();
      draw();
      timer = setTimeout(describe, 150); // when the slider rests
    }
  }

  function wait() {
    status.textContent = "handout" in document.documentElement.dataset
      ? `Not in this handout, which carries ${model.get("carries")}. The notebook computes it.`
      : "computing… (if the kernel was restarted, run the cell again)";
  }

  /** On each head lies an element that takes focus and pointer, in the canvas's pixels. */
  function place() {
    const { width, height, tiles, w, h } = plan;
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    canvas.style.width = `${width * heads.style.scale}px`;
    while (heads.children.length > tiles.length) heads.lastChild.remove();
    while (heads.children.length < tiles.length)
      heads.append(make("div", { tabIndex: 0, role: "application", ariaRoleDescription: "heatmap" }));
    tiles.forEach(({ head, x, y }, i) => {
      heads.children[i].ariaLabel = `head ${head}`;
      heads.children[i].style = `left:${x}px; top:${y}px; width:${w * shown.keys}px; height:${h * shown.queries}px`;
    });
  }

  const draw = () => shown && paint(ctx, shown, plan, theme, pointed);
  const describe = () => (status.textContent = pointed ? sayCell(shown, pointed) : sayPicture(shown));
  const tileOf = (event) => plan.tiles[[...heads.children].indexOf(event.target)];
  const within = (value, count) => Math.max(0, Math.min(count - 1, Math.floor(value)));

  function aim(cell) {
    pointed = cell;
    draw();
    describe();
  }

  function enlarge(head) {
    set("enlarged", head);
    heads.children[Math.max(0, plan.tiles.findIndex((tile) => tile.head === head))].focus();
  }

  heads.onclick = (event) => enlarge(model.get("enlarged") < 0 ? tileOf(event).head : -1);
  heads.onpointermove = heads.onpointerdown = (event) => {
    const query = within(event.offsetY / plan.h, shown.queries), key = within(event.offsetX / plan.w, shown.keys);
    aim({ head: tileOf(event).head, query, key });
  };
  heads.onpointerout = () => aim(null);
  heads.addEventListener("focusout", () => aim(null));
  heads.onkeydown = (event) => {
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    const step = steps[event.key], { head } = tileOf(event);
    if (event.key === "Enter") heads.onclick(event);
    if (!step) return;
    event.preventDefault();
    const { query, key } = pointed?.head === head ? pointed : { query: -1, key: -1 };
    aim({ head, query: within(query + step[0], shown.queries), key: within(key + step[1], shown.keys) });
  };
  root.onkeydown = (event) => {
    event.stopPropagation(); // nor are they the slide's
    if (event.key === "Escape" && model.get("enlarged") >= 0) enlarge(-1);
  };

  function takeAnswer() {
    const { entry, labels, maps } = model.get("answer");
    if (!entry) return;
    const numbers = new Uint16Array(maps.buffer.slice(maps.byteOffset, maps.byteOffset + maps.byteLength));
    answers.set(keyOf(entry.state), decode(entry, numbers, labels));
    if (answers.size > 256) answers.delete(answers.keys().next().value);
    show();
  }

  function retheme() {
    theme = isDark() ? THEMES.dark : THEMES.light;
    root.style.colorScheme = isDark() ? "dark" : "light";
    for (const [name, colour] of Object.entries(theme)) root.style.setProperty(`--${name}`, colour);
    draw();
  }

  model.on("change:chosen change:sample change:enlarged change:to_max", show);
  model.on("change:answer", takeAnswer);
  const ending = new AbortController(), sizes = new ResizeObserver(measure), themes = new MutationObserver(retheme);
  sizes.observe(controls);
  themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
  addEventListener("resize", measure, ending);
  for (const query of ["print", "(prefers-color-scheme: dark)"])
    matchMedia(query).addEventListener("change", retheme, ending);
  retheme();
  takeAnswer();
  measure();
  return () => [ending.abort(), sizes.disconnect(), themes.disconnect()];
}

export default { render };
