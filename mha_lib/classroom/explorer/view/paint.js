// Paints the picture, on the screen and for the saved file.

import { clamp, indexOf, isForbidden, numbersTo, SIGN_BIT, weightOf } from "./decode.js";
import { fill, make } from "./elements.js";
import { arrange, fit, fontOf, shortTitle } from "./grid.js";
import { labelOf, sayMeasures, sayTitle, sayValue, sayWeight } from "./words.js";

const VIRIDIS = [
  0x440154, 0x481a6c, 0x472f7e, 0x414488, 0x39578c, 0x30688e, 0x2a788e, 0x23888e, 0x1e988b, 0x21a884,
  0x34b779, 0x53c668, 0x79d252, 0xa5db36, 0xd3e218, 0xfde725,
];
/** A pixel as ImageData keeps it, opaque. */
const pixelOf = (red, green, blue) => (255 << 24) | (blue << 16) | (green << 8) | red;

const COLOUR_SCALE = Uint32Array.from(numbersTo(256), (number) => {
  const place = number / 17; // between the colours above
  const [from, to = from] = VIRIDIS.slice(place);
  const channels = [16, 8, 0].map((shift) => {
    const [low, high] = [(from >> shift) & 255, (to >> shift) & 255];
    return Math.round(low + (place % 1) * (high - low));
  });
  return pixelOf(...channels);
});

const HEADS = numbersTo(8).map((place) => `head${place}`);
const HEADS_A_LAYER = 4; // as in pictures/grammar.py
/** Of view.css and look.css. */
const COLOURS = ["paper", "ink", "quiet", "forbidden", "hatching", "q", "k", "v", "o", "number", ...HEADS];
const SLACK = 0.3; // em: a text may be wider than in the letters in which it was measured

/** The channels of a colour such as "rgb(236, 236, 236)". */
const channelsOf = (colour) => colour.match(/\d+/g).map(Number);

/** The colours from 0 to the end of the scale: viridis for weights, and for other numbers from paper to neutral. */
function scaleOf({ isNumbers, colours }) {
  if (!isNumbers) return COLOUR_SCALE;
  const [paper, number] = [colours.paper, colours.number].map(channelsOf);
  return COLOUR_SCALE.map((_, place) =>
    pixelOf(...paper.map((low, channel) => Math.round(low + (place / 255) * (number[channel] - low)))),
  );
}

/** The name of a head's colour, by the head's name, layer.head, or by its number where there are no layers. */
export function colourNameOf({ headCount, headLabels, isNumbers }, head) {
  if (isNumbers || (headCount === 1 && !headLabels) || headCount > HEADS.length) return "";
  const [, layer, place] = headLabels?.[head].match(/(\d+)\.(\d+)$/) ?? [];
  return HEADS[layer ? HEADS_A_LAYER * layer + Number(place) : head] ?? "";
}

/** A canvas with one pixel for each cell; the picture shows it enlarged. */
function makeSheet(width, height, pixelAt) {
  const sheet = make("canvas", { width, height });
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let index = 0; index < pixels.length; index++) pixels[index] = pixelAt(index);
  sheet.getContext("2d").putImageData(image, 0, 0);
  return sheet;
}

export function paint(ctx, drawing) {
  const { width, height } = ctx.canvas;
  Object.assign(ctx, {
    font: fontOf(drawing.em),
    imageSmoothingEnabled: drawing.cellWidth < 1 || drawing.cellHeight < 1, // else cells would be missing
    fillStyle: drawing.colours.paper,
  });
  ctx.fillRect(0, 0, width, height);
  paintWeights(ctx, drawing);
  if (drawing.overview) {
    paintNames(ctx, drawing);
    paintScale(ctx, drawing);
    if (drawing.pointed) paintTile(ctx, drawing);
    return;
  }
  if (drawing.isMasked) paintMask(ctx, drawing);
  if (drawing.length < drawing.queries) paintLength(ctx, drawing);
  paintTitles(ctx, drawing);
  paintQueryAxis(ctx, drawing);
  paintKeyAxis(ctx, drawing);
  paintLegend(ctx, drawing);
  if (drawing.pointed) paintPointer(ctx, drawing);
}

