// Inflates what zlib has deflated (RFC 1950, 1951): DecompressionStream came to browsers as late as 2023.

const REPEATED = [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0];
const BACK = Array.from({ length: 30 }, (_, place) => Math.max(0, (place >> 1) - 1));
const ORDER = [16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15];
const LONGEST_CODE = 15;
const LONGEST_REPEAT = 258;

/** The first number of each range, in a row of ranges that have 2 ** bits numbers each. */
function startsOf(extraBits, first) {
  let next = first;
  return extraBits.map((bits) => {
    const start = next;
    next += 1 << bits;
    return start;
  });
}

const REPEATED_FROM = [...startsOf(REPEATED, 3).slice(0, -1), LONGEST_REPEAT];
const BACK_FROM = startsOf(BACK, 1);

/** The canonical Huffman code of symbols whose codes have these lengths. */
function makeCode(lengths) {
  const counts = new Array(LONGEST_CODE + 1).fill(0);
  for (const length of lengths) if (length) counts[length] += 1;
  const places = [0];
  for (const count of counts) places.push(places[places.length - 1] + count);
  const symbols = [];
  for (const [symbol, length] of lengths.entries()) if (length) symbols[places[length]++] = symbol;
  return { counts, symbols };
}

/** Reads bits, the lowest of each byte first. */
class BitReader {
  constructor(bytes, at) {
    Object.assign(this, { bytes, at: 8 * at });
  }

  bits(count) {
    let number = 0;
    for (let place = 0; place < count; place++, this.at++)
      number |= ((this.bytes[this.at >> 3] >> (this.at & 7)) & 1) << place;
    return number;
  }

  symbol({ counts, symbols }) {
    let [code, first, index] = [0, 0, 0];
    for (let length = 1; length <= LONGEST_CODE; length++) {
      code |= this.bits(1);
      if (code - first < counts[length]) return symbols[index + code - first];
      index += counts[length];
      first = (first + counts[length]) << 1;
      code <<= 1;
    }
    throw new Error("the picture's data are damaged");
  }
}

const repeat = (length, count) => new Array(count).fill(length);
const FIXED = [
  makeCode([...repeat(8, 144), ...repeat(9, 112), ...repeat(7, 24), ...repeat(8, 8)]),
  makeCode(repeat(5, 30)),
];

/** The codes of a block that brings its own. */
function readCodes(reader) {
  const [literals, distances, count] = [reader.bits(5) + 257, reader.bits(5) + 1, reader.bits(4) + 4];
  const ofLengths = repeat(0, ORDER.length);
  for (const symbol of ORDER.slice(0, count)) ofLengths[symbol] = reader.bits(3);
  const code = makeCode(ofLengths);
  const lengths = [];
  while (lengths.length < literals + distances) {
    const symbol = reader.symbol(code);
    if (symbol < 16) lengths.push(symbol);
    else if (symbol === 16) lengths.push(...repeat(lengths[lengths.length - 1], 3 + reader.bits(2)));
    else lengths.push(...repeat(0, symbol === 17 ? 3 + reader.bits(3) : 11 + reader.bits(7)));
  }
  return [makeCode(lengths.slice(0, literals)), makeCode(lengths.slice(literals))];
}

/** Bytes whose number is not known ahead. */
class Growing {
  bytes = new Uint8Array(2 ** 16);
  size = 0;

  push(byte) {
    if (this.size === this.bytes.length) {
      const larger = new Uint8Array(2 * this.size);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.size++] = byte;
  }
}

function inflateBlock(reader, [literals, distances], out) {
  for (;;) {
    const symbol = reader.symbol(literals);
    if (symbol === 256) return;
    if (symbol < 256) out.push(symbol);
    else {
      const length = REPEATED_FROM[symbol - 257] + reader.bits(REPEATED[symbol - 257]);
      const distance = reader.symbol(distances);
      const back = BACK_FROM[distance] + reader.bits(BACK[distance]);
      for (let copied = 0; copied < length; copied++) out.push(out.bytes[out.size - back]);
    }
  }
}

function copyBlock(reader, out) {
  const start = Math.ceil(reader.at / 8);
  const { bytes } = reader;
  const size = bytes[start] | (bytes[start + 1] << 8);
  for (let at = start + 4; at < start + 4 + size; at++) out.push(bytes[at]);
  reader.at = 8 * (start + 4 + size);
}

/** The bytes that zlib has deflated. */
export function inflate(deflated) {
  const reader = new BitReader(deflated, 2); // after the header
  const out = new Growing();
  for (let isLast = 0; !isLast; ) {
    isLast = reader.bits(1);
    const kind = reader.bits(2);
    if (kind === 0) copyBlock(reader, out);
    else inflateBlock(reader, kind === 1 ? FIXED : readCodes(reader), out);
  }
  return out.bytes.slice(0, out.size);
}
