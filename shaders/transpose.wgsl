// import lib/grid.wgsl

// y [cols, rows] = xᵀ, x [rows, cols]: a workgroup turns one tile of 64 x 64 in workgroup memory, so that both sides
// are read and written along their rows. Columns of the tile are swapped by row, so that a column falls on different banks.

struct Params { rows: u32, cols: u32 }

@group(0) @binding(2) var<uniform> p: Params;

// transpose1
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;

// transpose4
@group(0) @binding(0) var<storage, read> x4: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y4: array<vec4<f32>>;

var<workgroup> tile: array<f32, 4096>;
var<workgroup> tile4: array<vec4<f32>, 1024>;

@compute @workgroup_size(256)
fn transpose1(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.cols + 63u) / 64u;
    let g = linear(group, groups);
    let row0 = g / across * 64u;
    let col0 = g % across * 64u;
    let lane = local % 64u;
    let line = local / 64u;
    var v: array<f32, 16>;
    for (var e = 0u; e < 16u; e++) { // unroll
        v[e] = x[min(row0 + line + e * 4u, p.rows - 1u) * p.cols + min(col0 + lane, p.cols - 1u)];
    }
    for (var e = 0u; e < 16u; e++) { // unroll
        let row = line + e * 4u;
        tile[row * 64u + (lane ^ (row & 31u))] = v[e];
    }
    workgroupBarrier();
    for (var e = 0u; e < 16u; e++) { // unroll
        let col = line + e * 4u;
        if (col0 + col < p.cols && row0 + lane < p.rows) {
            y[(col0 + col) * p.rows + row0 + lane] = tile[lane * 64u + (col ^ (lane & 31u))];
        }
    }
}

/// For rows and columns in whole vectors: an invocation turns a block of 4 x 4 in registers on its way into the tile.
@compute @workgroup_size(256)
fn transpose4(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let across = (p.cols + 63u) / 64u;
    let g = linear(group, groups);
    let row0 = g / across * 64u;
    let col0 = g % across * 64u;
    let rows = p.rows / 4u;
    let cols = p.cols / 4u;
    let lane = local % 16u;
    let line = local / 16u;
    let at = min(col0 / 4u + lane, cols - 1u);
    let row = row0 + line * 4u;
    let last = p.rows - 1u;
    let a = x4[min(row, last) * cols + at];
    let b = x4[min(row + 1u, last) * cols + at];
    let c = x4[min(row + 2u, last) * cols + at];
    let d = x4[min(row + 3u, last) * cols + at];
    for (var e = 0u; e < 4u; e++) { // unroll
        tile4[(lane * 4u + e) * 16u + (line ^ lane)] = vec4(a[e], b[e], c[e], d[e]);
    }
    workgroupBarrier();
    for (var e = 0u; e < 4u; e++) { // unroll
        let col = line + e * 16u;
        if (col0 + col < p.cols && row0 / 4u + lane < rows) {
            y4[(col0 + col) * rows + row0 / 4u + lane] = tile4[col * 16u + (lane ^ (col / 4u))];
        }
    }
}
