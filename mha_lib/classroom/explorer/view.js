// The explorer in the browser. Python has computed the attention weights (table.py). This module decodes
// them, arranges one heatmap a head, paints them on a canvas, and answers controls, pointer and keys.
//
// It runs in JupyterLab, in a deck, and in a handout without a kernel, so it imports nothing. All that it
// shows is in the traits of the widget (widget.py), so several views of one widget are in step.
//
//   picture   the weights of one setting: of each sample, the maps of all heads (H,Q,K), with their labels
//   shown     what is on show of a picture: one sample, of all heads or of the enlarged one
//   drawing   what is shown and where it goes; its lengths are pixels of the canvas
//   cell      the place of one weight: {head, query, key}
//   em        the size of the letters; the room around the heatmaps is measured in it

const numbersTo = (count) => Array.from({ length: count }, (_, number) => number);
const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

// ---- Decode -------------------------------------------------------------------------------------------
// A weight is a float16 and never negative. Its sign bit says that the mask forbids the cell.

const SIGN_BIT = 0x8000;
const WEIGHTS = Float32Array.from(numbersTo(0x7c00), readHalf); // of every finite float16

function readHalf(bits) {
  const exponent = bits >> 10;
  const fraction = bits % 1024;
  return exponent === 0 ? fraction * 2 ** -24 : (1024 + fraction) * 2 ** (exponent - 25);
}

const weightOf = (bits) => WEIGHTS[bits & ~SIGN_BIT];
const isForbidden = (bits) => bits >= SIGN_BIT;

/** Add the pictures of a table to those that are known, each by its setting. */
async function unpack({ directory, maps, labels }, pictures) {
  const stream = new Blob([maps]).stream().pipeThrough(new DecompressionStream("deflate"));
  const numbers = new Uint16Array(await new Response(stream).arrayBuffer());
  for (const entry of directory)
    pictures.set(JSON.stringify(entry.setting), entry.error ? entry : readPicture(entry, numbers, labels));
}

function readPicture({ shape, at, query_labels, key_labels }, numbers, labels) {
  const [, headCount, queries, keys] = shape;
  const size = headCount * queries * keys;
  return {
    headCount,
    queries,
    keys,
    samples: at.map((start) => numbers.subarray(start, start + size)),
    queryLabels: labels[query_labels],
    keyLabels: labels[key_labels],
  };
}

/** What is on show of a picture; the scale ends at 1, or, `toMax`, at the largest weight. */
function choose(picture, { sample, enlarged, toMax }) {
  const which = Math.min(sample, picture.samples.length - 1);
  const maps = picture.samples[which];
  const largest = findLargest(maps);
  const most = weightOf(maps[largest]);
  const heads = numbersTo(picture.headCount);
  return {
    maps,
    largest,
    scaleEnd: toMax && most > 0 ? most : Math.max(1, most),
    isMasked: maps.some(isForbidden),
    heads: heads.includes(enlarged) ? [enlarged] : heads,
    queries: picture.queries,
    keys: picture.keys,
    queryLabels: picture.queryLabels[which],
    keyLabels: picture.keyLabels[which],
  };
}

/** Where the largest weight is. Without their signs, float16 are in the order of their bits. */
function findLargest(maps) {
  const unsigned = (index) => maps[index] & ~SIGN_BIT;
  return maps.reduce((best, _, index) => (unsigned(index) > unsigned(best) ? index : best), 0);
}

const indexOf = ({ queries, keys }, { head, query, key }) => (head * queries + query) * keys + key;

function cellAt({ queries, keys }, index) {
  const row = Math.floor(index / keys);
  return { head: Math.floor(row / queries), query: row % queries, key: index % keys };
}

// ---- Arrange ------------------------------------------------------------------------------------------

// In em:
const LEGEND = 2;
const TITLE = 1.5;
const GAP = 1; // between heads
const NARROWEST_HEAD = 7.5; // so that titles don't run into each other
const LOWEST_HEAD = 8; // rather scroll down than squint
const LARGEST_CELL = 7;
const LONGEST_LABEL = 8;
const QUERY_AXIS = 2.2; // beside the queries' labels
const KEY_AXIS = 1.8; // below turned labels of the keys
const LEVEL_KEY_AXIS = 2.6; // with level labels

