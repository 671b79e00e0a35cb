// import lib/by{1,4}.wgsl

// Rotary embedding, rotate-half: x [t, h · dh], row i at position offset + i. Within a head, elements j and j + dh/2
// turn by the angle position · base^(-2j/dh).
//
// The angle is kept in turns as a 64-bit binary fraction: frequencies hold the high words, then the low words, of
// base^(-2j/dh) / 2pi for each j, and position · frequency modulo one turn is exact integer arithmetic, at any position.
// WGSL promises sin and cos to 2^-11 only, so they are series here, on an eighth of a turn to either side.
//
// An invocation turns one pair (or a vector of pairs) of up to HEADS heads, which share its angle. The file of the op has the
// bindings, `load` for what is moved along with x, and `store`.

struct Params { t: u32, h: u32, dh: u32, offset: u32 }

/// The high words of a · b.
fn mul_high(a: U, b: U) -> U {
    let al = a & U(0xffffu);
    let ah = a >> U(16u);
    let bl = b & U(0xffffu);
    let bh = b >> U(16u);
    let mid = ah * bl + ((al * bl) >> U(16u));
    let cross = al * bh + (mid & U(0xffffu));
    return ah * bh + (mid >> U(16u)) + (cross >> U(16u));
}

struct Turn { cosine: T, sine: T }

/// cos and sin for the pairs j at a position; `half` pairs in a head.
fn turn(position: u32, j: u32, half: u32) -> Turn {
    // In units of 2^-32 turns: the nearest quarter turn, and the rest in [-1/8, 1/8) turns.
    let phase = U(position) * frequencies[j] + mul_high(U(position), frequencies[half + j]);
    let quarter = (phase + U(0x20000000u)) >> U(30u);
    let r = T(bitcast<I>(phase - (quarter << U(30u)))) * 1.4629180792671596e-9;
    let s = r * r;
    let sine = r * (1.0 + s * (-1.6666667e-1 + s * (8.3333333e-3 + s * (-1.9841270e-4 + s * 2.7557319e-6))));
    let cosine = 1.0 + s * (-0.5 + s * (4.1666667e-2 + s * (-1.3888889e-3 + s * 2.4801587e-5)));
    // Each quarter turn makes (cos, sin) into (-sin, cos).
    let odd = (quarter & U(1u)) == U(1u);
    let c = select(cosine, sine, odd);
    let n = select(sine, cosine, odd);
    return Turn(select(c, -c, ((quarter + U(1u)) & U(2u)) == U(2u)), select(n, -n, (quarter & U(2u)) == U(2u)));
}

@compute @workgroup_size(256)
fn rope(@builtin(workgroup_id) group: vec3<u32>, @builtin(num_workgroups) groups: vec3<u32>, @builtin(local_invocation_index) local: u32) {
    let half = p.dh / (2u * WIDTH);
    let shares = (p.h + HEADS - 1u) / HEADS;
    let i = linear(group, groups) * 256u + local;
    let row = i / half / shares;
    let head = i / half % shares;
    let j = i % half;
    if (row >= p.t) {
        return;
    }
    var a: array<T, HEADS>;
    var b: array<T, HEADS>;
    var along_a: array<T, HEADS>;
    var along_b: array<T, HEADS>;
    for (var e = 0u; e < HEADS; e++) { // unroll
        let at = (row * p.h + min(head + e * shares, p.h - 1u)) * 2u * half + j;
        a[e] = x[at];
        b[e] = x[at + half];
        along_a[e] = load(at);
        along_b[e] = load(at + half);
    }
    let by = turn(p.offset + row, j, half);
    for (var e = 0u; e < HEADS; e++) { // unroll
        if (head + e * shares < p.h) {
            let at = (row * p.h + head + e * shares) * 2u * half + j;
            store(at, a[e] * by.cosine - b[e] * by.sine, along_a[e]);
            store(at + half, b[e] * by.cosine + a[e] * by.sine, along_b[e]);
        }
    }
}
