// What typed_number.py does, for a page: read the number that somebody types, let the exported translator
// write it, and give the weights of its heads. Reading is that of numerals.py; a test holds both together.
import { causalMask, likeliest, notUnderstood } from "../explorer/typed.js";

export default function answer({ number, attention, silenced }, { programs, data }) {
  const { source_vocabulary, target_vocabulary, begin, end, most_tokens, num_heads } = data;
  if (!values) takeWords(data);
  const known = read(number);
  const words = inEnglish(known);
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
  const right = [...inChinese(known), sentences.end];
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

const SCALES = new Map([
  ["million", 1_000_000],
  ["thousand", 1000],
]);
const LARGER = ["billion", "trillion"];
const MULTIPLIERS = ["hundred", ...SCALES.keys()];
let small, tens, digits, units, largest, spelling, sentences; // from Python, under its names
let values; // of the words below a hundred
let english; // all words

function takeWords(data) {
  ({ small, tens, digits, units, largest, spelling, sentences } = data);
  values = new Map([
    ...small.map((word, value) => [word, value]),
    ...tens.map((word, at) => [word, 10 * (at + 2)]),
  ]);
  english = [...small, ...tens, "hundred", "thousand", "million"];
}

function refuse(sentence, gaps = {}) {
  throw notUnderstood(sentences[sentence], gaps);
}
const refuseTooLarge = () => refuse("too_large", { largest: largest.toLocaleString("en-US") });
const refusePlace = (word, before) => refuse(before ? "misplaced" : "misplaced_first", { word, before });

function withinLimits(text) {
  const number = text.replace(/^0+/, "") || "0";
  if (number.length > String(largest).length) refuseTooLarge();
  return Number(number);
}

function read(typed) {
  const text = typed.normalize("NFKC").trim().replace(/\.+$/, "").toLowerCase();
  if (/^(\d+|\d{1,3}([ ,]\d{3})+)$/.test(text)) return withinLimits(text.replace(/[ ,]/g, ""));
  if (/^[-−–]\d+$/.test(text)) refuseTooLarge();
  const plain = inPlainShapes(text);
  const isChinese = [...plain].some((letter) => [...digits, ...units, "万", "亿"].includes(letter));
  return isChinese ? readChinese(text) : readEnglish(text);
}

const inPlainShapes = (text) => [...text].map((letter) => spelling[letter] ?? letter).join("");

function readEnglish(text) {
  const parts = text.match(/\S*\d\S*|[^\s\-‐‑‒–—,]+/g) ?? [];
  const strange = parts.filter((word) => ![...english, ...LARGER, "a", "and"].includes(word));
  if (strange.length) refuseUnknown(strange.find((word) => /^\p{L}+$/u.test(word)) ?? strange[0]);
  const words = plainWords(parts);
  if (!words.length) refuse("nothing");
  let [number, group, room, lastScale] = [0, 0, 1000, largest];
  for (const [at, word] of words.entries()) {
    const value = values.get(word);
    const scale = SCALES.get(word);
    let fits;
    if (value !== undefined) {
      fits = (value > 0 && value < room) || (words.length === 1 && word === "zero");
      group += value;
      room = value >= 20 ? 10 : 1;
    } else if (word === "hundred") {
      fits = group > 0 && group < 100 && group % 10 !== 0;
      group *= 100;
      room = 100;
    } else {
      fits = group > 0 && group < 1000 && scale < lastScale;
      number += group * scale;
      [group, room, lastScale] = [0, 1000, scale];
    }
    if (!fits) refusePlace(word, words[at - 1]);
  }
  return withinLimits(String(number + group));
}

/** Without "and" after a hundred, and with "one" for "a" before it. */
function plainWords(words) {
  const plain = [];
  for (const [at, word] of words.entries()) {
    const [before, after] = [words[at - 1], words[at + 1]];
    if (LARGER.includes(word)) refuseTooLarge();
    if (word === "a" || word === "and") {
      if (after === undefined) refuse("unfinished", { word });
      const fits =
        word === "a"
          ? MULTIPLIERS.includes(after) && !values.has(before)
          : values.has(after) && MULTIPLIERS.includes(before);
      if (!fits) refusePlace(word, before);
    }
    if (word !== "and") plain.push(word === "a" ? "one" : word);
  }
  return plain;
}

function refuseUnknown(word) {
  const alike = english.map((known) => [likeness(known, word), known]).filter(([ratio]) => ratio >= 0.6);
  const best = alike.reduce((one, other) => (isMore(other, one) ? other : one), [0, ""]);
  refuse(best[1] ? "unknown_near" : "unknown", { word, nearest: best[1] });
}

function readChinese(typed) {
  const text = typed.replace(/\s/g, "");
  let said = inPlainShapes(text);
  if (said.includes("亿")) refuseTooLarge();
  if (/\d/.test(said)) refuse("mixed", { text });
  if (/[百千万][一二三四五六七八九]$/.test(said)) said += { 百: "十", 千: "百", 万: "千" }[said.at(-2)];
  let [number, group, digit] = [0, 0, 0];
  for (const numeral of said) {
    const unit = units.indexOf(numeral);
    if (digits.includes(numeral)) digit = digits.indexOf(numeral);
    else if (unit > 0) {
      group += (digit || 1) * 10 ** unit;
      digit = 0;
    } else if (numeral === "万") {
      number += (group + digit) * 10_000;
      group = digit = 0;
    } else refuseUnknown(numeral);
  }
  const known = withinLimits(String(number + group + digit));
  const standard = inChinese(known);
  const spelledOut = (numerals) => numerals.replace(/(?<![一二三四五六七八九])十/g, "一十");
  if (spelledOut(said) === spelledOut(standard)) return known;
  const withoutZeros = (numerals) => spelledOut(numerals).replaceAll("零", "");
  if (withoutZeros(said) === withoutZeros(standard)) refuse("other_zeros", { text, standard });
  return refuse("no_numeral", { text });
}

function inEnglish(number) {
  const words = [];
  for (const [scale, name] of [...[...SCALES].map(([word, value]) => [value, word]), [1, ""]]) {
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

function inChinese(number) {
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

const isMore = ([ratio, word], [best, other]) => ratio > best || (ratio === best && word > other);

/** How alike two words are, as Python's difflib says: twice the letters of their blocks in common, by all. */
function likeness(one, other) {
  const count = (a, b) => {
    let [most, from, to] = [0, 0, 0];
    for (let i = 0; i < a.length; i++)
      for (let j = 0; j < b.length; j++) {
        let length = 0;
        while (i + length < a.length && a[i + length] === b[j + length]) length++;
        if (length > most) [most, from, to] = [length, i, j];
      }
    if (!most) return 0;
    return most + count(a.slice(0, from), b.slice(0, to)) + count(a.slice(from + most), b.slice(to + most));
  };
  const [a, b] = [[...one], [...other]];
  return (2 * count(a, b)) / (a.length + b.length);
}
