// y = exp(x - max) / sum(exp(x - max)) for each row of x [rows, d]; LANES invocations share a row.
// -inf is a mask: weight 0, and a row of nothing else is zeros. A row with NaN or +inf is NaN, and no other row is.

struct Params { rows: u32, d: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

const SPOILED = 0xffffffffu;

/// exp for arguments that are not positive; -inf is pulled in to where the result is 0 anyway.
fn weight(x: f32) -> f32 {
    return exp(max(x, -1e4));
}

/// A number that orders as x does; beyond all others for NaN and +inf, which make the whole row NaN.
fn key(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let ordered = select(bits | 0x80000000u, ~bits, bits >= 0x80000000u);
    return select(ordered, SPOILED, abs_bits(x) > INF_BITS || bits == INF_BITS);
}

/// The maximum that a key stands for; the lowest number where a row holds nothing but -inf.
fn value(key: u32) -> f32 {
    let least = max(key, 0x00800000u);
    return bitcast<f32>(select(~least, least & 0x7fffffffu, least >= 0x80000000u));
}

/// The value, or NaN, from a uniform since WGSL has no NaN constants.
fn or_nan(v: f32, spoiled: bool) -> f32 {
    return select(v, bitcast<f32>(0x7fc00000u | (p.d & 0u)), spoiled);
}

/// Rows of up to EACH · LANES, kept in registers: one read, one write.
@compute @workgroup_size(256)
fn softmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / LANES) + local / LANES;
    let lane = local & (LANES - 1u);
    let inside = row < p.rows;
    let first = select(0u, row * p.d, inside);
    var v: array<f32, EACH>;
    var largest = 0u;
    for (var e = 0u; e < EACH; e++) {
        // No branch, so that all loads are on their way together.
        let i = lane + e * LANES;
        v[e] = x[first + min(i, p.d - 1u)];
        largest = select(largest, max(largest, key(v[e])), i < p.d);
    }
    let most = row_max(local, largest);
    let top = value(most);
    var sum = 0.0;
    for (var e = 0u; e < EACH; e++) {
        v[e] = weight(v[e] - top);
        sum += select(0.0, v[e], lane + e * LANES < p.d);
    }
    let total = row_sum(local, sum);
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var e = 0u; e < EACH; e++) {
        let i = lane + e * LANES;
        if (inside && i < p.d) {
            y[first + i] = or_nan(v[e] * inverse, most == SPOILED);
        }
    }
}

/// Longer rows, read twice: once for maximum and sum, where the sum is rescaled whenever the maximum grows.
@compute @workgroup_size(256)
fn softmax_long(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups);
    let d = select(0u, p.d, row < p.rows);
    let first = row * p.d;
    var largest = 0u;
    var top = value(0u);
    var sum = 0.0;
    for (var i = local; i < d; i += 256u) {
        let v = x[first + i];
        largest = max(largest, key(v));
        if (v > top) {
            sum = sum * weight(top - v) + 1.0;
            top = v;
        } else {
            sum += weight(v - top);
        }
    }
    let most = row_max(local, largest);
    let of_all = value(most);
    let total = row_sum(local, sum * weight(top - of_all));
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var i = local; i < d; i += 256u) {
        y[first + i] = or_nan(weight(x[first + i] - of_all) * inverse, most == SPOILED);
    }
}
