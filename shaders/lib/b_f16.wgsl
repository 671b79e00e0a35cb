// As b_f32.wgsl, from halves, two a word.

@group(0) @binding(1) var<storage, read> b: array<u32>;

fn load_b(i: u32) -> f32 {
    return unpack2x16float(b[i / 2u] >> (i % 2u * 16u)).x;
}

fn load_b4(i: u32) -> vec4<f32> {
    let w = i / 2u;
    let words = vec2(b[w], b[w + 1u]);
    // From an odd place on, each pair lies in two words.
    let pairs = select(words, (words >> vec2(16u)) | (vec2(words.y, b[w + 2u]) << vec2(16u)), i % 2u == 1u);
    return vec4(unpack2x16float(pairs.x), unpack2x16float(pairs.y));
}
