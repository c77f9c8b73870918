/** Runs in a page or a worker what `export_for_page` recorded; README.md beside this file says how.

A tensor is { dtype, shape, data }: its numbers lie in one typed array, the last axis first. No operation
writes into a tensor that it was given, so tensors may share their numbers.
*/

// An int64 is kept as a float64, which holds whole numbers up to 2 ** 53; sums of BigInt would be slow.
const ARRAYS = {
  float32: Float32Array,
  float64: Float64Array,
  int64: Float64Array,
  bool: Uint8Array,
};

const count = (shape) => shape.reduce((product, size) => product * size, 1);
const empty = (dtype, shape) => ({ dtype, shape, data: new ARRAYS[dtype](count(shape)) });
const viewed = ({ dtype, data }, shape) => ({ dtype, shape, data });
const axisOf = (axis, axes) => (axis < 0 ? axis + axes : axis);
const replaced = (list, place, value) => list.map((old, i) => (i === place ? value : old));

/** How far apart the neighbours along each axis lie. */
function stridesOf(shape) {
  const strides = new Array(shape.length);
  for (let axis = shape.length - 1, step = 1; axis >= 0; step *= shape[axis--]) strides[axis] = step;
  return strides;
}

/** A copy of numbers that lie `strides` apart, from `offset` on. */
function strided({ dtype, data }, shape, strides, offset = 0) {
  const result = empty(dtype, shape);
  const out = result.data;
  const last = shape.length - 1;
  const [width, step] = last < 0 ? [1, 0] : [shape[last], strides[last]];
  const place = new Array(shape.length).fill(0);
  for (let to = 0, from = offset; to < out.length; ) {
    for (let i = 0; i < width; i++) out[to++] = data[from + i * step];
    for (let axis = last - 1; axis >= 0; axis--) {
      from += strides[axis];
      if (++place[axis] < shape[axis]) break;
      from -= strides[axis] * shape[axis];
      place[axis] = 0;
    }
  }
  return result;
}

function expand(x, sizes) {
  const added = sizes.length - x.shape.length;
  const shape = sizes.map((size, axis) => (size === -1 ? x.shape[axis - added] : size));
  if (count(shape) === x.data.length) return viewed(x, shape);
  const own = stridesOf(x.shape);
  const strides = shape.map((_, axis) =>
    axis < added || x.shape[axis - added] === 1 ? 0 : own[axis - added],
  );
  return strided(x, shape, strides);
}

function permute(x, order) {
  const axes = order.map((axis) => axisOf(axis, x.shape.length));
  const strides = stridesOf(x.shape);
  return strided(
    x,
    axes.map((axis) => x.shape[axis]),
    axes.map((axis) => strides[axis]),
  );
}

function view(x, sizes) {
  const known = count(sizes.filter((size) => size !== -1));
  return viewed(
    x,
    sizes.map((size) => (size === -1 ? x.data.length / known : size)),
  );
}

/** The numbers of one axis from `start` on, `step` apart. */
function along(x, axis, start, length, step = 1) {
  const strides = stridesOf(x.shape);
  const offset = start * strides[axis];
  return strided(x, replaced(x.shape, axis, length), replaced(strides, axis, strides[axis] * step), offset);
}

function slice(x, dim = 0, start = 0, end = Infinity, step = 1) {
  const axis = axisOf(dim, x.shape.length);
  const size = x.shape[axis];
  const inside = (place) => Math.min(Math.max(place < 0 ? place + size : place, 0), size);
  const [first, last] = [inside(start ?? 0), inside(end ?? Infinity)];
  return along(x, axis, first, Math.max(0, Math.ceil((last - first) / step)), step);
}

function broadcast(shapes) {
  const axes = Math.max(...shapes.map((shape) => shape.length));
  return Array.from({ length: axes }, (_, axis) => {
    const sizes = shapes.map((shape) => shape[axis - axes + shape.length] ?? 1);
    return sizes.find((size) => size !== 1) ?? 1;
  });
}

