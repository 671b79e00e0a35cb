//! The closed table of kernels: every pipeline that can exist is a row here.

use crate::kernel::{kernels, params};

params! {
    /// Elementwise over `len` vectors of four.
    Len { len: u32 }
    /// Elementwise with one number.
    Scale { len: u32, s: f32 }
    /// Elementwise with a period of `d` elements.
    Bias { len: u32, d: u32 }
    /// `rows` rows of `d`, each shared by `lanes` invocations, a power of two.
    Rows { rows: u32, d: u32, lanes: u32, eps: f32 }
    /// A matrix product: [m, k] x [k, n], times `scale`.
    Mm { m: u32, k: u32, n: u32, scale: f32 }
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

kernels! {
    /// y = 0
    ZEROS: Len, 0, "zeros" in ["lib/grid.wgsl", "zeros.wgsl"];
    /// y[at..] = x
    COPY_AT: CopyAt, 1, "copy_at" in ["lib/grid.wgsl", "copy.wgsl"];

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

    /// y = scale · a[m, k] · b[k, n], tiled
    MM: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] with "const TRANS_B = false;";
    /// y = scale · a[m, k] · b[n, k]ᵀ, tiled
    MM_BT: Mm, 2, "mm" in ["lib/grid.wgsl", "mm.wgsl"] with "const TRANS_B = true;";
    /// MM for few rows of a
    MV: Mm, 2, "mv" in ["lib/grid.wgsl", "mv.wgsl"];
    /// MM_BT for few rows of a
    MV_BT: Mm, 2, "mv_bt" in ["lib/grid.wgsl", "mv.wgsl"];

    /// eˣ / Σeˣ a row
    SOFTMAX: Rows, 1, "softmax" in ["lib/grid.wgsl", "lib/bits.wgsl", "lib/reduce.wgsl", "softmax.wgsl"];
    /// x / √(mean(x²) + eps) · w
    RMSNORM: Rows, 2, "rmsnorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"];
    /// (x - mean) / √(var + eps) · w + b
    LAYERNORM: Rows, 3, "layernorm" in ["lib/grid.wgsl", "lib/reduce.wgsl", "norm.wgsl"];

    /// Rotary embedding; the second input is the table of frequencies
    ROPE: Rope, 2, "rope" in ["lib/grid.wgsl", "rope.wgsl"];
    /// softmax(scale · q · kᵀ) · v for tiles of queries, whole or a part of the keys
    ATTENTION: Attention, 3, "attention" in ["lib/grid.wgsl", "attention.wgsl"];
    /// The parts of ATTENTION made one
    ATTENTION_MERGE: Merge, 1, "merge" in ["lib/grid.wgsl", "attention_merge.wgsl"];

    /// y[i, :] = table[ids[i], :]
    GATHER: Gather, 2, "gather" in ["lib/grid.wgsl", "gather.wgsl"];
    /// y = xᵀ
    TRANSPOSE: Matrix, 1, "transpose" in ["lib/grid.wgsl", "transpose.wgsl"];
}
