//! The device ops for JavaScript: what the shapes already say is not asked again.

use wasm_bindgen::prelude::*;

use super::{Js, context, dtype, give, sizes, tensor, throw};
use crate::error::Error;
use crate::{Activation, Context, Tensor};

/// Rows and columns of a matrix.
fn matrix(op: &'static str, name: &str, t: &Tensor) -> Result<(u32, u32), Error> {
    match t.shape() {
        &[rows, cols] => Ok((rows as u32, cols as u32)),
        shape => Err(Error::shape(op, format!("{name} has shape {shape:?}, but a matrix is expected"))),
    }
}

/// The last dimension, and the number of rows of that length.
fn rows(op: &'static str, t: &Tensor) -> Result<(u32, u32), Error> {
    match t.shape().split_last() {
        Some((d, rest)) => Ok((rest.iter().product::<usize>() as u32, *d as u32)),
        None => Err(Error::shape(op, "a shape of no dimensions has no rows")),
    }
}

/// The size of each of `heads` heads in rows of `width`.
fn head(op: &'static str, heads: u32, name: &str, width: u32) -> Result<u32, Error> {
    match width.checked_rem(heads) {
        Some(0) => Ok(width / heads),
        _ => Err(Error::argument(op, format!("{heads} {name} do not divide rows of {width}"))),
    }
}

fn mismatch(op: &'static str, a: &Tensor, b: &Tensor, why: &str) -> Error {
    Error::shape(op, format!("shapes {:?} and {:?} do not fit: {why}", a.shape(), b.shape()))
}

fn run(c: u32, x: u32, f: impl FnOnce(&Context, &Tensor) -> Result<Tensor, Error>) -> Js<u32> {
    let context = context(c)?;
    give(f(&context, &tensor(x)?).map_err(|e| throw(&e))?)
}

macro_rules! unary {
    ($($js:ident $op:ident)*) => {$(
        #[wasm_bindgen(js_name = $js)]
        pub fn $op(c: u32, x: u32) -> Js<u32> {
            run(c, x, |ctx, x| Ok(ctx.$op(x)))
        }
    )*};
}

macro_rules! binary {
    ($($js:ident $op:ident)*) => {$(
        #[wasm_bindgen(js_name = $js)]
        pub fn $op(c: u32, x: u32, b: u32) -> Js<u32> {
            let b = tensor(b)?;
            run(c, x, |ctx, x| Ok(ctx.$op(x, &b)))
        }
    )*};
}

unary! {
    silu silu_t
    sigmoid sigmoid_t
    sqrt sqrt_t
    gelu gelu_t
    geluTanh gelu_tanh_t
    relu relu_t
}

binary! {
    add add_t
    sub sub_t
    mul mul_t
    div div_t
    mulScalar mul_scalar_t
    swiglu swiglu_t
    geglu geglu_t
    gegluTanh geglu_tanh_t
}

#[wasm_bindgen]
pub fn scale(c: u32, x: u32, s: f32) -> Js<u32> {
    run(c, x, |ctx, x| Ok(ctx.scale_t(x, s)))
}

/// `activation` counts from 1 in the facade's order; 0 is none.
#[wasm_bindgen(js_name = addBias)]
pub fn add_bias(c: u32, x: u32, bias: u32, activation: u32) -> Js<u32> {
    let bias = tensor(bias)?;
    run(c, x, |ctx, x| {
        let (_, d) = rows("add_bias_t", x)?;
        if bias.len() as u64 != u64::from(d) {
            return Err(mismatch("add_bias_t", x, &bias, "a bias as long as a row is expected"));
        }
        let activation = match activation {
            0 => return Ok(ctx.add_bias_t(x, &bias)),
            1 => Activation::Relu,
            2 => Activation::Silu,
            3 => Activation::Gelu,
            _ => Activation::GeluTanh,
        };
        Ok(ctx.add_bias_act_t(x, &bias, activation))
    })
}

#[wasm_bindgen]
pub fn mm(c: u32, a: u32, b: u32) -> Js<u32> {
    let b = tensor(b)?;
    run(c, a, |ctx, a| {
        let ((m, k), (rows, n)) = (matrix("mm", "a", a)?, matrix("mm", "b", &b)?);
        if k != rows {
            return Err(mismatch("mm", a, &b, "[m, k] and [k, n] are expected"));
        }
        Ok(ctx.mm(a, &b, m, k, n))
    })
}

