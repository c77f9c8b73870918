// Finds the place of everything in the picture.
import { LEGEND_ROW, layOut, layOutOverview, TITLE } from "./layout.js";
import { labelOf, sayTitle, sayValue } from "./words.js";

export const fontOf = (em) => `${em}px system-ui`;

const MEASURED = 100; // pixels: the letters in which labels are measured

/** The width of the widest label in em. */
export function widestOf(ctx, labels) {
  ctx.font = fontOf(MEASURED);
  const widths = labels.map((_, number) => ctx.measureText(labelOf(labels, number)).width);
  return Math.max(0, ...widths) / MEASURED;
}

/** The text, shortened to the room. */
export function fit(ctx, text, room) {
  if (ctx.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length && ctx.measureText(`${letters.join("")}…`).width > room) letters.pop();
  return `${letters.join("")}…`;
}

/** The title of a map for which there is little room. */
export const shortTitle = (shown, head) =>
  `${shown.shortLabels?.[head] ?? sayTitle(shown, head)}  ${sayValue(shown, head)}`.trim();

/** The drawing of an overview. */
function arrangeOverview(ctx, shown, room) {
  const { heads, queries, keys, overview, isSorted } = shown;
  const isGrid = overview.rows.length > 0 && !isSorted;
  const titles = heads.map((head) => shortTitle(shown, head));
  const layout = layOutOverview(
    {
      count: heads.length,
      columns: overview.columns.length,
      names: isGrid ? { rows: widestOf(ctx, [...overview.rows, overview.corner]) } : null,
      titleWidth: widestOf(ctx, titles) + 0.6,
      aspect: Math.max(0.5, Math.min(2, keys / queries)),
    },
    room,
  );
  const { across, em, mapWidth, mapHeight, pitch, rowPitch, left, top, end } = layout;
  const shownHeads = heads.slice(0, layout.shown);
  const tiles = shownHeads.map((head, index) => ({
    head,
    x: Math.round(left + (index % across) * pitch),
    y: Math.round(top + Math.floor(index / across) * rowPitch),
  }));
  const height = Math.ceil(layout.height);
  return {
    ...shown,
    heads: shownHeads,
    em,
    tiles,
    across,
    pitch,
    rowPitch,
    isGrid,
    width: room.width,
    height,
    cellWidth: mapWidth / keys,
    cellHeight: mapHeight / queries,
    legendX: 0,
    legendY: height - 0.7 * em,
    end: Math.max(end, 24 * em),
  };
}

/** The drawing of what is shown. */
export function arrange(ctx, shown, room) {
  if (shown.overview) return arrangeOverview(ctx, shown, room);
  const { heads, queries, keys, queryLabels, keyLabels, labelWidths } = shown;
  const widthOf = (count) => widestOf(ctx, [String(count - 1)]);
  const layout = layOut(
    {
      count: heads.length,
      rows: queries,
      columns: keys,
      rowLabel: queryLabels ? labelWidths.queries : widthOf(queries),
      columnLabel: keyLabels ? labelWidths.keys : widthOf(keys),
      hasRowNames: Boolean(queryLabels),
      hasColumnNames: Boolean(keyLabels),
      byRoot: shown.byRoot,
    },
    room,
  );
  const drawing = { ...shown, ...layout, tiles: placeHeads(heads, layout) };
  return { ...drawing, ...placeLegend(ctx, drawing) };
}

function placeHeads(heads, { across, left, pitch, rowPitch, em }) {
  return heads.map((head, index) => ({
    head,
    x: Math.round(left + (index % across) * pitch),
    y: Math.round(TITLE * em + Math.floor(index / across) * rowPitch),
    isFirst: index % across === 0,
    isLowest: index + across >= heads.length,
  }));
}

/** The places in the last row: the name of the axis below the middle of the maps, and the legend where there is
 * room beside it, or else in a row of its own; `end` is where all of the picture ends on the right. */
function placeLegend(ctx, drawing) {
  const { left, right, width, height, em, words, legend, hasLegendRow } = drawing;
  ctx.font = fontOf(em);
  const half = ctx.measureText(words.keys).width / 2;
  const middle = (left + right) / 2;
  const last = height - 0.65 * em;
  if (hasLegendRow)
    return {
      legendX: 0,
      legendY: last,
      nameX: middle,
      nameY: last - LEGEND_ROW * em,
      end: Math.max(right, legend),
    };
  const after = middle + half + 2 * em;
  const isAfter = legend > middle - half && after + legend <= width;
  const nameX = isAfter ? middle : Math.max(middle, legend + half);
  const legendX = isAfter ? after : 0;
  return { legendX, legendY: last, nameX, nameY: last, end: Math.max(right, nameX + half, legendX + legend) };
}
