// import lib/grid.wgsl
// import lib/by{1,4}.wgsl
// import lib/b{,4}_{f32,f16}.wgsl

// y[i, :] = table[ids[i], :]: ids [n] < v (checked on the host), table [v, d], y [n, d]; d counts values, or vectors of four.
// An invocation moves EACH of them, 256 apart: all are on their way together, and only the first needs a division, since
// 256 further is `down` rows and `across` columns further.

struct Params { n: u32, d: u32, down: u32, across: u32 }

@group(0) @binding(0) var<storage, read> ids: array<u32>;
// Binding 1 is the table, in lib/b*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn gather(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = linear(group, groups) * (256u * EACH) + local;
    var row = first / p.d;
    var col = first % p.d;
    var rows: array<u32, EACH>;
    var at: array<u32, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        rows[e] = row;
        at[e] = ids[min(row, p.n - 1u)] * p.d + col;
        let next = col + p.across;
        row += p.down + select(0u, 1u, next >= p.d);
        col = select(next, next - p.d, next >= p.d);
    }
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = load_b(at[e]);
    }
    for (var e = 0u; e < EACH; e++) { // unroll
        if (rows[e] < p.n) {
            y[first + e * 256u] = v[e];
        }
    }
}