const fontOf = (em) => `${em}px system-ui`;
const shorten = (label) => Array.from(label).slice(0, 60).join("");
const widest = (ctx, labels) => Math.max(...labels.map((label) => ctx.measureText(shorten(label)).width));

/** As much of a label as there is room for. */
function fit(ctx, label, room) {
  const letters = Array.from(shorten(label));
  const { length } = letters;
  while (letters.length && ctx.measureText(letters.join("")).width > room) letters.pop();
  return letters.join("") + (letters.length < length ? "…" : "");
}

/** The drawing of what is shown, with its cells as large as the room allows. */
function arrange(ctx, shown, { width, height, em }) {
  ctx.font = fontOf(em);
  const { keyLabels } = shown;
  const queryRoom = Math.min(widest(ctx, shown.queryLabels), LONGEST_LABEL * em, width / 4);
  const keyWidth = widest(ctx, keyLabels);
  const left = queryRoom + QUERY_AXIS * em;
  const gridAbove = (below) => {
    const room = { width: width - left, height: height - LEGEND * em - below, em };
    return { ...largestGrid(shown, room), below };
  };

  let grid = gridAbove(LEVEL_KEY_AXIS * em);
  const areWords = keyLabels.some((label, key) => label !== String(key));
  const isTurned = areWords && keyWidth > grid.cellWidth - 0.3 * em;
  const keyRoom = isTurned ? Math.min(keyWidth, LONGEST_LABEL * em) : Math.max(keyWidth, grid.cellWidth);
  if (isTurned) grid = gridAbove(keyRoom + KEY_AXIS * em);

  const { cellWidth, cellHeight } = grid;
  return {
    ...shown,
    ...placeHeads(shown, grid, left, em),
    em,
    width,
    cellWidth,
    cellHeight,
    queryRoom,
    keyRoom,
    isTurned,
    queryStep: stepFor(em, cellHeight),
    keyStep: stepFor(isTurned ? em : keyWidth + 0.3 * em, cellWidth),
  };
}

/** Of the grids of heads with one column, two columns …: the one with the largest cells, then fewest rows. */
function largestGrid(shown, room) {
  const grids = shown.heads.map((_, index) => makeGrid(shown, index + 1, room));
  return grids.reduce((best, next) => {
    const isBetter = next.cell === best.cell ? next.rows < best.rows : next.cell > best.cell;
    return isBetter ? next : best;
  });
}

function makeGrid({ heads, queries, keys }, columns, { width, height, em }) {
  const rows = Math.ceil(heads.length / columns);
  const headWidth = width / columns;
  const headHeight = Math.max(LOWEST_HEAD * em, height / rows - (TITLE + GAP) * em);
  const isTooNarrow = columns > 1 && headWidth <= NARROWEST_HEAD * em;
  const square = Math.min((headWidth - GAP * em) / keys, headHeight / queries, LARGEST_CELL * em);
  const cell = isTooNarrow ? 0 : Math.max(0, square);
  const sizeAmong = (count) => {
    const size = Math.max(cell, (1.6 * em) / count); // a map of one row or column is no hairline
    return size > 6 ? Math.floor(size) : size;
  };
  return { columns, rows, cell, cellWidth: sizeAmong(keys), cellHeight: sizeAmong(queries) };
}

function placeHeads({ heads, queries, keys }, grid, left, em) {
  const { columns, rows, cellWidth, cellHeight, below } = grid;
  const column = Math.max(cellWidth * keys + GAP * em, NARROWEST_HEAD * em);
  const row = TITLE * em + cellHeight * queries + GAP * em;
  const top = LEGEND * em;
  return {
    tiles: heads.map((head, index) => ({
      head,
      x: Math.round(left + (index % columns) * column),
      y: Math.round(top + TITLE * em + Math.floor(index / columns) * row),
      isFirst: index % columns === 0,
      isLowest: index + columns >= heads.length,
    })),
    height: Math.ceil(top + rows * row - GAP * em + below),
  };
}

/** 1, 2, 4 …: of how many cells one is labelled, so that each label has the room that it needs. */
const stepFor = (need, cell) => 2 ** Math.max(0, Math.ceil(Math.log2(need / cell)));

// ---- Paint: on the screen, and for the saved picture --------------------------------------------------

