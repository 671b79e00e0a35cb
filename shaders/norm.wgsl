// import lib/grid.wgsl
// import lib/by{1,4}.wgsl
// import lib/reduce.wgsl

// Norms over the rows of x [rows, d], w and b [d]; LANES invocations share a row.
// Rows of up to EACH · LANES values, or vectors of four, kept in registers: one read, one write. d counts what T is.

struct Params { rows: u32, d: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;

// rmsnorm
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

// layernorm
@group(0) @binding(2) var<storage, read> b: array<T>;
@group(0) @binding(3) var<storage, read_write> z: array<T>;
@group(0) @binding(4) var<uniform> q: Params;

/// y = x / sqrt(mean(x^2) + eps) * w
@compute @workgroup_size(256)
fn rmsnorm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < p.rows;
    let first = select(0u, row * p.d, inside);
    var v: array<T, EACH>;
    var squares = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        // No branch, so that all loads are on their way together.
        let i = lane + e * LANES;
        v[e] = select(T(), x[first + min(i, p.d - 1u)], i < p.d);
        squares = fma(v[e], v[e], squares);
    }
    let scale = 1.0 / sqrt(row_sum(local, sum_of(squares)) / f32(p.d * WIDTH) + p.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        if (inside && i < p.d) {
            y[first + i] = v[e] * scale * w[i];
        }
    }
}

/// z = (x - mean) / sqrt(mean((x - mean)^2) + eps) * w + b
///
/// The mean is taken of x - x[0], which is exact where the row's spread is small against its size, and the variance
/// of what is left about that mean: nothing cancels at a mean of 1e4 and a spread of 1e-2.
@compute @workgroup_size(256)
fn layernorm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < q.rows;
    let first = select(0u, row * q.d, inside);
    let shift = first_of(x[first]);
    var v: array<T, EACH>;
    var sum = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        v[e] = select(T(), x[first + min(i, q.d - 1u)] - shift, i < q.d);
        sum += v[e];
    }
    let mean = row_sum(local, sum_of(sum)) / f32(q.d * WIDTH);
    var squares = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = select(T(), v[e] - mean, lane + e * LANES < q.d);
        squares = fma(v[e], v[e], squares);
    }
    let scale = 1.0 / sqrt(row_sum(local, sum_of(squares)) / f32(q.d * WIDTH) + q.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        if (inside && i < q.d) {
            z[first + i] = v[e] * scale * w[i] + b[i];
        }
    }
}
