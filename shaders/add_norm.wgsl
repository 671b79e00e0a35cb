// import lib/grid.wgsl
// import lib/by{1,4}.wgsl
// import lib/reduce.wgsl

// Residual and norm in one pass: sum = x + r, and the norm of sum, as in norm.wgsl; rows of up to EACH · LANES values, or vectors of four.

struct Params { rows: u32, d: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> r: array<T>;
@group(0) @binding(2) var<storage, read> w: array<T>;

// add_rmsnorm
@group(0) @binding(3) var<storage, read_write> sum: array<T>;
@group(0) @binding(4) var<storage, read_write> y: array<T>;
@group(0) @binding(5) var<uniform> p: Params;

// add_layernorm
@group(0) @binding(3) var<storage, read> b: array<T>;
@group(0) @binding(4) var<storage, read_write> total: array<T>;
@group(0) @binding(5) var<storage, read_write> z: array<T>;
@group(0) @binding(6) var<uniform> q: Params;

@compute @workgroup_size(256)
fn add_rmsnorm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < p.rows;
    let first = select(0u, row * p.d, inside);
    var v: array<T, EACH>;
    var squares = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        let at = first + min(i, p.d - 1u);
        v[e] = select(T(), x[at] + r[at], i < p.d);
        squares = fma(v[e], v[e], squares);
    }
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        if (inside && i < p.d) {
            sum[first + i] = v[e];
        }
    }
    let scale = 1.0 / sqrt(row_sum(local, sum_of(squares)) / f32(p.d * WIDTH) + p.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        if (inside && i < p.d) {
            y[first + i] = v[e] * scale * w[i];
        }
    }
}

@compute @workgroup_size(256)
fn add_layernorm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < q.rows;
    let first = select(0u, row * q.d, inside);
    let shift = first_of(x[first] + r[first]);
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        let at = first + min(lane + e * LANES, q.d - 1u);
        v[e] = x[at] + r[at];
    }
    var shifted = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = lane + e * LANES;
        if (inside && i < q.d) {
            total[first + i] = v[e];
        }
        v[e] = select(T(), v[e] - shift, i < q.d);
        shifted += v[e];
    }
    let mean = row_sum(local, sum_of(shifted)) / f32(q.d * WIDTH);
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
