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
    /// `rows` rows of `d`, each in so many parts.
    LongRows { rows: u32, d: u32, parts: u32, eps: f32 }
    /// A matrix product: [m, k] x [k, n], times `scale`; k in `splits` parts of `part`.
    Mm { m: u32, k: u32, n: u32, scale: f32, part: u32, splits: u32 }
    /// `splits` parts of `len` values, added up, times `scale`.
    Parts { len: u32, splits: u32, scale: f32 }
    /// `n` rows of `d`, taken from a table; 256 further is `down` rows and `across` columns further.
    Gather { n: u32, d: u32, down: u32, across: u32 }
    /// A matrix of `rows` x `cols`.
    Matrix { rows: u32, cols: u32 }
    /// A matrix with a side of `thin`: [long, thin] where it is `tall`; in tiles of `length`.
    Thin { long: u32, thin: u32, length: u32, tall: u32 }
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

/// The activations of lib/activation.wgsl.
#[derive(Clone, Copy)]
#[repr(u32)]
enum Act {
    None,
    Relu,
    Silu,
    Gelu,
    GeluTanh,
    Sigmoid,
    Sqrt,
}

/// Their numbers, and that of the row.
const fn act(row: Act) -> Constants<7> {
    [
        ("RELU", Act::Relu as u32),
        ("SILU", Act::Silu as u32),
        ("GELU", Act::Gelu as u32),
        ("GELU_TANH", Act::GeluTanh as u32),
        ("SIGMOID", Act::Sigmoid as u32),
        ("SQRT", Act::Sqrt as u32),
        ("ACT", row as u32),
    ]
}

/// A tile of bm x bn outputs over steps of bk, tm x tn of them an invocation.
const fn mm(bm: u32, bn: u32, bk: u32, tm: u32, tn: u32, trans_b: u32) -> Constants<7> {
    [("BM", bm), ("BN", bn), ("BK", bk), ("TM", tm), ("TN", tn), ("TRANS_B", trans_b), ("UNROLL", 1)]
}

/// Up to m rows of a; where b is [n, k], cols of its rows at a time and flight values of each on their way.
const fn mv(m: u32, cols: u32, flight: u32) -> Constants<4> {
    [("M", m), ("COLS", cols), ("FLIGHT", flight), ("UNROLL", 1)]
}

/// Tiles of rows, keys and columns of v; 4 rows and 4 keys an invocation.
const fn attention(rows: u32, keys: u32, cols: u32, unroll: u32) -> Constants<6> {
    [("ROWS", rows), ("KEYS", keys), ("COLS", cols), ("TM", 4), ("TK", 4), ("UNROLL", unroll)]
}

/// Rows of up to lanes · each, where each invocation of `lanes` keeps so many values, or vectors.
const fn rows(lanes: u32, each: u32) -> Constants<3> {
    [("LANES", lanes), ("EACH", each), ("UNROLL", 1)]
}

/// Values (or vectors) of an invocation, in loops that are written out.
const fn each(count: u32) -> Constants<2> {
    [("EACH", count), ("UNROLL", 1)]
}

/// Values of a part of a long row: a workgroup of 256 keeps them in registers.
pub(crate) const LONG_PART: u32 = 4096;

/// The same for parts of long rows, in vectors of `width`.
const fn part(width: u32) -> Constants<3> {
    [("LANES", 256), ("EACH", LONG_PART / 256 / width), ("UNROLL", 1)]
}

/// The same for norms, about the mean or about 0.
const fn norm_part(width: u32, centered: u32) -> Constants<4> {
    let [lanes, each, unroll] = part(width);
    [lanes, each, unroll, ("CENTERED", centered)]
}

/// Heads at most that an invocation turns.
pub(crate) const ROPE_HEADS: u32 = 4;

const fn rope() -> Constants<2> {
    [("HEADS", ROPE_HEADS), ("UNROLL", 1)]
}

/// Values, or vectors of four, that an invocation moves.
pub(crate) const GATHER_VALUES: u32 = 8;
pub(crate) const GATHER_VECTORS: u32 = 4;

/// Rows or columns at most for which a matrix is thin: tiles of 64 x 64 would be half empty.
pub(crate) const THIN: u32 = 32;

/// Places along the long side of a thin matrix that a tile holds, whose lines have an odd width.
pub(crate) const fn thin_length(thin: u32) -> u32 {
    4096 / (thin | 1) / 32 * 32
}

