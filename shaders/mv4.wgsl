// As mv.wgsl, where rows of b are whole vectors of four: n a multiple of four for `mv4`, k for `mv_bt4`.
// The row of the table gives M, COLS (for `mv_bt4`) and OUTPUTS = M · COLS.

struct Params { m: u32, k: u32, n: u32, scale: f32, part: u32, splits: u32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(0) var<storage, read> a4: array<vec4<f32>>;
// Binding 1 is b, in lib/b4_*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

/// Loads of b that are on their way at a time.
const FLIGHT = 4u;

var<workgroup> partial: array<vec4<f32>, 256>;
var<workgroup> sums: array<f32, 128u * OUTPUTS>;

/// b [k, n]: 32 neighbouring vectors of columns a workgroup, eight invocations along k for each.
@compute @workgroup_size(256)
fn mv4(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let n4 = p.n / 4u;
    let across = (n4 + 31u) / 32u;
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    let col = g % across * 32u + local % 32u;
    let at = min(col, n4 - 1u);
    var acc: array<vec4<f32>, M>;
    for (var k0 = begin + local / 32u; k0 < end; k0 += 8u * FLIGHT) {
        var x = array<vec4<f32>, FLIGHT>();
        for (var f = 0u; f < 4u; f++) { // unroll
            x[f] = load_b(min(k0 + f * 8u, end - 1u) * n4 + at);
        }
        for (var f = 0u; f < 4u; f++) { // unroll
            let kk = k0 + f * 8u;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    acc[r] = fma(vec4(a[min(r, p.m - 1u) * p.k + kk]), x[f], acc[r]);
                }
            }
        }
    }
    for (var r = 0u; r < M; r++) { // unroll
        workgroupBarrier();
        partial[local] = acc[r];
        workgroupBarrier();
        if (local < 32u && col < n4 && r < p.m) {
            var sum = vec4(0.0);
            for (var lane = 0u; lane < 8u; lane++) {
                sum += partial[lane * 32u + local];
            }
            sum *= select(1.0, p.scale, p.splits == 1u);
            for (var i = 0u; i < 4u; i++) { // unroll
                y[(split * p.m + r) * p.n + col * 4u + i] = sum[i];
            }
        }
    }
}

/// b [n, k]: COLS rows of b a workgroup, 128 invocations along the vectors of k for all of them.
@compute @workgroup_size(128)
fn mv_bt4(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let k4 = p.k / 4u;
    let across = (p.n + COLS - 1u) / COLS;
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * (p.part / 4u);
    let end = min(begin + p.part / 4u, k4);
    let col0 = g % across * COLS;
    var acc: array<f32, COLS * M>;
    for (var k0 = begin + local; k0 < end; k0 += 128u * FLIGHT) {
        var x = array<vec4<f32>, COLS * FLIGHT>();
        for (var f = 0u; f < 4u; f++) { // unroll
            for (var c = 0u; c < COLS; c++) { // unroll
                x[c * FLIGHT + f] = load_b(min(col0 + c, p.n - 1u) * k4 + min(k0 + f * 128u, end - 1u));
            }
        }
        for (var f = 0u; f < 4u; f++) { // unroll
            let kk = k0 + f * 128u;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    let w = a4[min(r, p.m - 1u) * k4 + kk];
                    for (var c = 0u; c < COLS; c++) { // unroll
                        acc[c * M + r] += dot(w, x[c * FLIGHT + f]);
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