const VIRIDIS = [
  0x440154, 0x481a6c, 0x472f7e, 0x414488, 0x39578c, 0x30688e, 0x2a788e, 0x23888e, 0x1e988b, 0x21a884,
  0x34b779, 0x53c668, 0x79d252, 0xa5db36, 0xd3e218, 0xfde725,
];
const COLOUR_SCALE = Uint32Array.from(numbersTo(256), (number) => {
  const place = number / 17;
  const below = Math.min(Math.floor(place), VIRIDIS.length - 2);
  const [from, to] = VIRIDIS.slice(below, below + 2);
  const mix = (shift) => {
    const [low, high] = [(from >> shift) & 255, (to >> shift) & 255];
    return Math.round(low + (place - below) * (high - low));
  };
  return pixelOf(mix(16), mix(8), mix(0));
});

/** A pixel as ImageData keeps it, opaque. */
function pixelOf(red, green, blue) {
  return (255 << 24) | (blue << 16) | (green << 8) | red;
}

const sheet = document.createElement("canvas"); // one pixel a cell; the picture shows it enlarged

function fillSheet(width, height, pixelAt) {
  Object.assign(sheet, { width, height });
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let index = 0; index < pixels.length; index++) pixels[index] = pixelAt(index);
  sheet.getContext("2d").putImageData(image, 0, 0);
}

function paint(ctx, drawing) {
  const { width, height } = ctx.canvas;
  Object.assign(ctx, {
    font: fontOf(drawing.em),
    imageSmoothingEnabled: false,
    fillStyle: drawing.colours.paper,
  });
  ctx.fillRect(0, 0, width, height);
  paintWeights(ctx, drawing);
  if (drawing.isMasked) paintMask(ctx, drawing);
  paintTitles(ctx, drawing);
  paintQueryAxis(ctx, drawing);
  paintKeyAxis(ctx, drawing);
  paintLegend(ctx, drawing);
  if (drawing.pointed) paintPointer(ctx, drawing);
}

function paintWeights(ctx, { maps, queries, keys, scaleEnd, tiles, cellWidth, cellHeight, colours }) {
  const forbidden = pixelOf(...colours.forbidden.match(/\d+/g).map(Number)); // such as "rgb(236, 236, 236)"
  const pixelFor = (bits) =>
    bits === SIGN_BIT ? forbidden : COLOUR_SCALE[Math.round((weightOf(bits) / scaleEnd) * 255)];
  fillSheet(keys, maps.length / keys, (index) => pixelFor(maps[index]));
  for (const { head, x, y } of tiles)
    ctx.drawImage(sheet, 0, head * queries, keys, queries, x, y, cellWidth * keys, cellHeight * queries);
}

/** Hatch what the mask forbids, one rectangle for each run of cells in a row. */
function paintMask(ctx, drawing) {
  const { maps, queries, keys, tiles, cellWidth, cellHeight } = drawing;
  ctx.beginPath();
  for (const { head, x, y } of tiles)
    for (let query = 0; query < queries; query++) {
      const row = indexOf(drawing, { head, query, key: 0 });
      let start = 0;
      for (let key = 0; key <= keys; key++) {
        if (key < keys && isForbidden(maps[row + key])) continue;
        if (key > start)
          ctx.rect(x + start * cellWidth, y + query * cellHeight, (key - start) * cellWidth, cellHeight);
        start = key + 1;
      }
    }
  ctx.fillStyle = makeHatching(ctx, drawing);
  ctx.fill();
}

function makeHatching(ctx, { em, colours }) {
  const tile = document.createElement("canvas");
  const size = Math.round(em / 2);
  Object.assign(tile, { width: size, height: size });
  const pen = tile.getContext("2d");
  Object.assign(pen, { strokeStyle: colours.hatching, lineWidth: em / 13 });
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - size, 2 * size);
    pen.lineTo(shift + 2 * size, -size);
  }
  pen.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** Write a text beside, or around, a point; turned, it reads upwards. */
