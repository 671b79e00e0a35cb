// Keys and values, in vectors of four.

@group(0) @binding(1) var<storage, read> k: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> v: array<vec4<f32>>;

fn load_k(i: u32) -> vec4<f32> {
    return k[i];
}

fn load_v(i: u32) -> vec4<f32> {
    return v[i];
}