#[wasm_bindgen(js_name = mmBt)]
pub fn mm_bt(c: u32, a: u32, b: u32, scale: f32) -> Js<u32> {
    let b = tensor(b)?;
    run(c, a, |ctx, a| {
        let ((m, k), (n, cols)) = (matrix("mm_bt", "a", a)?, matrix("mm_bt", "b", &b)?);
        if k != cols {
            return Err(mismatch("mm_bt", a, &b, "[m, k] and [n, k] are expected"));
        }
        Ok(ctx.mm_bt(a, &b, m, n, k, scale))
    })
}

#[wasm_bindgen]
pub fn to(c: u32, x: u32, f16: bool) -> Js<u32> {
    run(c, x, |ctx, x| Ok(ctx.to_dtype(x, dtype(f16))))
}

#[wasm_bindgen]
pub fn dup(c: u32, x: u32, shape: &[u32]) -> Js<u32> {
    run(c, x, |ctx, x| Ok(ctx.dup(x, sizes(shape))))
}

#[wasm_bindgen]
pub fn gather0(c: u32, x: u32, idx: &[u32]) -> Js<u32> {
    run(c, x, |ctx, x| {
        let (_, d) = matrix("gather0", "the table", x)?;
        Ok(ctx.gather0(x, idx, d as usize))
    })
}

#[wasm_bindgen(js_name = transpose2d)]
pub fn transpose2d(c: u32, x: u32) -> Js<u32> {
    run(c, x, |ctx, x| {
        let (rows, cols) = matrix("transpose2d_t", "x", x)?;
        Ok(ctx.transpose2d_t(x, rows, cols))
    })
}

#[wasm_bindgen]
pub fn softmax(c: u32, x: u32) -> Js<u32> {
    run(c, x, |ctx, x| {
        let (rows, d) = rows("softmax_t", x)?;
        Ok(ctx.softmax_t(x, rows, d))
    })
}

#[wasm_bindgen]
pub fn rmsnorm(c: u32, x: u32, w: u32, eps: f32) -> Js<u32> {
    let w = tensor(w)?;
    run(c, x, |ctx, x| {
        let (rows, d) = rows("rmsnorm_t", x)?;
        Ok(ctx.rmsnorm_t(x, &w, rows, d, eps))
    })
}

#[wasm_bindgen]
pub fn layernorm(c: u32, x: u32, w: u32, b: u32, eps: f32) -> Js<u32> {
    let (w, b) = (tensor(w)?, tensor(b)?);
    run(c, x, |ctx, x| {
        let (rows, d) = rows("layernorm_t", x)?;
        Ok(ctx.layernorm_t(x, &w, &b, rows, d, eps))
    })
}

/// Handles of the sum and of its norm.
#[wasm_bindgen(js_name = addRmsnorm)]
pub fn add_rmsnorm(c: u32, x: u32, r: u32, w: u32, eps: f32) -> Js<Vec<u32>> {
    let (context, x, r, w) = (context(c)?, tensor(x)?, tensor(r)?, tensor(w)?);
    let (rows, d) = rows("add_rmsnorm_t", &x).map_err(|e| throw(&e))?;
    give_pair(context.add_rmsnorm_t(&x, &r, &w, rows, d, eps))
}

/// Handles of the sum and of its norm.
#[wasm_bindgen(js_name = addLayernorm)]
pub fn add_layernorm(c: u32, x: u32, r: u32, w: u32, b: u32, eps: f32) -> Js<Vec<u32>> {
    let (context, x, r, w, b) = (context(c)?, tensor(x)?, tensor(r)?, tensor(w)?, tensor(b)?);
    let (rows, d) = rows("add_layernorm_t", &x).map_err(|e| throw(&e))?;
    give_pair(context.add_layernorm_t(&x, &r, &w, &b, rows, d, eps))
}

/// Both, or the error that they share.
fn give_pair((a, b): (Tensor, Tensor)) -> Js<Vec<u32>> {
    Ok(vec![give(a)?, give(b)?])
}