function write(ctx, text, { x, y, colour, align = "left", isTurned = false }) {
  const direction = isTurned ? [0, -1, 1, 0] : [1, 0, 0, 1];
  ctx.setTransform(...direction, x, y);
  Object.assign(ctx, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
  ctx.fillText(text, 0, 0);
  ctx.resetTransform();
}

/** Name each head; while a cell is pointed at, with its weight in that head. */
function paintTitles(ctx, drawing) {
  const { em, tiles, colours, words, pointed } = drawing;
  for (const { head, x, y } of tiles) {
    const weight = pointed ? sayWeight(drawing, { ...pointed, head }) : "";
    write(ctx, `${fill(words.head, { head })}  ${weight}`, { x, y: y - 0.8 * em, colour: colours.ink });
  }
}

function paintQueryAxis(ctx, drawing) {
  const { em, cellHeight, tiles, queries, queryLabels, queryRoom, queryStep, colours, words } = drawing;
  const middle = (tiles[0].y + tiles.at(-1).y + cellHeight * queries) / 2;
  const name = { x: 0.7 * em, y: middle, colour: colours.queries, align: "center", isTurned: true };
  write(ctx, words.queries, name);
  for (const { x, y } of tiles.filter((tile) => tile.isFirst))
    for (let query = 0; query < queries; query += queryStep) {
      const place = { x: x - 0.4 * em, y: y + (query + 0.5) * cellHeight };
      write(ctx, fit(ctx, queryLabels[query], queryRoom), { ...place, colour: colours.ink, align: "right" });
    }
}

function paintKeyAxis(ctx, drawing) {
  const { em, cellWidth, cellHeight, tiles, queries, keys, isTurned, keyRoom, colours, words } = drawing;
  const style = { colour: colours.ink, align: isTurned ? "right" : "center", isTurned };
  for (const { x, y } of tiles.filter((tile) => tile.isLowest)) {
    const below = y + cellHeight * queries + (isTurned ? 0.4 : 0.9) * em;
    for (let key = 0; key < keys; key += drawing.keyStep) {
      const label = fit(ctx, drawing.keyLabels[key], keyRoom);
      write(ctx, label, { x: x + (key + 0.5) * cellWidth, y: below, ...style });
    }
    const name = { x: x + (cellWidth * keys) / 2, y: below + (isTurned ? keyRoom + 0.7 * em : 1.1 * em) };
    write(ctx, words.keys, { ...name, colour: colours.keys, align: "center" });
  }
}

/** One scale of colours for all heads, and what the hatching means. */
function paintLegend(ctx, drawing) {
  const { scaleEnd, isMasked, em, colours, words } = drawing;
  const y = 0.85 * em;
  const colour = colours.ink;
  const bar = { left: 1.4 * em, top: 0.4 * em, width: 9 * em, height: 0.9 * em };
  fillSheet(256, 1, (index) => COLOUR_SCALE[index]);
  ctx.drawImage(sheet, bar.left, bar.top, bar.width, bar.height);
  write(ctx, "0", { x: 0.5 * em, y, colour });
  const end = fill(words.weight, { number: Number(scaleEnd.toPrecision(3)) });
  const afterBar = bar.left + bar.width + 0.4 * em;
  write(ctx, end, { x: afterBar, y, colour });
  if (!isMasked) return;
  const afterEnd = afterBar + ctx.measureText(end).width + 1.4 * em;
  ctx.fillStyle = makeHatching(ctx, drawing);
  ctx.fillRect(afterEnd, bar.top, 1.6 * em, bar.height);
  write(ctx, words.masked, { x: afterEnd + 2 * em, y, colour });
}

/** Outline the row and the column of the cell in every head; white on black shows on any colour. */
function paintPointer(ctx, { queries, keys, em, tiles, cellWidth, cellHeight, pointed }) {
  ctx.beginPath();
  for (const { x, y } of tiles) {
    ctx.rect(x, y + pointed.query * cellHeight, cellWidth * keys, cellHeight);
    ctx.rect(x + pointed.key * cellWidth, y, cellWidth, cellHeight * queries);
  }
  Object.assign(ctx, { strokeStyle: "#000", lineWidth: em / 4 }).stroke();
  Object.assign(ctx, { strokeStyle: "#fff", lineWidth: em / 10 }).stroke();
}

/** Save what is shown as a picture of its own, with the settings below. */
function savePicture(shown, caption, colours) {
  const em = 28;
  const canvas = make("canvas");
  const ctx = canvas.getContext("2d");
  const drawing = { ...arrange(ctx, shown, { width: 2000, height: 1300, em }), colours };
  const rightEdges = drawing.tiles.map(({ x }) => x + drawing.cellWidth * shown.keys + em);
  const width = Math.max(30 * em, ctx.measureText(caption).width + em, ...rightEdges);
  Object.assign(canvas, { width, height: drawing.height + 2 * em });
  paint(ctx, drawing);
  write(ctx, caption, { x: em / 2, y: drawing.height + em, colour: colours.quiet });
  canvas.toBlob((blob) => {
    make("a", { href: URL.createObjectURL(blob), download: "attention.png" }).click();
  });
}

/** The colours of view.css and palette.css as the canvas takes them, under the page's theme or a given one. */
function readColours(root, colorScheme = "") {
  const probe = make("span");
  probe.style.colorScheme = colorScheme;
  root.append(probe);
  const read = (variable) => {
    probe.style.color = `var(${variable})`;
    return getComputedStyle(probe).color;
  };
  const colours = {
    paper: read("--paper"),
    ink: read("--ink"),
    quiet: read("--quiet"),
    forbidden: read("--forbidden"),
    hatching: read("--hatching"),
    queries: read("--q"),
    keys: read("--k"),
  };
  probe.remove();
  return colours;
}

// ---- Words: the sentences come from words/<language>.json, as the trait `words` ------------------------

/** A sentence with its {gaps} filled. */
const fill = (sentence, values) => sentence.replace(/\{(\w+)\}/g, (gap, name) => values[name] ?? gap);

function sayWeight({ maps, queries, keys, words }, cell) {
  const bits = maps[indexOf({ queries, keys }, cell)];
  const weight = weightOf(bits);
  const isTiny = weight > 0 && weight < 0.001;
  const number = isTiny ? weight.toExponential(0) : weight.toFixed(3);
  if (!isForbidden(bits)) return number;
  return weight ? fill(words.although_masked, { number }) : words.masked;
}

function sayCell(drawing, cell) {
  const { words, queryLabels, keyLabels } = drawing;
  const sayToken = (labels, number) => {
    const isNumbered = labels[number] === String(number);
    return isNumbered ? number : fill(words.token, { number, label: shorten(labels[number]) });
  };
  return fill(words.cell, {
    head: cell.head,
    query: sayToken(queryLabels, cell.query),
    key: sayToken(keyLabels, cell.key),
    weight: sayWeight(drawing, cell),
  });
}

/** The picture in a sentence, for those who don't see it. */
function sayPicture(drawing) {
  const { maps, queries, keys, largest, words } = drawing;
  const heads = maps.length / (queries * keys);
  return fill(words.picture, { heads, queries, keys, cell: sayCell(drawing, cellAt(drawing, largest)) });
}

/** What the explorer says: where no setting has several heads, its one map has no number. */
function wordsFor(model) {
  const words = model.get("words");
  const hasHeads = model.get("table").directory.some(({ shape }) => shape?.[1] > 1);
  return hasHeads ? words : { ...words, ...words.single_map };
}

// ---- Inputs -------------------------------------------------------------------------------------------

function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.dataset.lmSuppressShortcuts = "true"; // keys that are pressed in it are not JupyterLab's
  element.append(...children);
  return element;
}