const painted = new WeakMap(); // by the tiles of a drawing: its sheets, which stay while the pointer moves

function paintWeights(ctx, drawing) {
  const { queries, keys, tiles, cellWidth, cellHeight, colours } = drawing;
  const { forbidden } = colours; // another one in another theme
  if (painted.get(tiles)?.forbidden !== forbidden)
    painted.set(tiles, { forbidden, sheets: makeSheets(drawing) });
  const { sheets } = painted.get(tiles);
  for (const [index, { x, y }] of tiles.entries())
    ctx.drawImage(sheets[index], x, y, cellWidth * keys, cellHeight * queries);
}

/** The weights of each head on show, a pixel for a cell. */
function makeSheets(drawing) {
  const { maps, queries, keys, scaleEnd, byRoot, tiles, colours } = drawing;
  const forbidden = pixelOf(...channelsOf(colours.forbidden));
  const scale = scaleOf(drawing);
  const pixelFor = (bits) => {
    if (bits === SIGN_BIT) return forbidden;
    const share = weightOf(bits) / scaleEnd;
    return scale[Math.round((byRoot ? Math.sqrt(share) : share) * 255)];
  };
  return tiles.map(({ head }) => {
    const start = head * queries * keys;
    return makeSheet(keys, queries, (index) => pixelFor(maps[start + index]));
  });
}

/** Hatch the masked cells, one rectangle for each run of them in a row. */
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

/** Draw a dashed line above the queries that are padding. */
function paintLength(ctx, { tiles, length, keys, cellWidth, cellHeight, em }) {
  ctx.beginPath();
  for (const { x, y } of tiles) {
    ctx.moveTo(x, y + length * cellHeight);
    ctx.lineTo(x + keys * cellWidth, y + length * cellHeight);
  }
  strokeOnAnyColour(ctx, em, [0.5 * em, 0.4 * em]);
}

/** Stroke in white on black, which can be seen on any colour. */
function strokeOnAnyColour(ctx, em, dashes = []) {
  ctx.setLineDash(dashes);
  Object.assign(ctx, { strokeStyle: "#000", lineWidth: em / 4 }).stroke();
  Object.assign(ctx, { strokeStyle: "#fff", lineWidth: em / 10 }).stroke();
  ctx.setLineDash([]);
}

/** The pattern of a masked cell, as look.css has it: a seamless tile whose lines rise at 45 degrees, or fall. */
function makeHatching(ctx, { em, colours, hatch }) {
  const size = Math.round(Math.SQRT2 * hatch.gap * em);
  const tile = make("canvas", { width: size, height: size });
  const pen = tile.getContext("2d");
  Object.assign(pen, { strokeStyle: colours.hatching, lineWidth: hatch.line * em });
  if (hatch.angle < 0) pen.setTransform(1, 0, 0, -1, 0, size);
  for (const shift of [-size, 0, size]) {
    pen.moveTo(shift - size, 2 * size);
    pen.lineTo(shift + 2 * size, -size);
  }
  pen.stroke();
  return ctx.createPattern(tile, "repeat");
}

/** Write a text beside or around a point; a turned text reads upwards. */
function write(ctx, text, { x, y, colour, align = "left", isTurned = false }) {
  const direction = isTurned ? [0, -1, 1, 0] : [1, 0, 0, 1];
  ctx.setTransform(...direction, x, y);
  Object.assign(ctx, { fillStyle: colour, textAlign: align, textBaseline: "middle" });
  ctx.fillText(text, 0, 0);
  ctx.resetTransform();
}

