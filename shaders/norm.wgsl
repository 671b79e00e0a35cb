// Norms over the rows of x [rows, d], w and b [d]; LANES invocations share a row.
// Rows of up to EACH · LANES, kept in registers: one read, one write.

struct Params { rows: u32, d: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> w: array<f32>;

// rmsnorm
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

// layernorm
@group(0) @binding(2) var<storage, read> b: array<f32>;
@group(0) @binding(3) var<storage, read_write> z: array<f32>;
@group(0) @binding(4) var<uniform> q: Params;

/// y = x / sqrt(mean(x^2) + eps) * w
@compute @workgroup_size(256)
fn rmsnorm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < p.rows;
    let first = select(0u, row * p.d, inside);
    var v: array<f32, EACH>;
    var squares = 0.0;
    for (var e = 0u; e < EACH; e++) {
        // No branch, so that all loads are on their way together.
        let i = lane + e * LANES;
        v[e] = select(0.0, x[first + min(i, p.d - 1u)], i < p.d);
        squares = fma(v[e], v[e], squares);
    }
    let scale = 1.0 / sqrt(row_sum(local, squares) / f32(p.d) + p.eps);
    for (var e = 0u; e < EACH; e++) {
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
    let shift = x[first];
    var v: array<f32, EACH>;
    var sum = 0.0;
    for (var e = 0u; e < EACH; e++) {
        let i = lane + e * LANES;
        v[e] = select(0.0, x[first + min(i, q.d - 1u)] - shift, i < q.d);
        sum += v[e];
    }
    let mean = row_sum(local, sum) / f32(q.d);
    var squares = 0.0;
    for (var e = 0u; e < EACH; e++) {
        v[e] = select(0.0, v[e] - mean, lane + e * LANES < q.d);
        squares = fma(v[e], v[e], squares);
    }
    let scale = 1.0 / sqrt(row_sum(local, squares) / f32(q.d) + q.eps);
    for (var e = 0u; e < EACH; e++) {
        let i = lane + e * LANES;
        if (inside && i < q.d) {
            z[first + i] = v[e] * scale * w[i] + b[i];
        }
    }
}
