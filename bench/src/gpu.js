// Plain WebGPU that all measurements share: the adapter, every library's device, and reading parts of buffers.

/** Each device that a library makes, with the adapter it came from, in the order of making. */
export const devices = [];

/** Once, before any library is loaded: notes the devices that they make and what goes wrong on them. */
export function watchDevices() {
  const request = GPUAdapter.prototype.requestDevice;
  GPUAdapter.prototype.requestDevice = async function (descriptor) {
    const device = await request.call(this, descriptor);
    const entry = { device, adapter: describe(this), problems: [] };
    devices.push(entry);
    const note = (text) => entry.problems.length < 20 && entry.problems.push(text);
    device.addEventListener('uncapturederror', (event) => note(event.error.message.slice(0, 500)));
    device.lost.then(({ reason, message }) => {
      if (reason !== 'destroyed') entry.lost = `its device was lost: ${message.slice(0, 300)}`;
    });
    return device;
  };
}

/** Why a device was lost, if it was. */
export const lossOf = (device) => devices.find((entry) => entry.device === device)?.lost;

/** Problems of a device since they were last asked for. */
export const takeProblems = (device) => devices.find((entry) => entry.device === device)?.problems.splice(0) ?? [];

export function describe(adapter) {
  const { vendor, architecture, device, description } = adapter.info;
  return { vendor, architecture, device, description, software: software(adapter) };
}

function software({ info }) {
  const text = `${info.vendor} ${info.architecture} ${info.device} ${info.description}`.toLowerCase();
  return info.isFallbackAdapter === true || /swiftshader|llvmpipe|lavapipe|basic render/.test(text);
}

const sleep = (ms) => new Promise((next) => setTimeout(next, ms));

/** The best adapter; with `vendor`, waits up to half a minute for one of that vendor: a GPU process takes its time. */
export async function findAdapter(vendor) {
  const until = performance.now() + 30_000;
  let last = 'none';
  do {
    const adapter = await navigator.gpu?.requestAdapter({ powerPreference: 'high-performance' });
    if (adapter) last = `${adapter.info.vendor} ${adapter.info.architecture}`.trim();
    if (adapter && (!vendor || adapter.info.vendor.toLowerCase() === vendor.toLowerCase())) return adapter;
    if (!vendor) break;
    await sleep(250);
  } while (performance.now() < until);
  throw new Error(vendor ? `no adapter of vendor ${vendor} within 30 s; the last was: ${last}` : 'WebGPU has no adapter here');
}

/** Writes an array in pieces, which spares the browser one huge staging block. */
export function write(device, buffer, data) {
  const piece = 2 ** 22;
  for (let at = 0; at < data.length; at += piece) device.queue.writeBuffer(buffer, at * 4, data, at, Math.min(piece, data.length - at));
}

/** Copies byte ranges of one buffer to the host, joined. */
export async function readParts(device, buffer, parts) {
  const bytes = parts.reduce((sum, part) => sum + part.bytes, 0);
  const staging = device.createBuffer({ size: bytes, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  try {
    const encoder = device.createCommandEncoder();
    let at = 0;
    for (const part of parts) {
      encoder.copyBufferToBuffer(buffer, part.from, staging, at, part.bytes);
      at += part.bytes;
    }
    device.queue.submit([encoder.finish()]);
    await staging.mapAsync(GPUMapMode.READ);
    return staging.getMappedRange().slice(0);
  } finally {
    staging.destroy();
  }
}

/** Whole rows of an f32 matrix in a buffer. */
export const readRows = async (device, buffer, ids, width) =>
  new Float32Array(await readParts(device, buffer, ids.map((i) => ({ from: i * width * 4, bytes: width * 4 }))));

/** Counts the dispatches that `f` makes, on whatever device. */
export async function countDispatches(f) {
  const { prototype } = GPUComputePassEncoder;
  const names = ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect'];
  const originals = names.map((name) => prototype[name]);
  let count = 0;
  names.forEach((name, i) => {
    prototype[name] = function (...args) {
      count++;
      return originals[i].apply(this, args);
    };
  });
  try {
    await f();
  } finally {
    names.forEach((name, i) => (prototype[name] = originals[i]));
  }
  return count;
}
