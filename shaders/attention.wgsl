// import lib/grid.wgsl
// import lib/scores.wgsl
// import lib/kv_{f32,f16}.wgsl

// softmax(scale · q · kᵀ) · v, flash style: q [t, kv · group · d], k [s, kv · d], v [s, kv · dv], y [t, kv · group · dv].
// Query head h reads kv head h / group. Causal: query i sees keys 0..=offset + i.
//
// A workgroup takes ROWS rows (pairs of a query and a head of one group, so that keys and values are read once for the
// whole group), COLS columns of v, and a part of the keys, KEYS at a time. The head dimension streams through workgroup
// memory in chunks of STEP, so any head size and any number of keys fit. Two matrix products as in mm.wgsl (tiles
// k-major, vectors of values a quarter of the tile apart), with an online softmax between them in registers.
// With one part the result is written; with more, each part writes its unnormalised sum, its maximum and its weight
// (a row of dv and 4 more) for attention_merge.wgsl.
// The row of the table gives ROWS, KEYS, COLS, TM (rows of an invocation) and TK (its keys).

struct Params {
    t: u32, s: u32, kv: u32, group: u32, d: u32, dv: u32,
    scale: f32, offset: u32, causal: u32, part: u32, splits: u32,
}

@group(0) @binding(0) var<storage, read> q: array<f32>;
// Bindings 1 and 2 are k and v, in lib/kv_*.wgsl.
@group(0) @binding(3) var<storage, read_write> y: array<f32>;
@group(0) @binding(4) var<uniform> p: Params;

const STEP = 16u;
const TX = KEYS / TK;
const TY = ROWS / TM;
const THREADS = TX * TY;
const QR = ROWS / 4u;                  // vectors in a row of each tile
const KR = KEYS / 4u;
const VR = COLS / 4u;
const I = TM / 4u;                     // vectors of rows, keys and columns that an invocation makes
const J = TK / 4u;
const C = COLS / 4u / TX;
const Q_LOADS = QR * STEP / THREADS;   // vectors that it loads of each tile
const K_LOADS = KR * STEP / THREADS;
const V_LOADS = VR * STEP / THREADS;

var<workgroup> tile_q: array<vec4<f32>, QR * STEP>;
var<workgroup> tile_k: array<vec4<f32>, max(KR, VR) * STEP>;     // keys, then values
var<workgroup> weights: array<vec4<f32>, QR * KEYS>;             // [key][row]
var<workgroup> tops: array<f32, ROWS * (TX + 1u)>;
var<workgroup> row_max: array<f32, ROWS>;
var<workgroup> row_fade: array<f32, ROWS>;

fn swizzle(line: u32, r: u32, row: u32) -> u32 {
    return line * row + (r ^ (line & 7u));
}