const INPUTS = {
  slider: (texts) => make("input", { type: "range", max: texts.length - 1 }),
  switch: () => make("input", { type: "checkbox" }),
  choice: (texts) => make("select", {}, ...texts.map((text, place) => new Option(text, place))),
  text: () => make("input"),
};

/** A labelled input for a trait of the widget, or for an entry of it. */
function makeInput(model, { name, kind, texts, trait, at }, set, words) {
  const input = Object.assign(INPUTS[kind](texts), { ariaLabel: name });
  const value = make("span", { className: "value" });
  const property = kind === "switch" ? "checked" : "value";
  const isEntry = at >= 0;
  const get = () => (isEntry ? model.get(trait)[at] : Number(model.get(trait)));
  const read = () => (kind === "text" ? input.value : Number(input[property]));
  input.oninput = () => set(trait, isEntry ? model.get(trait).with(at, read()) : read());
  return {
    element: make("label", {}, name, input, value),
    say: () => fill(words.setting, { name, value: texts[get()] ?? get() }),
    show() {
      if (read() !== get()) input[property] = get();
      if (kind === "slider") input.ariaValueText = value.textContent = texts[get()];
    },
  };
}

// ---- The page around the picture ----------------------------------------------------------------------

const KEPT_ANSWERS = 256;
const DESCRIBE_AFTER = 150; // milliseconds without a move
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

