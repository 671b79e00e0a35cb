// y [cols, rows] = xᵀ, x [rows, cols]: a workgroup turns one tile of 32 x 32 in workgroup memory, so that both sides
// are read and written along their rows. The tile's rows are one longer, so that its columns fall on different banks.

struct Params { rows: u32, cols: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

var<workgroup> tile: array<f32, 1056>;

@compute @workgroup_size(256)
fn transpose(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.cols + 31u) / 32u;
    let g = linear(group, groups);
    let row0 = g / across * 32u;
    let col0 = g % across * 32u;
    let lane = local % 32u;
    let line = local / 32u;
    for (var j = 0u; j < 32u; j += 8u) {
        let row = row0 + line + j;
        let col = col0 + lane;
        if (row < p.rows && col < p.cols) {
            tile[(line + j) * 33u + lane] = x[row * p.cols + col];
        }
    }
    workgroupBarrier();
    for (var j = 0u; j < 32u; j += 8u) {
        let row = col0 + line + j;
        let col = row0 + lane;
        if (row < p.cols && col < p.rows) {
            y[row * p.rows + col] = tile[lane * 33u + line + j];
        }
    }
}
