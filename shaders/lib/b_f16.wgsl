// As b_f32.wgsl, from halves, two a word.

@group(0) @binding(1) var<storage, read> b: array<u32>;

fn load_b(i: u32) -> f32 {
    return unpack2x16float(b[i / 2u] >> (i % 2u * 16u)).x;
}
