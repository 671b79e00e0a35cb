// import lib/grid.wgsl
// import lib/activation.wgsl

// y = the row's activation of x, in vectors of four. Buffers are padded to whole vectors.

struct Params { len: u32 }

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn unary(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = activation(x[i]);
    }
}
