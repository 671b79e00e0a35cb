// Values in vectors of four, for rows of whole vectors.

alias T = vec4<f32>;
alias U = vec4<u32>;
alias I = vec4<i32>;

const WIDTH = 4u;

fn first_of(v: T) -> f32 {
    return v.x;
}

fn sum_of(v: T) -> f32 {
    return (v.x + v.y) + (v.z + v.w);
}

fn max_of(v: U) -> u32 {
    return max(max(v.x, v.y), max(v.z, v.w));
}
