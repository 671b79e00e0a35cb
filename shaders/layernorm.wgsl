// import lib/grid.wgsl
// import lib/norm.wgsl

// y = (x - mean) / sqrt(mean((x - mean)^2) + eps) * w + b, by lib/norm.wgsl: x [rows, d], w and b [d], y [rows, d].

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read> b: array<T>;
@group(0) @binding(3) var<storage, read_write> y: array<T>;
@group(0) @binding(4) var<uniform> p: Params;

const CENTERED = 1u;

fn load(i: u32) -> T {
    return x[i];
}

fn keep(i: u32, v: T) {}

fn store(i: u32, column: u32, v: T) {
    y[i] = v * w[column] + b[column];
}
