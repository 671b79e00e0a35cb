// y [m, n] = scale · a [m, k] · b, b [k, n], or [n, k] when TRANS_B.
// A workgroup of 8 x 8 invocations makes a tile of 64 x 64 outputs, 8 x 8 each, over steps of 16 along k.

struct Params { m: u32, k: u32, n: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

const TILE = 64u;
const STEP = 16u;

// k-major, so that an invocation reads its rows and columns next to each other.
var<workgroup> tile_a: array<f32, 1024>;
var<workgroup> tile_b: array<f32, 1024>;

@compute @workgroup_size(64)
fn mm(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.n + TILE - 1u) / TILE;
    let g = linear(group, groups);
    let row0 = g / across * TILE;
    let col0 = g % across * TILE;
    let ty = local / 8u * 4u;
    let tx = local % 8u * 4u;

    // Rows ty..ty+4 and ty+32..ty+36; columns tx..tx+4 and tx+32..tx+36.
    var acc: array<vec4<f32>, 16>;
    for (var k0 = 0u; k0 < p.k; k0 += STEP) {
        for (var e = 0u; e < 16u; e++) {
            let i = local + e * 64u;
            let row = row0 + i / STEP;
            let kk = k0 + i % STEP;
            tile_a[(i % STEP) * TILE + i / STEP] = select(0.0, a[min(row, p.m - 1u) * p.k + min(kk, p.k - 1u)], row < p.m && kk < p.k);
        }
        for (var e = 0u; e < 16u; e++) {
            let i = local + e * 64u;
            if (TRANS_B) {
                let col = col0 + i / STEP;
                let kk = k0 + i % STEP;
                tile_b[(i % STEP) * TILE + i / STEP] = select(0.0, b[min(col, p.n - 1u) * p.k + min(kk, p.k - 1u)], col < p.n && kk < p.k);
            } else {
                let kk = k0 + i / TILE;
                let col = col0 + i % TILE;
                tile_b[i] = select(0.0, b[min(kk, p.k - 1u) * p.n + min(col, p.n - 1u)], col < p.n && kk < p.k);
            }
        }
        workgroupBarrier();
        for (var kk = 0u; kk < STEP; kk++) {
            let at = kk * TILE;
            let b0 = vec4(tile_b[at + tx], tile_b[at + tx + 1u], tile_b[at + tx + 2u], tile_b[at + tx + 3u]);
            let b1 = vec4(tile_b[at + tx + 32u], tile_b[at + tx + 33u], tile_b[at + tx + 34u], tile_b[at + tx + 35u]);
            for (var r = 0u; r < 4u; r++) {
                let a0 = tile_a[at + ty + r];
                let a1 = tile_a[at + ty + 32u + r];
                acc[r] += a0 * b0;
                acc[r + 4u] += a0 * b1;
                acc[r + 8u] += a1 * b0;
                acc[r + 12u] += a1 * b1;
            }
        }
        workgroupBarrier();
    }
    for (var q = 0u; q < 16u; q++) {
        let row = row0 + ty + q % 4u + (q / 8u) * 32u;
        let col = col0 + tx + (q / 4u % 2u) * 32u;
        for (var c = 0u; c < 4u; c++) {
            if (row < p.m && col + c < p.n) {
                y[row * p.n + col + c] = acc[q][c] * p.scale;
            }
        }
    }
}