/** f of each number, or of the numbers of two or three tensors at the same place. */
function each(dtype, f, ...operands) {
  const tensors = operands.map((x) => (typeof x === "object" ? x : { dtype, shape: [], data: [Number(x)] }));
  const result = empty(dtype, broadcast(tensors.map((x) => x.shape)));
  const parts = tensors.map((x) => (x.data.length === 1 ? x.data : expand(x, result.shape).data));
  const [a, b = [0], c = [0]] = parts;
  const [stepA, stepB, stepC] = [a, b, c].map((data) => (data.length === 1 ? 0 : 1));
  const out = result.data;
  for (let i = 0; i < out.length; i++) out[i] = f(a[i * stepA], b[i * stepB], c[i * stepC]);
  return result;
}

function cast(dtype, x) {
  if (x.dtype === dtype) return x;
  if (dtype === "bool") return each(dtype, (a) => a !== 0, x);
  return each(dtype, dtype === "int64" ? Math.trunc : (a) => a, x);
}

/** The product of each (rows, inner) of `a` and (inner, columns) of `b`; both are read in their order. */
function matmul(dtype, a, b) {
  const [rows, inner] = a.shape.slice(-2);
  const columns = b.shape.at(-1);
  const result = empty(dtype, [...a.shape.slice(0, -1), columns]);
  const sums = new Float64Array(columns);
  const [left, right] = [a.data, b.data];
  const all = result.data.length / columns;
  for (let row = 0; row < all; row++) {
    sums.fill(0);
    let at = Math.floor(row / rows) * inner * columns;
    for (let k = row * inner; k < (row + 1) * inner; k++) {
      const factor = left[k];
      for (let column = 0; column < columns; column++) sums[column] += factor * right[at++];
    }
    result.data.set(sums, row * columns);
  }
  return result;
}

/** One number of all that lie along the axes `dims`, or all axes unless given: f(numbers, from, to). */
function reduce(dtype, x, dims, keepdim, f) {
  const axes = x.shape.map((_, axis) => axis);
  const listed = [dims ?? []].flat();
  const gone = listed.length ? listed.map((axis) => axisOf(axis, axes.length)) : axes;
  const kept = axes.filter((axis) => !gone.includes(axis));
  const { data } = permute(x, [...kept, ...gone]);
  const sizes = axes.map((axis) => (gone.includes(axis) ? 1 : x.shape[axis]));
  const result = empty(dtype, keepdim ? sizes : kept.map((axis) => x.shape[axis]));
  const size = count(gone.map((axis) => x.shape[axis]));
  for (let i = 0; i < result.data.length; i++) result.data[i] = f(data, i * size, (i + 1) * size);
  return result;
}

function total(data, from, to) {
  let sum = 0;
  for (let i = from; i < to; i++) sum += data[i];
  return sum;
}

/** The sum of squares around the mean. */
function scatter(data, from, to) {
  const mean = total(data, from, to) / (to - from);
  let sum = 0;
  for (let i = from; i < to; i++) sum += (data[i] - mean) ** 2;
  return sum;
}

/** Shares that sum to 1 along an axis. */
function softmax(dtype, x, dim) {
  const largest = (data, from, to) => data.subarray(from, to).reduce((a, b) => Math.max(a, b), -Infinity);
  const powers = each("float64", (a, most) => Math.exp(a - most), x, reduce(dtype, x, dim, true, largest));
  return each(dtype, (a, sum) => a / sum, powers, reduce("float64", powers, dim, true, total));
}

