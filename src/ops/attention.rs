//! Attention: causal with grouped heads, over a cache, and a single head.

use crate::context::Context;
use crate::error::Result;
use crate::kernel::Grid;
use crate::kernel::table::{self, Attention, Merge};
use crate::op::Op;
use crate::tensor::Tensor;

/// Rows of a workgroup's tile.
const TILE_ROWS: u64 = 32;
/// Rows at most for which reading keys and values is the cost.
const FEW_ROWS: u64 = 8;
/// Workgroups that keep a GPU busy: with fewer, the keys are split among more.
const BUSY: u64 = 512;
/// Keys of a part at least: what is worth a workgroup of its own.
const PART_MIN: u64 = 128;
/// Loop steps of an invocation at most, on a CPU. Mesa's software rasteriser before 23 silently ends loops at 65,535.
const STEPS_MAX: u64 = 60_000;

/// Sizes of one attention call; `kv` heads of keys serve `group` heads of queries each.
struct Heads {
    t: u32,
    s: u32,
    kv: u32,
    group: u32,
    d: u32,
    dv: u32,
}

impl Op<'_> {
    /// Query heads for each kv head.
    fn group(&self, hq: u32, hkv: u32) -> Result<u32> {
        match hq.checked_rem(hkv) {
            Some(0) => Ok(hq / hkv),
            _ if hq == 0 && hkv == 0 => Ok(1),
            _ => Err(self.argument_error(format!("{hq} query heads cannot share {hkv} kv heads evenly"))),
        }
    }

    /// Checks that a cache holds at least `s` rows of `width`.
    fn holds(&self, name: &str, t: &Tensor, s: u64, width: u64) -> Result<()> {
        let len = t.len() as u64;
        if len >= s.saturating_mul(width) && (width == 0 || len.is_multiple_of(width)) {
            return Ok(());
        }
        Err(self
            .shape_error(format!("{name} has shape {:?}, but at least {s} rows of {width} are expected", t.shape())))
    }

    fn attend(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        heads: Heads,
        scale: f32,
        offset: Option<u32>,
    ) -> Result<Tensor> {
        let Heads { t, s, kv, group, d, dv } = heads;
        let shape = [t as usize, (u64::from(kv) * u64::from(group) * u64::from(dv)) as usize];
        self.product(&[t, kv, group, dv])?;
        if s == 0 || q.is_empty() || k.is_empty() || v.is_empty() {
            // No keys give zeros. With heads of size 0 all scores are 0, which no caller can want.
            if d == 0 && s > 0 && t > 0 && dv > 0 {
                return Err(self.argument_error("a head size of 0"));
            }
            return self.zeros(&shape);
        }
        let rows = u64::from(t) * u64::from(group);
        let narrow = dv <= 64;
        let col_tiles = u64::from(dv.div_ceil(if narrow { 64 } else { 128 }));
        // Vectors of four need heads of whole vectors.
        let few = rows <= FEW_ROWS && d.is_multiple_of(4) && dv.is_multiple_of(4);
        let (kernel, tiles, longest) = if few {
            let kernel = table::DECODE.variant(2 * usize::from(rows > 4) + usize::from(!narrow));
            (kernel, u64::from(kv) * col_tiles, table::decode_keys(if rows <= 4 { 4 } else { 8 }).into())
        } else {
            let kernel = table::ATTENTION.variant(usize::from(!narrow));
            // Loop steps of an invocation for a tile of 32 keys, about, where the driver unrolls nothing.
            let steps = 150 + 20 * u64::from(d.div_ceil(16));
            // On a GPU, more parts than keep it busy would only cost memory: several times that of q.
            let longest = if self.software() { STEPS_MAX / steps * 32 } else { s.into() };
            (kernel, u64::from(kv) * rows.div_ceil(TILE_ROWS) * col_tiles, longest)
        };
        let part = part(u64::from(s), tiles, longest.max(32));
        let splits = s.div_ceil(part);
        let causal = u32::from(offset.is_some());
        let params = Attention { t, s, kv, group, d, dv, scale, offset: offset.unwrap_or(0), causal, part, splits };
        let work = u128::from(rows * u64::from(kv)) * u128::from(s) * 2 * (u128::from(d) + u128::from(dv));
        let cost = (work >> causal).min(u128::from(u64::MAX)) as u64;
        let grid = Grid { groups: tiles * u64::from(splits), cost };
        if splits == 1 {
            return self.run(&kernel, params, [q, k, v], shape, grid).map(|[y]| y);
        }
        let rows = rows * u64::from(kv);
        let partial = [splits as usize, rows as usize, dv as usize + 4];
        let [parts] = self.run(&kernel, params, [q, k, v], partial, grid)?;
        let params = Merge { rows: rows as u32, dv, splits };
        let grid = Grid { groups: rows * u64::from(dv.div_ceil(32)), cost: rows * u64::from(dv) * u64::from(splits) };
        self.run(&table::ATTENTION_MERGE, params, [&parts], shape, grid).map(|[y]| y)
    }

    /// Causal attention of t queries at positions from `offset` on.
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    fn causal(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        t: u32,
        hq: u32,
        hkv: u32,
        dh: u32,
        offset: u32,
    ) -> Result<Tensor> {
        self.inputs(&[q, k, v])?;
        let group = self.group(hq, hkv)?;
        let Some(s) = offset.checked_add(t) else {
            return Err(self.argument_error(format!("positions {offset} + {t} are beyond u32")));
        };
        self.expect("q", q, &[t, hq, dh])?;
        let width = u64::from(hkv) * u64::from(dh);
        self.holds("k", k, u64::from(s), width)?;
        self.holds("v", v, u64::from(s), width)?;
        let heads = Heads { t, s: if t == 0 { 0 } else { s }, kv: hkv, group, d: dh, dv: dh };
        self.attend(q, k, v, heads, 1.0 / (dh as f32).sqrt(), Some(offset))
    }
}

