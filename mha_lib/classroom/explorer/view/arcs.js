// The second view: tokens in a row, and an arc for each weight, as thick as the weight. Queries and keys are one
// row where they are the same tokens, and two rows else. Heads of several layers are nodes on streams that go up.
//
//   arcs     the widget's trait: {steps, layers, heads}. `steps` is the entry of the setting through which a step
//            goes, -1 for the next query; `heads` the first of the entries that turn the heads on and off, or -1
//   query    the query whose arcs are in colour, -1 for all of them; before it, arcs of earlier queries are grey
//   sketch   the size and the places: lengths are pixels of the canvas, as in a drawing
import { indexOf, isForbidden, weightOf } from "./decode.js";
import { fill } from "./elements.js";
import { widestOf } from "./grid.js";
import { colourNameOf } from "./paint.js";
import { labelOf, sayTitle } from "./words.js";

const SVG = "http://www.w3.org/2000/svg";
const LEAST = 0.01; // a thinner arc is not to be seen
const LEAST_FLOW = 0.08; // of a stream's part in what the query reads: less is left out
const BESIDE = 46; // em: a picture that is so wide has its map at the side, if labels needn't be turned for it
const MAP_SHARE = 0.42; // of the width
const BARS_WIDTH = 17; // em
const BAND = 9; // em of a page, for the arcs of a layer
const CHIPS = 2; // em: a line of the heads' names
const MOST_LETTERS = 1.5; // em

/** An element of SVG with attributes and a text. */
function makeShape(tag, attributes, text) {
  const shape = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, value);
  if (text !== undefined) shape.textContent = text;
  return shape;
}

/** Whether a picture has tokens that arcs can join. */
export const hasArcs = ({ queryLabels, keyLabels, overview }, { layers }, { of_masks }) =>
  Boolean(layers && queryLabels && keyLabels && !overview && !of_masks);

/** Whether heads of one layer are named above the arcs. */
export const hasChips = ({ headCount }, layers) => layers === 1 && headCount > 1;

/** The width and the height that arcs have of the room, and the room of the map at their side, if there is any. */
export function shareRoom(ctx, shown, { layers }, room) {
  const isWide = room.width > BESIDE * room.em;
  const mapWidth = Math.round(MAP_SHARE * room.width);
  const beside = room.width - mapWidth - 2 * room.em;
  const hasLevel = !placeLabels(ctx, shown, layers, { ...room, width: beside }).isTurned;
  const hasMap = isWide && hasLevel && layers === 1 && shown.heads.length === 1 && !shown.bars;
  const width = hasMap ? beside : room.width - (shown.bars && isWide ? BARS_WIDTH * room.em : 0);
  const { high, isTwoRows } = placeLabels(ctx, shown, layers, { ...room, width });
  const natural =
    Math.max(layers, isTwoRows ? 1.3 : 1) * BAND * room.em + (isTwoRows ? 2 : 1) * high + 3 * room.em;
  const height = room.isFixed ? room.height - (hasChips(shown, layers) ? CHIPS * room.em : 0) : natural;
  return { width, height, map: hasMap ? { ...room, width: mapWidth, height, isFixed: true } : null };
}

/** The size of labels, whether they are turned, which of them are written, and how high a row of them is. */
function placeLabels(ctx, { queries, keys, queryLabels, keyLabels }, layers, { width, em }) {
  const isOneRow = String(queryLabels) === String(keyLabels);
  const pitch = Math.min(width / Math.max(queries, keys), 8 * em);
  const widest = widestOf(ctx, [...queryLabels, ...keyLabels]);
  const fits = (pitch - 0.6 * em) / widest;
  const isTurned = fits < em;
  const letters = isTurned ? em : Math.min(fits, MOST_LETTERS * em);
  const step = isTurned ? Math.ceil(em / pitch) : 1;
  const high = isTurned ? widest * letters + 0.5 * em : 1.5 * letters;
  return { isOneRow, isTwoRows: layers === 1 && !isOneRow, pitch, isTurned, step, letters, high };
}

/** The places of tokens and layers. */
function placeTokens(ctx, shown, { layers }, { width, height, em }) {
  const labels = placeLabels(ctx, shown, layers, { width, em });
  const { isOneRow, isTwoRows, pitch, high } = labels;
  const top = isTwoRows ? high + 1.2 * em : 1.6 * em; // below the names of the heads or the keys
  const bottom = height - high - (isTwoRows ? 1.7 * em : 0.3 * em);
  const abreast = layers > 1 ? 1 : shown.heads.length;
  const placeIn = (length) => (token) => width / 2 + (token + 0.5 - length / 2) * pitch;
  return {
    ...labels,
    em,
    top,
    bottom,
    band: (bottom - top) / layers,
    thick: Math.min(((isOneRow ? 0.5 : 0.9) * pitch) / abreast, (isOneRow ? 0.9 : 1.3) * em), // of a weight of 1
    ofQuery: placeIn(shown.queries),
    ofKey: placeIn(shown.keys),
  };
}

