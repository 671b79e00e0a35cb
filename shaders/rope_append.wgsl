// import lib/grid.wgsl
// import lib/rope.wgsl

// Rows from `offset` on of a cache: keys = x turned, by lib/rope.wgsl, and values = v; x and v [t, h · dh].

@group(0) @binding(0) var<storage, read> x: array<T>;
@group(0) @binding(1) var<storage, read> frequencies: array<U>;
@group(0) @binding(2) var<storage, read> v: array<T>;
@group(0) @binding(3) var<storage, read_write> keys: array<T>;
@group(0) @binding(4) var<storage, read_write> values: array<T>;
@group(0) @binding(5) var<uniform> p: Params;

fn load(i: u32) -> T {
    return v[i];
}

fn store(i: u32, turned: T, along: T) {
    let at = p.offset * p.h * (p.dh / WIDTH) + i;
    keys[at] = turned;
    values[at] = along;
}
