// The only input, one value at a time.

@group(0) @binding(0) var<storage, read> x: array<f32>;

fn load_x(i: u32) -> f32 {
    return x[i];
}