/** The colour of a head's arcs: the query's where it is alone. */
export const colourOf = (shown, head) =>
  `var(--${shown.isEnlarged || shown.headCount === 1 ? "q" : colourNameOf(shown, head) || "quiet"})`;

/** Draw all of it; returns the places of the nodes of heads, in pixels of the canvas. */
export function drawArcs(svg, ctx, shown, arcs, query, look) {
  const sketch = placeTokens(ctx, shown, arcs, look);
  const shapes = [];
  const draw = (tag, attributes, text) => shapes.push(makeShape(tag, attributes, text));
  const scene = { ...sketch, ctx, shown, arcs, query, look, draw };
  const nodes = arcs.layers > 1 ? drawStreams(scene) : drawRows(scene);
  drawLabels(scene);
  drawLegend(scene);
  svg.replaceChildren(...shapes);
  svg.setAttribute("viewBox", `0 0 ${look.width} ${look.height}`);
  return { ...sketch, nodes };
}

function weightAt({ shown }, head, query, key) {
  const bits = shown.maps[indexOf(shown, { head, query, key })];
  return isForbidden(bits) ? 0 : weightOf(bits);
}

/** An arc from a query to a key, with its place and weight, which a test reads. */
function drawArc({ draw, thick }, path, { head, query, key, weight }, look) {
  const style = { "stroke-width": weight * thick, fill: "none", ...look };
  draw("path", { d: path, ...style, "data-head": head, "data-query": query, "data-key": key });
}

function drawRows(scene) {
  const { shown, arcs, query: now, top, bottom, isTwoRows, pitch, em, thick, ofQuery, ofKey } = scene;
  const { heads, queries, keys } = shown;
  const isByWord = arcs.steps < 0;
  const longest =
    Math.max(...[0, queries - 1].map((one) => Math.abs(ofQuery(one) - ofKey(keys - 1 - one)))) || 1;
  const pathOf = (from, to) => {
    if (isTwoRows) {
      const middle = (top + bottom) / 2;
      return `M${from} ${bottom}C${from} ${middle} ${to} ${middle} ${to} ${top}`;
    }
    const [side, high] =
      from === to
        ? [Math.min(0.8 * em, 0.4 * pitch), 3.2 * em]
        : [0, 1.3 * (bottom - top) * (Math.abs(from - to) / longest) ** 0.7];
    return `M${from - side} ${bottom}C${from - 2 * side} ${bottom - high} ${to + 2 * side} ${bottom - high} ${to + side} ${bottom}`;
  };
  const order = [...Array(queries).keys()].filter(
    (query) => now < 0 || query === now || (isByWord && query < now),
  );
  for (const query of order.sort((one, other) => (one === now) - (other === now)))
    for (const [place, head] of heads.entries())
      for (let key = 0; key < keys; key++) {
        const weight = weightAt(scene, head, query, key);
        if (weight < LEAST) continue;
        const shift = (place - (heads.length - 1) / 2) * thick;
        const isNow = now < 0 || query === now;
        const look = isNow
          ? { stroke: colourOf(shown, head), opacity: 0.8 }
          : { stroke: "var(--quiet)", opacity: 0.28 };
        drawArc(
          scene,
          pathOf(ofQuery(query) + shift, ofKey(key) + shift),
          { head, query, key, weight },
          look,
        );
      }
  return [];
}

/** Layers, one above the other. What the query reads in a layer are streams; below, the arcs of these streams are
 * drawn too, the fainter the less of them it reads: so one sees a note being left, and found. */
function drawStreams(scene) {
  const { shown, arcs, query: now, top, bottom, band, em, ofQuery, draw } = scene;
  const { headCount, queries, keys } = shown;
  const perLayer = headCount / arcs.layers;
  const query = now < 0 ? queries - 1 : now;
  for (let token = 0; token < keys; token++)
    draw("path", {
      d: `M${ofQuery(token)} ${bottom}V${top}`,
      class: token === query ? "stream now" : "stream",
    });
  const nodes = [];
  let read = new Map([[query, 1]]); // how much of each stream the query reads
  for (let layer = arcs.layers - 1; layer >= 0; layer--) {
    const floor = bottom - layer * band;
    const below = new Map(read);
    for (let number = 0; number < perLayer; number++) {
      const head = layer * perLayer + number;
      const y = floor - band * (0.85 - (0.5 * number) / Math.max(1, perLayer));
      const isOff = !scene.look.isOn(head);
      nodes.push({ head, x: ofQuery(query), y, isOff });
      if (isOff) continue;
      const stroke = colourOf(shown, head);
      for (const [reader, share] of read) {
        draw("path", {
          d: `M${ofQuery(reader)} ${y}v${floor - band - y}`,
          class: "written",
          stroke,
          opacity: share,
        });
        for (let key = 0; key < keys; key++) {
          const weight = weightAt(scene, head, reader, key);
          if (weight < LEAST) continue;
          const [from, to, middle] = [ofQuery(reader), ofQuery(key), (y + floor) / 2];
          const path = `M${from} ${y}C${from} ${middle} ${to} ${middle} ${to} ${floor}`;
          const opacity = 0.2 + 0.65 * share;
          drawArc(scene, path, { head, query: reader, key, weight }, { stroke, opacity });
          below.set(key, Math.max(below.get(key) ?? 0, weight * share));
        }
      }
    }
    read = new Map([...below].filter(([, share]) => share >= LEAST_FLOW));
    const text = fill(shown.words.layer, { layer });
    draw("text", { x: 0, y: floor - band / 2, class: "named", "font-size": em }, text);
  }
  return nodes;
}

