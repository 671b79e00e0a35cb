// import lib/grid.wgsl
// import lib/b_{f32,f16}.wgsl

// y [m, n] = scale · a [m, k] · b, b [k, n], or [n, k] when TRANS_B is 1; whole, or a part of k for each of `splits`.
//
// A workgroup makes a tile of BM x BN outputs over steps of BK along k; an invocation makes TM x TN of them.
// Tiles are k-major in vectors of four, and a vector holds rows (or columns) a quarter of the tile apart: neighbouring
// invocations then read and write neighbouring scalars whatever the alignment of k and n, so odd sizes need no other
// kernel. (Reading blocks of vectors was tried: with k or n a multiple of four it is no faster, and slower for b [n, k].)
// The row of the table gives BM, BN, BK, TM, TN and TRANS_B.

struct Params { m: u32, k: u32, n: u32, scale: f32, part: u32, splits: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
// Binding 1 is b, in lib/b_*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

const TX = BN / TN;
const THREADS = TX * (BM / TM);
const AR = BM / 4u;                    // vectors in a row of a tile
const BR = BN / 4u;
const A_LOADS = AR * BK / THREADS;     // vectors that an invocation loads at each step
const B_LOADS = BR * BK / THREADS;
const I = TM / 4u;                     // vectors of rows and columns that it makes
const J = TN / 4u;

var<workgroup> tile_a: array<vec4<f32>, AR * BK>;
var<workgroup> tile_b: array<vec4<f32>, BR * BK>;

/// Where vector r of row kk lies: turned by kk, so that a column of the tile falls on different banks.
fn swizzle(kk: u32, r: u32, row: u32) -> u32 {
    return kk * row + (r ^ (kk & min(7u, row - 1u)));
}

@compute @workgroup_size(THREADS)
fn mm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.n + BN - 1u) / BN;
    let down = (p.m + BM - 1u) / BM;
    let g = linear(group, groups);
    let tile = g % (across * down);
    let split = g / (across * down);
    if (split >= p.splits) {
        return;
    }
    // Eight rows of tiles at a time, column by column: neighbours share what they read through the cache.
    let band = tile / (8u * across) * 8u;
    let high = min(8u, down - band);
    let row0 = (band + tile % (8u * across) % high) * BM;
    let col0 = tile % (8u * across) / high * BN;
    // Eight by four neighbours: 32 invocations that run together read few different values of a tile.
    let tx = local % 8u + local / 32u % (TX / 8u) * 8u;
    let ty = local / 8u % 4u + local / (4u * TX) * 4u;

    // Addresses of the vectors that this invocation loads at each step; rows and columns beyond the last are any.
    var from_a: array<vec4<u32>, A_LOADS>;
    var from_b: array<vec4<u32>, B_LOADS>;
    for (var e = 0u; e < A_LOADS; e++) { // unroll
        let i = local + e * THREADS;
        from_a[e] = min(vec4(row0 + i / BK) + vec4(0u, AR, 2u * AR, 3u * AR), vec4(p.m - 1u)) * p.k + i % BK;
    }
    for (var e = 0u; e < B_LOADS; e++) { // unroll
        let i = local + e * THREADS;
        if (TRANS_B == 1u) {
            from_b[e] = min(vec4(col0 + i / BK) + vec4(0u, BR, 2u * BR, 3u * BR), vec4(p.n - 1u)) * p.k + i % BK;
        } else {
            from_b[e] = min(vec4(col0 + i % BR) + vec4(0u, BR, 2u * BR, 3u * BR), vec4(p.n - 1u)) + i / BR * p.n;
        }
    }

    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    var acc: array<vec4<f32>, I * 4u * J>;
    var next_a: array<vec4<f32>, A_LOADS>;
    var next_b: array<vec4<f32>, B_LOADS>;
    for (var k0 = begin; k0 < end; k0 += BK) {
        for (var e = 0u; e < A_LOADS; e++) { // unroll
            let inside = k0 + (local + e * THREADS) % BK < end;
            let at = from_a[e] + select(0u, k0, inside);
            next_a[e] = select(vec4(0.0), vec4(a[at.x], a[at.y], a[at.z], a[at.w]), inside);
        }
        for (var e = 0u; e < B_LOADS; e++) { // unroll
            let i = local + e * THREADS;
            let inside = k0 + select(i / BR, i % BK, TRANS_B == 1u) < end;
            let at = from_b[e] + select(0u, k0 * select(p.n, 1u, TRANS_B == 1u), inside);
            next_b[e] = select(vec4(0.0), vec4(load_b(at.x), load_b(at.y), load_b(at.z), load_b(at.w)), inside);
        }
        workgroupBarrier();
        for (var e = 0u; e < A_LOADS; e++) { // unroll
            let i = local + e * THREADS;
            tile_a[swizzle(i % BK, i / BK, AR)] = next_a[e];
        }
        for (var e = 0u; e < B_LOADS; e++) { // unroll
            let i = local + e * THREADS;
            if (TRANS_B == 1u) {
                tile_b[swizzle(i % BK, i / BK, BR)] = next_b[e];
            } else {
                tile_b[i] = next_b[e];
            }
        }
        workgroupBarrier();
        for (var kk = 0u; kk < BK; kk++) {
            var fb = array<vec4<f32>, J>();
            for (var j = 0u; j < J; j++) { // unroll
                fb[j] = tile_b[select(kk * BR + tx + j * TX, swizzle(kk, tx + j * TX, BR), TRANS_B == 1u)];
            }
            for (var i = 0u; i < I; i++) { // unroll
                let fa = tile_a[swizzle(kk, ty + i * (BM / TM), AR)];
                for (var c = 0u; c < 4u; c++) { // unroll
                    for (var j = 0u; j < J; j++) { // unroll
                        acc[(i * 4u + c) * J + j] += fa[c] * fb[j];
                    }
                }
            }
        }
    }

    let scale = select(1.0, p.scale, p.splits == 1u);
    let out = split * p.m * p.n;
    for (var i = 0u; i < I; i++) { // unroll
        for (var c = 0u; c < 4u; c++) { // unroll
            let row = row0 + ty + i * (BM / TM) + c * AR;
            for (var j = 0u; j < J; j++) { // unroll
                let v = acc[(i * 4u + c) * J + j] * scale;
                let col = col0 + tx + j * TX;
                for (var q = 0u; q < 4u; q++) { // unroll
                    if (row < p.m && col + q * BR < p.n) {
                        y[out + row * p.n + col + q * BR] = v[q];
                    }
                }
            }
        }
    }
}
