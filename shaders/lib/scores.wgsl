// import lib/bits.wgsl

// Softmax over scores that come a part at a time. A key is masked by its position and never by its score: every finite score
// counts, -inf weighs nothing, and +inf or NaN makes the whole row NaN.

/// Where a maximum begins: no score is lower but -inf.
const LOWEST = -3.4028234663852886e38;

/// A score as it counts: +inf for NaN, which a maximum need not keep.
fn counted(x: vec4<f32>) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(x), vec4(INF_BITS), is_nan4(x)));
}

/// exp for arguments that are not positive; -inf is pulled in to where the result is 0 anyway.
fn weight(x: vec4<f32>) -> vec4<f32> {
    return exp(max(x, vec4(-1e4)));
}

/// Results of a row, or NaN where its maximum is +inf.
fn or_nan(v: vec4<f32>, top: f32) -> vec4<f32> {
    return bitcast<vec4<f32>>(select(bitcast<vec4<u32>>(v), vec4(0x7fc00000u), bitcast<u32>(top) == INF_BITS));
}
