//! Host-array ops: upload, compute, read back. Calls that are started together share one submit and one wait.

use crate::context::Context;
use crate::error::Result;
use crate::tensor::Tensor;

/// # Host-array ops
///
/// Each uploads its arguments, runs the device op of the same name and reads the result back; errors are that op's.
/// For more than one op in a row, keep [`Tensor`]s on the device instead.
impl Context {
    fn line(&self, data: &[f32]) -> Tensor {
        self.tensor(data, &[data.len()])
    }

    /// `A · B`: a `[m, k]`, b `[k, n]` → `[m, n]`
    ///
    /// # Errors
    /// As [`mm`](Context::mm).
    pub async fn matmul(&self, a: &[f32], b: &[f32], m: u32, k: u32, n: u32) -> Result<Vec<f32>> {
        self.to_vec(&self.mm(&self.line(a), &self.line(b), m, k, n)).await
    }

    /// `scale · A · Bᵀ`: a `[m, k]`, b `[n, k]` → `[m, n]`
    ///
    /// # Errors
    /// As [`mm_bt`](Context::mm_bt).
    pub async fn matmul_bt(&self, a: &[f32], b: &[f32], m: u32, n: u32, k: u32, scale: f32) -> Result<Vec<f32>> {
        self.to_vec(&self.mm_bt(&self.line(a), &self.line(b), m, n, k, scale)).await
    }

    /// `a + b`
    ///
    /// # Errors
    /// As [`add_t`](Context::add_t).
    pub async fn add(&self, a: &[f32], b: &[f32]) -> Result<Vec<f32>> {
        self.to_vec(&self.add_t(&self.line(a), &self.line(b))).await
    }

    /// `x / (1 + e⁻ˣ)`
    ///
    /// # Errors
    /// As [`silu_t`](Context::silu_t).
    pub async fn silu(&self, x: &[f32]) -> Result<Vec<f32>> {
        self.to_vec(&self.silu_t(&self.line(x))).await
    }

    /// `eˣ / Σ eˣ` for each row: x `[rows, d]`
    ///
    /// # Errors
    /// As [`softmax_t`](Context::softmax_t).
    pub async fn softmax(&self, x: &[f32], rows: u32, d: u32) -> Result<Vec<f32>> {
        self.to_vec(&self.softmax_t(&self.line(x), rows, d)).await
    }

    /// `(x - mean) / √(var + eps) · weight + bias` for each row: x `[rows, d]`, weight and bias `[d]`
    ///
    /// # Errors
    /// As [`layernorm_t`](Context::layernorm_t).
    pub async fn layernorm(
        &self,
        x: &[f32],
        weight: &[f32],
        bias: &[f32],
        rows: u32,
        d: u32,
        eps: f32,
    ) -> Result<Vec<f32>> {
        self.to_vec(&self.layernorm_t(&self.line(x), &self.line(weight), &self.line(bias), rows, d, eps)).await
    }

    /// `softmax(scale · Q · Kᵀ) · V`: q `[rows_q, d]`, k `[rows_k, d]`, v `[rows_k, dv]` → `[rows_q, dv]`
    ///
    /// # Errors
    /// As [`attention_t`](Context::attention_t).
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub async fn attention(
        &self,
        q: &[f32],
        k: &[f32],
        v: &[f32],
        rows_q: u32,
        rows_k: u32,
        d: u32,
        dv: u32,
        scale: f32,
    ) -> Result<Vec<f32>> {
        let (q, k, v) = (self.line(q), self.line(k), self.line(v));
        self.to_vec(&self.attention_t(&q, &k, &v, rows_q, rows_k, d, dv, scale)).await
    }
}
