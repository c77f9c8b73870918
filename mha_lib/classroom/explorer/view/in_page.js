// Pictures that a handout computes: a worker runs what Python has exported from the lesson's model
// (torch_in_page), and its weights are drawn like all others.
import { SIGN_BIT } from "./decode.js";

const float32 = new Float32Array(1);
const bitsOfFloat32 = new Uint32Array(float32.buffer);

/** The float16 of a weight as bits: weightOf() the other way round. */
function bitsOf(weight) {
  float32[0] = weight * 2 ** -112;
  const bits = bitsOfFloat32[0];
  return (bits + 0xfff + ((bits >> 13) & 1)) >> 13; // rounded to the nearest, as numpy does
}

/** The arguments of `weights_of` at a setting. */
function argumentsOf(setting, controls) {
  const places = [...setting];
  const valueAt = (options) => (options.length ? options[places.shift()] : places.shift());
  const read = ({ name, options, is_vector }) => {
    const values = options.map(valueAt);
    return [name, is_vector ? values : values[0]];
  };
  return Object.fromEntries(controls.map(read));
}

/** The picture of an answer, whose mask, if there is one, holds 1 where a query may attend. */
function pictureOf({ shape, weights, mask, queryLabels, keyLabels }) {
  const [headCount, queries, keys] = shape;
  const forbidden = (index) => mask && !mask[index % (queries * keys)];
  const maps = Uint16Array.from(weights, (weight, at) => bitsOf(weight) | (forbidden(at) ? SIGN_BIT : 0));
  const labels = { queryLabels: queryLabels && [queryLabels], keyLabels: keyLabels && [keyLabels] };
  return { headCount, queries, keys, samples: [maps], measures: {}, note: "", ...labels };
}

/** A function that asks for the picture of a setting; `take(setting, picture)` gets it, or its error. While one
 * is computed, the last one asked for waits, and those before it are forgotten. */
export function askInPage(page, words, take) {
  let worker;
  let busy = null;
  let waiting = null;
  const failed = { error: words.cannot_compute };
  const answer = (told) => {
    const next = waiting;
    const setting = busy;
    busy = waiting = null;
    if (next) ask(next);
    take(setting, told);
  };
  const begin = () => {
    const source = new Blob([page.worker], { type: "text/javascript" });
    worker = new Worker(URL.createObjectURL(source));
    worker.onmessage = ({ data }) => {
      if (data.cannotBegin) answer(failed);
      else answer(data.error ? data : pictureOf(data.answer));
    };
    worker.onerror = () => answer(failed);
  };
  const ask = (setting) => {
    if (JSON.stringify(setting) === JSON.stringify(busy)) return;
    if (busy) {
      waiting = setting;
      return;
    }
    busy = setting;
    const question = argumentsOf(setting, page.arguments);
    if (worker) worker.postMessage({ question });
    else {
      begin();
      worker.postMessage({ page, question });
    }
  };
  return ask;
}
