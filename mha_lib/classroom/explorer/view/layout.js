// Finds the size of the cells, how many maps stand side by side, and whether labels are turned: arithmetic
// alone, nothing of the page.
//
//   maps     {count, rows, columns, rowLabel, columnLabel, hasRowNames, hasColumnNames, byRoot}: the number of
//            maps and of their cells, and the width of the widest label in em. Labels without names are
//            numbers: every second or fourth of them is enough. The legend says if colours go by the root.
//   room     {width, height, em, isFixed}: what the picture may take; a page, unlike a slide, can be scrolled
//   layout   {em, across, down, cellWidth, cellHeight, isTurned …}: see layOutWith()

// In em:
export const TITLE = 1.5; // above each map
export const LEGEND_ROW = 1.6;
const LEGEND = 29; // the width of the longest
const ROOT_SCALE = 6; // more, if it names the scale
const AXIS_NAME = 7;
const GAP = 1; // between maps
const EDGE = 0.5; // on the right
const LABEL_GAP = 0.3; // between labels
const ROW_PITCH = 0.9; // labels one below the other
const NARROWEST_MAP = 7.5; // so that titles don't run into each other
const LOWEST_MAP = 8; // a page can be scrolled, so maps need not get smaller than this
const LEAST_MAP = 1.6; // a map of one row of many cells would be a hairline
const LARGEST_CELL = 7; // on a page
const LONGEST_LABEL = 8;
const ROW_AXIS = 2.2; // beside the labels of the rows
const LEVEL_AXIS = 2.8; // labels below the maps, and the name of the axis
const TURNED_AXIS = 2.2; // the same without the labels

const MOST_ASPECT = 2; // of a cell, either way
const ROUNDED = 20; // pixels: whole ones make cells equal, but a map of smaller cells would lose much

// Of an overview, in em:
const SMALL_GAP = 0.3;
const LEAST_GRID = 2.2; // the height of a map on a page, which can be scrolled
const LEAST_SORTED = 2.4; // also on a slide, which then shows the first heads alone
const MOST_SMALL = 16;
const HEADING = 1.4; // the names of the columns
const SMALL_TITLE = 1.8; // above each sorted map
const SMALL_LETTERS = 0.85; // on a page: on a slide the last row could not read them

/** The layout of an overview: rows × columns with their names, or sorted maps, each with a title, of which a
 * slide may have room for `shown` alone. */
export function layOutOverview({ count, columns, names, titleWidth, aspect }, room) {
  const em = room.em * (room.isFixed ? 1 : SMALL_LETTERS);
  const left = names ? names.rows * em + em : 0.3 * em;
  const below = 2 * em;
  const layOut = (across) => {
    const down = Math.ceil(count / across);
    const title = (names ? SMALL_GAP : SMALL_TITLE) * em; // above each map
    const top = names ? HEADING * em : 0;
    const wide = (room.width - left) / across - SMALL_GAP * em;
    const free = (room.height - below - top) / down - title;
    const least = names ? (room.isFixed ? 0 : LEAST_GRID) : LEAST_SORTED;
    const high = Math.max(free, least * em);
    const mapWidth = Math.max(1, Math.min(wide, MOST_ASPECT * high * aspect, MOST_SMALL * em));
    const pitch = Math.max(mapWidth + SMALL_GAP * em, names ? 0 : Math.min(titleWidth * em, wide));
    const mapHeight = Math.min(high, mapWidth / aspect);
    const rowPitch = mapHeight + title;
    const end = left + across * pitch;
    const rows = room.isFixed && !names ? Math.floor((room.height - below) / rowPitch) : down;
    const shown = Math.min(count, across * Math.max(1, rows));
    const height = top + Math.min(down, Math.max(1, rows)) * rowPitch + below;
    return { em, across, mapWidth, mapHeight, pitch, rowPitch, left, top: top + title, end, height, shown };
  };
  if (names) return layOut(columns);
  const mostAcross = Math.max(1, Math.floor((room.width - left) / (titleWidth * em)));
  const all = Array.from({ length: Math.min(mostAcross, count) }, (_, fewer) => layOut(fewer + 1));
  const most = Math.max(...all.map(({ shown }) => shown));
  const complete = all.filter(({ shown }) => shown === most);
  const good = complete.filter(({ height }) => height <= room.height);
  const areaOf = ({ mapWidth, mapHeight }) => mapWidth * mapHeight;
  return (good.length ? good : complete).reduce((best, one) => (areaOf(one) >= areaOf(best) ? one : best));
}

