// Serves typed_number.js and typed_text.js: tells what was not understood, and reads what a model has computed.

class NotUnderstood extends Error {
  name = "NotUnderstood";
}

/** The error that refuses a text by a sentence of Python's, whose gaps are named in braces. */
export function notUnderstood(sentence, gaps) {
  return new NotUnderstood(sentence.replace(/\{(\w+)[^}]*\}/g, (_, name) => gaps[name]));
}

/** The token with the largest logit in a row, in the last one unless another is named. */
export function likeliest({ shape, data }, row = shape.at(-2) - 1) {
  const width = shape.at(-1);
  const scores = data.subarray(row * width, (row + 1) * width);
  return scores.indexOf(Math.max(...scores));
}

/** 1 where a query may attend: to what stands before it, and to itself. */
export const causalMask = (queries, keys) =>
  Uint8Array.from({ length: queries * keys }, (_, at) => at % keys <= Math.floor(at / keys));