/// Up to `rows` rows, and cols columns of v at a time. Weights fill half of the workgroup memory that is always there.
const fn decode(rows: u32, cols: u32) -> Constants<4> {
    [("R", rows / 4), ("CV", cols / 4), ("KEYS", decode_keys(rows)), ("UNROLL", 1)]
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
    SILU: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::Silu);
    /// y = 1 / (1 + e⁻ˣ)
    SIGMOID: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::Sigmoid);
    /// y = √x
    SQRT: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::Sqrt);
    /// y = x · Φ(x)
    GELU: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::Gelu);
    /// y = x · σ(2u), the tanh form
    GELU_TANH: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::GeluTanh);
    /// y = max(x, 0)
    RELU: Len, 1, "unary" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "unary.wgsl"] with act(Act::Relu);
    /// y = a + b
    ADD: Len, 2, "add" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a - b
    SUB: Len, 2, "sub" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a · b
    MUL: Len, 2, "mul" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y = a / b
    DIV: Len, 2, "div" in ["lib/grid.wgsl", "binary.wgsl"];
    /// y[i] = a[i] + b[i % d]
    ADD_BIAS: Bias, 2, "add_bias" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "bias.wgsl"] with act(Act::None);
    /// The same and then max(y, 0)
    ADD_BIAS_RELU: Bias, 2, "add_bias" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "bias.wgsl"] with act(Act::Relu);
    /// The same and then y / (1 + e⁻ʸ)
    ADD_BIAS_SILU: Bias, 2, "add_bias" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "bias.wgsl"] with act(Act::Silu);
    /// The same and then y · Φ(y)
    ADD_BIAS_GELU: Bias, 2, "add_bias" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "bias.wgsl"] with act(Act::Gelu);
    /// The same and then y · σ(2u), the tanh form
    ADD_BIAS_GELU_TANH: Bias, 2, "add_bias" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "bias.wgsl"] with act(Act::GeluTanh);
    /// y = gate / (1 + e^-gate) · up
    SWIGLU: Len, 2, "glu" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "glu.wgsl"] with act(Act::Silu);
    /// y = gate · Φ(gate) · up
    GEGLU: Len, 2, "glu" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "glu.wgsl"] with act(Act::Gelu);
    /// y = gate · σ(2u) · up, the tanh form
    GEGLU_TANH: Len, 2, "glu" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/activation.wgsl", "glu.wgsl"] with act(Act::GeluTanh);

    /// y = scale · a[m, k] · b[k, n], for many rows and columns
    MM_LARGE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(128, 128, 16, 16, 8, 0);
    /// The same for fewer
    MM_MEDIUM: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(64, 64, 32, 8, 4, 0);
    /// The same for few rows
    MM_WIDE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(32, 64, 32, 4, 4, 0);
    /// The same for up to 8 rows
    MV_8: Mm, 2, "mv" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(8, 1, 4);
    /// The same for one row
    MV_1: Mm, 2, "mv" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(1, 1, 4);
    /// y = scale · a[m, k] · b[n, k]ᵀ, for many rows and columns
    MM_BT_LARGE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(128, 128, 16, 16, 8, 1);
    /// The same for fewer
    MM_BT_MEDIUM: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(64, 64, 32, 8, 4, 1);
    /// The same for few rows
    MM_BT_WIDE: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] reading "b" with mm(32, 64, 32, 4, 4, 1);
    /// The same for up to 8 rows
    MV_BT_8: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(8, 2, 4);
    /// The same for one row and up to 8,192 columns
    MV_BT_1: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(1, 1, 16);
    /// The same for more columns
    MV_BT_1_LONG: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"] reading "b" with mv(1, 8, 4);
    /// y = scale · Σ parts
    SUM_PARTS: Parts, 1, "sum_parts" in ["lib/grid.wgsl", "sum_parts.wgsl"];

    /// eˣ / Σeˣ a row, rows of up to 128
    SOFTMAX_128: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(8, 16);
    /// eˣ / Σeˣ a row, rows of up to 1,024
    SOFTMAX_1024: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(64, 16);
    /// eˣ / Σeˣ a row, rows of up to 8,192
    SOFTMAX_8192: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(256, 32);
    /// eˣ / Σeˣ a row, rows of up to 128, in vectors of four
    SOFTMAX_128_4: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(8, 4);
    /// eˣ / Σeˣ a row, rows of up to 1,024, in vectors of four
    SOFTMAX_1024_4: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(64, 4);
    /// eˣ / Σeˣ a row, rows of up to 2,048, in vectors of four
    SOFTMAX_2048_4: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(128, 4);
    /// eˣ / Σeˣ a row, rows of up to 4,096, in vectors of four
    SOFTMAX_4096_4: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(256, 4);
    /// eˣ / Σeˣ a row, rows of up to 8,192, in vectors of four
    SOFTMAX_8192_4: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/softmax.wgsl", "softmax.wgsl"] with rows(256, 8);
    /// Maximum and sum of each part of longer rows
    SOFTMAX_PARTS: LongRows, 1, "softmax_parts" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/softmax.wgsl", "softmax_long.wgsl"] with part(1);
    /// Longer rows, by their parts
    SOFTMAX_FINISH: LongRows, 2, "softmax_finish" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/softmax.wgsl", "softmax_long.wgsl"] with part(1);
    /// The same in vectors of four
    SOFTMAX_PARTS_4: LongRows, 1, "softmax_parts" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/softmax.wgsl", "softmax_long.wgsl"] with part(4);
    /// The same in vectors of four
    SOFTMAX_FINISH_4: LongRows, 2, "softmax_finish" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/softmax.wgsl", "softmax_long.wgsl"] with part(4);
    /// x / √(mean(x²) + eps) · w, rows of up to 128
    RMSNORM_128: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(8, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 1,024
    RMSNORM_1024: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(64, 16);
    /// x / √(mean(x²) + eps) · w, rows of up to 8,192
    RMSNORM_8192: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(256, 32);
    /// x / √(mean(x²) + eps) · w, rows of up to 128, in vectors of four
    RMSNORM_128_4: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(8, 4);
    /// x / √(mean(x²) + eps) · w, rows of up to 1,024, in vectors of four
    RMSNORM_1024_4: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(64, 4);
    /// x / √(mean(x²) + eps) · w, rows of up to 2,048, in vectors of four
    RMSNORM_2048_4: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(128, 4);
    /// x / √(mean(x²) + eps) · w, rows of up to 4,096, in vectors of four
    RMSNORM_4096_4: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(256, 4);
    /// x / √(mean(x²) + eps) · w, rows of up to 8,192, in vectors of four
    RMSNORM_8192_4: Rows, 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "rmsnorm.wgsl"] with rows(256, 8);
    /// Squares of each part of longer rows
    RMSNORM_PARTS: LongRows, 1, "norm_parts" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(1, 0);
    /// Longer rows, by their parts
    RMSNORM_FINISH: LongRows, 3, "rmsnorm_finish" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(1, 0);
    /// The same in vectors of four
    RMSNORM_PARTS_4: LongRows, 1, "norm_parts" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(4, 0);
    /// The same in vectors of four
    RMSNORM_FINISH_4: LongRows, 3, "rmsnorm_finish" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(4, 0);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 128
    LAYERNORM_128: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(8, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 1,024
    LAYERNORM_1024: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(64, 16);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 8,192
    LAYERNORM_8192: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(256, 32);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 128, in vectors of four
    LAYERNORM_128_4: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(8, 4);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 1,024, in vectors of four
    LAYERNORM_1024_4: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(64, 4);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 2,048, in vectors of four
    LAYERNORM_2048_4: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(128, 4);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 4,096, in vectors of four
    LAYERNORM_4096_4: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(256, 4);
    /// (x - mean) / √(var + eps) · w + b, rows of up to 8,192, in vectors of four
    LAYERNORM_8192_4: Rows, 3, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "layernorm.wgsl"] with rows(256, 8);
    /// Mean and squares of each part of longer rows
    LAYERNORM_PARTS: LongRows, 1, "norm_parts" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(1, 1);
    /// Longer rows, by their parts
    LAYERNORM_FINISH: LongRows, 4, "layernorm_finish" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(1, 1);
    /// The same in vectors of four
    LAYERNORM_PARTS_4: LongRows, 1, "norm_parts" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(4, 1);
    /// The same in vectors of four
    LAYERNORM_FINISH_4: LongRows, 4, "layernorm_finish" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/scale.wgsl", "norm_long.wgsl"] with norm_part(4, 1);

    /// x + r and its rmsnorm, rows of up to 128
    ADD_RMSNORM_128: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(8, 16);
    /// x + r and its rmsnorm, rows of up to 1,024
    ADD_RMSNORM_1024: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(64, 16);
    /// x + r and its rmsnorm, rows of up to 8,192
    ADD_RMSNORM_8192: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(256, 32);
    /// x + r and its rmsnorm, rows of up to 128, in vectors of four
    ADD_RMSNORM_128_4: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(8, 4);
    /// x + r and its rmsnorm, rows of up to 1,024, in vectors of four
    ADD_RMSNORM_1024_4: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(64, 4);
    /// x + r and its rmsnorm, rows of up to 2,048, in vectors of four
    ADD_RMSNORM_2048_4: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(128, 4);
    /// x + r and its rmsnorm, rows of up to 4,096, in vectors of four
    ADD_RMSNORM_4096_4: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(256, 4);
    /// x + r and its rmsnorm, rows of up to 8,192, in vectors of four
    ADD_RMSNORM_8192_4: Rows, 3 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_rmsnorm.wgsl"] with rows(256, 8);
    /// x + r and its layernorm, rows of up to 128
    ADD_LAYERNORM_128: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(8, 16);
    /// x + r and its layernorm, rows of up to 1,024
    ADD_LAYERNORM_1024: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(64, 16);
    /// x + r and its layernorm, rows of up to 8,192
    ADD_LAYERNORM_8192: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(256, 32);
    /// x + r and its layernorm, rows of up to 128, in vectors of four
    ADD_LAYERNORM_128_4: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(8, 4);
    /// x + r and its layernorm, rows of up to 1,024, in vectors of four
    ADD_LAYERNORM_1024_4: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(64, 4);
    /// x + r and its layernorm, rows of up to 2,048, in vectors of four
    ADD_LAYERNORM_2048_4: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(128, 4);
    /// x + r and its layernorm, rows of up to 4,096, in vectors of four
    ADD_LAYERNORM_4096_4: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(256, 4);
    /// x + r and its layernorm, rows of up to 8,192, in vectors of four
    ADD_LAYERNORM_8192_4: Rows, 4 to 2, "norm" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/reduce.wgsl", "lib/row.wgsl", "lib/scale.wgsl", "lib/norm.wgsl", "add_layernorm.wgsl"] with rows(256, 8);

    /// Rotary embedding; the second input is the table of frequencies
    ROPE: Rope, 2, "rope" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/rope.wgsl", "rope.wgsl"] with rope();
    /// The same in vectors of four
    ROPE_4: Rope, 2, "rope" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/rope.wgsl", "rope.wgsl"] with rope();
    /// The same into a cache, beside a copy of the third input
    ROPE_APPEND: Rope, 3 to 2, "rope" in ["lib/grid.wgsl", "lib/by1.wgsl", "lib/rope.wgsl", "rope_append.wgsl"] with rope();
    /// The same in vectors of four
    ROPE_APPEND_4: Rope, 3 to 2, "rope" in ["lib/grid.wgsl", "lib/by4.wgsl", "lib/rope.wgsl", "rope_append.wgsl"] with rope();
    /// softmax(scale · q · kᵀ) · v for tiles of 32 rows, 64 columns; whole or a part of the keys
    ATTENTION_64: Attention, 3, "attention" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "attention.wgsl"] reading "kv" with attention(32, 32, 64, 0);
    /// The same for 128 columns
    ATTENTION_128: Attention, 3, "attention" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "attention.wgsl"] reading "kv" with attention(32, 32, 128, 1);
    /// The same for up to 4 rows
    DECODE_4_64: Attention, 3, "decode" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "decode.wgsl"] reading "kv4" with decode(4, 64);
    DECODE_4_128: Attention, 3, "decode" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "decode.wgsl"] reading "kv4" with decode(4, 128);
    /// The same for up to 8 rows
    DECODE_8_64: Attention, 3, "decode" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "decode.wgsl"] reading "kv4" with decode(8, 64);
    DECODE_8_128: Attention, 3, "decode" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "decode.wgsl"] reading "kv4" with decode(8, 128);
    /// The parts of ATTENTION made one
    ATTENTION_MERGE: Merge, 1, "merge" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/scores.wgsl", "attention_merge.wgsl"];

    /// y[i, :] = table[ids[i], :]
    GATHER: Gather, 2, "gather" in ["lib/grid.wgsl", "lib/by1.wgsl", "gather.wgsl"] reading "b" with each(GATHER_VALUES);
    /// The same in vectors of four
    GATHER_4: Gather, 2, "gather" in ["lib/grid.wgsl", "lib/by4.wgsl", "gather.wgsl"] reading "b4" with each(GATHER_VECTORS);
    /// y = xᵀ
    TRANSPOSE: Matrix, 1, "transpose1" in ["lib/grid.wgsl", "transpose.wgsl"] with [("UNROLL", 1)];
    /// The same in vectors of four
    TRANSPOSE_4: Matrix, 1, "transpose4" in ["lib/grid.wgsl", "transpose.wgsl"] with [("UNROLL", 1)];
    /// The same for few rows or columns
    TRANSPOSE_THIN: Thin, 1, "transpose_thin" in ["lib/grid.wgsl", "transpose_thin.wgsl"] with [("UNROLL", 1)];
}
