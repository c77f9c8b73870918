// What typed_number.py does, for a page: read the number that somebody types, let the exported translator
// write it, and give the weights of its heads. numerals.py reads and spells numbers in the same way; a test holds
// both together.
import { causalMask, likeliest, notUnderstood } from "../explorer/typed.js";

export default function answer({ number, attention, silenced }, { programs, data }) {
  const { source_vocabulary, target_vocabulary, begin, end, most_tokens, num_heads, sentences } = data;
  const known = read(number, data);
  const words = inEnglish(known, data);
  const heads = (name) => {
    const kept = new Float32Array(num_heads).fill(1);
    if (name === attention && Number.isInteger(silenced)) kept[silenced] = 0;
    return { shape: [num_heads], data: kept };
  };
  const row = (tokens) => ({ shape: [1, tokens.length], data: tokens });
  const source = row(words.map((word) => source_vocabulary.indexOf(word)));
  const { memory, encoder } = programs.encode.run({ source, heads: heads("encoder") });
  const written = [];
  let decoded;
  while (written.length < most_tokens && written.at(-1) !== end) {
    const target = row([begin, ...written]);
    decoded = programs.decode.run({
      target,
      memory,
      decoder_heads: heads("decoder"),
      cross_heads: heads("cross"),
    });
    written.push(likeliest(decoded.logits));
  }
  const right = [...inChinese(known, data), sentences.end];
  const names = written.map((token) => (token === end ? sentences.end : target_vocabulary[token]));
  const rows = names.map((name, place) => (name === right[place] ? name : `${name} ✗`));
  const { shape, data: weights } = { encoder, ...decoded }[attention];
  const [, , queries, keys] = shape;
  const isDecoder = attention === "decoder";
  return {
    shape: [num_heads, queries, keys],
    weights,
    mask: isDecoder && causalMask(queries, keys),
    queryLabels: attention === "encoder" ? words : rows,
    keyLabels: isDecoder ? [sentences.begin, ...names.slice(0, -1)] : words,
  };
}

function read(text, { typed, in_units, unit_values, largest, sentences }) {
  let digits = text.normalize("NFKC").replace(/[\s,]/gu, "");
  const [, ...counts] = RegExp(`^${in_units}$`).exec(digits) ?? [];
  if (counts.length) {
    const value = counts.reduce((sum, count, place) => sum + Number(count ?? 0) * unit_values[place], 0);
    digits = String(Number(value.toFixed(4)));
  }
  if (!RegExp(`^${typed}$`).test(digits)) throw notUnderstood(sentences.no_number, { largest });
  return Number(digits);
}

function inEnglish(number, { small, tens, scales }) {
  const words = [];
  for (const [scale, name] of scales) {
    const group = Math.floor(number / scale) % 1000;
    const [hundreds, rest] = [Math.floor(group / 100), group % 100];
    if (hundreds) words.push(small[hundreds], "hundred");
    if (rest >= 20) words.push(tens[Math.floor(rest / 10) - 2]);
    const ones = rest >= 20 ? rest % 10 : rest;
    if (ones) words.push(small[ones]);
    if (group && name) words.push(name);
  }
  return words.length ? words : ["zero"];
}

function inChinese(number, { digits, units }) {
  let numerals = "";
  let zerosInside = false;
  for (let place = 7; place >= 0; place--) {
    const digit = Math.floor(number / 10 ** place) % 10;
    if (digit) {
      if (zerosInside) numerals += "零";
      zerosInside = false;
      if (numerals || digit !== 1 || place % 4 !== 1) numerals += digits[digit];
      numerals += units[place % 4];
    } else if (numerals) zerosInside = true;
    if (place === 4 && numerals) {
      numerals += "万";
      zerosInside = false;
    }
  }
  return numerals || "零";
}