/** Name the rows and columns of an overview, or each of its maps. */
function paintNames(ctx, drawing) {
  const { em, tiles, colours, overview, isGrid, across, pitch, rowPitch, cellWidth, cellHeight } = drawing;
  const style = { colour: colours.ink };
  if (!isGrid) {
    for (const { head, x, y } of tiles) {
      write(ctx, fit(ctx, shortTitle(drawing, head), pitch), { x, y: y - 0.7 * em, ...style });
    }
    return;
  }
  const [width, height] = [cellWidth * drawing.keys, cellHeight * drawing.queries];
  const [{ x: left, y: top }] = tiles;
  const wide = Math.max(...overview.columns.map((name) => ctx.measureText(name).width)) + 0.3 * em;
  const step = Math.ceil(wide / pitch);
  const rowStep = Math.ceil(em / rowPitch);
  write(ctx, overview.corner, {
    x: left - 0.5 * em,
    y: top - 0.8 * em,
    colour: colours.quiet,
    align: "right",
  });
  for (const [column, name] of overview.columns.entries())
    if (column % step === 0)
      write(ctx, name, { x: tiles[column].x + width / 2, y: top - 0.8 * em, align: "center", ...style });
  for (const [row, name] of overview.rows.entries())
    if (row % rowStep === 0)
      write(ctx, name, {
        x: left - 0.5 * em,
        y: tiles[row * across].y + height / 2,
        align: "right",
        ...style,
      });
}

/** Outline the map of an overview under the pointer. */
function paintTile(ctx, { tiles, pointed, em, cellWidth, cellHeight, keys, queries }) {
  const { x, y } = tiles.find(({ head }) => head === pointed.head);
  ctx.beginPath();
  ctx.rect(x, y, cellWidth * keys, cellHeight * queries);
  strokeOnAnyColour(ctx, em);
}

/** Name each head, with its measure; while the pointer is on a cell, with the cell's weight in that head. */
function paintTitles(ctx, drawing) {
  const { em, tiles, colours, pointed, isEnlarged, shortLabels } = drawing;
  const sayOf = isEnlarged ? sayMeasures : sayValue;
  for (const { head, x, y } of tiles) {
    const after = pointed ? sayWeight(drawing, { ...pointed, head }) : sayOf(drawing, head);
    const room = (isEnlarged ? ctx.canvas.width - x : drawing.pitch) - 0.3 * em;
    const full = `${sayTitle(drawing, head)}  ${after}`.trimEnd();
    const isTooLong = shortLabels && ctx.measureText(full).width > room;
    const title = fit(ctx, isTooLong ? `${shortLabels[head]}  ${after}` : full, room);
    const colour = colours[colourNameOf(drawing, head)];
    if (colour) {
      ctx.fillStyle = colour;
      ctx.fillRect(x, y - 0.22 * em, drawing.cellWidth * drawing.keys, 0.22 * em);
    }
    write(ctx, title, { x, y: y - 0.8 * em, colour: colours.ink });
  }
}

function paintQueryAxis(ctx, drawing) {
  const { em, cellHeight, tiles, queries, queryLabels, length, colours, words } = drawing;
  const [top, bottom] = [tiles[0].y, tiles.at(-1).y + cellHeight * queries];
  const name = fit(ctx, words.queries, bottom);
  const half = ctx.measureText(name).width / 2;
  const middle = Math.max((top + bottom) / 2, half); // a name longer than its axis begins at the edge
  write(ctx, name, {
    x: 0.7 * em,
    y: middle,
    colour: colours[words.query_kind],
    align: "center",
    isTurned: true,
  });
  for (const { x, y } of tiles.filter((tile) => tile.isFirst))
    for (let query = 0; query < queries; query += drawing.rowStep) {
      const place = { x: x - 0.4 * em, y: y + (query + 0.5) * cellHeight, align: "right" };
      const label = fit(ctx, labelOf(queryLabels, query), drawing.rowRoom + SLACK * em);
      write(ctx, label, { ...place, colour: query < length ? colours.ink : colours.quiet });
    }
}

/** Write the keys below the lowest maps, and the name of their axis once for all of them. */
function paintKeyAxis(ctx, drawing) {
  const { em, cellWidth, cellHeight, tiles, queries, keys, isTurned, columnRoom, colours, words } = drawing;
  const style = { colour: colours.ink, align: isTurned ? "right" : "center", isTurned };
  for (const { x, y } of tiles.filter((tile) => tile.isLowest)) {
    const below = y + cellHeight * queries + (isTurned ? 0.4 : 0.9) * em;
    for (let key = 0; key < keys; key += drawing.columnStep) {
      const label = fit(ctx, labelOf(drawing.keyLabels, key), columnRoom + SLACK * em);
      write(ctx, label, { x: x + (key + 0.5) * cellWidth, y: below, ...style });
    }
  }
  write(ctx, words.keys, {
    x: drawing.nameX,
    y: drawing.nameY,
    colour: colours[words.key_kind],
    align: "center",
  });
}

