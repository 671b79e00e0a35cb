// import lib/grid.wgsl
// import lib/softmax.wgsl
// import lib/reduce.wgsl
// import lib/row.wgsl

// y = exp(x - max) / sum(exp(x - max)) for each row of x [rows, d]; LANES invocations share a row.
// -inf is a mask: weight 0, and a row of nothing else is zeros. A row with NaN or +inf is NaN, and no other row is.
// Rows of up to EACH · LANES values, or vectors of four, kept in registers: one read, one write. d counts what T is.

struct Params { rows: u32, d: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read_write> y: array<T>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn softmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = row_of(group, groups, local, p.rows, p.d);
    var v: array<T, EACH>;
    var largest = U();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[at(row, e)];
        largest = select(largest, max(largest, key(v[e])), within(row, e));
    }
    let most = row_max(local, max_of(largest));
    let top = value(most);
    var sum = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = weight(v[e] - top);
        sum += select(T(), v[e], within(row, e));
    }
    let total = row_sum(local, sum_of(sum));
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        if (row.there && within(row, e)) {
            y[at(row, e)] = or_nan(v[e] * inverse, most == SPOILED, p.d);
        }
    }
}
