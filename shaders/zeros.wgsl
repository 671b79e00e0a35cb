// import lib/grid.wgsl

// y = 0, in vectors of four.

struct Params { len: u32 }

@group(0) @binding(0) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(1) var<uniform> p: Params;

@compute @workgroup_size(256)
fn zeros(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = vec4(0.0);
    }
}
