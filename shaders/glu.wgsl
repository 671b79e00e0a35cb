// import lib/grid.wgsl
// import lib/activation.wgsl

// y = the row's activation of gate, times up, in vectors of four. Buffers are padded to whole vectors.

struct Params { len: u32 }

@group(0) @binding(0) var<storage, read> gate: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> up: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn glu(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = activation(gate[i]) * up[i];
    }
}
