// import lib/grid.wgsl
// import lib/rope.wgsl

// y = x turned, by lib/rope.wgsl: x and y [t, h · dh].

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> frequencies: array<U>;
@group(0) @binding(2) var<storage, read_write> y: array<T>;
@group(0) @binding(3) var<uniform> p: Params;

fn load(i: u32) -> T {
    return T();
}

fn store(i: u32, turned: T, along: T) {
    y[i] = turned;
}
