// The explorer in the browser. Python has computed the attention weights (table.py). This module decodes
// them, arranges one heatmap a head, paints them on a canvas, and answers controls, pointer and keys.
//
// It runs in JupyterLab, in a deck, and in a handout without a kernel. Its parts are joined to one module
// that imports nothing (widget.py), so no name may stand in two parts. The widget's traits hold all that it
// shows, so several views of one widget are in step.
//
//   picture   the weights of one setting: the maps of all heads (H,Q,K) of each sample, with their labels
//   shown     the visible part of a picture: one sample, with all heads or with the enlarged one
//   drawing   what is shown, and its places; lengths are pixels of the canvas
//   cell      the place of one weight: {head, query, key}
//   em        the size of the letters; the room around the heatmaps is measured in it

export const numbersTo = (count) => Array.from({ length: count }, (_, number) => number);
export const clamp = (value, least, most) => Math.max(least, Math.min(most, value));

// A weight is a float16 and never negative: its sign bit means that the mask forbids the cell.

export const SIGN_BIT = 0x8000;
const float = new Float32Array(1);
const bitsOfFloat = new Uint32Array(float.buffer);

/** The weight of a float16's bits. Read as the bits of a float32, they are 2 ** 112 times too small. */
export function weightOf(bits) {
  bitsOfFloat[0] = (bits & ~SIGN_BIT) << 13;
  return float[0] * 2 ** 112;
}

export const isForbidden = (bits) => bits >= SIGN_BIT;

/** Add the pictures of a table to the known ones, each under its setting. */
export function unpack({ directory, maps, labels }, pictures) {
  const numbers = new Uint16Array(maps.buffer.slice(maps.byteOffset, maps.byteOffset + maps.byteLength));
  for (const entry of directory)
    pictures.set(JSON.stringify(entry.setting), entry.error ? entry : readPicture(entry, numbers, labels));
}

/** The picture of an entry. Missing labels stay undefined: sentences tell a token's number from its label. */
function readPicture(entry, numbers, labels) {
  const { shape, at, query_labels, key_labels, measures = {}, note = "", call = "", overview, bars } = entry;
  const [, headCount, queries, keys] = shape;
  const size = headCount * queries * keys;
  return {
    headCount,
    queries,
    keys,
    samples: at.map((start) => numbers.subarray(start, start + size)),
    queryLabels: labels[query_labels],
    keyLabels: labels[key_labels],
    lengths: entry.lengths, // of each sample, where queries and keys are the same tokens: padding begins there
    headLabels: entry.head_labels,
    shortLabels: entry.short_labels,
    measures, // by their names, a number for each head
    note,
    call,
    bars, // by their names, of the model at this setting
    overview, // of a picture whose heads are so small that each only opens another picture
  };
}

/** All heads, sorted by a measure: 0 as they come, 1 the highest first, 2 the lowest first. */
function sortHeads(headCount, values, order) {
  const heads = numbersTo(headCount);
  if (!values || !order) return heads;
  const sign = order === 1 ? -1 : 1;
  return heads.sort((one, other) => sign * (values[one] - values[other]));
}

/** The visible part of a picture; the scale ends at 1, or with `toMax` at the largest weight.
 * `byRoot` lets colours follow the square root, so that small weights differ. */
export function choose(
  { samples, headCount, ...picture },
  { sample, enlarged, toMax, byRoot, measure, order },
) {
  const which = Math.min(sample, samples.length - 1);
  const maps = samples[which];
  const isEnlarged = headCount > 1 && !picture.overview && enlarged >= 0 && enlarged < headCount;
  const values = picture.measures[measure];
  const heads = isEnlarged ? [enlarged] : sortHeads(headCount, values, order);
  const firstShown = isEnlarged ? enlarged : 0; // of those in `visible`
  const size = picture.queries * picture.keys;
  const most = weightOf(maps[findLargest(maps)]);
  return {
    ...picture,
    queryLabels: picture.queryLabels?.[which],
    keyLabels: picture.keyLabels?.[which],
    maps,
    headCount,
    isEnlarged,
    heads,
    measure: values && measure,
    isSorted: Boolean(values && order),
    firstShown,
    visible: maps.subarray(firstShown * size, (firstShown + heads.length) * size),
    scaleEnd: toMax && most > 0 ? most : Math.max(1, most),
    toMax,
    byRoot,
    isMasked: maps.some(isForbidden),
    length: picture.lengths?.[which] ?? picture.queries,
  };
}

/** The index of the largest weight. Without signs, float16 have the order of their bits. */
function findLargest(maps) {
  const unsigned = (index) => maps[index] & ~SIGN_BIT;
  return maps.reduce((best, _, index) => (unsigned(index) > unsigned(best) ? index : best), 0);
}

/** The cell with the largest weight of the visible heads. */
export function largestShown({ visible, firstShown, queries, keys }) {
  const index = findLargest(visible);
  const row = Math.floor(index / keys);
  return { head: firstShown + Math.floor(row / queries), query: row % queries, key: index % keys };
}

export const indexOf = ({ queries, keys }, { head, query, key }) => (head * queries + query) * keys + key;

/** Whether two pictures are the same in a sample. */
export function isSame(one, other, sample) {
  const [maps, others] = [one.samples[sample], other.samples[sample]];
  if (one.headCount !== other.headCount || one.queries !== other.queries || maps?.length !== others?.length)
    return false;
  const labelsOf = ({ queryLabels, keyLabels }) => String([queryLabels?.[sample], keyLabels?.[sample]]);
  return labelsOf(one) === labelsOf(other) && maps?.every((bits, index) => bits === others[index]);
}
