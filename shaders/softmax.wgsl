// y = exp(x - max) / sum(exp(x - max)) for each row of x [rows, d]; `lanes` invocations share a row.
// -inf is a mask: weight 0, and a row of nothing else is zeros. A row with NaN or +inf is NaN, and no other row is.

struct Params { rows: u32, d: u32, lanes: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

const LOWEST = -3.4028234e38;

/// exp for arguments that are not positive; -inf is pulled in to where the result is 0 anyway.
fn weight(x: f32) -> f32 {
    return exp(max(x, -1e4));
}

fn spoils(v: f32) -> bool {
    let bits = abs_bits(v);
    return bits > INF_BITS || (bits == INF_BITS && v > 0.0);
}

/// The value, or NaN, from a uniform since WGSL has no NaN constants.
fn or_nan(v: f32, spoiled: bool) -> f32 {
    return select(v, bitcast<f32>(0x7fc00000u | (p.lanes & 0u)), spoiled);
}

/// Rows of up to 16 · lanes, kept in registers: one read, one write.
@compute @workgroup_size(256)
fn softmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / p.lanes) + local / p.lanes;
    let lane = local & (p.lanes - 1u);
    let inside = row < p.rows;
    let first = select(0u, row * p.d, inside);
    var v: array<f32, 16>;
    var largest = LOWEST;
    var broken = 0.0;
    for (var e = 0u; e < 16u; e++) { // unroll
        let i = lane + e * p.lanes;
        if (i < p.d) {
            v[e] = x[first + i];
            broken = select(broken, 1.0, spoils(v[e]));
            largest = select(largest, v[e], v[e] > largest);
        }
    }
    let top = row_max(local, p.lanes, largest);
    let spoiled = row_max(local, p.lanes, broken) > 0.0;
    var sum = 0.0;
    for (var e = 0u; e < 16u; e++) { // unroll
        if (lane + e * p.lanes < p.d) {
            v[e] = weight(v[e] - top);
            sum += v[e];
        }
    }
    let total = row_sum(local, p.lanes, sum);
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var e = 0u; e < 16u; e++) { // unroll
        let i = lane + e * p.lanes;
        if (inside && i < p.d) {
            y[first + i] = or_nan(v[e] * inverse, spoiled);
        }
    }
}

/// Longer rows, read twice: once for maximum and sum, where the sum is rescaled whenever the maximum grows.
@compute @workgroup_size(256)
fn softmax_long(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups);
    let d = select(0u, p.d, row < p.rows);
    let first = row * p.d;
    var largest = LOWEST;
    var sum = 0.0;
    var broken = 0.0;
    for (var i = local; i < d; i += 256u) {
        let v = x[first + i];
        if (spoils(v)) {
            broken = 1.0;
        } else if (v > largest) {
            sum = sum * weight(largest - v) + 1.0;
            largest = v;
        } else {
            sum += weight(v - largest);
        }
    }
    let top = row_max(local, 256u, largest);
    let total = row_sum(local, 256u, sum * weight(largest - top));
    let spoiled = row_max(local, 256u, broken) > 0.0;
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var i = local; i < d; i += 256u) {
        y[first + i] = or_nan(weight(x[first + i] - top) * inverse, spoiled);
    }
}
