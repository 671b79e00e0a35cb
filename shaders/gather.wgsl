// y[i, :] = b[ids[i], :]: ids [n] < v (checked on the host), the table b [v, d], y [n, d]; four elements an invocation.

struct Params { n: u32, d: u32 }

@group(0) @binding(0) var<storage, read> ids: array<u32>;
// Binding 1 is b, in lib/b_*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = linear(group, groups) * 1024u + local;
    for (var j = 0u; j < 4u; j++) {
        let i = first + j * 256u;
        if (i < p.n * p.d) {
            let row = i / p.d;
            y[i] = load_b(ids[row] * p.d + i % p.d);
        }
    }
}
