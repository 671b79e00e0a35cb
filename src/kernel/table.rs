//! The closed table of kernels: every pipeline that can exist is a variant of a row here, for inputs that hold f32 or f16.

use super::row::{Variant, kernels, params};

/// What each shader imports, as `build.rs` found it.
mod source {
    #![allow(non_upper_case_globals, reason = "named as their files")]

    use crate::kernel::row::Source;

    include!(concat!(env!("OUT_DIR"), "/shaders/sources.rs"));
}

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
    /// A product of `few` rows of `k`, by strides of a and y, and `many` columns; k in `splits` parts of `part`.
    Mv { few: u32, k: u32, many: u32, scale: f32, part: u32, splits: u32, a_row: u32, a_k: u32, y_row: u32, y_column: u32 }
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

/// A variant by its constants.
const fn with(suffix: &'static str, constants: &'static [(&'static str, u32)]) -> Variant {
    Variant { suffix, wide: false, constants }
}

/// As [`with`], on vectors of four.
const fn wide(suffix: &'static str, constants: &'static [(&'static str, u32)]) -> Variant {
    Variant { suffix, wide: true, constants }
}

/// The constants of a variant.
type Constants<const N: usize> = [(&'static str, u32); N];

/// The activations of `lib/activation.wgsl`.
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

/// The number of each activation, and the one that a row applies.
const fn act(applied: Act) -> Constants<7> {
    [
        ("RELU", Act::Relu as u32),
        ("SILU", Act::Silu as u32),
        ("GELU", Act::Gelu as u32),
        ("GELU_TANH", Act::GeluTanh as u32),
        ("SIGMOID", Act::Sigmoid as u32),
        ("SQRT", Act::Sqrt as u32),
        ("ACT", applied as u32),
    ]
}

/// The only variant of a row that applies an activation.
macro_rules! act {
    ($name:ident) => {
        [with("", &act(Act::$name))]
    };
}

/// A tile of bm x bn outputs over steps of bk, tm x tn of them an invocation.
const fn mm(bm: u32, bn: u32, bk: u32, tm: u32, tn: u32, trans_b: u32) -> Constants<7> {
    [("BM", bm), ("BN", bn), ("BK", bk), ("TM", tm), ("TN", tn), ("TRANS_B", trans_b), ("UNROLL", 1)]
}

/// The variants of a product by tiles.
macro_rules! tiles {
    ($trans_b:literal) => {
        [
            with("_LARGE", &mm(128, 128, 16, 16, 8, $trans_b)),
            with("_MEDIUM", &mm(64, 64, 32, 8, 4, $trans_b)),
            with("_SMALL", &mm(32, 64, 32, 4, 4, $trans_b)),
            with("_FLAT", &mm(64, 64, 8, 8, 4, $trans_b)),
        ]
    };
}

/// Up to m rows of a; `lanes` invocations share `cols` columns of b, with `flight` values of each on their way.
const fn mv(m: u32, lanes: u32, cols: u32, flight: u32) -> Constants<5> {
    [("M", m), ("LANES", lanes), ("COLS", cols), ("FLIGHT", flight), ("UNROLL", 1)]
}

/// Tiles of rows, keys and columns of v; 4 rows and 4 keys an invocation.
const fn attention(rows: u32, keys: u32, cols: u32, unroll: u32) -> Constants<6> {
    [("ROWS", rows), ("KEYS", keys), ("COLS", cols), ("TM", 4), ("TK", 4), ("UNROLL", unroll)]
}

/// Up to `rows` rows, and `cols` columns of v at a time. Weights fill half of the workgroup memory that every device has.
const fn decode(rows: u32, cols: u32) -> Constants<4> {
    [("R", rows / 4), ("CV", cols / 4), ("KEYS", decode_keys(rows)), ("UNROLL", 1)]
}

/// Keys at most of a part in the variant for up to `rows` rows.
pub(crate) const fn decode_keys(rows: u32) -> u32 {
    2048 / rows
}

/// `lanes` invocations share a row; each keeps `each` values of it, or vectors of four, in registers.
const fn row(lanes: u32, each: u32) -> Constants<3> {
    [("LANES", lanes), ("EACH", each), ("UNROLL", 1)]
}

/// A size of the kernels that keep rows in registers.
pub(crate) struct RowSize {
    /// Values of the longest row.
    pub(crate) longest: u32,
    /// Invocations of a workgroup of 256 that share a row.
    pub(crate) lanes: u32,
    /// Whether rows must be whole vectors of four.
    pub(crate) wide: bool,
}

macro_rules! row_sizes {
    ($($suffix:literal $variant:ident of $width:literal: $longest:literal by $lanes:literal;)*) => {
        /// The sizes of the row-wise kernels, shortest first: few values an invocation, so that many are on their way, and
        /// the shortest rows for one invocation alone.
        pub(crate) static ROW_SIZES: &[RowSize] =
            &[$(RowSize { longest: $longest, lanes: $lanes, wide: $width == 4 }),*];
        const ROWS: [Variant; ROW_SIZES_LEN] = [$($variant($suffix, &row($lanes, $longest / $lanes / $width))),*];
        const ROW_SIZES_LEN: usize = [$($lanes),*].len();
    };
}

row_sizes! {
    "_2" with of 1: 2 by 1;
    "_8" with of 1: 8 by 1;
    "_32" with of 1: 32 by 4;
    "_128" with of 1: 128 by 8;
    "_1024" with of 1: 1024 by 64;
    "_8192" with of 1: 8192 by 256;
    "_16_4" wide of 4: 16 by 1;
    "_64_4" wide of 4: 64 by 4;
    "_128_4" wide of 4: 128 by 8;
    "_1024_4" wide of 4: 1024 by 64;
    "_2048_4" wide of 4: 2048 by 128;
    "_4096_4" wide of 4: 4096 by 256;
    "_8192_4" wide of 4: 8192 by 256;
}

/// Values of a part of a row longer than those: a workgroup of 256 keeps them in registers.
pub(crate) const LONG_PART: u32 = 4096;

/// The kernels for parts of long rows, by single values and by vectors of four.
const PARTS: [Variant; 2] = [with("", &row(256, LONG_PART / 256)), wide("_4", &row(256, LONG_PART / 256 / 4))];

/// The same for norms, about the mean or about 0.
const fn norm_part(width: u32, centered: u32) -> Constants<4> {
    let [lanes, each, unroll] = row(256, LONG_PART / 256 / width);
    [lanes, each, unroll, ("CENTERED", centered)]
}

macro_rules! norm_parts {
    ($centered:literal) => {
        [with("", &norm_part(1, $centered)), wide("_4", &norm_part(4, $centered))]
    };
}

/// Heads at most that an invocation of rope turns, of a row that has so many.
pub(crate) const ROPE_HEADS: u32 = 4;

const fn turn(heads: u32) -> Constants<2> {
    [("HEADS", heads), ("UNROLL", 1)]
}

/// The kernels of rope for several heads, then for one: by single values and by vectors of four.
const ROPES: [Variant; 4] =
    [with("", &turn(ROPE_HEADS)), wide("_4", &turn(ROPE_HEADS)), with("_ONE", &turn(1)), wide("_ONE_4", &turn(1))];
pub(crate) const ROPE_ONE: usize = 2;

/// Values, or vectors of four, that an invocation of gather moves.
pub(crate) const GATHER_VALUES: u32 = 8;
pub(crate) const GATHER_VECTORS: u32 = 4;

/// Rows or columns at most for which a matrix is thin: tiles of 64 x 64 would be half empty.
pub(crate) const THIN: u32 = 32;

/// Places along the long side of a thin matrix that a tile of 4,096 values holds, in lines of odd width.
pub(crate) const fn thin_length(thin: u32) -> u32 {
    4096 / (thin | 1) / 32 * 32
}

/// The variants of a kernel that works on single values or, at place 1, on vectors of four.
pub(crate) const WIDE: usize = 1;

/// The variants of MM and MM_BT.
pub(crate) const LARGE: usize = 0;
pub(crate) const MEDIUM: usize = 1;
pub(crate) const SMALL: usize = 2;
pub(crate) const FLAT: usize = 3;

/// The variants of MV and MV_BT for up to 8 rows; those for one row are the next.
pub(crate) const FEW: usize = 0;
pub(crate) const FEW_FLAT: usize = 2;
pub(crate) const FEW_SHORT: usize = 4;
pub(crate) const ONE_LONG: usize = 6;

kernels! {
    /// y = 0
    ZEROS: Len, 0, zeros in zeros; empty mm mm_bt mha_decode_t attention_t kv_cache;
    /// y[at..] = x
    COPY_AT: CopyAt, 1, copy_at in copy; kv_cache;
    /// y[at..] = x, as f16
    PACK_AT: CopyAt, 1, pack_at in pack; to_dtype kv_cache;

    /// y = x · s
    SCALE: Scale, 1, scale in scale; scale_t;
    /// y = x · s[0]
    MUL_SCALAR: Len, 2, mul_scalar in binary; mul_scalar_t;
    /// y = x / (1 + e⁻ˣ)
    SILU: Len, 1, unary in unary as act!(Silu); silu_t;
    /// y = 1 / (1 + e⁻ˣ)
    SIGMOID: Len, 1, unary in unary as act!(Sigmoid); sigmoid_t;
    /// y = √x
    SQRT: Len, 1, unary in unary as act!(Sqrt); sqrt_t;
    /// y = x · Φ(x)
    GELU: Len, 1, unary in unary as act!(Gelu); gelu_t;
    /// y = x · σ(2u), the tanh form
    GELU_TANH: Len, 1, unary in unary as act!(GeluTanh); gelu_tanh_t;
    /// y = max(x, 0)
    RELU: Len, 1, unary in unary as act!(Relu); relu_t;
    /// y = a + b
    ADD: Len, 2, add in binary; add_t add_rmsnorm_t add_layernorm_t;
    /// y = a - b
    SUB: Len, 2, sub in binary; sub_t;
    /// y = a · b
    MUL: Len, 2, mul in binary; mul_t;
    /// y = a / b
    DIV: Len, 2, div in binary; div_t;
    /// y[i] = a[i] + b[i % d]
    ADD_BIAS: Bias, 2, add_bias in bias as act!(None); add_bias_t;
    /// y[i] = activation(a[i] + b[i % d]), a variant for each of `ops::Activation` in its order
    ADD_BIAS_ACT: Bias, 2, add_bias in bias as [
        with("_RELU", &act(Act::Relu)),
        with("_SILU", &act(Act::Silu)),
        with("_GELU", &act(Act::Gelu)),
        with("_GELU_TANH", &act(Act::GeluTanh)),
    ]; add_bias_act_t;
    /// y = gate / (1 + e^-gate) · up
    SWIGLU: Len, 2, glu in glu as act!(Silu); swiglu_t;
    /// y = gate · Φ(gate) · up
    GEGLU: Len, 2, glu in glu as act!(Gelu); geglu_t;
    /// y = gate · σ(2u) · up, the tanh form
    GEGLU_TANH: Len, 2, glu in glu as act!(GeluTanh); geglu_tanh_t;

    /// y = scale · a[m, k] · b[k, n], by tiles
    MM: Mm, 2, mm in mm as tiles!(0); mm;
    /// y = scale · a[m, k] · b[n, k]ᵀ, by tiles
    MM_BT: Mm, 2, mm in mm as tiles!(1); mm_bt;
    /// y = scale · a[few, k] · b[k, many] for up to 8 rows, or one; FLAT: for k up to 8
    MV: Mv, 2, mv in mv as [
        with("_8", &mv(8, 8, 1, 4)),
        with("_1", &mv(1, 8, 1, 4)),
        with("_8_FLAT", &mv(8, 1, 1, 8)),
        with("_1_FLAT", &mv(1, 1, 1, 8)),
    ]; mm;
    /// y = scale · a[few, k] · b[many, k]ᵀ for up to 8 rows, or one; FLAT: for k up to 8, SHORT: for short k, LONG: for more
    /// columns
    MV_BT: Mv, 2, mv_bt in mv as [
        with("_8", &mv(8, 128, 2, 4)),
        with("_1", &mv(1, 128, 1, 16)),
        with("_8_FLAT", &mv(8, 1, 1, 8)),
        with("_1_FLAT", &mv(1, 1, 1, 8)),
        with("_8_SHORT", &mv(8, 8, 1, 4)),
        with("_1_SHORT", &mv(1, 8, 1, 4)),
        with("_1_LONG", &mv(1, 128, 8, 4)),
    ]; mm mm_bt;
    /// y = scale · Σ parts
    SUM_PARTS: Parts, 1, sum_parts in sum_parts; mm mm_bt;

    /// eˣ / Σeˣ of each row
    SOFTMAX: Rows, 1, softmax in softmax as ROWS; softmax_t;
    /// Maximum and sum of each part of long rows
    SOFTMAX_PARTS: LongRows, 1, softmax_parts in softmax_long as PARTS; softmax_t;
    /// eˣ / Σeˣ of long rows, by their parts
    SOFTMAX_FINISH: LongRows, 2, softmax_finish in softmax_long as PARTS; softmax_t;
    /// x / √(mean(x²) + eps) · w of each row
    RMSNORM: Rows, 2, norm in rmsnorm as ROWS; rmsnorm_t;
    /// Squares of each part of long rows
    RMSNORM_PARTS: LongRows, 1, norm_parts in norm_long as norm_parts!(0); rmsnorm_t add_rmsnorm_t;
    /// x / √(mean(x²) + eps) · w of long rows, by their parts
    RMSNORM_FINISH: LongRows, 3, rmsnorm_finish in norm_long as norm_parts!(0); rmsnorm_t add_rmsnorm_t;
    /// (x - mean) / √(var + eps) · w + b of each row
    LAYERNORM: Rows, 3, norm in layernorm as ROWS; layernorm_t;
    /// Mean and squares of each part of long rows
    LAYERNORM_PARTS: LongRows, 1, norm_parts in norm_long as norm_parts!(1); layernorm_t add_layernorm_t;
    /// (x - mean) / √(var + eps) · w + b of long rows, by their parts
    LAYERNORM_FINISH: LongRows, 4, layernorm_finish in norm_long as norm_parts!(1); layernorm_t add_layernorm_t;
    /// x + r, and its rmsnorm
    ADD_RMSNORM: Rows, 3 to 2, norm in add_rmsnorm as ROWS; add_rmsnorm_t;
    /// x + r, and its layernorm
    ADD_LAYERNORM: Rows, 4 to 2, norm in add_layernorm as ROWS; add_layernorm_t;

    /// Rotary embedding; the second input is the table of frequencies
    ROPE: Rope, 2, rope in rope as ROPES; rope_t rope_off_t;
    /// Rotary embedding into a cache, and a copy of the third input into the other half of the cache
    ROPE_APPEND: Rope, 3 to 2, rope in rope_append as ROPES; kv_cache;
    /// softmax(scale · q · kᵀ) · v for tiles of 32 rows and 64 or 128 columns; whole or a part of the keys
    ATTENTION: Attention, 3, attention in attention as [
        with("_64", &attention(32, 32, 64, 0)),
        with("_128", &attention(32, 32, 128, 1)),
    ]; mha_decode_t mha_causal_t mha_causal_off_t attention_t;
    /// softmax(scale · q · kᵀ) · v for up to 4 or 8 rows, and 64 or 128 columns at a time
    DECODE: Attention, 3, decode in decode as [
        with("_4_64", &decode(4, 64)),
        with("_4_128", &decode(4, 128)),
        with("_8_64", &decode(8, 64)),
        with("_8_128", &decode(8, 128)),
    ]; mha_decode_t mha_causal_t mha_causal_off_t attention_t;
    /// The parts of an attention made one
    ATTENTION_MERGE: Merge, 1, merge in attention_merge; mha_decode_t mha_causal_t mha_causal_off_t attention_t;

    /// y[i, :] = table[ids[i], :]
    GATHER: Gather, 2, gather in gather as [
        with("", &[("EACH", GATHER_VALUES), ("UNROLL", 1)]),
        wide("_4", &[("EACH", GATHER_VECTORS), ("UNROLL", 1)]),
    ]; gather0;
    /// y = xᵀ
    TRANSPOSE: Matrix, 1, transpose1 in transpose as [with("", &[("UNROLL", 1)])]; transpose2d_t;
    /// y = xᵀ where rows and columns are whole vectors of four
    TRANSPOSE_4: Matrix, 1, transpose4 in transpose as [with("", &[("UNROLL", 1)])]; transpose2d_t;
    /// y = xᵀ for few rows or columns
    TRANSPOSE_THIN: Thin, 1, transpose_thin in transpose_thin as [with("", &[("UNROLL", 1)])]; transpose2d_t;
}