/** The labels; a key that no head's query may see is struck. */
function drawLabels(scene) {
  const { shown, query: now, em, letters, top, bottom, isTwoRows, isTurned, step, draw } = scene;
  const { ofQuery, ofKey } = scene;
  const { queries, keys, queryLabels, keyLabels, heads, words, maps } = shown;
  const gap = 0.35 * em;
  const write = (labels, token, x, y, isAbove, className) => {
    const turned = isTurned ? { transform: `rotate(-90 ${x} ${y})`, "dominant-baseline": "central" } : {};
    const anchor = isTurned ? (isAbove ? "start" : "end") : "middle";
    const down = isTurned ? 0 : isAbove ? 0 : 0.9 * letters;
    const place = { x, y: y + down, "text-anchor": anchor, "font-size": letters, ...turned };
    draw("text", { ...place, class: className }, labelOf(labels, token));
  };
  const isHidden = (key) =>
    now >= 0 && heads.every((head) => isForbidden(maps[indexOf(shown, { head, query: now, key })]));
  const hidden = [...Array(keys).keys()].filter(isHidden);
  const classOf = (isNow, key) => `${isNow ? "now" : ""} ${hidden.includes(key) ? "hidden" : ""}`;
  for (let query = 0; query < queries; query++)
    if (query === now || (query % step === 0 && (now < 0 || Math.abs(query - now) >= step)))
      write(
        queryLabels,
        query,
        ofQuery(query),
        bottom + gap,
        false,
        classOf(query === now, isTwoRows ? -1 : query),
      );
  if (!isTwoRows) return;
  for (let key = 0; key < keys; key += step)
    write(keyLabels, key, ofKey(key), top - gap, true, classOf(false, key));
  draw("text", { x: 0, y: em, class: "keys named", "font-size": em }, words.keys);
  draw(
    "text",
    { x: 0, y: scene.look.height - 0.4 * em, class: "queries named", "font-size": em },
    words.queries,
  );
}

/** Say how thick weights are. */
function drawLegend({ ctx, shown, em, look, thick, isTwoRows, draw }) {
  let x = look.width;
  const y = isTwoRows ? look.height - 0.4 * em : em;
  for (const [weight, text] of [
    [1, fill(shown.words.weight, { number: 1 })],
    [0.1, "0.1"],
  ]) {
    draw("text", { x, y, "text-anchor": "end", "font-size": em, class: "named" }, text);
    x -= (widestOf(ctx, [text]) + 0.4) * em;
    draw("path", {
      d: `M${x} ${y - 0.35 * em}h${-1.2 * em}`,
      stroke: "var(--quiet)",
      "stroke-width": weight * thick,
    });
    x -= 2.2 * em;
  }
}

/** In the map at the side a row is there when its word has been written; the last one is outlined. */
export function coverRows(ctx, { tiles, cellWidth, cellHeight, keys, queries, em }, { colours }, query) {
  if (query < 0) return;
  for (const { x, y } of tiles) {
    const place = y + (query + 1) * cellHeight;
    Object.assign(ctx, { fillStyle: colours.paper, strokeStyle: colours.q, lineWidth: em / 5 });
    ctx.fillRect(x, place, cellWidth * keys + 1, (queries - query - 1) * cellHeight);
    ctx.strokeRect(x, place - cellHeight, cellWidth * keys, cellHeight);
  }
}

/** The sentence of a query's arcs: the keys with the largest weights, of each head. */
export function sayArcs(shown, query) {
  const { words, heads, keys, queryLabels, keyLabels } = shown;
  if (query < 0) return "";
  const each = heads.slice(0, 4).map((head) => {
    const weights = [...Array(keys).keys()].map((key) => [weightAt({ shown }, head, query, key), key]);
    const most = weights.sort(([one], [other]) => other - one).slice(0, heads.length > 1 ? 1 : 3);
    const said = most
      .filter(([weight]) => weight >= LEAST)
      .map(([weight, key]) =>
        fill(words.looked_at, { key: labelOf(keyLabels, key), weight: weight.toFixed(2) }),
      );
    const keysOfHead = said.join(words.between_measures);
    return heads.length > 1
      ? fill(words.looked_at_by, { keys: keysOfHead, head: sayTitle(shown, head) })
      : keysOfHead;
  });
  return fill(words.looks, { query: labelOf(queryLabels, query), keys: each.join(words.between_settings) });
}
