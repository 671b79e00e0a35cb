//! Public conformance vectors (see `vectors/README.md`), each within its own source's tolerance.

use futures_util::future::join_all;
use serde_json::Value;
use tensorweft::{Context, Tensor};

/// One file an op, embedded so that browsers run them too.
macro_rules! files {
    ($($op:ident)*) => { &[$((stringify!($op), include_str!(concat!("vectors/", stringify!($op), ".json")))),*] };
}

const FILES: &[(&str, &str)] = files! {
    add add_bias attention_bias attention_full div gather_rows gelu gelu_tanh gemm layernorm matmul mha_causal
    mul mul_scalar relu rmsnorm rope_tables sigmoid softmax sqrt sub transpose2d
};

gpu_test! {
    async fn conformance_vectors(ctx) {
        let mut ran = 0;
        let mut wrong = Vec::new();
        for (op, text) in FILES {
            let cases: Vec<Value> = serde_json::from_str(text).expect("a list of cases");
            let outputs: Vec<Tensor> = cases.iter().map(|case| run(ctx, op, &Inputs(case))).collect();
            let reads = join_all(outputs.iter().map(|t| ctx.to_vec(t))).await;
            for (case, read) in cases.iter().zip(reads) {
                let id = &case["id"];
                let want = data(&case["expected"]);
                let got = read.unwrap_or_else(|e| panic!("{id}: {e}"));
                assert_eq!(got.len(), want.len(), "{id}");
                let bad = got.iter().zip(&want).position(|(&got, &want)| !within(op, &case["tol"], got, want));
                if let Some(i) = bad {
                    wrong.push(format!("{id}: element {i} is {:e}, want {:e}, tolerance {}", got[i], want[i], case["tol"]));
                }
                ran += 1;
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert_eq!(ran, 126);
    }
}

/// Values as f32; an infinity is a string.
fn data(tensor: &Value) -> Vec<f32> {
    let number = |x: &Value| match x.as_str() {
        Some(text) => text.parse().expect("an infinity"),
        None => x.as_f64().expect("a number") as f32,
    };
    tensor["data"].as_array().expect("data").iter().map(number).collect()
}

fn shape(tensor: &Value) -> Vec<usize> {
    tensor["shape"].as_array().expect("a shape").iter().map(|x| x.as_u64().expect("a size") as usize).collect()
}

fn within(op: &str, tol: &Value, got: f32, want: f32) -> bool {
    if got == want {
        return true;
    }
    let (got64, want64) = (f64::from(got), f64::from(want));
    match tol["ulp"].as_u64() {
        Some(ulp) => {
            // WGSL promises less than the source asks in two places; the vectors' README says how much less.
            let ulp = match op {
                "div" => 3,
                "sqrt" => 5,
                _ => ulp,
            };
            let order = |x: f32| {
                let bits = i64::from(x.to_bits() & 0x7fff_ffff);
                if x.is_sign_negative() { -bits } else { bits }
            };
            got.is_finite() && order(got).abs_diff(order(want)) <= ulp
        }
        None => {
            let of = |name: &str| tol[name].as_f64().expect("a tolerance");
            (got64 - want64).abs() <= of("atol") + of("rtol") * want64.abs()
        }
    }
}

/// A case's inputs and attributes by name.
struct Inputs<'a>(&'a Value);

impl Inputs<'_> {
    fn has(&self, name: &str) -> bool {
        !self.0["inputs"][name].is_null()
    }

    fn data(&self, name: &str) -> Vec<f32> {
        data(&self.0["inputs"][name])
    }

    fn dims(&self, name: &str) -> Vec<usize> {
        shape(&self.0["inputs"][name])
    }

    fn tensor(&self, ctx: &Context, name: &str) -> Tensor {
        ctx.tensor(&self.data(name), &self.dims(name))
    }

    /// The named input, or `d` times `otherwise` where the source leaves it out.
    fn row(&self, ctx: &Context, name: &str, d: usize, otherwise: f32) -> Tensor {
        if self.has(name) { self.tensor(ctx, name) } else { ctx.tensor(&vec![otherwise; d], &[d]) }
    }

    fn number(&self, name: &str) -> f32 {
        self.0["attrs"][name].as_f64().unwrap_or_else(|| panic!("attribute {name}")) as f32
    }

    fn flag(&self, name: &str) -> bool {
        let value = &self.0["attrs"][name];
        value.as_bool().unwrap_or_else(|| value.as_u64().expect("a flag") != 0)
    }
}

