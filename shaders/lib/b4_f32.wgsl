// The second input, by vectors of four.

@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;

fn load_b(i: u32) -> vec4<f32> {
    return b[i];
}
