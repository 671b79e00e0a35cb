// As x_f32.wgsl, from halves, two a word.

@group(0) @binding(0) var<storage, read> x: array<u32>;

fn load_x(i: u32) -> f32 {
    return unpack2x16float(x[i / 2u] >> (i % 2u * 16u)).x;
}
