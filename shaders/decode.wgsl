// import lib/grid.wgsl
// import lib/scores.wgsl
// import lib/kv4_{f32,f16}.wgsl

// Attention of few rows (pairs of a query and a head of one group, up to 4 · R) over many keys: reading k and v is the
// cost, and each is read once for all rows. Arguments, parts and results as in attention.wgsl; d and dv are multiples of
// four, for k and v are read in vectors.
//
// A workgroup of 128 takes one kv head, 4 · CV columns of v and a part of up to KEYS keys. An invocation makes the scores
// of every 128th key; all weights of the part wait in workgroup memory, so maximum and sum are taken once; then an
// invocation takes a vector of columns and a share of the keys. Rows are packed in vectors of four.
// The row of the table gives R, CV and KEYS.

struct Params {
    t: u32, s: u32, kv: u32, group: u32, d: u32, dv: u32,
    scale: f32, offset: u32, causal: u32, part: u32, splits: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
// Bindings 1 and 2 are k and v, in lib/kv4_*.wgsl.
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

const THREADS = 128u;
const STEP = 64u;                      // of the head dimension, at a time
const SHARES = THREADS / CV;
const EACH = KEYS / THREADS;           // scores of an invocation

var<workgroup> queries: array<vec4<f32>, STEP * R>;      // [d][rows]
var<workgroup> weights: array<vec4<f32>, KEYS * R>;      // [key][rows]
var<workgroup> partial: array<vec4<f32>, THREADS>;

fn max_of_all(local: u32, x: vec4<f32>) -> vec4<f32> {
    partial[local] = x;
    for (var s = THREADS / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (local < s) {
            partial[local] = max(partial[local], partial[local + s]);
        }
    }
    workgroupBarrier();
    let top = partial[0];
    workgroupBarrier();
    return top;
}

fn sum_of_all(local: u32, x: vec4<f32>) -> vec4<f32> {
    partial[local] = x;
    for (var s = THREADS / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (local < s) {
            partial[local] += partial[local + s];
        }
    }
    workgroupBarrier();
    let sum = partial[0];
    workgroupBarrier();
    return sum;
}

@compute @workgroup_size(THREADS)
fn decode(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let rows = p.t * p.group;
    let d4 = p.d / 4u;
    let dv4 = p.dv / 4u;
    let col_tiles = (dv4 + CV - 1u) / CV;
    var g = linear(group_id, groups);
    let head = g % p.kv;
    g /= p.kv;
    let col0 = g % col_tiles * CV;
    let split = g / col_tiles;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = max(begin, min(begin + p.part, select(p.s, min(p.s, p.offset + p.t), p.causal != 0u)));
    let each = (end - begin + THREADS - 1u) / THREADS;

    var scores: array<vec4<f32>, EACH * R>;
    for (var d0 = 0u; d0 < p.d; d0 += STEP) {
        workgroupBarrier();
        for (var i = local; i < STEP * R; i += THREADS) {
            let c = d0 + i / R;
            let row = min(vec4(i % R * 4u) + vec4(0u, 1u, 2u, 3u), vec4(rows - 1u));
            let at = ((row / p.group * p.kv + head) * p.group + row % p.group) * p.d + min(c, p.d - 1u);
            queries[i] = select(vec4(0.0), vec4(q[at.x], q[at.y], q[at.z], q[at.w]), c < p.d);
        }
        workgroupBarrier();
        let width = min(STEP, p.d - d0);
        for (var e = 0u; e < EACH; e++) { // unroll
            if (e < each) {
                let key = min(begin + e * THREADS + local, end - 1u);
                let first = (key * p.kv + head) * d4 + d0 / 4u;
                let last = first + width / 4u - 1u;
                // Eight vectors on their way at a time; 0 beyond the head's end, for an infinite key times 0 is NaN.
                for (var c = 0u; c < width; c += 32u) {
                    var x = array<vec4<f32>, 8>();
                    for (var n = 0u; n < 8u; n++) { // unroll
                        x[n] = select(vec4(0.0), load_k(min(first + c / 4u + n, last)), c + n * 4u < width);
                    }
                    for (var r = 0u; r < R; r++) { // unroll
                        for (var n = 0u; n < 8u; n++) { // unroll
                            for (var i = 0u; i < 4u; i++) { // unroll
                                scores[e * R + r] = fma(vec4(x[n][i]), queries[(c + n * 4u + i) * R + r], scores[e * R + r]);
                            }
                        }
                    }
                }
            }
        }
    }

    // The first values, on their way while the weights are made.
    let col = min(col0 + local % CV, dv4 - 1u);
    let share = local / CV;
    let stride = p.kv * dv4;
    let base = begin * stride + head * dv4 + col;
    let keys = end - begin;
    var values: array<vec4<f32>, 8>;
    for (var n = 0u; n < 8u; n++) { // unroll
        values[n] = load_v(base + min(share + n * SHARES, max(keys, 1u) - 1u) * stride);
    }

    var tops: array<vec4<f32>, R>;
    var sums: array<vec4<f32>, R>;
    var limits: array<vec4<u32>, R>;
    for (var r = 0u; r < R; r++) { // unroll
        let query = (vec4(r * 4u) + vec4(0u, 1u, 2u, 3u)) / p.group;
        limits[r] = select(vec4(end), min(vec4(end), p.offset + query + 1u), p.causal != 0u);
        var top = vec4(LOWEST);
        for (var e = 0u; e < EACH; e++) { // unroll
            let x = select(vec4(LOWEST), counted(scores[e * R + r] * p.scale), vec4(begin + e * THREADS + local) < limits[r]);
            scores[e * R + r] = x;
            top = max(top, x);
        }
        top = max_of_all(local, top);
        var sum = vec4(0.0);
        for (var e = 0u; e < EACH; e++) { // unroll
            let w = select(vec4(0.0), weight(scores[e * R + r] - top), vec4(begin + e * THREADS + local) < limits[r]);
            weights[(e * THREADS + local) * R + r] = w;
            sum += w;
        }
        tops[r] = top;
        sums[r] = sum_of_all(local, sum);
    }

    // A key that some row does not see must not touch it even when it is NaN.
    let ragged = p.causal != 0u && p.t > 1u;
    var o: array<vec4<f32>, R * 4u>;
    for (var n0 = share; n0 < keys; n0 += 8u * SHARES) {
        for (var n = 0u; n < 8u; n++) { // unroll
            let key = n0 + n * SHARES;
            if (key < keys) {
                for (var r = 0u; r < R; r++) { // unroll
                    let w = weights[key * R + r];
                    for (var i = 0u; i < 4u; i++) { // unroll
                        if (!ragged || begin + key < limits[r][i]) {
                            o[r * 4u + i] = fma(vec4(w[i]), values[n], o[r * 4u + i]);
                        }
                    }
                }
            }
        }
        if (n0 + 8u * SHARES < keys) {
            for (var n = 0u; n < 8u; n++) { // unroll
                values[n] = load_v(base + min(n0 + (8u + n) * SHARES, keys - 1u) * stride);
            }
        }
    }

    // The shares of a column, added up; one row at a time.
    let whole = p.splits == 1u;
    let width = select(p.dv + 4u, p.dv, whole);
    for (var r = 0u; r < R; r++) { // unroll
        for (var i = 0u; i < 4u; i++) { // unroll
            workgroupBarrier();
            partial[local] = o[r * 4u + i];
            workgroupBarrier();
            let row = r * 4u + i;
            if (local < CV && col0 + local < dv4 && row < rows) {
                var x = partial[local];
                for (var n = 1u; n < SHARES; n++) {
                    x += partial[local + n * CV];
                }
                let total = sums[r][i];
                let at = (split * rows * p.kv + (row / p.group * p.kv + head) * p.group + row % p.group) * width;
                if (whole) {
                    x = or_nan(select(x / total, vec4(0.0), total == 0.0), tops[r][i]);
                } else if (col == 0u) {
                    y[at + p.dv] = tops[r][i];
                    y[at + p.dv + 1u] = total;
                }
                for (var n = 0u; n < 4u; n++) { // unroll
                    y[at + col * 4u + n] = x[n];
                }
            }
        }
    }
}
