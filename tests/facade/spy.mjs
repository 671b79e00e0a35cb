// Watches what the package does to WebGPU: counts calls, adds up live buffer bytes, collects errors and shader messages.

const counts = () => ({ submit: 0, pipeline: 0, layout: 0, shader: 0, bindGroup: 0, buffer: 0, dispatch: 0, map: 0 });

export const spy = {
  devices: [],
  uncaptured: [],
  shaderMessages: [],
  liveBytes: 0,
  n: counts(),
  reset() {
    this.n = counts();
  },
};

/** Wraps a method: `f` gets the original, bound to its object, and the arguments. */
function around(type, name, f) {
  const original = type.prototype[name];
  type.prototype[name] = function (...args) {
    return f.call(this, (...given) => original.apply(this, given), args);
  };
}

function count(type, name, key) {
  around(type, name, (call, args) => {
    spy.n[key]++;
    return call(...args);
  });
}

/** Once per page, before the package makes its first device. */
export function install() {
  const bytesOf = new WeakMap(); // device → its buffers → bytes
  const owner = new WeakMap(); // buffer → the buffers of its device

  around(GPUAdapter, 'requestDevice', async (call, args) => {
    const device = await call(...args);
    spy.devices.push(device);
    bytesOf.set(device, new Map());
    device.addEventListener('uncapturederror', (event) => spy.uncaptured.push(event.error.message));
    return device;
  });
  around(GPUDevice, 'createBuffer', function (call, [descriptor]) {
    const buffer = call(descriptor);
    spy.n.buffer++;
    const held = bytesOf.get(this);
    held.set(buffer, descriptor.size);
    spy.liveBytes += descriptor.size;
    owner.set(buffer, held);
    return buffer;
  });
  around(GPUBuffer, 'destroy', function (call) {
    const held = owner.get(this);
    spy.liveBytes -= held?.get(this) ?? 0;
    held?.delete(this);
    return call();
  });
  around(GPUDevice, 'destroy', function (call) {
    const held = bytesOf.get(this);
    for (const bytes of held?.values() ?? []) spy.liveBytes -= bytes;
    held?.clear();
    return call();
  });
  around(GPUDevice, 'createShaderModule', (call, args) => {
    spy.n.shader++;
    const module = call(...args);
    module.getCompilationInfo().then(({ messages }) => {
      for (const { type, lineNum, message } of messages)
        spy.shaderMessages.push(`${args[0].label}: ${type} in line ${lineNum}: ${message}`);
    });
    return module;
  });
  count(GPUBuffer, 'mapAsync', 'map');
  count(GPUDevice, 'createComputePipeline', 'pipeline');
  count(GPUDevice, 'createComputePipelineAsync', 'pipeline');
  count(GPUDevice, 'createBindGroupLayout', 'layout');
  count(GPUDevice, 'createPipelineLayout', 'layout');
  count(GPUDevice, 'createBindGroup', 'bindGroup');
  count(GPUQueue, 'submit', 'submit');
  count(GPUComputePassEncoder, 'dispatchWorkgroups', 'dispatch');
}
