// import lib/grid.wgsl
// import lib/norm.wgsl

// y = x / sqrt(mean(x^2) + eps) * w, by lib/norm.wgsl: x [rows, d], w [d], y [rows, d].

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> w: array<T>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

const CENTERED = 0u;

fn load(i: u32) -> T {
    return x[i];
}

fn keep(i: u32, v: T) {}

fn store(i: u32, column: u32, v: T) {
    y[i] = v * w[column];
}