function layerNorm([dtype], x, sizes, weight, bias, epsilon) {
  const width = count(sizes);
  const kept = x.shape.slice(0, x.shape.length - sizes.length);
  const flat = viewed(x, [...kept, width]);
  const mean = reduce(dtype, flat, -1, true, (...part) => total(...part) / width);
  const rate = reduce(dtype, flat, -1, true, (...part) => 1 / Math.sqrt(scatter(...part) / width + epsilon));
  const normed = viewed(
    each(dtype, (a, b, c) => (a - b) * c, flat, mean, rate),
    x.shape,
  );
  const scaled = weight ? each(dtype, (a, b) => a * b, normed, weight) : normed;
  return [bias ? each(dtype, (a, b) => a + b, scaled, bias) : scaled]; // PyTorch gives mean and rate, too
}

/** For each number of `index` the row of `x` at that place. */
function embedded(x, index) {
  const width = x.shape[1];
  const result = empty(x.dtype, [...index.shape, width]);
  index.data.forEach((row, i) => {
    result.data.set(x.data.subarray(row * width, (row + 1) * width), i * width);
  });
  return result;
}

function joined(dtype, tensors, dim = 0) {
  const parts = tensors.filter((x) => x.shape.length !== 1 || x.data.length || tensors.length === 1);
  const axis = axisOf(dim, parts[0].shape.length);
  const size = parts.reduce((sum, x) => sum + x.shape[axis], 0);
  const result = empty(dtype, replaced(parts[0].shape, axis, size));
  const before = count(parts[0].shape.slice(0, axis));
  const widths = parts.map((x) => x.data.length / before);
  for (let block = 0, to = 0; block < before; block++) {
    parts.forEach(({ data }, i) => {
      result.data.set(data.subarray(block * widths[i], (block + 1) * widths[i]), to);
      to += widths[i];
    });
  }
  return result;
}

const number = (dtype, value) => ({ dtype, shape: [], data: ARRAYS[dtype].of(Number(value)) });

const unary = (f) => (dtype, x) => each(dtype, f, x);
const binary = (f) => (dtype, a, b) => each(dtype, f, a, b);
const shared =
  (f) =>
  (_, ...given) =>
    f(...given);

/** All operations, by the names that `export_for_page` writes; the first argument is the result's dtype. */
export const operations = {
  // lengths, which are plain numbers
  size: (_, x, dim) => x.shape[axisOf(dim, x.shape.length)],
  "*": (_, a, b) => a * b,
  "+": (_, a, b) => a + b,
  "-": (_, a, b) => a - b,
  item: (_, list, place) => list[place],

  // each number on its own
  neg: unary((x) => -x),
  bitwise_not: (dtype, x) => each(dtype, dtype === "bool" ? (a) => 1 - a : (a) => -a - 1, x),
  rsqrt: unary((x) => 1 / Math.sqrt(x)),
  sin: unary(Math.sin),
  cos: unary(Math.cos),
  sigmoid: unary((x) => 1 / (1 + Math.exp(-x))),
  relu: unary((x) => Math.max(x, 0)),
  cast,

  // two or three tensors, broadcast
  add: (dtype, a, b, alpha = 1) => each(dtype, (x, y) => x + alpha * y, a, b),
  sub: (dtype, a, b, alpha = 1) => each(dtype, (x, y) => x - alpha * y, a, b),
  mul: binary((a, b) => a * b),
  div: binary((a, b) => a / b),
  pow: binary((a, b) => a ** b),
  le: binary((a, b) => a <= b),
  ge: binary((a, b) => a >= b),
  logical_and: binary((a, b) => a && b),
  // Of all 64 bits: without BigInt, JavaScript cuts numbers to 32.
  bitwise_and: binary((a, b) => Number(BigInt(a) & BigInt(b))),
  bitwise_or: binary((a, b) => Number(BigInt(a) | BigInt(b))),
  where: (dtype, condition, a, b) => each(dtype, (c, x, y) => (c ? x : y), condition, a, b),

  // new tensors
  scalar: number,
  full: (dtype, shape, value) => expand(number(dtype, value), shape),
  arange: (dtype, start, end, step = 1) => {
    const size = Math.max(0, Math.ceil((end - start) / step));
    return { dtype, shape: [size], data: ARRAYS[dtype].from({ length: size }, (_, i) => start + i * step) };
  },

  // other shapes, other places
  view: shared(view),
  expand: shared(expand),
  permute: shared(permute),
  unsqueeze: (_, x, dim) => {
    const axis = axisOf(dim, x.shape.length + 1);
    return viewed(x, [...x.shape.slice(0, axis), 1, ...x.shape.slice(axis)]);
  },
  squeeze: (_, x, dims) => {
    const gone = [dims].flat().map((axis) => axisOf(axis, x.shape.length));
    return viewed(
      x,
      x.shape.filter((size, axis) => size !== 1 || !gone.includes(axis)),
    );
  },
  slice: shared(slice),
  flip: (_, x, dims) =>
    dims.reduce((flipped, dim) => {
      const axis = axisOf(dim, x.shape.length);
      return along(flipped, axis, x.shape[axis] - 1, x.shape[axis], -1);
    }, x),
  cat: joined,
  embedding: shared(embedded),

  // sums
  any: (dtype, x, dims, keepdim) =>
    reduce(dtype, x, dims, keepdim, (data, from, to) => data.subarray(from, to).some((number) => number)),
  mean: (dtype, x, dims, keepdim) =>
    reduce(dtype, x, dims, keepdim, (data, from, to) => total(data, from, to) / (to - from)),
  softmax,
  layer_norm: layerNorm,

  // products of matrices
  matmul,
  addmm: (dtype, bias, a, b, beta = 1, alpha = 1) =>
    each(dtype, (x, y) => beta * x + alpha * y, bias, matmul(dtype, a, b)),
};

