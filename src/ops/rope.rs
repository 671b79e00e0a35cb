//! Rotary position embedding.

use std::f64::consts::TAU;

use crate::context::Context;
use crate::dtype::Dtype;
use crate::error::Result;
use crate::kernel::Grid;
use crate::kernel::table::{self, Rope};
use crate::op::Op;
use crate::tensor::Tensor;

impl Rope {
    /// The variant of its kernels: by vectors of four where halves of heads are whole ones.
    pub(super) fn variant(self) -> usize {
        if self.dh.is_multiple_of(8) { table::WIDE } else { 0 }
    }

    /// An invocation turns a pair, or four, of up to `ROPE_HEADS` heads.
    pub(super) fn grid(self) -> Grid {
        let pairs = u64::from(self.dh) / if self.variant() == table::WIDE { 8 } else { 2 };
        let groups = (u64::from(self.t) * u64::from(self.h.div_ceil(table::ROPE_HEADS)) * pairs).div_ceil(256);
        Grid { groups, cost: 15 * u64::from(self.t) * u64::from(self.h) * u64::from(self.dh) }
    }
}

impl Op<'_> {
    /// Checks x, and gives the table of frequencies; `None` without elements.
    pub(super) fn rope_table(&self, x: &Tensor, base: f32, rope: Rope) -> Result<Option<Tensor>> {
        let Rope { t, h, dh, offset } = rope;
        self.inputs(&[x])?;
        if !dh.is_multiple_of(2) {
            return Err(self.argument_error(format!("a head size of {dh} has no halves to rotate; it must be even")));
        }
        if !(base.is_finite() && base > 0.0) {
            return Err(self.argument_error(format!("base {base} is not a positive number")));
        }
        if offset.checked_add(t).is_none() {
            return Err(self.argument_error(format!("positions {offset} + {t} are beyond u32")));
        }
        self.expect("x", x, &[t, h, dh])?;
        if x.is_empty() { Ok(None) } else { self.frequencies(base, dh).map(Some) }
    }

    fn rope(&self, x: &Tensor, base: f32, rope: Rope) -> Result<Tensor> {
        match self.rope_table(x, base, rope)? {
            Some(frequencies) => self.turn(x, &frequencies, rope),
            None => self.cast(x, Dtype::F32),
        }
    }

    /// x turned by its frequencies.
    pub(super) fn turn(&self, x: &Tensor, frequencies: &Tensor, rope: Rope) -> Result<Tensor> {
        let kernel = table::ROPE.variant(rope.variant());
        self.run(&kernel, rope, [x, frequencies], x.shared_shape(), rope.grid()).map(|[y]| y)
    }

    /// `base^(-2j/dh) / 2π` for each pair j, as 64-bit binary fractions of a turn, made once for each base and size.
    fn frequencies(&self, base: f32, dh: u32) -> Result<Tensor> {
        self.table((base.to_bits(), dh), || {
            let pairs = dh as usize / 2;
            let fraction = |j| {
                let turns = f64::from(base).powf(-2.0 * j as f64 / f64::from(dh)) / TAU;
                (turns.fract() * 2f64.powi(64)) as u64
            };
            let high = (0..pairs).map(|j| (fraction(j) >> 32) as u32);
            let words: Vec<u32> = high.chain((0..pairs).map(|j| fraction(j) as u32)).collect();
            let len = words.len() as u64;
            self.upload(len, Dtype::F32, &[2, pairs], |to| to.write(bytemuck::cast_slice(&words)))
        })
    }
}

/// # Rotary embedding
///
/// Rotate-half (NeoX, Llama): within each head of `dh`, the pair (j, j + dh/2) turns by `position · base^(-2j/dh)`.
/// Angles are exact at any position. Results have the shape of `x`.
impl Context {
    /// `(x_j, x_{j+dh/2})` turned by the angle of its pair: x `[t, h · dh]` → `[t, h · dh]`, row i at position i.
    ///
    /// # Errors
    /// `shape-mismatch` if `x` does not hold t·h·dh elements; `invalid-argument` for an odd `dh` or a `base` that is not
    /// positive.
    #[track_caller]
    pub fn rope_t(&self, x: &Tensor, t: u32, h: u32, dh: u32, base: f32) -> Tensor {
        self.op("rope_t").eval(|op| op.rope(x, base, Rope { t, h, dh, offset: 0 }))
    }

    /// As [`rope_t`](Context::rope_t) with row i at position `i + offset`: x `[t, h · dh]` → `[t, h · dh]`
    ///
    /// # Errors
    /// As [`rope_t`](Context::rope_t), and `invalid-argument` for positions beyond u32.
    #[track_caller]
    pub fn rope_off_t(&self, x: &Tensor, t: u32, h: u32, dh: u32, base: f32, offset: u32) -> Tensor {
        self.op("rope_off_t").eval(|op| op.rope(x, base, Rope { t, h, dh, offset }))
    }
}