/// One case by our ops.
fn run(ctx: &Context, op: &str, case: &Inputs) -> Tensor {
    let t = |name: &str| case.tensor(ctx, name);
    let rows_of = |name: &str| {
        let dims = case.dims(name);
        (dims[0], dims[1], dims[0] as u32, dims[1] as u32)
    };
    match op {
        "add" => ctx.add_t(&t("a"), &t("b")),
        "sub" => ctx.sub_t(&t("a"), &t("b")),
        "mul" => ctx.mul_t(&t("a"), &t("b")),
        "div" => ctx.div_t(&t("a"), &t("b")),
        "relu" => ctx.relu_t(&t("x")),
        "sqrt" => ctx.sqrt_t(&t("x")),
        "sigmoid" => ctx.sigmoid_t(&t("x")),
        "gelu" => ctx.gelu_t(&t("x")),
        "gelu_tanh" => ctx.gelu_tanh_t(&t("x")),
        "mul_scalar" => ctx.mul_scalar_t(&t("x"), &ctx.tensor(&[case.number("s")], &[1])),
        "add_bias" => ctx.add_bias_t(&t("x"), &t("bias")),
        "matmul" => {
            let (_, _, m, k) = rows_of("a");
            ctx.mm(&t("a"), &t("b"), m, k, rows_of("b").3)
        }
        "gemm" => gemm(ctx, case),
        "softmax" => {
            let (_, _, rows, d) = rows_of("x");
            ctx.softmax_t(&t("x"), rows, d)
        }
        "rmsnorm" => {
            let (_, _, rows, d) = rows_of("x");
            ctx.rmsnorm_t(&t("x"), &t("weight"), rows, d, case.number("eps"))
        }
        "layernorm" => {
            let (_, width, rows, d) = rows_of("x");
            let (w, b) = (case.row(ctx, "weight", width, 1.0), case.row(ctx, "bias", width, 0.0));
            ctx.layernorm_t(&t("x"), &w, &b, rows, d, case.number("eps"))
        }
        "gather_rows" => {
            let ids: Vec<u32> = case.data("indices").iter().map(|&i| i as u32).collect();
            ctx.gather0(&t("table"), &ids, rows_of("table").1)
        }
        "transpose2d" => {
            let (_, _, rows, cols) = rows_of("x");
            ctx.transpose2d_t(&t("x"), rows, cols)
        }
        "mha_causal" => mha_causal(ctx, case),
        "attention_full" => by_heads(ctx, case, |ctx, q, k, v, [t, s, d, dv]| {
            ctx.attention_t(q, k, v, t, s, d, dv, case.number("scale"))
        }),
        "attention_bias" => attention_bias(ctx, case),
        "rope_tables" => rope_tables(ctx, case),
        _ => panic!("no op {op}"),
    }
}

/// alpha · A' · B' + beta · c
fn gemm(ctx: &Context, case: &Inputs) -> Tensor {
    let (a, b) = (case.dims("a"), case.dims("b"));
    let mut left = case.tensor(ctx, "a");
    let (mut m, mut k) = (a[0], a[1]);
    if case.flag("trans_a") {
        left = ctx.transpose2d_t(&left, m as u32, k as u32);
        (m, k) = (k, m);
    }
    let right = case.tensor(ctx, "b");
    let (m, k, alpha) = (m as u32, k as u32, case.number("alpha"));
    // `mm_bt` takes alpha as its scale; `mm` has no scale.
    let product = if case.flag("trans_b") {
        ctx.mm_bt(&left, &right, m, b[0] as u32, k, alpha)
    } else {
        ctx.mul_scalar_t(&ctx.mm(&left, &right, m, k, b[1] as u32), &ctx.tensor(&[alpha], &[1]))
    };
    if !case.has("c") {
        return product;
    }
    let c = ctx.mul_scalar_t(&case.tensor(ctx, "c"), &ctx.tensor(&[case.number("beta")], &[1]));
    if c.len() == product.len() {
        ctx.add_t(&product, &ctx.dup(&c, product.shape().to_vec()))
    } else {
        ctx.add_bias_t(&product, &c)
    }
}

/// q [t,h,d], k [s,kv,d], v [s,kv,dv]: the op itself where values are as wide as keys, else head by head.
fn mha_causal(ctx: &Context, case: &Inputs) -> Tensor {
    let (q, k, v) = (case.dims("q"), case.dims("k"), case.dims("v"));
    if k[2] == v[2] {
        // The op's own scale is 1/√d.
        assert!((f64::from(case.number("scale")) - 1.0 / (q[2] as f64).sqrt()).abs() < 1e-7);
        let [q_, k_, v_] = ["q", "k", "v"].map(|name| case.tensor(ctx, name));
        return ctx.mha_causal_t(&q_, &k_, &v_, q[0] as u32, q[1] as u32, k[1] as u32, q[2] as u32);
    }
    let hidden: Vec<f32> =
        (0..q[0] * k[0]).map(|i| if i % k[0] > i / k[0] { f32::NEG_INFINITY } else { 0.0 }).collect();
    let mask = ctx.tensor(&hidden, &[q[0], k[0]]);
    by_heads(ctx, case, |ctx, q, k, v, sizes| masked(ctx, q, k, v, &mask, sizes, case.number("scale")))
}

