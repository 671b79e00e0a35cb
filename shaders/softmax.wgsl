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

@compute @workgroup_size(256)
fn softmax(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let row = linear(group, groups) * (256u / p.lanes) + local / p.lanes;
    let lane = local & (p.lanes - 1u);
    let d = select(0u, p.d, row < p.rows);
    let first = row * p.d;

    // One pass for max and sum: the sum so far is rescaled whenever the maximum grows.
    var largest = LOWEST;
    var sum = 0.0;
    var broken = 0.0;
    for (var i = lane; i < d; i += p.lanes) {
        let v = x[first + i];
        let bits = abs_bits(v);
        if (bits > INF_BITS || (bits == INF_BITS && v > 0.0)) {
            broken = 1.0;
        } else if (v > largest) {
            sum = sum * weight(largest - v) + 1.0;
            largest = v;
        } else {
            sum += weight(v - largest);
        }
    }
    let top = row_max(local, p.lanes, largest);
    let total = row_sum(local, p.lanes, sum * weight(largest - top));
    let spoiled = row_max(local, p.lanes, broken) > 0.0;

    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var i = lane; i < d; i += p.lanes) {
        let clean = weight(x[first + i] - top) * inverse;
        // NaN from a uniform, since WGSL has no NaN constants.
        y[first + i] = select(clean, bitcast<f32>(0x7fc00000u | (p.lanes & 0u)), spoiled);
    }
}
