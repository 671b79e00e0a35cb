// import lib/grid.wgsl
// import lib/x_{f32,f16}.wgsl

// y[at + i] = x[i] as a half, two a word; four words an invocation. A word that is shared with what lies beside keeps
// the other half.

struct Params { len: u32, at: u32 }

// Binding 0 is x, in lib/x_*.wgsl.
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> p: Params;

/// The nearest half, ties to even; infinite from 65520 on; NaN stays NaN. By bits: pack2x16float may round either way,
/// and gives anything beyond 65504.
fn half(x: f32) -> u32 {
    let bits = bitcast<u32>(x);
    let size = bits & 0x7fffffffu;
    // Half a unit less what makes ties even: 13 bits go, below 2⁻¹⁴ more, and below 2⁻²⁵ all.
    let tiny = size < 0x38800000u;
    let gone = select(13u, min(126u - (size >> 23u), 25u), tiny);
    let value = select(size - 0x38000000u, (size & 0x7fffffu) | 0x800000u, tiny);
    let rounded = min((value + (1u << (gone - 1u)) - 1u + ((value >> gone) & 1u)) >> gone, 0x7c00u);
    return ((bits >> 16u) & 0x8000u) | select(rounded, 0x7e00u, size > 0x7f800000u);
}

@compute @workgroup_size(256)
fn pack_at(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let first = p.at / 2u + linear(group, groups) * 1024u + local;
    let end = p.at + p.len;
    for (var j = 0u; j < 4u; j++) {
        let word = first + j * 256u;
        let i = word * 2u;
        if (word < end / 2u + end % 2u) {
            var low = 0u;
            if (i >= p.at) {
                low = half(load_x(i - p.at));
            } else {
                low = y[word] & 0xffffu;
            }
            var high = 0u;
            if (i + 1u < end) {
                high = half(load_x(i + 1u - p.at)) << 16u;
            } else {
                high = y[word] & 0xffff0000u;
            }
            y[word] = low | high;
        }
    }
}
