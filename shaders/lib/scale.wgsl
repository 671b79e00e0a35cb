// Rows taken times a power of two, which is exact, so that their squares neither overflow nor vanish.

/// The bits of |v|, which order as |v| does: NaN beyond all others.
fn size(v: T) -> U {
    return bitcast<U>(v) & U(0x7fffffffu);
}

/// The binary exponent, from 1 to 253, of the largest |value| of a row (by its bits) and the root of eps, the larger one.
fn exponent(most: u32, eps: f32) -> u32 {
    return clamp(max(most, bitcast<u32>(sqrt(max(eps, 0.0)))) >> 23u, 1u, 253u);
}

/// The factor that makes values of that exponent no more than 4.
fn factor(exponent: u32) -> f32 {
    return bitcast<f32>((254u - exponent) << 23u);
}

/// 1 / sqrt(mean of squares + eps) for a row that was taken times f. Where eps vanishes beside the row, it must still keep
/// a row of equal values from being 0 / 0.
fn inverse_root(mean: f32, eps: f32, f: f32) -> f32 {
    let e = eps * f * f;
    return 1.0 / sqrt(mean + select(e, max(e, 1e-37), eps > 0.0));
}

/// What takes numbers made with one factor to those of a row whose exponent is higher, or the same.
fn below(exponent: u32, top: u32) -> f32 {
    return bitcast<f32>((127u - min(127u, top - exponent)) << 23u);
}
