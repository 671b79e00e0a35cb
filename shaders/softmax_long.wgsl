// import lib/grid.wgsl
// import lib/softmax.wgsl
// import lib/reduce.wgsl

// As softmax.wgsl for rows that no workgroup keeps in registers. A row is cut into parts of 256 · EACH values (or
// vectors), a workgroup each, so that few rows keep a GPU busy too. First each part leaves its maximum and its sum about
// that; then each part adds up those of its row, in the same order everywhere, and reads its values again.

struct Params { rows: u32, d: u32, parts: u32, eps: f32 }

@group(0) @binding(0) var<storage, read> x: array<T>;

// softmax_parts: the key of the maximum, and the sum's bits
@group(0) @binding(1) var<storage, read_write> parts: array<vec2<u32>>;
@group(0) @binding(2) var<uniform> p: Params;

// softmax_finish
@group(0) @binding(1) var<storage, read> of_parts: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> q: Params;

@compute @workgroup_size(256)
fn softmax_parts(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let g = linear(group, groups);
    let row = g / p.parts;
    if (row >= p.rows) {
        return;
    }
    let d = p.d / WIDTH;
    let first = row * d;
    let begin = g % p.parts * (256u * EACH) + local;
    var v: array<T, EACH>;
    var largest = U(0u);
    for (var e = 0u; e < EACH; e++) { // unroll
        v[e] = x[first + min(begin + e * 256u, d - 1u)];
    }
    for (var e = 0u; e < EACH; e++) { // unroll
        largest = select(largest, max(largest, key(v[e])), begin + e * 256u < d);
    }
    let most = row_max(local, max_of(largest));
    let top = value(most);
    var sum = T(0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        sum += select(T(0.0), weight(v[e] - top), begin + e * 256u < d);
    }
    let total = row_sum(local, sum_of(sum));
    if (local == 0u) {
        parts[g] = vec2(most, bitcast<u32>(total));
    }
}

@compute @workgroup_size(256)
fn softmax_finish(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
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
    let own = row * q.parts;
    var largest = 0u;
    for (var s = local; s < q.parts; s += 256u) {
        largest = max(largest, of_parts[own + s].x);
    }
    let most = row_max(local, largest);
    let top = value(most);
    var sum = 0.0;
    for (var s = local; s < q.parts; s += 256u) {
        let part = of_parts[own + s];
        sum += bitcast<f32>(part.y) * exp(max(value(part.x) - top, -1e4));
    }
    let total = row_sum(local, sum);
    let inverse = select(0.0, 1.0 / max(total, 1e-30), total > 0.0);
    for (var e = 0u; e < EACH; e++) { // unroll
        if (begin + e * 256u < d) {
            y[first + begin + e * 256u] = or_nan(weight(v[e] - top) * inverse, most == SPOILED, q.d);
        }
    }
}
