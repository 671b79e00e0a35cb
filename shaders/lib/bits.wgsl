// NaN by its bits: implementations may assume that there is none in comparisons.

const INF_BITS = 0x7f800000u;

/// The bits of |x|: above INF_BITS for NaN, INF_BITS for an infinity.
fn abs_bits(x: f32) -> u32 {
    return bitcast<u32>(x) & 0x7fffffffu;
}

fn is_nan4(x: vec4<f32>) -> vec4<bool> {
    return (bitcast<vec4<u32>>(x) & vec4(0x7fffffffu)) > vec4(INF_BITS);
}
