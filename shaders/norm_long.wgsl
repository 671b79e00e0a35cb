// import lib/grid.wgsl
// import lib/by{1,4}.wgsl
// import lib/reduce.wgsl

// As norm.wgsl for rows that no workgroup keeps in registers, cut into parts as in softmax_long.wgsl. Each part leaves its
// mean and its squares about that (for rmsnorm: about 0); then each part makes those of its row and reads its values again.

struct Params { rows: u32, d: u32, parts: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;

// rmsnorm_parts, layernorm_parts
@group(0) @binding(1) var<storage, read_write> parts: array<vec2<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

// rmsnorm_finish, layernorm_finish
@group(0) @binding(1) var<storage, read> of_parts: array<vec2<f32>>;
@group(0) @binding(2) var<storage, read> w: array<T>;

// rmsnorm_finish
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> q: Params;

// layernorm_finish
@group(0) @binding(3) var<storage, read> b: array<T>;
@group(0) @binding(4) var<storage, read_write> z: array<T>;
@group(0) @binding(5) var<uniform> r: Params;

@compute @workgroup_size(256)
fn rmsnorm_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / p.parts;
    if (row >= p.rows) {
        return;
    }
    let d = p.d / WIDTH;
    let begin = g % p.parts * (256u * EACH) + local;
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[row * d + min(begin + e * 256u, d - 1u)];
    }
    var squares = T(0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        squares += select(T(0.0), v[e] * v[e], begin + e * 256u < d);
    }
    let total = row_sum(local, sum_of(squares));
    if (local == 0u) {
        parts[g] = vec2(0.0, total);
    }
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
    let begin = g % q.parts * (256u * EACH) + local;
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + e * 256u, d - 1u)];
    }
    var squares = 0.0;
    for (var s = local; s < q.parts; s += 256u) {
        squares += of_parts[row * q.parts + s].y;
    }
    let scale = 1.0 / sqrt(row_sum(local, squares) / f32(q.d) + q.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = begin + e * 256u;
        if (i < d) {
            y[first + i] = v[e] * scale * w[i];
        }
    }
}

/// The mean is taken of x - x[0], as in norm.wgsl.
@compute @workgroup_size(256)
fn layernorm_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / p.parts;
    if (row >= p.rows) {
        return;
    }
    let d = p.d / WIDTH;
    let first = row * d;
    let begin = g % p.parts * (256u * EACH);
    let shift = first_of(x[first]);
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + local + e * 256u, d - 1u)] - shift;
    }
    var sum = T(0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        sum += select(T(0.0), v[e], begin + local + e * 256u < d);
    }
    let mean = row_sum(local, sum_of(sum)) / f32(min(256u * EACH, d - begin) * WIDTH);
    var squares = T(0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        squares += select(T(0.0), (v[e] - mean) * (v[e] - mean), begin + local + e * 256u < d);
    }
    let total = row_sum(local, sum_of(squares));
    if (local == 0u) {
        parts[g] = vec2(mean, total);
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
    let begin = g % r.parts * (256u * EACH) + local;
    let shift = first_of(x[first]);
    var v: array<T, EACH>;
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + e * 256u, d - 1u)] - shift;
    }
    var sum = 0.0;
    for (var s = local; s < r.parts; s += 256u) {
        sum += of_parts[row * r.parts + s].x * f32(min(256u * EACH, d - s * (256u * EACH)) * WIDTH);
    }
    let mean = row_sum(local, sum) / f32(r.d);
    var squares = 0.0;
    for (var s = local; s < r.parts; s += 256u) {
        let part = of_parts[row * r.parts + s];
        let apart = part.x - mean;
        squares += part.y + apart * apart * f32(min(256u * EACH, d - s * (256u * EACH)) * WIDTH);
    }
    let scale = 1.0 / sqrt(row_sum(local, squares) / f32(r.d) + r.eps);
    for (var e = 0u; e < EACH; e++) { // unroll
        let i = begin + e * 256u;
        if (i < d) {
            z[first + i] = (v[e] - mean) * scale * w[i] + b[i];
        }
    }
}
