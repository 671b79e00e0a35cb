// The second input, one value at a time, or four neighbours from any place on.

@group(0) @binding(1) var<storage, read> b: array<f32>;

fn load_b(i: u32) -> f32 {
    return b[i];
}

fn load_b4(i: u32) -> vec4<f32> {
    return vec4(b[i], b[i + 1u], b[i + 2u], b[i + 3u]);
}
