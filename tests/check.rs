//! What a case is, how far a result may stray from float64, and the function that runs and compares many cases.

use futures_util::future::join_all;
use tensorweft::{Context, Tensor};

/// A queued op beside what it must give.
pub(crate) struct Case {
    /// The op's arguments, in words.
    pub(crate) label: String,
    pub(crate) got: Tensor,
    pub(crate) shape: Vec<usize>,
    pub(crate) want: Vec<f64>,
    /// How far each element may be from `want`.
    pub(crate) bound: Vec<f64>,
}

/// A case of an op, not queued yet, so that a long list of rows needs no memory.
pub(crate) struct Row {
    pub(crate) op: &'static str,
    pub(crate) case: Box<dyn FnOnce(&Context) -> Case>,
}

/// How far each element of a result may be from what is wanted.
pub(crate) type Bound = fn(&[f64]) -> Vec<f64>;

/// Seeded numbers, the same on every machine (SplitMix64).
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: &str) -> Self {
        let fnv = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        Self(seed.bytes().fold(0xcbf2_9ce4_8422_2325, fnv))
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Uniform in [low, high).
    pub(crate) fn between(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * ((self.next() >> 40) as f32 / (1 << 24) as f32)
    }

    pub(crate) fn values(&mut self, n: usize, low: f32, high: f32) -> Vec<f32> {
        (0..n).map(|_| self.between(low, high)).collect()
    }

    /// Values in [-1, 1).
    pub(crate) fn unit(&mut self, n: usize) -> Vec<f32> {
        self.values(n, -1.0, 1.0)
    }

    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            items.swap(i, self.below(i + 1));
        }
    }
}

/// How far results may stray from float64, one function for each family of ops.
pub(crate) mod bound {
    use crate::reference;

    const ULP: f64 = 1.0 / (1 << 24) as f64;

    pub(crate) fn exact(want: &[f64]) -> Vec<f64> {
        vec![0.0; want.len()]
    }

    pub(crate) fn elementwise(want: &[f64]) -> Vec<f64> {
        want.iter().map(|w| 2e-6 * w.abs() + 1e-7).collect()
    }

    /// Where exp, erf, sin or cos dominate.
    pub(crate) fn transcendental(want: &[f64]) -> Vec<f64> {
        want.iter().map(|w| 2e-6 * w.abs() + 1e-5).collect()
    }

    /// Softmax and norms: by the row's largest |value|.
    pub(crate) fn rows(want: &[f64], d: usize, relative: f64) -> Vec<f64> {
        want.chunks(d.max(1)).flat_map(|row| vec![relative * largest(row) + 1e-7; row.len()]).collect()
    }

    pub(crate) fn attention(want: &[f64], v: &[f32], relative: f64) -> Vec<f64> {
        vec![relative * largest(&reference::widen(v)); want.len()]
    }

    /// 2·√k·2⁻²⁴·Σ|aᵢbᵢ| for a [m,k] · b [k,n].
    pub(crate) fn mm(a: &[f32], b: &[f32], m: usize, k: usize, n: usize) -> Vec<f64> {
        let sums = reference::mm(&magnitudes(a), &magnitudes(b), m, k, n);
        sums.iter().map(|sum| 2.0 * (k as f64).sqrt() * ULP * sum).collect()
    }

    /// The same for scale · a [m,k] · b [n,k]ᵀ.
    pub(crate) fn mm_bt(a: &[f32], b: &[f32], m: usize, n: usize, k: usize, scale: f32) -> Vec<f64> {
        let sums = reference::mm_bt(&magnitudes(a), &magnitudes(b), m, n, k, scale.abs());
        sums.iter().map(|sum| 2.0 * (k as f64).sqrt() * ULP * sum).collect()
    }

    fn magnitudes(x: &[f32]) -> Vec<f32> {
        x.iter().map(|x| x.abs()).collect()
    }

    fn largest(x: &[f64]) -> f64 {
        x.iter().fold(0.0, |max, x| x.abs().max(max))
    }
}

/// Runs the rows in batches, the reads of a batch all at once (a browser may take 100 ms over one).
pub(crate) async fn check(ctx: &Context, rows: Vec<Row>) {
    let count = rows.len();
    let mut rows = rows.into_iter();
    let mut wrong = Vec::new();
    let mut worst = (0.0, String::new());
    loop {
        let mut batch: Vec<(&str, Case)> = Vec::new();
        let mut elements = 0;
        while batch.len() < 256 && elements < 1 << 20 {
            let Some(row) = rows.next() else { break };
            let case = (row.case)(ctx);
            elements += case.want.len();
            batch.push((row.op, case));
        }
        if batch.is_empty() {
            break;
        }
        let reads = join_all(batch.iter().map(|(_, case)| ctx.to_vec(&case.got))).await;
        for ((op, case), read) in batch.iter().zip(reads) {
            let name = format!("{op} {}", case.label);
            match read.map_err(|e| e.to_string()).and_then(|got| compare(case, &got)) {
                Ok(share) if share > worst.0 => worst = (share, name),
                Ok(_) => {}
                Err(text) => wrong.push(format!("{name}: {text}")),
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} of {count} cases are wrong:\n{}",
        wrong.len(),
        wrong[..wrong.len().min(20)].join("\n")
    );
    println!("{count} cases, at worst {:.3} of the bound ({})", worst.0, worst.1);
}

/// The largest error as a share of its bound, or the first element that is wrong.
pub(crate) fn compare(case: &Case, got: &[f32]) -> Result<f64, String> {
    if case.got.shape() != case.shape {
        return Err(format!("shape {:?}, want {:?}", case.got.shape(), case.shape));
    }
    close(got, &case.want, &case.bound)
}

pub(crate) fn close(got: &[f32], want: &[f64], bound: &[f64]) -> Result<f64, String> {
    if got.len() != want.len() {
        return Err(format!("{} elements, want {}", got.len(), want.len()));
    }
    let mut worst: f64 = 0.0;
    for (i, ((&got, &want), &bound)) in got.iter().zip(want).zip(bound).enumerate() {
        let got = f64::from(got);
        if got == want || (got.is_nan() && want.is_nan()) {
            continue;
        }
        let error = (got - want).abs();
        if error.is_nan() || error > bound {
            return Err(format!("element {i} is {got:e}, want {want:e} ± {bound:.2e}"));
        }
        worst = worst.max(error / bound);
    }
    Ok(worst)
}

/// Reads several tensors in one wait.
pub(crate) async fn read_all(ctx: &Context, tensors: &[Tensor]) -> Vec<Vec<f32>> {
    join_all(tensors.iter().map(|t| ctx.to_vec(t))).await.into_iter().map(|read| read.expect("a read")).collect()
}

pub(crate) fn bits(x: &[f32]) -> Vec<u32> {
    x.iter().map(|x| x.to_bits()).collect()
}
