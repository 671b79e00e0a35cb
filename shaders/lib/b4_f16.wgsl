// As b4_f32.wgsl, from halves, two a word.

@group(0) @binding(1) var<storage, read> b: array<vec2<u32>>;

fn load_b(i: u32) -> vec4<f32> {
    let words = b[i];
    return vec4(unpack2x16float(words.x), unpack2x16float(words.y));
}