/** The layout with the highest score. */
export function layOut(maps, room) {
  let best;
  for (let across = 1; across <= maps.count; across++)
    for (const isTurned of [false, true]) {
      const layout = layOutWith(maps, room, across, isTurned);
      if (across > 1 && layout.isCrowded) break;
      layout.score = scoreOf(layout, maps, room);
      if (!best || layout.score > best.score) best = layout;
    }
  return best;
}

function layOutWith(maps, { width, height, em, isFixed }, across, isTurned) {
  const down = Math.ceil(maps.count / across);
  const rowRoom = Math.min(maps.rowLabel * em, LONGEST_LABEL * em, width / 4);
  const left = rowRoom + ROW_AXIS * em;
  const turnedRoom = Math.min(maps.columnLabel * em, LONGEST_LABEL * em, isFixed ? height / 3 : Infinity);
  const legend = (LEGEND + (maps.byRoot ? ROOT_SCALE : 0)) * em;
  const hasLegendRow = width < legend + AXIS_NAME * em;
  const below =
    (isTurned ? turnedRoom + TURNED_AXIS * em : LEVEL_AXIS * em) + (hasLegendRow ? LEGEND_ROW * em : 0);
  const gaps = (number) => (number - 1) * GAP * em;
  const mapWidth = (width - left - EDGE * em - gaps(across)) / across;
  const free = (height - below - gaps(down)) / down - TITLE * em;
  const mapHeight = isFixed ? free : Math.max(free, LOWEST_MAP * em);
  const most = isFixed ? Infinity : LARGEST_CELL * em;
  const wide = Math.min(most, mapWidth / maps.columns);
  const high = Math.min(most, mapHeight / maps.rows);
  const cellWidth = cellSize(Math.min(wide, MOST_ASPECT * high), maps.columns, em);
  const cellHeight = cellSize(Math.min(high, MOST_ASPECT * wide), maps.rows, em);
  const pitch = Math.max(maps.columns * cellWidth + GAP * em, NARROWEST_MAP * em);
  const columnNeed = isTurned ? ROW_PITCH * em : (maps.columnLabel + LABEL_GAP) * em;
  return {
    em,
    width,
    across,
    down,
    cellWidth,
    cellHeight,
    isTurned,
    hasLegendRow,
    legend,
    left,
    right: left + (across - 1) * pitch + maps.columns * cellWidth,
    rowRoom,
    columnRoom: isTurned ? turnedRoom : maps.columnLabel * em,
    rowStep: stepFor(ROW_PITCH * em, cellHeight),
    columnStep: stepFor(columnNeed, cellWidth),
    pitch,
    rowPitch: TITLE * em + maps.rows * cellHeight + GAP * em,
    isCrowded: mapWidth + GAP * em < NARROWEST_MAP * em,
    height: Math.floor(down * (TITLE * em + maps.rows * cellHeight) + gaps(down) + below),
  };
}

function cellSize(size, count, em) {
  const least = Math.max(size, (LEAST_MAP * em) / count);
  return least > ROUNDED ? Math.floor(least) : least;
}

/** The step between labelled cells, 1, 2, 4 …, which gives each label the room that it needs. */
const stepFor = (need, cell) => 2 ** Math.max(0, Math.ceil(Math.log2(need / cell)));

/** How much of a label its room shows; a label may be empty. */
const shareOf = (room, label) => (label > room ? room / label : 1);

/** How good a layout is: the area of a cell, less if cells are far from square, or labels turned, cut off
 * or left out. */
function scoreOf(layout, maps, room) {
  const { em, cellWidth, cellHeight, isTurned, rowStep, columnStep, rowRoom, columnRoom, height } = layout;
  const aspect = Math.max(cellWidth / cellHeight, cellHeight / cellWidth);
  const leftOut = (maps.hasRowNames ? rowStep : 1) * (maps.hasColumnNames ? columnStep : 1);
  const uncut = shareOf(rowRoom, maps.rowLabel * em) * shareOf(columnRoom, maps.columnLabel * em);
  const isToTurn = maps.hasColumnNames && !isTurned && columnStep > 1;
  return (
    cellWidth *
    cellHeight *
    aspect ** -0.25 *
    leftOut ** -1.5 *
    uncut *
    (isTurned ? 0.5 : 1) *
    (isToTurn ? 0.1 : 1) *
    (height <= room.height ? 1 : room.isFixed ? 1e-6 : room.height / height)
  );
}
