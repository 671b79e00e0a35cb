// import lib/grid.wgsl

// As transpose.wgsl for matrices of few rows or few columns: a tile is as thin as the matrix and `length` long, so that
// no part of it is empty. It is read in the order of x's rows and written in that of y's: one of them has `thin` values
// a row, which is all of it, so that the tile is one piece of memory there; of the other the tile has a piece of each row.

/// x is [long, thin] where `tall` is 1, [thin, long] where it is 0.
struct Params { long: u32, thin: u32, length: u32, tall: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> p: Params;

const EACH = 16u;                      // values of an invocation

var<workgroup> tile: array<f32, 256u * EACH>;

/// Row and column 256 values further, in rows of `width`; `by` is 256 in rows and columns.
fn further(place: vec2<u32>, by: vec2<u32>, width: u32) -> vec2<u32> {
    let next = place + by;
    return select(next, vec2(next.x + 1u, next.y - width), next.y >= width);
}

/// Where the value at these places along the sides lies in memory: tall, or wide.
fn address(long: u32, thin: u32, tall: bool) -> u32 {
    return select(thin * p.long + long, long * p.thin + thin, tall);
}

@compute @workgroup_size(256)
fn transpose_thin(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let begin = linear(group, groups) * p.length;
    if (begin >= p.long) {
        return;
    }
    let length = min(p.length, p.long - begin);
    let tall = p.tall == 1u;
    // Rows of an odd width fall on different banks.
    let width = p.thin | 1u;

    var v: array<f32, EACH>;
    let read = select(length, p.thin, tall);
    let read_by = vec2(256u / read, 256u % read);
    var place = vec2(local / read, local % read);
    for (var e = 0u; e < EACH; e++) { // unroll
        let at = min(select(place, place.yx, tall), vec2(p.thin, length) - 1u);
        v[e] = x[address(begin + at.y, at.x, tall)];
        place = further(place, read_by, read);
    }
    place = vec2(local / read, local % read);
    for (var e = 0u; e < EACH; e++) { // unroll
        let at = select(place, place.yx, tall);
        if (all(at < vec2(p.thin, length))) {
            tile[at.y * width + at.x] = v[e];
        }
        place = further(place, read_by, read);
    }
    workgroupBarrier();
    let written = select(p.thin, length, tall);
    let written_by = vec2(256u / written, 256u % written);
    place = vec2(local / written, local % written);
    for (var e = 0u; e < EACH; e++) { // unroll
        let at = select(place.yx, place, tall);
        if (all(at < vec2(p.thin, length))) {
            y[address(begin + at.y, at.x, !tall)] = tile[at.y * width + at.x];
        }
        place = further(place, written_by, written);
    }
}
