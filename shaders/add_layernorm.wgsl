// import lib/grid.wgsl
// import lib/norm.wgsl

// A residual and the norm behind it in one pass: sum = x + r, and
// y = (sum - mean) / sqrt(mean((sum - mean)^2) + eps) * w + b, by lib/norm.wgsl: x and r [rows, d], w and b [d], sum and y [rows, d].

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> r: array<T>;
@group(0) @binding(2) var<storage, read> w: array<T>;
@group(0) @binding(3) var<storage, read> b: array<T>;
@group(0) @binding(4) var<storage, read_write> sum: array<T>;
@group(0) @binding(5) var<storage, read_write> y: array<T>;
@group(0) @binding(6) var<uniform> p: Params;

const CENTERED = 1u;

fn load(i: u32) -> T {
    return x[i] + r[i];
}

fn keep(i: u32, v: T) {
    sum[i] = v;
}

fn store(i: u32, column: u32, v: T) {
    y[i] = v * w[column] + b[column];
}
