// softmax(scale · q · kᵀ) · v, flash style: q [t, kv · group · d], k [s, kv · d], v [s, kv · dv], y [t, kv · group · dv].
// Query head h reads kv head h / group. Causal: query i sees keys 0..=offset + i.
//
// A workgroup takes 32 rows (pairs of a query and a head of one group, so that keys and values are read once for the
// whole group), 64 columns of v, and a part of the keys, 32 at a time. The head dimension is streamed through
// workgroup memory in chunks of 16, so any head size and any number of keys fit in the same 13 KiB.
// With one part the result is written; with more, each part writes its unnormalised sum, its maximum and its weight
// (a row of dv + 2) for attention_merge.wgsl.

struct Params {
    t: u32, s: u32, kv: u32, group: u32, d: u32, dv: u32,
    scale: f32, offset: u32, causal: u32, part: u32, splits: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

const ROWS = 32u;
const KEYS = 32u;
const COLS = 64u;
const STEP = 16u;
const MASKED = -3e38;

var<workgroup> tile_q: array<f32, 512>;    // [STEP, ROWS]
var<workgroup> tile_k: array<f32, 512>;    // [STEP, KEYS]
var<workgroup> tile_v: array<f32, 1024>;   // [STEP, COLS]
var<workgroup> weights: array<f32, 1056>;  // [ROWS, KEYS + 1]: scores, then their weights
var<workgroup> halves: array<f32, 64>;     // what each half of a row found
var<workgroup> row_max: array<f32, 32>;
var<workgroup> row_sum: array<f32, 32>;
var<workgroup> row_fade: array<f32, 32>;

@compute @workgroup_size(64)
fn attention(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let rows = p.t * p.group;
    let row_tiles = (rows + ROWS - 1u) / ROWS;
    let col_tiles = (p.dv + COLS - 1u) / COLS;
    var g = linear(group_id, groups);
    let split = g % p.splits;
    g /= p.splits;
    let col0 = g % col_tiles * COLS;
    g /= col_tiles;
    let row0 = g % row_tiles * ROWS;
    let head = g / row_tiles;
    if (head >= p.kv) {
        return;
    }

    let last_query = min(row0 + ROWS - 1u, rows - 1u) / p.group;
    let seen = select(p.s, min(p.s, p.offset + last_query + 1u), p.causal != 0u);
    let begin = split * p.part;
    let end = min(begin + p.part, seen);

    let ty = local / 8u * 4u;
    let tx = local % 8u * 4u;
    var o: array<vec4<f32>, 8>;   // rows ty..ty+4: columns tx..tx+4, then tx+32..tx+36
    if (local < ROWS) {
        row_max[local] = MASKED;
        row_sum[local] = 0.0;
    }

    for (var j0 = begin; j0 < end; j0 += KEYS) {
        // Scores of 4 rows by 4 keys each.
        var scores = array<vec4<f32>, 4>(); // given its zeros: without, drivers keep those of the round before
        for (var d0 = 0u; d0 < p.d; d0 += STEP) {
            for (var e = 0u; e < 8u; e++) {
                let i = local + e * 64u;
                let line = i / STEP;
                let c = d0 + i % STEP;
                let at = min(c, p.d - 1u);
                let r = min(row0 + line, rows - 1u);
                let q_row = (r / p.group * p.kv + head) * p.group + r % p.group;
                tile_q[(i % STEP) * ROWS + line] = select(0.0, q[q_row * p.d + at], c < p.d);
                let key = min(j0 + line, end - 1u);
                tile_k[(i % STEP) * KEYS + line] = select(0.0, k[(key * p.kv + head) * p.d + at], c < p.d);
            }
            workgroupBarrier();
            for (var c = 0u; c < STEP; c++) {
                let at = c * 32u;
                let keys = vec4(tile_k[at + tx], tile_k[at + tx + 1u], tile_k[at + tx + 2u], tile_k[at + tx + 3u]);
                scores[0] += tile_q[at + ty] * keys;
                scores[1] += tile_q[at + ty + 1u] * keys;
                scores[2] += tile_q[at + ty + 2u] * keys;
                scores[3] += tile_q[at + ty + 3u] * keys;
            }
            workgroupBarrier();
        }
        for (var r = 0u; r < 4u; r++) {
            let query = (row0 + ty + r) / p.group;
            let limit = select(end, min(end, p.offset + query + 1u), p.causal != 0u);
            for (var c = 0u; c < 4u; c++) {
                weights[(ty + r) * 33u + tx + c] = select(MASKED, scores[r][c] * p.scale, j0 + tx + c < limit);
            }
        }
        workgroupBarrier();

        // Online softmax: two invocations a row, 16 keys each.
        let row = local / 2u;
        let first = row * 33u + local % 2u * 16u;
        var largest = row_max[row];
        for (var c = 0u; c < 16u; c++) {
            let score = weights[first + c];
            largest = select(largest, score, score > largest);
        }
        halves[local] = largest;
        workgroupBarrier();
        largest = max(halves[row * 2u], halves[row * 2u + 1u]);
        workgroupBarrier();
        var sum = 0.0;
        for (var c = 0u; c < 16u; c++) {
            let score = weights[first + c];
            // A masked key weighs nothing, also while the row has seen no other.
            let weight = select(exp(score - largest), 0.0, score == MASKED);
            weights[first + c] = weight;
            sum += weight;
        }
        halves[local] = sum;
        workgroupBarrier();
        if (local % 2u == 0u) {
            let fade = exp(row_max[row] - largest);
            row_fade[row] = fade;
            row_sum[row] = row_sum[row] * fade + halves[local] + halves[local + 1u];
            row_max[row] = largest;
        }
        workgroupBarrier();

        for (var r = 0u; r < 4u; r++) {
            let fade = row_fade[ty + r];
            o[r] *= fade;
            o[r + 4u] *= fade;
        }
        // Where a row sees only some of the tile's keys, the others must not touch it even when they are NaN.
        let ragged = p.causal != 0u && j0 + KEYS > p.offset + row0 / p.group + 1u;
        for (var half = 0u; half < KEYS; half += STEP) {
            for (var e = 0u; e < 16u; e++) {
                let i = local + e * 64u;
                let key = j0 + half + i / COLS;
                let col = col0 + i % COLS;
                let at = (min(key, end - 1u) * p.kv + head) * p.dv + min(col, p.dv - 1u);
                tile_v[i] = select(0.0, v[at], key < end && col < p.dv);
            }
            workgroupBarrier();
            for (var c = 0u; c < STEP; c++) {
                let at = c * COLS + tx;
                let v0 = vec4(tile_v[at], tile_v[at + 1u], tile_v[at + 2u], tile_v[at + 3u]);
                let v1 = vec4(tile_v[at + 32u], tile_v[at + 33u], tile_v[at + 34u], tile_v[at + 35u]);
                for (var r = 0u; r < 4u; r++) {
                    let weight = weights[(ty + r) * 33u + half + c];
                    if (!ragged || weight != 0.0) {
                        o[r] += weight * v0;
                        o[r + 4u] += weight * v1;
                    }
                }
            }
            workgroupBarrier();
        }
    }
    workgroupBarrier();

    let width = select(p.dv + 2u, p.dv, p.splits == 1u);
    for (var r = 0u; r < 4u; r++) {
        let i = row0 + ty + r;
        if (i < rows) {
            let out_row = (i / p.group * p.kv + head) * p.group + i % p.group;
            let out = (split * rows * p.kv + out_row) * width;
            let sum = row_sum[ty + r];
            var norm = 1.0;
            if (p.splits == 1u) {
                norm = select(1.0 / sum, 0.0, sum == 0.0);
            } else if (col0 == 0u && tx == 0u) {
                y[out + p.dv] = row_max[ty + r];
                y[out + p.dv + 1u] = sum;
            }
            for (var c = 0u; c < 8u; c++) {
                let col = col0 + tx + c % 4u + c / 4u * 32u;
                if (col < p.dv) {
                    y[out + col] = o[r + c / 4u * 4u][c % 4u] * norm;
                }
            }
        }
    }
}
