// import lib/bits.wgsl
// import lib/by{1,4}.wgsl

// What softmax needs of a value: its weight, and a key that orders as it does.

const SPOILED = 0xffffffffu;

/// exp for arguments that are not positive; -inf is pulled in to where the result is 0 anyway.
fn weight(x: T) -> T {
    return exp(max(x, T(-1e4)));
}

/// A number that orders as x does; beyond all others for NaN and +inf, which make the whole row NaN.
fn key(x: T) -> U {
    let bits = bitcast<U>(x);
    let ordered = select(bits | U(0x80000000u), ~bits, bits >= U(0x80000000u));
    return select(ordered, U(SPOILED), ((bits & U(0x7fffffffu)) > U(INF_BITS)) | (bits == U(INF_BITS)));
}

/// The maximum that a key stands for; the lowest number where a row holds nothing but -inf.
fn value(key: u32) -> f32 {
    let least = max(key, 0x00800000u);
    return bitcast<f32>(select(~least, least & 0x7fffffffu, least >= 0x80000000u));
}

/// The value, or NaN, from a number of the uniforms since WGSL has no NaN constants.
fn or_nan(v: T, spoiled: bool, uniform_value: u32) -> T {
    return select(v, T(bitcast<f32>(0x7fc00000u | (uniform_value & 0u))), spoiled);
}