/// Keys of one part: all of them if that keeps the GPU busy.
fn part(s: u64, tiles: u64, longest: u64) -> u32 {
    let busy = s.div_ceil(BUSY.div_ceil(tiles)).max(PART_MIN);
    busy.min(longest).next_multiple_of(32).min(u64::from(u32::MAX / 32 * 32)) as u32
}

/// # Attention
///
/// Query head h reads kv head `h / (hq / hkv)`. Keys that a query does not see never touch it, whatever they hold.
/// A score of `-inf` weighs nothing, one of `+inf` or NaN makes its query's row NaN. No keys give zeros, and so do keys
/// of which none weighs anything. Workgroup memory does not grow with the context length or the head size.
impl Context {
    /// Causal attention of a whole sequence, `softmax(Q · Kᵀ / √dh) · V` for each head, where query i sees keys `0..=i`:
    /// q `[t, hq · dh]`, k and v `[t, hkv · dh]` → `[t, hq · dh]`. `k` and `v` may hold more rows; only the first t count.
    ///
    /// # Errors
    /// `invalid-argument` if `hkv` does not divide `hq`; `shape-mismatch` if `q` does not hold t·hq·dh elements, or `k` or
    /// `v` holds fewer rows than are seen.
    #[track_caller]
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub fn mha_causal_t(&self, q: &Tensor, k: &Tensor, v: &Tensor, t: u32, hq: u32, hkv: u32, dh: u32) -> Tensor {
        self.op("mha_causal_t").eval(|op| op.causal(q, k, v, t, hq, hkv, dh, 0))
    }

    /// Causal attention of t new queries over a cached prefix: as [`mha_causal_t`](Context::mha_causal_t), but query i
    /// sits at position `offset + i` and sees keys `0..=offset + i`: q `[t, hq · dh]`, k and v `[≥ offset + t, hkv · dh]` →
    /// `[t, hq · dh]`
    ///
    /// # Errors
    /// As [`mha_causal_t`](Context::mha_causal_t), and `invalid-argument` for positions beyond u32.
    #[track_caller]
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub fn mha_causal_off_t(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        t: u32,
        hq: u32,
        hkv: u32,
        dh: u32,
        offset: u32,
    ) -> Tensor {
        self.op("mha_causal_off_t").eval(|op| op.causal(q, k, v, t, hq, hkv, dh, offset))
    }

    /// One query token against s past keys, `softmax(q · Kᵀ / √dh) · V` for each head: q `[1, hq · dh]`, k and v
    /// `[s, hkv · dh]` → `[1, hq · dh]`. `k` and `v` may hold more rows; only the first s count.
    ///
    /// # Errors
    /// As [`mha_causal_t`](Context::mha_causal_t).
    #[track_caller]
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub fn mha_decode_t(&self, q: &Tensor, k: &Tensor, v: &Tensor, hq: u32, hkv: u32, dh: u32, s: u32) -> Tensor {
        self.op("mha_decode_t").eval(|op| {
            op.inputs(&[q, k, v])?;
            let group = op.group(hq, hkv)?;
            op.expect("q", q, &[1, hq, dh])?;
            let width = u64::from(hkv) * u64::from(dh);
            op.holds("k", k, u64::from(s), width)?;
            op.holds("v", v, u64::from(s), width)?;
            let heads = Heads { t: 1, s, kv: hkv, group, d: dh, dv: dh };
            op.attend(q, k, v, heads, 1.0 / (dh as f32).sqrt(), None)
        })
    }

    /// A single head without a mask, `softmax(scale · Q · Kᵀ) · V`: q `[rq, d]`, k `[rk, d]`, v `[rk, dv]` → `[rq, dv]`
    ///
    /// # Errors
    /// `shape-mismatch` if `q` does not hold rq·d elements, `k` rk·d or `v` rk·dv.
    #[track_caller]
    #[allow(clippy::too_many_arguments, reason = "the sizes of the op itself")]
    pub fn attention_t(
        &self,
        q: &Tensor,
        k: &Tensor,
        v: &Tensor,
        rq: u32,
        rk: u32,
        d: u32,
        dv: u32,
        scale: f32,
    ) -> Tensor {
        self.op("attention_t").eval(|op| {
            op.inputs(&[q, k, v])?;
            op.expect("q", q, &[rq, d])?;
            op.expect("k", k, &[rk, d])?;
            op.expect("v", v, &[rk, dv])?;
            op.attend(q, k, v, Heads { t: rq, s: rk, kv: 1, group: 1, d, dv }, scale, None)
        })
    }
}
