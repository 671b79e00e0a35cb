// import lib/grid.wgsl
// import lib/x_{f32,f16}.wgsl

// y[at + i] = x[i], four elements an invocation.

struct Params { len: u32, at: u32 }

// Binding 0 is x, in lib/x_*.wgsl.
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn copy_at(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = linear(group, groups) * 1024u + local;
    for (var j = 0u; j < 4u; j++) {
        let i = first + j * 256u;
        if (i < p.len) {
            y[p.at + i] = load_x(i);
        }
    }
}
