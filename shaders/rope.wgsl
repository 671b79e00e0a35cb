// Rotary embedding, rotate-half: x [t, h · dh], row i at position offset + i. Within a head, elements j and j + dh/2
// turn by the angle position · base^(-2j/dh).
//
// The angle is kept in turns as a 64-bit binary fraction: frequencies [dh/2] come from the host as (high, low) words of
// base^(-2j/dh) / 2pi, and position · frequency modulo one turn is exact integer arithmetic, at any position. WGSL
// promises sin and cos to 2^-11 only, so they are series here, on an eighth of a turn to either side.

struct Params { t: u32, h: u32, dh: u32, offset: u32 }

@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read> frequencies: array<vec2<u32>>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
@group(0) @binding(3) var<uniform> p: Params;

/// The high word of a · b.
fn mul_high(a: u32, b: u32) -> u32 {
    let al = a & 0xffffu;
    let ah = a >> 16u;
    let bl = b & 0xffffu;
    let bh = b >> 16u;
    let low = al * bl;
    let mid = ah * bl + (low >> 16u);
    let cross = al * bh + (mid & 0xffffu);
    return ah * bh + (mid >> 16u) + (cross >> 16u);
}

/// cos and sin of a phase in units of 2^-32 turns.
fn turn(phase: u32) -> vec2<f32> {
    // The nearest quarter turn, and the rest in [-1/8, 1/8) turns.
    let quarter = (phase + 0x20000000u) >> 30u;
    let r = f32(bitcast<i32>(phase - (quarter << 30u))) * 1.4629180792671596e-9;
    let s = r * r;
    let sine = r * (1.0 + s * (-1.6666667e-1 + s * (8.3333333e-3 + s * (-1.9841270e-4 + s * 2.7557319e-6))));
    let cosine = 1.0 + s * (-0.5 + s * (4.1666667e-2 + s * (-1.3888889e-3 + s * 2.4801587e-5)));
    switch quarter {
        case 0u: { return vec2(cosine, sine); }
        case 1u: { return vec2(-sine, cosine); }
        case 2u: { return vec2(-cosine, -sine); }
        default: { return vec2(sine, -cosine); }
    }
}

@compute @workgroup_size(256)
fn rope(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let half = p.dh / 2u;
    let i = linear(group, groups) * 256u + local;
    if (i >= p.t * p.h * half) {
        return;
    }
    let j = i % half;
    let head = i / half;
    let position = p.offset + head / p.h;
    let f = frequencies[j];
    let cs = turn(position * f.x + mul_high(position, f.y));
    let at = head * p.dh + j;
    let a = x[at];
    let b = x[at + half];
    y[at] = a * cs.x - b * cs.y;
    y[at + half] = b * cs.x + a * cs.y;
}
