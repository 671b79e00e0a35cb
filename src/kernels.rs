//! The closed table of kernels: every pipeline that can exist is a row here, or its twin that reads f16.

use crate::kernel::{kernels, params};

params! {
    /// Elementwise over `len` vectors of four.
    Len { len: u32 }
    /// Elementwise with one number.
    Scale { len: u32, s: f32 }
    /// Elementwise with a period of `d` elements.
    Bias { len: u32, d: u32 }
    /// `rows` rows of `d`.
    Rows { rows: u32, d: u32, eps: f32 }
    /// A matrix product: [m, k] x [k, n], times `scale`; k in `splits` parts of `part`.
    Mm { m: u32, k: u32, n: u32, scale: f32, part: u32, splits: u32 }
    /// `splits` parts of `len` values, added up, times `scale`.
    Parts { len: u32, splits: u32, scale: f32 }
    /// `n` rows of `d`, taken from a table.
    Gather { n: u32, d: u32 }
    /// A matrix of `rows` x `cols`.
    Matrix { rows: u32, cols: u32 }
    /// `len` elements written from element `at` on.
    CopyAt { len: u32, at: u32 }
    /// [t, h · dh] rotated, row i at position i + offset.
    Rope { t: u32, h: u32, dh: u32, offset: u32 }
    /// Attention of t queries over s keys for `kv` heads of `group` query heads each, in `splits` parts of `part` keys.
    Attention { t: u32, s: u32, kv: u32, group: u32, d: u32, dv: u32, scale: f32, offset: u32, causal: u32, part: u32, splits: u32 }
    /// The parts of an attention, `rows` rows of `dv`.
    Merge { rows: u32, dv: u32, splits: u32 }
}

