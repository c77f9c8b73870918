// Finds the place of everything in the picture.
import { clamp, numbersTo } from "./decode.js";
import { labelOf } from "./words.js";

// In em:
const LEGEND = 2;
const TITLE = 1.5;
const GAP = 1; // between heads
const NARROWEST_HEAD = 7.5; // so that titles don't run into each other
const LOWEST_HEAD = 8; // a page can be scrolled, so maps need not get smaller than this
const LARGEST_CELL = 7;
const LONGEST_LABEL = 8;
const QUERY_AXIS = 2.2; // beside the queries' labels
const KEY_AXIS = 2; // below turned labels of the keys
const LEVEL_KEY_AXIS = 2.6; // with level labels

// On a slide, which cannot be scrolled:
const SIZES_OF_LETTERS = [1, 0.85, 0.7, 0.6, 0.5];
const WIDEST_CELL = 2; // times its height, since a slide has more width than height
const HIGHEST_CELL = 1.5; // times its width, if heads side by side leave height
const ENOUGH = [0.8, 0.45]; // the share of the width or of the height that the maps need

export const fontOf = (em) => `${em}px system-ui`;

function widest(ctx, labels, count) {
  const numbers = labels ? numbersTo(count) : [count - 1];
  return Math.max(...numbers.map((number) => ctx.measureText(labelOf(labels, number)).width));
}

/** The text, shortened to the room. */
export function fit(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length && ctx.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

/** The drawing of what is shown. On a slide (`isFixed`) the letters shrink until the maps have enough room. */
export function arrange(ctx, shown, room) {
  let drawing;
  for (const size of room.isFixed ? SIZES_OF_LETTERS : [1]) {
    drawing = arrangeWith(ctx, shown, { ...room, em: room.em * size });
    if (isGood(drawing, room)) break;
  }
  return drawing;
}

function isGood({ height, rows, columns, cellWidth, cellHeight, queries, keys }, room) {
  const isWide = columns * keys * cellWidth >= ENOUGH[0] * room.width;
  return height <= room.height && (isWide || rows * queries * cellHeight >= ENOUGH[1] * room.height);
}

/** The drawing with letters of one size, and cells as large as the room allows. */
function arrangeWith(ctx, shown, { width, height, em, isFixed }) {
  ctx.font = fontOf(em);
  const { queryLabels, keyLabels, queries, keys } = shown;
  const queryRoom = Math.min(widest(ctx, queryLabels, queries), LONGEST_LABEL * em, width / 4);
  const keyWidth = widest(ctx, keyLabels, keys);
  const left = queryRoom + QUERY_AXIS * em;
  const gridAbove = (below) => {
    const room = { width: width - left, height: height - LEGEND * em - below, em, isFixed };
    return { ...largestGrid(shown, room), below };
  };

  let grid = gridAbove(LEVEL_KEY_AXIS * em);
  const isTurned = Boolean(keyLabels) && keyWidth > grid.cellWidth - 0.3 * em;
  const longest = Math.min(LONGEST_LABEL * em, isFixed ? height / 4 : Infinity);
  const keyRoom = isTurned ? Math.min(keyWidth, longest) : Math.max(keyWidth, grid.cellWidth);
  if (isTurned) grid = gridAbove(keyRoom + KEY_AXIS * em);

  return {
    ...shown,
    ...grid,
    ...placeHeads(shown, grid, left, em),
    em,
    width,
    queryRoom,
    keyRoom,
    isTurned,
    queryStep: stepFor(em, grid.cellHeight),
    keyStep: stepFor(isTurned ? em : keyWidth + 0.3 * em, grid.cellWidth),
  };
}

/** The grid of heads, with one column, two columns …, that has the largest cells, and then the fewest rows. */
function largestGrid(shown, room) {
  const grids = shown.heads.map((_, index) => makeGrid(shown, index + 1, room));
  return grids.toSorted((one, other) => other.area - one.area || one.rows - other.rows)[0];
}

function makeGrid({ heads, queries, keys }, columns, { width, height, em, isFixed }) {
  const rows = Math.ceil(heads.length / columns);
  const headWidth = width / columns;
  const headHeight = Math.max(isFixed ? 0 : LOWEST_HEAD * em, height / rows - (TITLE + GAP) * em);
  const isTooNarrow = columns > 1 && headWidth <= NARROWEST_HEAD * em;
  const wide = clamp((headWidth - GAP * em) / keys, 0, LARGEST_CELL * em);
  const high = clamp(headHeight / queries, 0, wide * (isFixed ? HIGHEST_CELL : 1));
  const sizeAmong = (size, count) => {
    const least = Math.max(size, (1.6 * em) / count); // else a map of one row would be a hairline
    return least > 6 ? Math.floor(least) : least;
  };
  const cellWidth = sizeAmong(Math.min(wide, high * (isFixed ? WIDEST_CELL : 1)), keys);
  const cellHeight = sizeAmong(high, queries);
  return { columns, rows, cellWidth, cellHeight, area: isTooNarrow ? 0 : cellWidth * cellHeight };
}

function placeHeads({ heads, queries, keys }, grid, left, em) {
  const { columns, rows, cellWidth, cellHeight, below } = grid;
  const column = Math.max(cellWidth * keys + GAP * em, NARROWEST_HEAD * em);
  const row = TITLE * em + cellHeight * queries + GAP * em;
  const tiles = heads.map((head, index) => ({
    head,
    x: Math.round(left + (index % columns) * column),
    y: Math.round(LEGEND * em + TITLE * em + Math.floor(index / columns) * row),
    isFirst: index % columns === 0,
    isLowest: index + columns >= heads.length,
  }));
  return { column, tiles, height: Math.ceil(LEGEND * em + rows * row - GAP * em + below) };
}

/** The step between labelled cells, 1, 2, 4 …, which gives each label the room that it needs. */
const stepFor = (need, cell) => 2 ** Math.max(0, Math.ceil(Math.log2(need / cell)));