class ExplorerView {
  constructor(model) {
    this.model = model;
    this.words = wordsFor(model);
    this.pictures = new Map(); // computed ahead, by their settings
    this.answers = new Map(); // computed on demand
    this.room = null; // how large the picture may be
    this.colours = null;
    this.drawing = null;
    this.pointed = null; // the cell under the pointer
    this.makeControls();
    this.makeStage();
    this.makeProblem();
    this.root = make("div", { className: "mha-explorer" }, this.controls, this.problem, this.stage);
    this.answerPointerAndKeys();
  }

  makeControls() {
    const set = (trait, value) => this.set(trait, value);
    const controls = this.model.get("controls");
    this.inputs = controls.map((control) => makeInput(this.model, control, set, this.words));
    this.saveButton = make("button", { textContent: this.words.save, onclick: () => this.save() });
    const elements = this.inputs.map(({ element }) => element);
    this.controls = make("div", { className: "settings" }, ...elements, this.saveButton);
  }

  makeStage() {
    this.canvas = make("canvas");
    this.ctx = this.canvas.getContext("2d");
    this.overlay = make("div", { role: "group", ariaLabel: this.words.heads });
    this.status = make("p", { role: "status" });
    this.stage = make("div", { className: "stage" }, this.canvas, this.overlay, this.status);
  }

  makeProblem() {
    this.message = make("summary");
    this.traceback = make("pre", { tabIndex: 0 });
    this.problem = make("div", { role: "alert" }, make("details", {}, this.message, this.traceback));
  }

  /** Enter the page, in an element of it; returns what to call when that element goes. */
  async open(element) {
    const { model } = this;
    await unpack(model.get("table"), this.pictures);
    element.append(this.root);
    model.on("change:setting change:sample change:enlarged change:to_max", () => this.show());
    model.on("change:answer", () => this.takeAnswer());
    if (model.get("answer").maps) this.takeAnswer();
    const stop = this.followPage();
    this.measure();
    return stop;
  }

  /** Follow the size of the page and its theme. */
  followPage() {
    const sizes = new ResizeObserver(() => this.measure());
    const themes = new MutationObserver(() => this.takeColours());
    const ending = new AbortController();
    const { signal } = ending;
    sizes.observe(this.controls);
    themes.observe(document.body, { attributeFilter: ["data-jp-theme-light"] });
    addEventListener("resize", () => this.measure(), { signal });
    for (const query of ["print", "(prefers-color-scheme: dark)"])
      matchMedia(query).addEventListener("change", () => this.takeColours(), { signal });
    return () => {
      ending.abort();
      sizes.disconnect();
      themes.disconnect();
    };
  }

  set(trait, value) {
    this.model.set(trait, value);
    this.model.save_changes();
  }

  // -- what is on show

  /** Show the current setting. While its picture is unknown, the last one stays, dimmed. */
  show() {
    const setting = JSON.stringify(this.model.get("setting"));
    const picture = this.pictures.get(setting) ?? this.answers.get(setting);
    const isError = Boolean(picture?.error);
    for (const input of this.inputs) input.show();
    clearTimeout(this.describing);
    this.stage.ariaBusy = !picture;
    this.stage.hidden = isError;
    this.saveButton.disabled = isError;
    this.problem.hidden = !isError;
    if (!picture) this.status.textContent = this.sayMissing();
    else if (isError) this.showError(picture);
    else if (this.room) this.showPicture(picture);
  }

  sayMissing() {
    const isHandout = "handout" in document.documentElement.dataset;
    return isHandout ? this.words.not_in_handout[this.model.get("table").carries] : this.words.computing;
  }

  showError({ error, traceback }) {
    this.message.textContent = error;
    this.traceback.textContent = traceback;
  }

  showPicture(picture) {
    const { model, words } = this;
    const [sample, enlarged, toMax] = ["sample", "enlarged", "to_max"].map((trait) => model.get(trait));
    const shown = { ...choose(picture, { sample, enlarged, toMax }), words };
    this.pointed = null;
    this.drawing = arrange(this.ctx, shown, this.room);
    this.placeElements();
    this.draw();
    this.describing = setTimeout(() => this.describe(), DESCRIBE_AFTER);
  }

