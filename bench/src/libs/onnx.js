// Writes ONNX models of a few nodes: just enough of protocol buffers for ModelProto.

const utf8 = new TextEncoder();
const TYPES = { float32: 1, int32: 6, int64: 7 };

function varint(value) {
  const bytes = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  do {
    const low = Number(rest & 0x7fn);
    rest >>= 7n;
    bytes.push(rest ? low | 0x80 : low);
  } while (rest);
  return bytes;
}

const number = (field, value) => [...varint(field << 3), ...varint(value)];
const float = (field, value) => [...varint((field << 3) | 5), ...new Uint8Array(Float32Array.of(value).buffer)];
function bytes(field, value) {
  const content = typeof value === 'string' ? utf8.encode(value) : value;
  return [...varint((field << 3) | 2), ...varint(content.length), ...content];
}

function attribute(name, value) {
  const head = bytes(1, name);
  if (Array.isArray(value)) return [...head, ...value.flatMap((v) => number(8, v)), ...number(20, 7)];
  if (typeof value === 'object') return [...head, ...float(2, value.float), ...number(20, 1)];
  return [...head, ...number(3, value), ...number(20, 2)];
}

const node = ({ op, domain = '', inputs, outputs, attributes = {} }) => [
  ...inputs.flatMap((name) => bytes(1, name)),
  ...outputs.flatMap((name) => bytes(2, name)),
  ...bytes(3, outputs[0]),
  ...bytes(4, op),
  ...Object.entries(attributes).flatMap(([name, value]) => bytes(5, attribute(name, value))),
  ...bytes(7, domain),
];

function valueInfo({ name, type, dims }) {
  const shape = dims.flatMap((d) => bytes(1, typeof d === 'string' ? bytes(2, d) : number(1, d)));
  const tensor = [...number(1, TYPES[type]), ...bytes(2, shape)];
  return [...bytes(1, name), ...bytes(2, bytes(1, tensor))];
}

const constant = ({ name, type, dims, values }) => [
  ...dims.flatMap((d) => number(1, d)),
  ...number(2, TYPES[type]),
  ...bytes(8, name),
  ...bytes(9, new Uint8Array(type === 'int64' ? BigInt64Array.from(values, BigInt).buffer : Int32Array.from(values).buffer)),
];

/** A model. Dimensions are numbers, or names where any will do. Attributes: a whole number, `{ float }`, or an array of whole numbers. */
export function model({ nodes, inputs, outputs, constants = [] }) {
  const graph = [
    ...nodes.flatMap((n) => bytes(1, node(n))),
    ...bytes(2, 'g'),
    ...constants.flatMap((c) => bytes(5, constant(c))),
    ...inputs.flatMap((v) => bytes(11, valueInfo(v))),
    ...outputs.flatMap((v) => bytes(12, valueInfo(v))),
  ];
  const opset = (domain, version) => bytes(8, [...bytes(1, domain), ...number(2, version)]);
  return Uint8Array.from([...number(1, 8), ...opset('', 17), ...opset('com.microsoft', 1), ...bytes(7, graph)]);
}
