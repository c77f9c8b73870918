// What typed_text.py does, for a page: read the letters that somebody types, and give the weights of a layer of
// the exported model. A test holds both together.

export default function answer({ text, layer }, { programs, data }) {
  const tokens = read(text, data);
  const { logits, ...maps } = programs.read.run({ tokens: { shape: [1, tokens.length], data: tokens } });
  const { shape, data: weights } = maps[`layer.${layer}`];
  const [, heads, queries, keys] = shape;
  const names = tokens.map((token) => data.letters[token]);
  return {
    shape: [heads, queries, keys],
    weights,
    mask: Uint8Array.from({ length: queries * keys }, (_, at) => at % keys <= Math.floor(at / keys)),
    queryLabels: names.map((name, place) => `${name} → ${data.letters[likeliest(logits, place)]}`),
    keyLabels: names,
  };
}

/** The token that is expected after the one at a place. */
function likeliest({ shape, data }, place) {
  const width = shape.at(-1);
  const scores = data.slice(place * width, (place + 1) * width);
  return scores.indexOf(Math.max(...scores));
}

class NotUnderstood extends Error {
  name = "NotUnderstood";
}

function read(text, { letters, most, sentences }) {
  const typed = [...text.replace(/\s/gu, "").toUpperCase()];
  const refuse = (sentence, gaps) => {
    throw new NotUnderstood(sentences[sentence].replace(/\{(\w+)\}/g, (_, name) => gaps[name]));
  };
  for (const letter of typed) if (!letters.includes(letter)) refuse("unknown", { letter, letters });
  if (typed.length < 2 || typed.length > most) refuse("length", { most, count: typed.length });
  return typed.map((letter) => letters.indexOf(letter));
}
