// import lib/bits.wgsl

// One activation of the table's row: ACT is one of RELU, SILU, ….
// NaN gives NaN: the input itself is handed on, since implementations may assume that there is none.

/// 1 / (1 + exp(-v)); beyond 87 the exponential would overflow while the result no longer changes.
fn logistic(v: vec4<f32>) -> vec4<f32> {
    return 1.0 / (1.0 + exp(-clamp(v, vec4(-87.0), vec4(87.0))));
}

/// The standard normal distribution's upper tail at u >= 0, Abramowitz and Stegun 7.1.26 for erfc(u / sqrt(2)) / 2:
/// absolute error below 1e-7.
fn upper_tail(u: vec4<f32>) -> vec4<f32> {
    let z = min(u, vec4(14.0)) * 0.70710678;
    let t = 1.0 / (1.0 + 0.3275911 * z);
    let poly = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t;
    return 0.5 * poly * exp(-z * z);
}

fn of_numbers(v: vec4<f32>) -> vec4<f32> {
    switch ACT {
        case RELU: {
            return max(v, vec4(0.0));
        }
        case SILU: {
            // Below -87 the product is 0 for every finite factor; -inf must not meet it.
            return max(v, vec4(-1e30)) * logistic(v);
        }
        case GELU: {
            // x * Phi(x), by the tail on the side of x so that nothing cancels.
            let tail = max(abs(v), vec4(0.0));
            return max(v, vec4(0.0)) - min(tail, vec4(14.0)) * upper_tail(tail);
        }
        case GELU_TANH: {
            // x * sigma(2u), u = sqrt(2/pi) * (x + 0.044715 x^3): without tanh, which overflows on some drivers.
            let c = clamp(v, vec4(-14.0), vec4(14.0));
            let u = 0.7978845608 * (c + 0.044715 * c * c * c);
            return max(v, vec4(-14.0)) * logistic(2.0 * u);
        }
        case SIGMOID: {
            return logistic(v);
        }
        case SQRT: {
            return sqrt(v);
        }
        default: {
            return v;
        }
    }
}

fn activation(v: vec4<f32>) -> vec4<f32> {
    return select(of_numbers(v), v, is_nan4(v));
}
