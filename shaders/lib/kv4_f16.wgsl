// As kv4_f32.wgsl, from halves, two a word.

@group(0) @binding(1) var<storage, read> k: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read> v: array<vec2<u32>>;

fn load_k(i: u32) -> vec4<f32> {
    let words = k[i];
    return vec4(unpack2x16float(words.x), unpack2x16float(words.y));
}

fn load_v(i: u32) -> vec4<f32> {
    let words = v[i];
    return vec4(unpack2x16float(words.x), unpack2x16float(words.y));
}