/// softmax(scale · q · kᵀ + bias) · v a head, bias [t,s] or [h,t,s]
fn attention_bias(ctx: &Context, case: &Inputs) -> Tensor {
    let bias = case.data("bias");
    let (t, s) = (case.dims("q")[0], case.dims("k")[0]);
    let of_heads = case.dims("bias").len() == 3;
    let mut head = 0;
    by_heads(ctx, case, |ctx, q, k, v, sizes| {
        let from = if of_heads { head * t * s } else { 0 };
        head += 1;
        let bias = ctx.tensor(&bias[from..from + t * s], &[t, s]);
        masked(ctx, q, k, v, &bias, sizes, case.number("scale"))
    })
}

fn masked(
    ctx: &Context,
    q: &Tensor,
    k: &Tensor,
    v: &Tensor,
    mask: &Tensor,
    [t, s, d, dv]: [u32; 4],
    scale: f32,
) -> Tensor {
    let scores = ctx.add_t(&ctx.mm_bt(q, k, t, s, d, scale), mask);
    ctx.mm(&ctx.softmax_t(&scores, t, s), v, t, s, dv)
}

/// Runs `one` for each query head on that head's rows, and puts the results back as [t, h·dv].
///
/// Heads are gathered on the GPU: seen as [t·h, d], a head is every h-th row.
fn by_heads(
    ctx: &Context,
    case: &Inputs,
    mut one: impl FnMut(&Context, &Tensor, &Tensor, &Tensor, [u32; 4]) -> Tensor,
) -> Tensor {
    let (q, k, v) = (case.dims("q"), case.dims("k"), case.dims("v"));
    let (t, h, d, s, kv, dv) = (q[0], q[1], q[2], k[0], k[1], v[2]);
    let [tq, tk, tv] = ["q", "k", "v"].map(|name| case.tensor(ctx, name));
    let every = |x: &Tensor, rows: usize, step: usize, from: usize, d: usize| {
        let ids: Vec<u32> = (0..rows).map(|i| (i * step + from) as u32).collect();
        ctx.gather0(&ctx.dup(x, vec![rows * step, d]), &ids, d)
    };
    // out [t, h·dv] = Σ over heads of head [t, dv] · place [dv, h·dv], where place is ones at the head's columns.
    let mut out = ctx.empty(&[t, h * dv]);
    for head in 0..h {
        let group = head / (h / kv);
        let (hq, hk, hv) = (every(&tq, t, h, head, d), every(&tk, s, kv, group, d), every(&tv, s, kv, group, dv));
        let y = one(ctx, &hq, &hk, &hv, [t as u32, s as u32, d as u32, dv as u32]);
        let mut place = vec![0.0; dv * h * dv];
        for j in 0..dv {
            place[j * h * dv + head * dv + j] = 1.0;
        }
        let place = ctx.tensor(&place, &[dv, h * dv]);
        out = ctx.add_t(&out, &ctx.mm(&y, &place, t as u32, dv as u32, (h * dv) as u32));
    }
    out
}

/// The rotation by tables of any numbers: no op of ours takes tables, so this is x · C + swapped x · S with the
/// tables spread over the heads, where the swap of halves is a product with a signed permutation.
fn rope_tables(ctx: &Context, case: &Inputs) -> Tensor {
    let dims = case.dims("x");
    let (t, h, dh) = (dims[0], dims[1], dims[2]);
    let half = case.number("rotary_dim") as usize / 2;
    let spread = |table: &[f32], rest: f32| {
        let mut wide = vec![rest; t * h * dh];
        for (i, x) in wide.iter_mut().enumerate() {
            let (row, j) = (i / (h * dh), i % dh);
            if j < 2 * half {
                *x = table[row * half + j % half];
            }
        }
        ctx.tensor(&wide, &[t * h, dh])
    };
    let mut swap = vec![0.0; dh * dh];
    for j in 0..half {
        swap[(j + half) * dh + j] = -1.0;
        swap[j * dh + j + half] = 1.0;
    }
    let x = ctx.dup(&case.tensor(ctx, "x"), vec![t * h, dh]);
    let swapped = ctx.mm(&x, &ctx.tensor(&swap, &[dh, dh]), (t * h) as u32, dh as u32, dh as u32);
    let straight = ctx.mul_t(&x, &spread(&case.data("cos"), 1.0));
    ctx.add_t(&straight, &ctx.mul_t(&swapped, &spread(&case.data("sin"), 0.0)))
}