/** Paint the scale of colours, one for all heads, and the meaning of the hatching. */
function paintLegend(ctx, drawing) {
  const { ofMasks, isMasked, em, words, legendX, legendY } = drawing;
  const widthOf = (text) => 2 * em + ctx.measureText(text).width;
  let x = legendX + (ofMasks ? 0.5 * em : paintScale(ctx, drawing, isMasked ? widthOf(words.masked) : 0));
  const paintSwatch = (fillStyle, text) => {
    ctx.fillStyle = fillStyle;
    ctx.fillRect(x, legendY - 0.45 * em, 1.6 * em, 0.9 * em);
    write(ctx, text, { x: x + 2 * em, y: legendY, colour: drawing.colours.ink });
    x += widthOf(text) + 1.4 * em;
  };
  if (ofMasks) paintSwatch(drawing.colours.number, words.may_attend);
  if (isMasked) paintSwatch(makeHatching(ctx, drawing), words.masked);
}

/** Paint the bar of colours with its numbers, as long as there is room for what comes `after` it; returns its width. */
function paintScale(ctx, drawing, after = 0) {
  const { scaleEnd, toMax, byRoot, width, em, colours, words, legendX, legendY } = drawing;
  const scale = scaleOf(drawing);
  const style = { y: legendY, colour: colours.ink };
  const sheet = makeSheet(256, 1, (index) => scale[index]);
  write(ctx, "0", { x: legendX + 0.5 * em, ...style });
  const sentence = toMax ? words.largest_weight : words.weight;
  const most = fill(sentence, { number: Number(scaleEnd.toPrecision(3)) });
  const end = byRoot ? fill(words.root_scale, { scale: most }) : most;
  const around = 3.2 * em + ctx.measureText(end).width;
  const bar = clamp(width - legendX - around - after, 3 * em, 9 * em);
  ctx.drawImage(sheet, legendX + 1.4 * em, legendY - 0.45 * em, bar, 0.9 * em);
  write(ctx, end, { x: legendX + bar + 1.8 * em, ...style });
  return bar + around;
}

/** Outline the row and the column of the cell in every head. */
function paintPointer(ctx, { queries, keys, em, tiles, cellWidth, cellHeight, pointed }) {
  ctx.beginPath();
  for (const { x, y } of tiles) {
    ctx.rect(x, y + pointed.query * cellHeight, cellWidth * keys, cellHeight);
    ctx.rect(x + pointed.key * cellWidth, y, cellWidth, cellHeight * queries);
  }
  strokeOnAnyColour(ctx, em);
}

/** Save the picture as a file, with the settings below. */
export function savePicture(shown, caption, look) {
  const em = 28;
  const canvas = make("canvas");
  const ctx = canvas.getContext("2d");
  const drawing = { ...arrange(ctx, shown, { width: 2000, height: 1300, em }), ...look };
  const width = Math.max(drawing.end + em, ctx.measureText(caption).width + em);
  Object.assign(canvas, { width, height: drawing.height + 2 * em });
  paint(ctx, drawing);
  write(ctx, caption, { x: em / 2, y: drawing.height + em, colour: drawing.colours.quiet });
  canvas.toBlob((blob) => {
    const href = URL.createObjectURL(blob);
    make("a", { href, download: "attention.png" }).click();
    setTimeout(() => URL.revokeObjectURL(href), 10_000);
  });
}

/** The look of view.css and look.css as the canvas takes it, under the page's theme or a given one. */
export function readLook(root, colorScheme = "") {
  const probe = make("span");
  probe.style.colorScheme = colorScheme;
  probe.style.forcedColorAdjust = "none"; // the picture keeps its colours where the system forces its own
  root.append(probe);
  const read = (name) => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const colours = Object.fromEntries(COLOURS.map((name) => [name, read(name)]));
  probe.remove();
  const style = getComputedStyle(root);
  const number = (name) => Number.parseFloat(style.getPropertyValue(`--hatch-${name}`)); // in degrees or em
  const hatch = { angle: number("angle"), gap: number("gap"), line: number("line") };
  return { colours, hatch };
}
