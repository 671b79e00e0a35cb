// The parts of an attention made one: parts [splits, rows, dv + 2] hold unnormalised sums, then maximum and weight;
// y [rows, dv] = sum(exp(max_i - max) · sum_i) / sum(exp(max_i - max) · weight_i). An invocation makes one element.

struct Params { rows: u32, dv: u32, splits: u32 }

@group(0) @binding(0) var<storage, read> parts: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

@compute @workgroup_size(256)
fn merge(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i >= p.rows * p.dv) {
        return;
    }
    let row = i / p.dv;
    let width = p.dv + 2u;
    var largest = -3e38;
    for (var s = 0u; s < p.splits; s++) {
        let top = parts[(s * p.rows + row) * width + p.dv];
        largest = select(largest, top, top > largest);
    }
    var sum = 0.0;
    var weight = 0.0;
    for (var s = 0u; s < p.splits; s++) {
        let at = (s * p.rows + row) * width;
        let part = parts[at + p.dv + 1u];
        // A part without keys has weight 0 and no maximum.
        if (part != 0.0) {
            let fade = exp(parts[at + p.dv] - largest);
            sum += fade * parts[at + i % p.dv];
            weight += fade * part;
        }
    }
    y[i] = select(sum / weight, 0.0, weight == 0.0);
}
