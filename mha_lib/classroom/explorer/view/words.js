// The explorer's sentences. They come from words/, in the lesson's language, as the trait `words`.
import { indexOf, isForbidden, largestShown, weightOf } from "./decode.js";
import { fill } from "./elements.js";

/** The sentences for this explorer: if no setting has several heads, they call its map by no number. */
export function wordsFor(model) {
  const words = model.get("words");
  const { directory, of_masks } = model.get("table");
  if (directory.some(({ shape }) => shape?.[1] > 1)) return words;
  return { ...words, ...words.single_map, ...(of_masks && { head: words.mask }) };
}

/** The title of a head, or of the only map. */
export const sayTitle = ({ words, headLabels }, head) =>
  headLabels?.[head] ?? fill(words.head, { head, ...axesOf(words) });

/** The chosen measure of a head; "" if there is none. */
export const sayValue = ({ measures, measure }, head) => measures[measure]?.[head].toFixed(2) ?? "";

/** All measures of a head. */
export const sayMeasures = ({ measures, words }, head) =>
  Object.entries(measures)
    .map(([name, values]) => fill(words.measured, { name, value: values[head].toFixed(2) }))
    .join(words.between_measures);

/** A head of the overview, for which there is no more room than in a sentence. */
export const sayOverviewHead = (shown, head) =>
  fill(shown.words.overview_head, { head: sayTitle(shown, head), measures: sayMeasures(shown, head) });

const axesOf = ({ queries, keys }) => ({ rows: queries, columns: keys });

const LONGEST = 60; // letters of a label
export const labelOf = (labels, number) =>
  Array.from(labels?.[number] ?? String(number))
    .slice(0, LONGEST)
    .join("");

export function sayWeight({ maps, queries, keys, words, ofMasks }, cell) {
  const bits = maps[indexOf({ queries, keys }, cell)];
  const weight = weightOf(bits);
  const isTiny = weight > 0 && weight < 0.001;
  const number = isTiny ? weight.toExponential(0) : weight.toFixed(3);
  if (!isForbidden(bits)) return ofMasks ? words.may_attend : number;
  return weight ? fill(words.although_masked, { number }) : words.masked;
}

/** A token by its number and label, since a label may be a number too. */
function sayToken(words, labels, number) {
  return labels ? fill(words.token, { number, label: labelOf(labels, number) }) : number;
}

function sayQuery({ words, queryLabels, length }, number) {
  const token = sayToken(words, queryLabels, number);
  return number < length ? token : fill(words.beyond, { token });
}

export function sayCell(drawing, cell) {
  const { words, keyLabels, headLabels } = drawing;
  return fill(headLabels ? words.named_cell : words.cell, {
    ...axesOf(words),
    head: headLabels?.[cell.head] ?? cell.head,
    query: sayQuery(drawing, cell.query),
    key: sayToken(words, keyLabels, cell.key),
    weight: sayWeight(drawing, cell),
  });
}

/** The call of Python that shows the picture again. */
export const sayCall = ({ call = "", isEnlarged, heads }) =>
  fill(call, { head: isEnlarged ? `, head=${heads[0]}` : "" });

/** The cell with the largest weight; where a mask has left nothing, no cell is the largest. */
function sayLargest(drawing) {
  const cell = largestShown(drawing);
  const isNothing = weightOf(drawing.maps[indexOf(drawing, cell)]) === 0;
  return isNothing ? drawing.words.no_weight : fill(drawing.words.largest, { cell: sayCell(drawing, cell) });
}

/** The picture in a sentence, for people who don't see it. */
export function sayPicture(drawing) {
  const { headCount, isEnlarged, heads, queries, keys, visible, words, ofMasks } = drawing;
  const { headLabels, overview, note } = drawing;
  const withNote = (sentence) => (note ? fill(words.noted, { sentence, note }) : sentence);
  if (overview) {
    const sentence = heads.length < headCount ? words.overview_part : words.overview;
    return withNote(fill(sentence, { heads: headCount, count: heads.length }));
  }
  const allowed = visible.filter((bits) => !isForbidden(bits)).length;
  const most = ofMasks ? fill(words.allowed, { allowed, cells: visible.length }) : sayLargest(drawing);
  const one = headLabels ? words.named_head : words.one_head;
  const head = headLabels?.[heads[0]] ?? heads[0];
  const sentence = fill(isEnlarged ? one : words.picture, {
    ...axesOf(words),
    heads: headCount,
    head,
    queries,
    keys,
    most,
  });
  return withNote(sentence);
}

/** The hint how to enlarge a head or return; a screen reader finds it in the name of the group of heads. */
export function sayWay({ headCount, isEnlarged, words, overview }) {
  if (headCount === 1 && !overview) return "";
  const isByTouch = matchMedia("(hover: none)").matches;
  if (overview) return isByTouch ? words.to_open_by_touch : words.to_open;
  if (isEnlarged) return isByTouch ? words.to_return_by_touch : words.to_return;
  return isByTouch ? words.to_enlarge_by_touch : words.to_enlarge;
}
