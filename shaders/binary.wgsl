// import lib/grid.wgsl

// Two inputs, in vectors of four; one entry point each. Buffers are padded to whole vectors.

struct Params { len: u32 }

@group(0) @binding(0) var<storage, read> a: array<vec4<f32>>;
@group(0) @binding(1) var<storage, read> b: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read_write> y: array<vec4<f32>>;
@group(0) @binding(3) var<uniform> p: Params;

@compute @workgroup_size(256)
fn add(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = a[i] + b[i];
    }
}

@compute @workgroup_size(256)
fn sub(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = a[i] - b[i];
    }
}

@compute @workgroup_size(256)
fn mul(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = a[i] * b[i];
    }
}

@compute @workgroup_size(256)
fn div(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = a[i] / b[i];
    }
}

/// b holds one number.
@compute @workgroup_size(256)
fn mul_scalar(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let i = linear(group, groups) * 256u + local;
    if (i < p.len) {
        y[i] = a[i] * b[0].x;
    }
}
