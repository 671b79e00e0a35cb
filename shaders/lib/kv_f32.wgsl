// Keys and values, one value at a time.

@group(0) @binding(1) var<storage, read> k: array<f32>;
@group(0) @binding(2) var<storage, read> v: array<f32>;

fn load_k(i: u32) -> f32 {
    return k[i];
}

fn load_v(i: u32) -> f32 {
    return v[i];
}
