// import lib/grid.wgsl
// import lib/b_{f32,f16}.wgsl

// y [m, n] = scale · a [m, k] · b for few rows of a, up to M: reading b is the cost, and it is read once for all rows.
// Whole, or a part of k for each of `splits`, as mm.wgsl. The row of the table gives M, FLIGHT
// (values of a column that are on their way at a time) and COLS (columns at a time, for `mv_bt`).

struct Params { m: u32, k: u32, n: u32, scale: f32, part: u32, splits: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
// Binding 1 is b, in lib/b_*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

const OUTPUTS = M * COLS;

var<workgroup> partial: array<f32, 256>;
var<workgroup> sums: array<f32, 128u * OUTPUTS>;

/// b [k, n]: 32 neighbouring columns a workgroup, eight invocations along k for each.
@compute @workgroup_size(256)
fn mv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.n + 31u) / 32u;
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    let col = g % across * 32u + local % 32u;
    let at = min(col, p.n - 1u);
    var acc: array<f32, M>;
    for (var k0 = begin + local / 32u; k0 < end; k0 += 8u * FLIGHT) {
        var x = array<f32, FLIGHT>();
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            x[f] = load_b(min(k0 + f * 8u, end - 1u) * p.n + at);
        }
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            let kk = k0 + f * 8u;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    acc[r] = fma(a[min(r, p.m - 1u) * p.k + kk], x[f], acc[r]);
                }
            }
        }
    }
    for (var r = 0u; r < M; r++) { // unroll
        workgroupBarrier();
        partial[local] = acc[r];
        workgroupBarrier();
        if (local < 32u && col < p.n && r < p.m) {
            var sum = 0.0;
            for (var lane = 0u; lane < 8u; lane++) {
                sum += partial[lane * 32u + local];
            }
            y[(split * p.m + r) * p.n + col] = sum * select(1.0, p.scale, p.splits == 1u);
        }
    }
}

/// b [n, k]: COLS rows of b a workgroup, 128 invocations along k for all of them.
@compute @workgroup_size(128)
fn mv_bt(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.n + COLS - 1u) / COLS;
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    let col0 = g % across * COLS;
    var acc: array<f32, COLS * M>;
    for (var k0 = begin + local; k0 < end; k0 += 128u * FLIGHT) {
        var x = array<f32, COLS * FLIGHT>();
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            for (var c = 0u; c < COLS; c++) { // unroll
                x[c * FLIGHT + f] = load_b(min(col0 + c, p.n - 1u) * p.k + min(k0 + f * 128u, end - 1u));
            }
        }
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            let kk = k0 + f * 128u;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    let w = a[min(r, p.m - 1u) * p.k + kk];
                    for (var c = 0u; c < COLS; c++) { // unroll
                        acc[c * M + r] = fma(w, x[c * FLIGHT + f], acc[c * M + r]);
                    }
                }
            }
        }
    }
    for (var i = 0u; i < OUTPUTS; i++) { // unroll
        sums[i * 128u + local] = acc[i];
    }
    for (var s = 64u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (local < s) {
            for (var i = 0u; i < OUTPUTS; i++) { // unroll
                sums[i * 128u + local] += sums[i * 128u + local + s];
            }
        }
    }
    workgroupBarrier();
    if (local < OUTPUTS) {
        let col = col0 + local / M;
        let r = local % M;
        if (col < p.n && r < p.m) {
            y[(split * p.m + r) * p.n + col] = sums[local * 128u] * select(1.0, p.scale, p.splits == 1u);
        }
    }
}
