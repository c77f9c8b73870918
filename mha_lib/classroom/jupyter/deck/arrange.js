// The places and sizes of the code and the outputs of a slide: arithmetic alone, nothing of the page.
// All lengths are in u (deck.css). A line of text of `ems` is `ems * size` wide in letters of that size.
//
//   cell    {code: {ems, isBlank}[], text: ems[], fixed, picture, explorer, isFolded}: the lines of its code and
//           of its printed output, a box {width, height} of a fixed size such as a table, a picture's natural
//           box, and whether it shows an explorer
//   room    the width and height that the cells share; in a tall window, such as 4:3, a picture reaches past the
//           words on both sides by `margin`, and stands in the middle of the height that is left
//   place   {size, outputSize, side, wraps, height, picture}: of a cell; side is "beside" or "below" the code

const LARGEST = 28; // of code; its text is 26
const COMFORTABLE = 24; // beside a picture, or beside code whose lines are too long for it
const SMALLEST = 18; // the last row of the class can read it
const STEP = 0.5;
const LINE = 1.3; // the height of a line and of a blank one, in letters
const BLANK_LINE = 0.5;
const BOX = { width: 20, height: 16 }; // the margins of the box around code
const GAP = { beside: 36, below: 10, cells: 10 }; // beside: and some slack, so that no line wraps
const LEGIBLE = 1.05; // of a picture's natural size: letters of 13 points have 18 px
const LOWEST_EXPLORER = 330;
const LOWEST_PICTURE = 200; // where there is no room for it, the slide scrolls
const TICKS = 24; // what ticks say, without their code
const OVER = { margins: 84, height: 520 }; // of code that lies over the slide

const widest = (lines) => Math.max(0, ...lines);
export const sum = (numbers) => numbers.reduce((total, number) => total + number, 0);
/** The letters of a print, at most so large, in which its widest line fits. */
const sizePrint = (text, width, most) => Math.max(SMALLEST, Math.min(most, width / widest(text)));
const isFlexible = ({ picture, explorer }) => Boolean(picture || explorer);

/** The places of all cells, with the largest letters with which they fit; `largest` bounds these letters. */
export function arrange(cells, room, largest = LARGEST) {
  let size = Math.min(largest, largestAmong(cells, room));
  let arranged = arrangeWith(size, cells, room);
  while (!arranged.fits && size > SMALLEST) {
    size = Math.max(SMALLEST, size - STEP);
    arranged = arrangeWith(size, cells, room);
  }
  return { size, places: arranged.places };
}

/** All code of a slide has letters of one size: those in which its widest line fits. */
function largestAmong(cells, { width }) {
  const most = cells.some(isFlexible) ? COMFORTABLE : LARGEST;
  return Math.min(most, ...cells.map((cell) => placeCode(cell, most, width).size));
}

function arrangeWith(size, cells, room) {
  const places = cells.map((cell) => (isFlexible(cell) ? null : placeText(cell, size, room.width)));
  const taken = sum(places.map((place) => (place ? place.height : 0))) + GAP.cells * cells.length;
  const flexible = cells.filter(isFlexible).length;
  const height = (room.height - taken) / Math.max(1, flexible);
  const all = places.map((place, index) => place ?? placePicture(cells[index], size, { ...room, height }));
  const fits = height >= 0 && all.every((place) => place.fits);
  return { fits, places: all };
}

/** The size of code and its box. A line that is too long for the slide in the smallest letters wraps. */
function placeCode({ code, isFolded }, size, width) {
  if (isFolded || !code.length) return { size, wraps: false, width: 0, height: 0 };
  const room = width - BOX.width;
  const ems = widest(code.map((line) => line.ems));
  const fitting = Math.min(size, room / ems);
  const wraps = fitting < SMALLEST;
  const used = wraps ? SMALLEST : fitting;
  const rows = (line) => (wraps ? Math.max(1, Math.ceil((line.ems * used) / (0.9 * room))) : 1);
  const heights = code.map((line) => (line.isBlank ? BLANK_LINE : LINE * rows(line)));
  return {
    size: used,
    wraps,
    width: wraps ? width : ems * used + BOX.width,
    height: sum(heights) * used + BOX.height,
  };
}

/** The letters of code that lies over the slide. */
export function sizeOver(code, width) {
  const rows = sum(code.map((line) => (line.isBlank ? BLANK_LINE : LINE)));
  const ems = widest(code.map((line) => line.ems));
  const fitting = Math.min(LARGEST, (width - OVER.margins) / ems, OVER.height / rows);
  return Math.max(SMALLEST, fitting);
}

/** Put printed text beside its code if there is room for it in letters as large, or else below. */
function placeText(cell, size, width) {
  const code = placeCode(cell, size, width);
  const { text, fixed } = cell;
  const place = { size: code.size, wraps: code.wraps, outputSize: code.size, fits: true };
  if (!text.length && !fixed) return { ...place, side: "below", height: code.height };
  const right = width - code.width - GAP.beside;
  const besideHeight = sum(text.map(() => LINE * code.size)) + (fixed?.height ?? 0);
  if (code.height && Math.max(widest(text) * code.size, fixed?.width ?? 0) <= right)
    return { ...place, side: "beside", height: Math.max(code.height, besideHeight) };
  const outputSize = sizePrint(text, width, code.height ? code.size : TICKS);
  const rows = sum(text.map((ems) => Math.max(1, Math.ceil((ems * outputSize) / width))));
  const below = rows * LINE * outputSize + (fixed?.height ?? 0);
  const gap = code.height && GAP.below;
  return { ...place, side: "below", outputSize, height: code.height + gap + below };
}

/** Give a picture or an explorer the height that the slide has left; a picture stands on the better side. */
function placePicture(cell, size, room) {
  const code = placeCode(cell, size, room.width);
  const outputSize = cell.isFolded ? sizePrint(cell.text, room.width, TICKS) : Math.min(code.size, 20);
  const place = { size: code.size, wraps: code.wraps, outputSize };
  const extra = cell.text.length * LINE * place.outputSize + (cell.fixed?.height ?? 0);
  const under = code.height + (code.height && GAP.below);
  if (cell.explorer) {
    const height = room.height - under - extra;
    return { ...place, side: "below", height, fits: height >= LOWEST_EXPLORER || cell.isFolded };
  }
  const scaleIn = (width, height) => Math.min(width / cell.picture.width, height / cell.picture.height);
  const beside = scaleIn(room.width - code.width - GAP.beside, room.height - extra);
  const left = room.height - under - extra;
  const below = scaleIn(room.width + 2 * room.margin, left);
  const [side, scale] = beside > below ? ["beside", beside] : ["below", below];
  const fits = scale >= Math.min(LEGIBLE, room.width / cell.picture.width) && code.height <= room.height;
  const drawn = Math.max(scale * cell.picture.height, Math.min(cell.picture.height, LOWEST_PICTURE));
  const height = room.margin && side === "below" ? Math.max(drawn, left) : drawn;
  return { ...place, side, fits, height: room.height, picture: height };
}