  /** Lay an element on each head, for pointer and keys. */
  placeElements() {
    const { width, height, tiles, cellWidth, cellHeight, keys, queries } = this.drawing;
    Object.assign(this.canvas, { width, height });
    this.canvas.style.width = `${width * this.overlay.style.scale}px`;
    if (this.overlay.children.length !== tiles.length) {
      const onblur = () => this.aim(null);
      const elements = tiles.map(() => make("div", { tabIndex: 0, role: "application", onblur }));
      this.overlay.replaceChildren(...elements);
    }
    const size = `width:${cellWidth * keys}px; height:${cellHeight * queries}px`;
    for (const [index, { head, x, y }] of tiles.entries()) {
      const element = this.overlay.children[index];
      const style = `left:${x}px; top:${y}px; ${size}`;
      Object.assign(element, { style, ariaLabel: fill(this.words.head, { head }) });
      element.dataset.head = head;
    }
  }

  draw() {
    const { drawing, colours, pointed } = this;
    if (drawing) paint(this.ctx, { ...drawing, colours, pointed });
  }

  describe() {
    const { drawing, pointed } = this;
    this.status.textContent = pointed ? sayCell(drawing, pointed) : sayPicture(drawing);
  }

  /** Take what Python has computed of a setting that was missing. */
  async takeAnswer() {
    await unpack(this.model.get("answer"), this.answers);
    if (this.answers.size > KEPT_ANSWERS) this.answers.delete(this.answers.keys().next().value);
    this.show();
  }

  save() {
    const caption = this.inputs.map((input) => input.say()).join(this.words.between_settings);
    savePicture(this.drawing, caption, readColours(this.root, "light"));
  }

  // -- pointer and keys

  answerPointerAndKeys() {
    const { overlay, root } = this;
    const aimUnder = ({ target, offsetX, offsetY }) => {
      const { cellWidth, cellHeight } = this.drawing;
      this.aimAt(Number(target.dataset.head), offsetY / cellHeight, offsetX / cellWidth);
    };
    overlay.onpointerdown = aimUnder;
    overlay.onpointermove = aimUnder;
    overlay.onpointerout = () => this.aim(null);
    overlay.onclick = ({ target }) => this.toggle(Number(target.dataset.head));
    overlay.onkeydown = (event) => this.answerKey(event);
    root.onkeydown = (event) => {
      event.stopPropagation(); // it does not turn the slide
      if (event.key === "Escape" && this.model.get("enlarged") >= 0) this.enlarge(-1);
    };
  }

  answerKey(event) {
    const head = Number(event.target.dataset.head);
    if (event.key === "Enter") this.toggle(head);
    if (!(event.key in STEPS)) return;
    event.preventDefault(); // it does not scroll
    const [down, right] = STEPS[event.key];
    const { query, key } = this.pointed?.head === head ? this.pointed : { query: -1, key: -1 };
    this.aimAt(head, query + down, key + right);
  }

  aimAt(head, row, column) {
    const query = clamp(Math.floor(row), 0, this.drawing.queries - 1);
    const key = clamp(Math.floor(column), 0, this.drawing.keys - 1);
    this.aim({ head, query, key });
  }

  aim(cell) {
    this.pointed = cell;
    this.draw();
    this.describe();
  }

  toggle(head) {
    this.enlarge(this.model.get("enlarged") < 0 ? head : -1);
  }

  /** Let one head fill the picture, or show all of them (-1). */
  enlarge(head) {
    this.set("enlarged", head);
    this.overlay.children[Math.max(0, this.drawing.heads.indexOf(head))].focus();
  }

  // -- size and theme

  /** Find the room there is, in the slide or in the window. */
  measure() {
    const { root, controls, overlay } = this;
    const width = controls.clientWidth;
    if (!width) return; // not on the page yet
    const slide = root.closest(".reveal section");
    const em = slide ? innerHeight / 40 : clamp(width / 90, 12, 16); // a slide is read from the last row
    root.style.fontSize = `${em}px`;
    const place = root.getBoundingClientRect();
    const density = (devicePixelRatio * place.width) / root.offsetWidth; // a deck scales its slides
    const space = slide ? contentEnd(slide) - place.top - em / 4 : 0.74 * innerHeight;
    const height = Math.max(280, space - controls.offsetHeight - 3 * em); // 3 em for the status
    overlay.style.scale = 1 / density;
    this.room = { width: Math.round(width * density), height: height * density, em: em * density };
    this.colours = readColours(root);
    this.show();
  }

  takeColours() {
    this.colours = readColours(this.root);
    this.draw();
  }
}

const contentEnd = (slide) =>
  slide.getBoundingClientRect().bottom - Number.parseFloat(getComputedStyle(slide).paddingBottom);

export default { render: ({ model, el }) => new ExplorerView(model).open(el) };
