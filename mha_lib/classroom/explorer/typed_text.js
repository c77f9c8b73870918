// Reads the letters that somebody types into a page, and gives the weights of a layer of the exported model, as
// typed_text.py does. A test holds both together.
import { causalMask, likeliest, notUnderstood } from "./typed.js";

export default function answer({ text, layer }, { programs, data }) {
  const tokens = read(text, data);
  const { logits, ...maps } = programs.read.run({ tokens: { shape: [1, tokens.length], data: tokens } });
  const { shape, data: weights } = maps[`layer.${layer}`];
  const [, heads, queries, keys] = shape;
  const names = tokens.map((token) => data.letters[token]);
  return {
    shape: [heads, queries, keys],
    weights,
    mask: causalMask(queries, keys),
    queryLabels: names.map((name, place) => `${name} → ${data.letters[likeliest(logits, place)]}`),
    keyLabels: names,
  };
}

function read(text, { letters, most, sentences }) {
  const typed = [...text.replace(/\s/gu, "").toUpperCase()];
  const refuse = (sentence, gaps) => {
    throw notUnderstood(sentences[sentence], gaps);
  };
  for (const letter of typed) if (!letters.includes(letter)) refuse("unknown", { letter, letters });
  if (typed.length < 2 || typed.length > most) refuse("length", { most, count: typed.length });
  return typed.map((letter) => letters.indexOf(letter));
}