/** The number that 16 bits stand for. */
function fromHalf(bits) {
  const sign = bits >> 15 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (exponent ? (1 + fraction / 1024) * 2 ** (exponent - 15) : fraction * 2 ** -24);
}

const STORED = { float16: Uint16Array, int32: Int32Array, ...ARRAYS };

function constantsOf({ constants, weights }) {
  const bytes = Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0));
  return constants.map(({ dtype, stored, shape, offset }) => {
    const read = new STORED[stored](bytes.buffer, offset, count(shape));
    return { dtype, shape, data: ARRAYS[dtype].from(read, stored === "float16" ? fromHalf : Number) };
  });
}

/** The argument that a program writes as JSON: "$7" is value 7; a number may be the word "-Infinity". */
function argument(written, values) {
  if (Array.isArray(written)) return written.map((part) => argument(part, values));
  if (typeof written !== "string") return written;
  return written[0] === "$" ? values[written.slice(1)] : written;
}

const compute = ([name, dtype, ...given], values) =>
  operations[name](dtype, ...given.map((written) => argument(written, values) ?? undefined));

const valuesIn = (written) =>
  Array.isArray(written)
    ? written.flatMap(valuesIn)
    : typeof written === "string" && written[0] === "$"
      ? [Number(written.slice(1))]
      : [];

/** A program that is ready to run: what depends on no input has been computed. */
export function load(program) {
  const { inputs, nodes, outputs } = program;
  const known = [...new Array(inputs.length), ...constantsOf(program)];
  const first = known.length;
  const left = [];
  nodes.forEach((node, i) => {
    if (valuesIn(node.slice(2)).every((value) => known[value] !== undefined)) {
      known[first + i] = compute(node, known);
    } else {
      left.push(i);
    }
  });

  /** { name: { shape, data } } -> { name: { dtype, shape, data } } */
  function run(given) {
    const values = known.slice();
    inputs.forEach(({ name, dtype }, i) => {
      const { shape, data } = given[name];
      values[i] = { dtype, shape, data: ARRAYS[dtype].from(data, Number) };
    });
    for (const i of left) values[first + i] = compute(nodes[i], values);
    return Object.fromEntries(
      Object.entries(outputs).map(([name, value]) => [name, argument(value, values)]),
    );
  }

  return { inputs, outputs: Object.keys(outputs), run };
}
