// y [m, n] = scale · a [m, k] · b for m of 8 at most: b is read once, each element serving all rows of a.
// A workgroup makes 8 columns, with 8 invocations along k for each.

struct Params { m: u32, k: u32, n: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

var<workgroup> partial: array<f32, 512>;

/// Adds up the 8 partial sums of each output and writes the workgroup's columns.
fn finish(local: u32, col0: u32, acc: array<f32, 8>) {
    for (var r = 0u; r < 8u; r++) {
        partial[r * 64u + local] = acc[r];
    }
    workgroupBarrier();
    // Invocation (r, c) finishes row r, column c.
    let r = local / 8u;
    let c = local % 8u;
    var sum = 0.0;
    for (var lane = 0u; lane < 8u; lane++) {
        sum += partial[r * 64u + lane * 8u + c];
    }
    if (r < p.m && col0 + c < p.n) {
        y[r * p.n + col0 + c] = sum * p.scale;
    }
}

/// b [k, n]
@compute @workgroup_size(64)
fn mv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let col0 = linear(group, groups) * 8u;
    let col = min(col0 + local % 8u, p.n - 1u);
    var acc: array<f32, 8>;
    for (var kk = local / 8u; kk < p.k; kk += 8u) {
        let weight = b[kk * p.n + col];
        for (var r = 0u; r < 8u; r++) {
            acc[r] += a[min(r, p.m - 1u) * p.k + kk] * weight;
        }
    }
    finish(local, col0, acc);
}

/// b [n, k]
@compute @workgroup_size(64)
fn mv_bt(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let col0 = linear(group, groups) * 8u;
    let col = min(col0 + local % 8u, p.n - 1u);
    var acc: array<f32, 8>;
    for (var kk = local / 8u; kk < p.k; kk += 8u) {
        let weight = b[col * p.k + kk];
        for (var r = 0u; r < 8u; r++) {
            acc[r] += a[min(r, p.m - 1u) * p.k + kk] * weight;
        }
    }
    finish(local, col0, acc);
}
