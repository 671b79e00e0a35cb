//! Which kernels each op may run, and compiling them ahead of time.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::kernels;

macro_rules! uses {
    ($($op:ident: $($kernel:ident)*;)*) => {
        static USES: &[(&str, &[usize])] = &[$((stringify!($op), &[$(kernels::$kernel.row),*])),*];
    };
}

uses! {
    empty: ZEROS;
    to_dtype: PACK_AT;
    mm: MM_LARGE MM_MEDIUM MM_WIDE MV_8 MV_1 SUM_PARTS ZEROS;
    mm_bt: MM_BT_LARGE MM_BT_MEDIUM MM_BT_WIDE MV_BT_8 MV_BT_1 MV_BT_1_LONG SUM_PARTS ZEROS;
    silu_t: SILU;
    sigmoid_t: SIGMOID;
    sqrt_t: SQRT;
    gelu_t: GELU;
    gelu_tanh_t: GELU_TANH;
    relu_t: RELU;
    add_t: ADD;
    sub_t: SUB;
    mul_t: MUL;
    div_t: DIV;
    mul_scalar_t: MUL_SCALAR;
    scale_t: SCALE;
    add_bias_t: ADD_BIAS;
    add_bias_act_t: ADD_BIAS_RELU ADD_BIAS_SILU ADD_BIAS_GELU ADD_BIAS_GELU_TANH;
    swiglu_t: SWIGLU;
    geglu_t: GEGLU;
    geglu_tanh_t: GEGLU_TANH;
    dup: ;
    gather0: GATHER GATHER_4;
    transpose2d_t: TRANSPOSE TRANSPOSE_4 TRANSPOSE_THIN;
    softmax_t: SOFTMAX_128 SOFTMAX_1024 SOFTMAX_8192 SOFTMAX_128_4 SOFTMAX_1024_4 SOFTMAX_2048_4 SOFTMAX_4096_4 SOFTMAX_8192_4 SOFTMAX_PARTS SOFTMAX_FINISH SOFTMAX_PARTS_4 SOFTMAX_FINISH_4;
    rmsnorm_t: RMSNORM_128 RMSNORM_1024 RMSNORM_8192 RMSNORM_128_4 RMSNORM_1024_4 RMSNORM_2048_4 RMSNORM_4096_4 RMSNORM_8192_4 RMSNORM_PARTS RMSNORM_FINISH RMSNORM_PARTS_4 RMSNORM_FINISH_4;
    layernorm_t: LAYERNORM_128 LAYERNORM_1024 LAYERNORM_8192 LAYERNORM_128_4 LAYERNORM_1024_4 LAYERNORM_2048_4 LAYERNORM_4096_4 LAYERNORM_8192_4 LAYERNORM_PARTS LAYERNORM_FINISH LAYERNORM_PARTS_4 LAYERNORM_FINISH_4;
    add_rmsnorm_t: ADD_RMSNORM_128 ADD_RMSNORM_1024 ADD_RMSNORM_8192 ADD_RMSNORM_128_4 ADD_RMSNORM_1024_4 ADD_RMSNORM_2048_4 ADD_RMSNORM_4096_4 ADD_RMSNORM_8192_4 RMSNORM_PARTS RMSNORM_FINISH RMSNORM_PARTS_4 RMSNORM_FINISH_4 ADD;
    add_layernorm_t: ADD_LAYERNORM_128 ADD_LAYERNORM_1024 ADD_LAYERNORM_8192 ADD_LAYERNORM_128_4 ADD_LAYERNORM_1024_4 ADD_LAYERNORM_2048_4 ADD_LAYERNORM_4096_4 ADD_LAYERNORM_8192_4 LAYERNORM_PARTS LAYERNORM_FINISH LAYERNORM_PARTS_4 LAYERNORM_FINISH_4 ADD;
    rope_t: ROPE ROPE_4;
    rope_off_t: ROPE ROPE_4;
    mha_decode_t: ATTENTION_64 ATTENTION_128 DECODE_4_64 DECODE_4_128 DECODE_8_64 DECODE_8_128 ATTENTION_MERGE ZEROS;
    mha_causal_t: ATTENTION_64 ATTENTION_128 DECODE_4_64 DECODE_4_128 DECODE_8_64 DECODE_8_128 ATTENTION_MERGE;
    mha_causal_off_t: ATTENTION_64 ATTENTION_128 DECODE_4_64 DECODE_4_128 DECODE_8_64 DECODE_8_128 ATTENTION_MERGE;
    attention_t: ATTENTION_64 ATTENTION_128 DECODE_4_64 DECODE_4_128 DECODE_8_64 DECODE_8_128 ATTENTION_MERGE ZEROS;
    kv_cache: ZEROS COPY_AT PACK_AT ROPE_APPEND ROPE_APPEND_4;
}

/// The rows of the kernel table that the ops for which `wanted` holds may run, each once.
pub(crate) fn rows(wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    let mut rows: Vec<usize> = USES.iter().filter(|(op, _)| wanted(op)).flat_map(|(_, rows)| *rows).copied().collect();
    rows.sort_unstable();
    rows.dedup();
    rows
}

/// The first of the names that no op has, as `spelled` spells them.
pub(crate) fn unknown<S: AsRef<str>>(names: &[S], spelled: impl Fn(&str) -> String) -> Option<Error> {
    let known = |name: &&S| USES.iter().any(|(op, _)| spelled(op) == name.as_ref());
    let name = names.iter().find(|name| !known(name))?.as_ref();
    Some(Error::argument("warmup", format!("{name:?} is not the name of an op")))
}

/// # First use
impl Context {
    /// Compiles the pipelines that the named `ops` may need, whatever the shapes; all of them without names. They are
    /// compiled side by side: in threads natively, and by the browser beside the page. An op that is called before
    /// compiles what it needs itself, and so does the first product, gather or attention that reads f16. `progress` hears how many of how many are done.
    ///
    /// # Errors
    /// `invalid-argument` for a name that no op has; `device-lost`; `internal` if the driver refuses a pipeline.
    pub async fn warmup(&self, ops: &[&str], progress: impl FnMut(usize, usize)) -> Result<()> {
        if let Some(error) = unknown(ops, str::to_string) {
            return Err(error);
        }
        let rows = rows(|op| ops.is_empty() || ops.contains(&op));
        self.gpu.compile("warmup", &rows, progress).await
    }
}

/// The kernels of an op, for a test that compares them with what its cases run.
#[doc(hidden)]
pub fn kernels_of(name: &str) -> Vec<&'static str> {
    rows(|op| op == name).into_iter().map(|row| kernels::ALL[row].name).collect()
}
