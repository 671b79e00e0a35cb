// import lib/by{1,4}.wgsl
// import lib/reduce.wgsl
// import lib/row.wgsl
// import lib/scale.wgsl

// Norms over rows of up to EACH · LANES values, or vectors of four, kept in registers: one read, one write.
// y = v / sqrt(mean(v^2) + eps) where CENTERED is 0, y = (v - mean(v)) / sqrt(mean((v - mean(v))^2) + eps) where it is 1.
//
// The file of the op has the bindings, CENTERED, `load` and `store`. d counts what T is. Rows are taken times a power of two
// (scale.wgsl). The mean is taken of v - v[0], which is exact where the row's spread is small against its size, and the
// variance of what is left about that mean: nothing cancels at a mean of 1e4 and a spread of 1e-2. Drivers may reorder sums and
// factor products out, but not beyond a select: without those below, shift + mean is taken first, or f times the difference.

struct Params { rows: u32, d: u32, eps: f32 }

@compute @workgroup_size(256)
fn norm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = row_of(group, groups, local, p.rows, p.d);
    var v: array<T, EACH>;
    var largest = U();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = select(T(), load(at(row, e)), within(row, e));
        largest = max(largest, size(v[e]));
    }
    for (var e = 0u; e < EACH; e++) { // unroll
        if (row.there && within(row, e)) {
            keep(at(row, e), v[e]);
        }
    }
    let most = row_max(local, max_of(largest));
    let f = factor(exponent(most, p.eps));
    let shift = select(0.0, first_of(load(row.first)) * f, CENTERED == 1u && most > 0u);
    var total = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = select(T(), v[e] * f - shift, within(row, e));
        total += v[e];
    }
    var mean = 0.0;
    if (CENTERED == 1u) {
        mean = row_sum(local, sum_of(total)) / f32(row.d * WIDTH);
    }
    var squares = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = select(T(), v[e] - mean, within(row, e));
        squares = fma(v[e], v[e], squares);
    }
    let scale = inverse_root(row_sum(local, sum_of(squares)) / f32(row.d * WIDTH), p.eps, f);
    for (var e = 0u; e < EACH; e++) { // unroll
        if (row.there && within(row, e)) {
            store(at(row, e), column(row, e), v[e] * scale);
        }
    }
}