/// Constants of a row.
type Constants<const N: usize> = [(&'static str, u32); N];

/// A tile of bm x bn outputs over steps of bk, tm x tn of them an invocation.
const fn mm(bm: u32, bn: u32, bk: u32, tm: u32, tn: u32, trans_b: u32) -> Constants<10> {
    let threads = (bm / tm) * (bn / tn);
    let (a_loads, b_loads) = (bm * bk / 4 / threads, bn * bk / 4 / threads);
    assert!(a_loads * threads * 4 == bm * bk && b_loads * threads * 4 == bn * bk);
    [
        ("BM", bm),
        ("BN", bn),
        ("BK", bk),
        ("TM", tm),
        ("TN", tn),
        ("TRANS_B", trans_b),
        ("A_LOADS", a_loads),
        ("B_LOADS", b_loads),
        ("I", tm / 4),
        ("J", tn / 4),
    ]
}

/// Up to m rows of a, and cols rows of b at a time where b is [n, k].
const fn mv(m: u32, cols: u32) -> Constants<3> {
    [("M", m), ("COLS", cols), ("OUTPUTS", m * cols)]
}

/// Tiles of rows, keys and columns of v; tm rows and tk keys an invocation.
const fn attention(rows: u32, keys: u32, cols: u32, tm: u32, tk: u32, unroll: u32) -> Constants<12> {
    let (across, step) = (keys / tk, 16);
    let threads = across * (rows / tm);
    [
        ("ROWS", rows),
        ("KEYS", keys),
        ("COLS", cols),
        ("TM", tm),
        ("TK", tk),
        ("I", tm / 4),
        ("J", tk / 4),
        ("C", cols / 4 / across),
        ("Q_LOADS", rows * step / 4 / threads),
        ("K_LOADS", keys * step / 4 / threads),
        ("V_LOADS", cols * step / 4 / threads),
        ("UNROLL", unroll),
    ]
}

/// Rows of up to lanes · each, where each invocation of `lanes` keeps so many values.
const fn rows(lanes: u32, each: u32) -> Constants<2> {
    [("LANES", lanes), ("EACH", each)]
}

/// Up to `rows` rows, and cols columns of v at a time. Weights fill half of the workgroup memory that is always there.
const fn decode(rows: u32, cols: u32) -> Constants<5> {
    let keys = decode_keys(rows);
    [("R", rows / 4), ("CV", cols / 4), ("KEYS", keys), ("EACH", keys / 128), ("UNROLL", 1)]
}

/// Keys at most of a part in the kernel for up to `rows` rows.
pub(crate) const fn decode_keys(rows: u32) -> u32 {
    2048 / rows
}

kernels! {
    /// y = 0
    ZEROS: Len, 0, "zeros" in ["lib/grid.wgsl", "zeros.wgsl"];
    /// y[at..] = x
    COPY_AT: CopyAt, 1, "copy_at" in ["lib/grid.wgsl", "copy.wgsl"] reading "x";
    /// y[at..] = x, as f16
    PACK_AT: CopyAt, 1, "pack_at" in ["lib/grid.wgsl", "pack.wgsl"] reading "x";

    /// y = x · s
    SCALE: Scale, 1, "scale" in ["lib/grid.wgsl", "scale.wgsl"];
    /// y = x · s[0]
    MUL_SCALAR: Len, 2, "mul_scalar" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = x / (1 + e⁻ˣ)
    SILU: Len, 1, "silu" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = 1 / (1 + e⁻ˣ)
    SIGMOID: Len, 1, "sigmoid" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = √x
    SQRT: Len, 1, "square_root" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = x · Φ(x)
    GELU: Len, 1, "gelu" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = x · σ(2u), the tanh form
    GELU_TANH: Len, 1, "gelu_tanh" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = max(x, 0)
    RELU: Len, 1, "relu" in ["lib/grid.wgsl", "lib/bits.wgsl", "unary.wgsl"];
    /// y = a + b
    ADD: Len, 2, "add" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a - b
    SUB: Len, 2, "sub" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a · b
    MUL: Len, 2, "mul" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a / b
    DIV: Len, 2, "div" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y[i] = a[i] + b[i % d]
    ADD_BIAS: Bias, 2, "add_bias" in ["lib/grid.wgsl", "bias.wgsl"];

    /// y = scale · a[m, k] · b[k, n], for many rows and columns
    MM_LARGE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(128, 128, 16, 8, 8, 0);
    /// The same for fewer
    MM_MEDIUM: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(64, 64, 32, 4, 4, 0);
    /// The same for few rows
    MM_WIDE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(32, 64, 32, 4, 4, 0);
    /// The same for up to 8 rows
    MV_8: Mm, 2, "mv" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(8, 2);
    /// The same for one row
    MV_1: Mm, 2, "mv" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(1, 4);
    /// MV_8 where n is a multiple of four
    MV4_8: Mm, 2, "mv4" in ["lib/grid.wgsl", "mv4.wgsl"] reading "b4" with mv(8, 2);
    /// MV_1 where n is a multiple of four
    MV4_1: Mm, 2, "mv4" in ["lib/grid.wgsl", "mv4.wgsl"] reading "b4" with mv(1, 4);
    /// y = scale · a[m, k] · b[n, k]ᵀ, for many rows and columns
    MM_BT_LARGE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(128, 128, 16, 8, 8, 1);
    /// The same for fewer
    MM_BT_MEDIUM: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(64, 64, 32, 4, 4, 1);
    /// The same for few rows
    MM_BT_WIDE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(32, 64, 32, 4, 4, 1);
    /// The same for up to 8 rows
    MV_BT_8: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(8, 2);
    /// The same for one row
    MV_BT_1: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(1, 4);
    /// MV_BT_8 where k is a multiple of four
    MV_BT4_8: Mm, 2, "mv_bt4" in ["lib/grid.wgsl", "mv4.wgsl"] reading "b4" with mv(8, 2);
    /// MV_BT_1 where k is a multiple of four
    MV_BT4_1: Mm, 2, "mv_bt4" in ["lib/grid.wgsl", "mv4.wgsl"] reading "b4" with mv(1, 4);
    /// y = scale · Σ parts
    SUM_PARTS: Parts, 1, "sum_parts" in ["lib/grid.wgsl", "sum_parts.wgsl"];

    /// eˣ / Σeˣ a row, rows of up to 128
    SOFTMAX_128: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(8, 16);
    /// eˣ / Σeˣ a row, rows of up to 512
    SOFTMAX_512: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(32, 16);
    /// eˣ / Σeˣ a row, rows of up to 2,048
    SOFTMAX_2048: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(128, 16);
    /// eˣ / Σeˣ a row, rows of up to 4,096
    SOFTMAX_4096: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(256, 16);
    /// eˣ / Σeˣ a row, rows of up to 8,192
    SOFTMAX_8192: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(256, 32);
    /// The same for longer rows
    SOFTMAX_LONG: Rows, 1, "softmax_long" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"] with rows(256, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 128
    RMSNORM_128: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(8, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 512
    RMSNORM_512: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(32, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 2,048
    RMSNORM_2048: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(128, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 4,096
    RMSNORM_4096: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 8,192
    RMSNORM_8192: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 32);
    /// The same for longer rows
    RMSNORM_LONG: Rows, 2, "rmsnorm_long" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 128
    LAYERNORM_128: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(8, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 512
    LAYERNORM_512: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(32, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 2,048
    LAYERNORM_2048: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(128, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 4,096
    LAYERNORM_4096: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 8,192
    LAYERNORM_8192: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 32);
    /// The same for longer rows
    LAYERNORM_LONG: Rows, 3, "layernorm_long" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"] with rows(256, 16);

    /// Rotary embedding; the second input is the table of frequencies
    ROPE: Rope, 2, "rope" in ["lib/grid.wgsl", "rope.wgsl"];
    /// softmax(scale · q · kᵀ) · v for tiles of 32 rows, 64 columns; whole or a part of the keys
    ATTENTION_64: Attention, 3, "attention" in ["lib/grid.wgsl", "attention.wgsl"] reading "kv" with attention(32, 32, 64, 4, 4, 0);
    /// The same for 128 columns
    ATTENTION_128: Attention, 3, "attention" in ["lib/grid.wgsl", "attention.wgsl"] reading "kv" with attention(32, 32, 128, 4, 4, 1);
    /// The same for up to 4 rows
    DECODE_4_64: Attention, 3, "decode" in ["lib/grid.wgsl", "decode.wgsl"] reading "kv4" with decode(4, 64);
    DECODE_4_128: Attention, 3, "decode" in ["lib/grid.wgsl", "decode.wgsl"] reading "kv4" with decode(4, 128);
    /// The same for up to 8 rows
    DECODE_8_64: Attention, 3, "decode" in ["lib/grid.wgsl", "decode.wgsl"] reading "kv4" with decode(8, 64);
    DECODE_8_128: Attention, 3, "decode" in ["lib/grid.wgsl", "decode.wgsl"] reading "kv4" with decode(8, 128);
    /// The parts of ATTENTION made one
    ATTENTION_MERGE: Merge, 1, "merge" in ["lib/grid.wgsl", "attention_merge.wgsl"];

    /// y[i, :] = b[ids[i], :]
    GATHER: Gather, 2, "gather" in ["lib/grid.wgsl", "gather.wgsl"] reading "b";
    /// y = xᵀ
    TRANSPOSE: Matrix, 1, "transpose" in ["lib/grid.wgsl", "transpose.wgsl"];
}
