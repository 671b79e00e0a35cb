// As kv_f32.wgsl, from halves, two a word.

@group(0) @binding(1) var<storage, read> k: array<u32>;
@group(0) @binding(2) var<storage, read> v: array<u32>;

fn load_k(i: u32) -> f32 {
    return unpack2x16float(k[i / 2u] >> (i % 2u * 16u)).x;
}

fn load_v(i: u32) -> f32 {
    return unpack2x16float(v[i / 2u] >> (i % 2u * 16u)).x;
}
