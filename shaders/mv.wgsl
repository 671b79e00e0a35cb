// import lib/grid.wgsl
// import lib/b_{f32,f16}.wgsl

// y = scale · a · b for few rows of a, up to M, and many columns of b: reading b is the cost, and it is read once for all
// rows. Whole, or a part of k for each of `splits`, as mm.wgsl.
//
// Value kk of row r of a lies at r · a_row + kk · a_k, and y [r, column] at r · y_row + column · y_column: where b of the op
// is the one with few columns, it is a here, and a of the op is b.
//
// The row of the table gives M, LANES (invocations along k that share a column), FLIGHT (values of a column that an
// invocation has on their way) and, for `mv_bt`, COLS (columns at a time).

struct Params {
    few: u32, k: u32, many: u32, scale: f32, part: u32, splits: u32,
    a_row: u32, a_k: u32, y_row: u32, y_column: u32,
}

@group(0) @binding(0) var<storage, read> a: array<f32>;
// Binding 1 is b, in lib/b_*.wgsl.
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

fn load_a(r: u32, kk: u32) -> f32 {
    return a[min(r, p.few - 1u) * p.a_row + kk * p.a_k];
}

fn store(split: u32, r: u32, column: u32, sum: f32) {
    if (column < p.many && r < p.few) {
        y[split * p.few * p.many + r * p.y_row + column * p.y_column] = sum * select(1.0, p.scale, p.splits == 1u);
    }
}

const ACROSS = 256u / LANES;           // columns of a workgroup of mv
const GROUPS = 128u / LANES;           // invocations of mv_bt with a lane of 0
const OUTPUTS = M * COLS;

var<workgroup> partial: array<f32, 256>;
var<workgroup> sums: array<f32, 128u * OUTPUTS>;

/// b [k, many]: neighbouring invocations have neighbouring columns.
@compute @workgroup_size(256)
fn mv(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.many + ACROSS - 1u) / ACROSS;
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    let column = g % across * ACROSS + local % ACROSS;
    let at = min(column, p.many - 1u);
    var acc: array<f32, M>;
    for (var k0 = begin + local / ACROSS; k0 < end; k0 += LANES * FLIGHT) {
        var x = array<f32, FLIGHT>();
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            x[f] = load_b(min(k0 + f * LANES, end - 1u) * p.many + at);
        }
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            let kk = k0 + f * LANES;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    acc[r] = fma(load_a(r, kk), x[f], acc[r]);
                }
            }
        }
    }
    for (var r = 0u; r < M; r++) { // unroll
        if (LANES > 1u) {
            workgroupBarrier();
            partial[local] = acc[r];
            workgroupBarrier();
        }
        if (local < ACROSS) {
            var sum = acc[r];
            for (var lane = 1u; lane < LANES; lane++) {
                sum += partial[lane * ACROSS + local];
            }
            store(split, r, column, sum);
        }
    }
}

/// b [many, k]: neighbouring invocations have neighbouring values of a column.
@compute @workgroup_size(128)
fn mv_bt(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.many + GROUPS * COLS - 1u) / (GROUPS * COLS);
    let g = linear(group, groups);
    let split = g / across;
    if (split >= p.splits) {
        return;
    }
    let begin = split * p.part;
    let end = min(begin + p.part, p.k);
    let lane = local % LANES;
    let first = (g % across * GROUPS + local / LANES) * COLS;
    var acc: array<f32, COLS * M>;
    for (var k0 = begin + lane; k0 < end; k0 += LANES * FLIGHT) {
        var x = array<f32, COLS * FLIGHT>();
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            for (var c = 0u; c < COLS; c++) { // unroll
                x[c * FLIGHT + f] = load_b(min(first + c, p.many - 1u) * p.k + min(k0 + f * LANES, end - 1u));
            }
        }
        for (var f = 0u; f < FLIGHT; f++) { // unroll
            let kk = k0 + f * LANES;
            if (kk < end) {
                for (var r = 0u; r < M; r++) { // unroll
                    let w = load_a(r, kk);
                    for (var c = 0u; c < COLS; c++) { // unroll
                        acc[c * M + r] = fma(w, x[c * FLIGHT + f], acc[c * M + r]);
                    }
                }
            }
        }
    }
    if (LANES == 1u) {
        for (var i = 0u; i < OUTPUTS; i++) { // unroll
            store(split, i % M, first + i / M, acc[i]);
        }
        return;
    }
    for (var i = 0u; i < OUTPUTS; i++) { // unroll
        sums[i * 128u + local] = acc[i];
    }
    for (var s = LANES / 2u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (lane < s) {
            for (var i = 0u; i < OUTPUTS; i++) { // unroll
                sums[i * 128u + local] += sums[i * 128u + local + s];
            }
        }
    }
    workgroupBarrier();
    for (var i = lane; i < OUTPUTS; i += LANES) {
        store(split, i % M, first + i / M, sums[i * 128u + local - lane]);
    }
}
