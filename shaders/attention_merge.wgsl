// import lib/grid.wgsl
// import lib/scores.wgsl

// The parts of an attention made one: parts [splits, rows, dv + 4] hold unnormalised sums, then maximum and weight;
// y [rows, dv] = sum(exp(max_i - max) · sum_i) / sum(exp(max_i - max) · weight_i). A part that a row sees nothing of has
// sums of 0 and the lowest maximum.
// A workgroup makes 32 columns of a row, with eight invocations along the parts.

struct Params { rows: u32, dv: u32, splits: u32 }

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tops: array<f32, 256>;
var<workgroup> sums: array<vec2<f32>, 256>;

@compute @workgroup_size(256)
fn merge(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let tiles = (p.dv + 31u) / 32u;
    let g = linear(group, groups);
    let row = min(g / tiles, p.rows - 1u);
    let col = g % tiles * 32u + local % 32u;
    let width = p.dv + 4u;

    var top = LOWEST;
    for (var s = local; s < p.splits; s += 256u) {
        top = max(top, parts[(s * p.rows + row) * width + p.dv]);
    }
    tops[local] = top;
    for (var s = 128u; s > 0u; s /= 2u) {
        workgroupBarrier();
        if (local < s) {
            tops[local] = max(tops[local], tops[local + s]);
        }
    }
    workgroupBarrier();
    top = tops[0];

    var sum = vec2(0.0);
    for (var s = local / 32u; s < p.splits; s += 8u) {
        let at = (s * p.rows + row) * width;
        let fade = weight(vec4(parts[at + p.dv] - top)).x;
        sum += fade * vec2(parts[at + min(col, p.dv - 1u)], parts[at + p.dv + 1u]);
    }
    sums[local] = sum;
    workgroupBarrier();
    if (local < 32u && col < p.dv && g / tiles < p.rows) {
        for (var n = 1u; n < 8u; n++) {
            sum += sums[local + n * 32u];
        }
        y[row * p.dv + col] = or_nan(vec4(select(sum.x / sum.y, 0.0, sum.y == 0.0)), top).x;
    }
}
