// The second input, one value at a time.

@group(0) @binding(1) var<storage, read> b: array<f32>;

fn load_b(i: u32) -> f32 {
    return b[i];
}
