// Values one at a time, for lengths of any kind.

alias T = f32;
alias U = u32;
alias I = i32;

const WIDTH = 1u;

fn first_of(v: T) -> f32 {
    return v;
}

fn sum_of(v: T) -> f32 {
    return v;
}

fn max_of(v: U) -> u32 {
    return v;
}
