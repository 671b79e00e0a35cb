// One input, in vectors of four; one entry point each. Buffers are padded to whole vectors.
// NaN gives NaN: the input itself is handed on, since implementations may assume that there is none.

struct Params { len: u32 }

@group(0) @binding(0) var<storage, read> x: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(2) var<uniform> p: Params;

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

@compute @workgroup_size(256)
fn silu(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        let v = x[i];
        // Below -87 the product is 0 for every finite factor; -inf must not meet it.
        y[i] = select(max(v, vec4(-1e30)) * logistic(v), v, is_nan4(v));
    }
}

@compute @workgroup_size(256)
fn sigmoid(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        let v = x[i];
        y[i] = select(logistic(v), v, is_nan4(v));
    }
}

@compute @workgroup_size(256)
fn square_root(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = sqrt(x[i]);
    }
}

/// x * Phi(x), by the tail on the side of x so that nothing cancels.
@compute @workgroup_size(256)
fn gelu(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        let v = x[i];
        let tail = max(abs(v), vec4(0.0));
        let lost = min(tail, vec4(14.0)) * upper_tail(tail);
        y[i] = select(max(v, vec4(0.0)) - lost, v, is_nan4(v));
    }
}

/// x * sigma(2u), u = sqrt(2/pi) * (x + 0.044715 x^3): the tanh form without tanh, which overflows on some drivers.
@compute @workgroup_size(256)
fn gelu_tanh(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        let v = x[i];
        let c = clamp(v, vec4(-14.0), vec4(14.0));
        let u = 0.7978845608 * (c + 0.044715 * c * c * c);
        y[i] = select(max(v, vec4(-14.0)) * logistic(2.0 * u), v, is_nan4(v));
    }
}

@compute @workgroup_size(256)
fn relu(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        let v = x[i];
        y[i] = select(max(v, vec4(0.0)), v, is_nan4(v));
    }
}
