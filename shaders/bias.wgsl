// import lib/grid.wgsl
// import lib/activation.wgsl

// y[i] = the row's activation of a[i] + b[i % d], four neighbouring elements an invocation; b [d].

struct Params { len: u32, d: u32 }

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn add_bias(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i >= p.len) {
        return;
    }
    let c0 = (i * 4u) % p.d;
    let c1 = select(c0 + 1u, 0u, c0 + 1u == p.d);
    let c2 = select(c1 + 1u, 0u, c1 + 1u == p.d);
    let c3 = select(c2 + 1u, 0u, c2 + 1u == p.d);
    y[i] = activation(a[i] + vec4(b[c0], b[c1], b[c2], b[c3]));
}
