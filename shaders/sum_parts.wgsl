// import lib/grid.wgsl

// y [len] = scale · the sum of `splits` parts of `len` values each, always added in the same order.

struct Params { len: u32, splits: u32, scale: f32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> partial: array<f32, 256>;

/// 32 neighbouring values a workgroup, eight invocations for each.
@compute @workgroup_size(256)
fn sum_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 32u + local % 32u;
    let at = min(i, p.len - 1u);
    var sum = 0.0;
    for (var s = local / 32u; s < p.splits; s += 8u) {
        sum += x[s * p.len + at];
    }
    partial[local] = sum;
    workgroupBarrier();
    if (local < 32u && i < p.len) {
        for (var lane = 1u; lane < 8u; lane++) {
            sum += partial[lane * 32u + local];
        }
        y[i] = sum * p.scale;
    }
}
