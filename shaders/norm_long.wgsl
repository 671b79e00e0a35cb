// import lib/grid.wgsl
// import lib/by{1,4}.wgsl
// import lib/reduce.wgsl
// import lib/scale.wgsl

// As lib/norm.wgsl for rows that no workgroup keeps in registers, cut into parts as in softmax_long.wgsl. Each part leaves its
// largest |value|, its mean and its squares about that (for rmsnorm: about 0), both times its own power of two; then each part
// makes those of its row and reads its values again. The row of the table says whether rows are CENTERED.

struct Params { rows: u32, d: u32, parts: u32, eps: f32 }

/// The bits of a part's largest |value|, and its mean and squares times factor(exponent(largest, eps)).
struct Part { largest: u32, mean: f32, squares: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;

// norm_parts
@group(0) @binding(1) var<storage, read_write> parts: array<Part>;
@group(0) @binding(2) var<uniform> p: Params;

// rmsnorm_finish, layernorm_finish
@group(0) @binding(1) var<storage, read> of_parts: array<Part>;
@group(0) @binding(2) var<storage, read> w: array<T>;

// rmsnorm_finish
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> q: Params;

// layernorm_finish
@group(0) @binding(3) var<storage, read> b: array<T>;
@group(0) @binding(4) var<storage, read_write> z: array<T>;
@group(0) @binding(5) var<uniform> r: Params;

const PART = 256u * EACH;              // values, or vectors, of a part

@compute @workgroup_size(256)
fn norm_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / p.parts;
    if (row >= p.rows) {
        return;
    }
    let d = p.d / WIDTH;
    let first = row * d;
    let begin = g % p.parts * PART;
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + local + e * 256u, d - 1u)];
    }
    var largest = size(T(first_of(x[first])));
    for (var e = 0u; e < EACH; e++) { // unroll
        largest = max(largest, size(v[e]));
    }
    let most = row_max(local, max_of(largest));
    let f = factor(exponent(most, p.eps));
    let shift = select(0.0, first_of(x[first]) * f, CENTERED == 1u && most > 0u);
    var sum = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = select(T(), v[e] * f - shift, begin + local + e * 256u < d);
        sum += v[e];
    }
    var mean = 0.0;
    if (CENTERED == 1u) {
        mean = row_sum(local, sum_of(sum)) / f32(min(PART, d - begin) * WIDTH);
    }
    var squares = T();
    for (var e = 0u; e < EACH; e++) { // unroll
        squares += select(T(), (v[e] - mean) * (v[e] - mean), begin + local + e * 256u < d);
    }
    let total = row_sum(local, sum_of(squares));
    if (local == 0u) {
        parts[g] = Part(most, mean, total);
    }
}

/// The factor f of a row, and of the row times f: its first value (0 unless CENTERED), the mean of what is left without that,
/// and 1 / sqrt(variance + eps).
struct Whole { f: f32, shift: f32, mean: f32, scale: f32 }

/// The row's whole from its parts, added up in the same order by every workgroup.
fn whole(local: u32, row: u32, d: u32, count: u32, eps: f32) -> Whole {
    var largest = 0u;
    for (var s = local; s < count; s += 256u) {
        largest = max(largest, of_parts[row * count + s].largest);
    }
    let most = row_max(local, largest);
    let top = exponent(most, eps);
    let f = factor(top);
    let shift = select(0.0, first_of(x[row * (d / WIDTH)]) * f, CENTERED == 1u && most > 0u);
    var mean = 0.0;
    if (CENTERED == 1u) {
        var sum = 0.0;
        for (var s = local; s < count; s += 256u) {
            let part = of_parts[row * count + s];
            sum += part.mean * below(exponent(part.largest, eps), top) * f32(min(PART * WIDTH, d - s * PART * WIDTH));
        }
        mean = row_sum(local, sum) / f32(d);
    }
    var squares = 0.0;
    for (var s = local; s < count; s += 256u) {
        let part = of_parts[row * count + s];
        let shrink = below(exponent(part.largest, eps), top);
        let apart = part.mean * shrink - mean;
        squares += part.squares * shrink * shrink + apart * apart * f32(min(PART * WIDTH, d - s * PART * WIDTH));
    }
    return Whole(f, shift, mean, inverse_root(row_sum(local, squares) / f32(d), eps, f));
}

@compute @workgroup_size(256)
fn rmsnorm_finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / q.parts;
    if (row >= q.rows) {
        return;
    }
    let d = q.d / WIDTH;
    let first = row * d;
    let begin = g % q.parts * PART + local;
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + e * 256u, d - 1u)];
    }
    let of_row = whole(local, row, q.d, q.parts, q.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = begin + e * 256u;
        if (i < d) {
            y[first + i] = v[e] * of_row.f * of_row.scale * w[i];
        }
    }
}

@compute @workgroup_size(256)
fn layernorm_finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / r.parts;
    if (row >= r.rows) {
        return;
    }
    let d = r.d / WIDTH;
    let first = row * d;
    let begin = g % r.parts * PART + local;
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + e * 256u, d - 1u)];
    }
    let of_row = whole(local, row, r.d, r.parts, r.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = begin + e * 256u;
        // As in lib/norm.wgsl: the select keeps shift + mean from being taken first.
        let apart = select(T(), v[e] * of_row.f - of_row.shift, i < d);
        if (i < d) {
            z[first + i] = (apart - of_row.mean) * of_row.scale * w[i] + b[i];
        }
    }
}