@compute @workgroup_size(THREADS)
fn attention(@builtin(workgroup_id) group_id: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let rows = p.t * p.group;
    let row_tiles = (rows + ROWS - 1u) / ROWS;
    let col_tiles = (p.dv + COLS - 1u) / COLS;
    var g = linear(group_id, groups);
    let split = g % p.splits;
    g /= p.splits;
    let col0 = g % col_tiles * COLS;
    g /= col_tiles;
    let head = g % p.kv;
    g /= p.kv;
    if (g >= row_tiles) {
        return;
    }
    // The longest rows first: under a causal mask they have the most keys.
    let row0 = (row_tiles - 1u - g) * ROWS;

    let last = min(row0 + ROWS, rows) - 1u;
    let seen = select(p.s, min(p.s, p.offset + last / p.group + 1u), p.causal != 0u);
    let begin = split * p.part;
    let end = min(begin + p.part, seen);
    let tx = local % TX;
    let ty = local / TX;

    // Where the rows of q that this invocation loads begin; they stay the same for all keys.
    var from_q: array<vec4<u32>, Q_LOADS>;
    for (var e = 0u; e < Q_LOADS; e++) { // unroll
        let row = min(vec4(row0 + (local + e * THREADS) / STEP) + vec4(0u, QR, 2u * QR, 3u * QR), vec4(rows - 1u));
        from_q[e] = ((row / p.group * p.kv + head) * p.group + row % p.group) * p.d;
    }
    // How many keys each row sees.
    var limits: array<vec4<u32>, I>;
    for (var i = 0u; i < I; i++) { // unroll
        let query = (vec4(row0 + ty + i * TY) + vec4(0u, QR, 2u * QR, 3u * QR)) / p.group;
        limits[i] = select(vec4(end), min(vec4(end), p.offset + query + 1u), p.causal != 0u);
    }

    var o: array<vec4<f32>, I * 4u * C>;
    var sum: array<vec4<f32>, I>;
    if (local < ROWS) {
        row_max[local] = LOWEST;
    }

    for (var j0 = begin; j0 < end; j0 += KEYS) {
        var scores = array<vec4<f32>, I * 4u * J>(); // given its zeros: without, drivers keep those of the round before
        for (var d0 = 0u; d0 < p.d; d0 += STEP) {
            workgroupBarrier();
            for (var e = 0u; e < Q_LOADS; e++) { // unroll
                let i = local + e * THREADS;
                let line = i % STEP;
                let at = from_q[e] + min(d0 + line, p.d - 1u);
                tile_q[swizzle(line, i / STEP, QR)] = select(vec4(0.0), vec4(q[at.x], q[at.y], q[at.z], q[at.w]), d0 + line < p.d);
            }
            for (var e = 0u; e < K_LOADS; e++) { // unroll
                let i = local + e * THREADS;
                let line = i % STEP;
                let key = min(vec4(j0 + i / STEP) + vec4(0u, KR, 2u * KR, 3u * KR), vec4(end - 1u));
                let at = (key * p.kv + head) * p.d + min(d0 + line, p.d - 1u);
                tile_k[swizzle(line, i / STEP, KR)] = select(vec4(0.0), vec4(load_k(at.x), load_k(at.y), load_k(at.z), load_k(at.w)), d0 + line < p.d);
            }
            workgroupBarrier();
            for (var line = 0u; line < STEP; line++) {
                var fk = array<vec4<f32>, J>();
                for (var j = 0u; j < J; j++) { // unroll
                    fk[j] = tile_k[swizzle(line, tx + j * TX, KR)];
                }
                for (var i = 0u; i < I; i++) { // unroll
                    let fq = tile_q[swizzle(line, ty + i * TY, QR)];
                    for (var j = 0u; j < J; j++) { // unroll
                        scores[(i * 4u + 0u) * J + j] = fma(vec4(fq.x), fk[j], scores[(i * 4u + 0u) * J + j]);
                        scores[(i * 4u + 1u) * J + j] = fma(vec4(fq.y), fk[j], scores[(i * 4u + 1u) * J + j]);
                        scores[(i * 4u + 2u) * J + j] = fma(vec4(fq.z), fk[j], scores[(i * 4u + 2u) * J + j]);
                        scores[(i * 4u + 3u) * J + j] = fma(vec4(fq.w), fk[j], scores[(i * 4u + 3u) * J + j]);
                    }
                }
            }
        }

        // Masks, and the maximum of each row: first of an invocation's keys, then of all.
        for (var i = 0u; i < I; i++) { // unroll
            for (var c = 0u; c < 4u; c++) { // unroll
                let r = ty + i * TY + c * QR;
                var top = LOWEST;
                for (var j = 0u; j < J; j++) { // unroll
                    let key = j0 + tx + j * TX + vec4(0u, KR, 2u * KR, 3u * KR);
                    let x = select(vec4(LOWEST), counted(scores[(i * 4u + c) * J + j] * p.scale), key < vec4(limits[i][c]));
                    scores[(i * 4u + c) * J + j] = x;
                    top = max(max(top, max(x.x, x.y)), max(x.z, x.w));
                }
                tops[r * (TX + 1u) + tx] = top;
            }
        }
        workgroupBarrier();
        if (local < ROWS) {
            let before = row_max[local];
            var top = before;
            for (var n = 0u; n < TX; n++) {
                top = max(top, tops[local * (TX + 1u) + n]);
            }
            row_max[local] = top;
            row_fade[local] = weight(vec4(before - top)).x;
        }
        workgroupBarrier();

        for (var i = 0u; i < I; i++) { // unroll
            let r = ty + i * TY;
            let top = vec4(row_max[r], row_max[r + QR], row_max[r + 2u * QR], row_max[r + 3u * QR]);
            let fade = vec4(row_fade[r], row_fade[r + QR], row_fade[r + 2u * QR], row_fade[r + 3u * QR]);
            sum[i] *= fade;
            for (var c = 0u; c < C; c++) { // unroll
                o[(i * 4u + 0u) * C + c] *= fade.x;
                o[(i * 4u + 1u) * C + c] *= fade.y;
                o[(i * 4u + 2u) * C + c] *= fade.z;
                o[(i * 4u + 3u) * C + c] *= fade.w;
            }
            for (var j = 0u; j < J; j++) { // unroll
                for (var n = 0u; n < 4u; n++) { // unroll
                    let x = vec4(scores[(i * 4u + 0u) * J + j][n], scores[(i * 4u + 1u) * J + j][n],
                        scores[(i * 4u + 2u) * J + j][n], scores[(i * 4u + 3u) * J + j][n]);
                    let w = select(vec4(0.0), weight(x - top), vec4(j0 + tx + j * TX + n * KR) < limits[i]);
                    sum[i] += w;
                    weights[swizzle(tx + j * TX + n * KR, r, QR)] = w;
                }
            }
        }

        // Where a row sees only some of the tile's keys, the others must not touch it even when they are NaN.
        let ragged = p.causal != 0u && j0 + KEYS > p.offset + row0 / p.group + 1u;
        for (var n0 = 0u; n0 < KEYS; n0 += STEP) {
            workgroupBarrier();
            for (var e = 0u; e < V_LOADS; e++) { // unroll
                let i = local + e * THREADS;
                let line = i / VR;
                let c = col0 + i % VR;
                let key = j0 + n0 + line;
                let at = (min(key, end - 1u) * p.kv + head) * p.dv;
                let right = p.dv - 1u;
                let x = vec4(load_v(at + min(c, right)), load_v(at + min(c + VR, right)), load_v(at + min(c + 2u * VR, right)), load_v(at + min(c + 3u * VR, right)));
                tile_k[i] = select(vec4(0.0), x, key < end);
            }
            workgroupBarrier();
            for (var line = 0u; line < STEP; line++) {
                var fv = array<vec4<f32>, C>();
                for (var c = 0u; c < C; c++) { // unroll
                    fv[c] = tile_k[line * VR + tx + c * TX];
                }
                for (var i = 0u; i < I; i++) { // unroll
                    let w = weights[swizzle(n0 + line, ty + i * TY, QR)];
                    for (var c = 0u; c < C; c++) { // unroll
                        if (ragged) {
                            let sees = vec4(j0 + n0 + line) < limits[i];
                            o[(i * 4u + 0u) * C + c] += select(vec4(0.0), w.x * fv[c], sees.x);
                            o[(i * 4u + 1u) * C + c] += select(vec4(0.0), w.y * fv[c], sees.y);
                            o[(i * 4u + 2u) * C + c] += select(vec4(0.0), w.z * fv[c], sees.z);
                            o[(i * 4u + 3u) * C + c] += select(vec4(0.0), w.w * fv[c], sees.w);
                        } else {
                            o[(i * 4u + 0u) * C + c] = fma(vec4(w.x), fv[c], o[(i * 4u + 0u) * C + c]);
                            o[(i * 4u + 1u) * C + c] = fma(vec4(w.y), fv[c], o[(i * 4u + 1u) * C + c]);
                            o[(i * 4u + 2u) * C + c] = fma(vec4(w.z), fv[c], o[(i * 4u + 2u) * C + c]);
                            o[(i * 4u + 3u) * C + c] = fma(vec4(w.w), fv[c], o[(i * 4u + 3u) * C + c]);
                        }
                    }
                }
            }
        }
    }

    // The weight of a row is the sum over the invocations that share it.
    workgroupBarrier();
    for (var i = 0u; i < I; i++) { // unroll
        for (var c = 0u; c < 4u; c++) { // unroll
            tops[(ty + i * TY + c * QR) * (TX + 1u) + tx] = sum[i][c];
        }
    }
    workgroupBarrier();
    if (local < ROWS) {
        var total = 0.0;
        for (var n = 0u; n < TX; n++) {
            total += tops[local * (TX + 1u) + n];
        }
        row_fade[local] = total;
    }
    workgroupBarrier();

    let whole = p.splits == 1u;
    let width = select(p.dv + 4u, p.dv, whole);
    for (var i = 0u; i < I; i++) { // unroll
        for (var c = 0u; c < 4u; c++) { // unroll
            let r = ty + i * TY + c * QR;
            let row = row0 + r;
            if (row < rows) {
                let total = row_fade[r];
                let norm = select(1.0, select(1.0 / total, 0.0, total == 0.0), whole);
                let at = (split * rows * p.kv + (row / p.group * p.kv + head) * p.group + row % p.group) * width;
                for (var j = 0u; j < C; j++) { // unroll
                    let x = or_nan(o[(i * 4u + c) * C + j] * norm, row_max[r]);
                    let col = col0 + tx + j * TX;
                    for (var n = 0u; n < 4u; n++) { // unroll
                        if (col + n * VR < p.dv) {
                            y[at + col + n * VR] = x[n];
                        }
                    }
                }
                if (!whole && col0 == 0u && tx == 0u) {
                    y[at + p.dv] = row_max[r];
                    y[at + p.dv + 1u] = total;
                }
            }
        }
    }
}
