// The second input, four neighbours from a multiple of four on.

@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;

fn load_b4(i: u32) -> vec4<f32> {
    return b[i / 4u];
}