#[wasm_bindgen]
pub fn rope(c: u32, x: u32, heads: u32, base: f32) -> Js<u32> {
    run(c, x, |ctx, x| {
        let (t, width) = matrix("rope_t", "x", x)?;
        let dh = head("rope_t", heads, "heads", width)?;
        Ok(ctx.rope_t(x, t, heads, dh, base))
    })
}

#[wasm_bindgen(js_name = ropeOff)]
pub fn rope_off(c: u32, x: u32, heads: u32, base: f32, offset: u32) -> Js<u32> {
    run(c, x, |ctx, x| {
        let (t, width) = matrix("rope_off_t", "x", x)?;
        let dh = head("rope_off_t", heads, "heads", width)?;
        Ok(ctx.rope_off_t(x, t, heads, dh, base, offset))
    })
}

/// Sizes of q, k and v: rows of q, head size, rows of k.
fn heads(op: &'static str, q: &Tensor, k: &Tensor, v: &Tensor, hq: u32, hkv: u32) -> Result<(u32, u32, u32), Error> {
    let ((t, q_width), (s, k_width)) = (matrix(op, "q", q)?, matrix(op, "k", k)?);
    if k.shape() != v.shape() {
        return Err(mismatch(op, k, v, "k and v of one shape are expected"));
    }
    let dh = head(op, hq, "heads", q_width)?;
    if u64::from(hkv) * u64::from(dh) != u64::from(k_width) {
        let why = format!("q has {hq} heads of {dh}, so rows of {hkv} kv heads are expected in k");
        return Err(mismatch(op, q, k, &why));
    }
    Ok((t, dh, s))
}

/// `past` is NaN for all rows of `k`.
#[wasm_bindgen(js_name = mhaDecode)]
pub fn mha_decode(c: u32, q: u32, k: u32, v: u32, hq: u32, hkv: u32, past: f64) -> Js<u32> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    run(c, q, |ctx, q| {
        let op = "mha_decode_t";
        let (t, dh, rows) = heads(op, q, &k, &v, hq, hkv)?;
        if t != 1 {
            return Err(Error::shape(op, format!("q has shape {:?}, but one row is expected", q.shape())));
        }
        let s = if past.is_nan() { rows } else { past as u32 };
        Ok(ctx.mha_decode_t(q, &k, &v, hq, hkv, dh, s))
    })
}

#[wasm_bindgen(js_name = mhaCausal)]
pub fn mha_causal(c: u32, q: u32, k: u32, v: u32, hq: u32, hkv: u32) -> Js<u32> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    run(c, q, |ctx, q| {
        let (t, dh, _) = heads("mha_causal_t", q, &k, &v, hq, hkv)?;
        Ok(ctx.mha_causal_t(q, &k, &v, t, hq, hkv, dh))
    })
}

#[wasm_bindgen(js_name = mhaCausalOff)]
pub fn mha_causal_off(c: u32, q: u32, k: u32, v: u32, hq: u32, hkv: u32, offset: u32) -> Js<u32> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    run(c, q, |ctx, q| {
        let (t, dh, _) = heads("mha_causal_off_t", q, &k, &v, hq, hkv)?;
        Ok(ctx.mha_causal_off_t(q, &k, &v, t, hq, hkv, dh, offset))
    })
}

/// `scale` is NaN for 1/√d.
#[wasm_bindgen]
pub fn attention(c: u32, q: u32, k: u32, v: u32, scale: f32) -> Js<u32> {
    let (k, v) = (tensor(k)?, tensor(v)?);
    run(c, q, |ctx, q| {
        let op = "attention_t";
        let ((rq, d), (rk, k_width), (v_rows, dv)) = (matrix(op, "q", q)?, matrix(op, "k", &k)?, matrix(op, "v", &v)?);
        if d != k_width {
            return Err(mismatch(op, q, &k, "q [rq, d] and k [rk, d] are expected"));
        }
        if rk != v_rows {
            return Err(mismatch(op, &k, &v, "k [rk, d] and v [rk, dv] are expected"));
        }
        let scale = if scale.is_nan() { 1.0 / (d as f32).sqrt() } else { scale };
        Ok(ctx.attention_t(q, &k, &v, rq, rk, d, dv, scale))
    })
}
