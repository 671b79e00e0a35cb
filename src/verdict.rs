//! What the GPU said of a piece of work, and which results it spoils.
//!
//! WebGPU reports faults later and by error scope. Each batch of work (and each allocation) gets one verdict;
//! each tensor carries the verdicts that it depends on, so that a fault reaches the reads it spoiled and no other.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::error::{Error, ErrorKind, Result};
use crate::event::Event;

/// The op that asked for a piece of work, and the shape of what it makes.
#[derive(Debug, Clone)]
pub(crate) struct Origin {
    pub(crate) op: &'static str,
    pub(crate) shape: Arc<[usize]>,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The `_t` of Rust's names says nothing here, and JavaScript's lack it.
        write!(f, "{} {:?}", self.op.strip_suffix("_t").unwrap_or(self.op), self.shape)
    }
}

/// A piece of work, for the message of its fault.
#[derive(Debug)]
pub(crate) enum About {
    /// A pipeline, a bind group or a write that an op needs.
    Op(Origin),
    /// A pipeline that is compiled ahead of time, by its name.
    Warmup(String),
    /// A buffer: its bytes, and those of live tensors before it.
    Allocation { origin: Origin, bytes: u64, live: u64 },
    /// All that was recorded between two submits, known once it is submitted.
    Batch(OnceLock<Vec<Origin>>),
}

/// Ops of a batch that a message names.
const NAMED: usize = 4;

impl About {
    /// The fault as the caller should read it: the op that caused it, the shape it was to make, and what the GPU said.
    fn error(&self, kind: &ErrorKind) -> Error {
        match self {
            Self::Op(origin) => Error::new(origin.op, kind.about(&format!("{:?}", origin.shape))),
            Self::Warmup(name) => Error::new("warmup", kind.about(name)),
            Self::Allocation { origin: Origin { op, shape }, bytes, live } => {
                Error::new(op, kind.about(&format!("{bytes} bytes for {shape:?}, with {live} bytes in use")))
            }
            Self::Batch(ops) => {
                let ops = ops.get().map(Vec::as_slice).unwrap_or_default();
                let Some(first) = ops.first() else { return Error::new("submit", kind.clone()) };
                if let [Origin { shape, .. }] = ops {
                    return Error::new(first.op, kind.about(&format!("{shape:?}")));
                }
                let mut text = format!("one of {} ops submitted together", ops.len());
                for (i, origin) in ops.iter().take(NAMED).enumerate() {
                    text += if i == 0 { ", " } else { " · " };
                    text += &origin.to_string();
                }
                if ops.len() > NAMED {
                    text += " …";
                }
                Error::new(first.op, kind.about(&text))
            }
        }
    }
}

/// What the GPU says of one piece of work; shared by every result that depends on it.
#[derive(Clone)]
pub(crate) struct Verdict(Arc<Inner>);

struct Inner {
    /// Lineages are sorted by it. Allocations and pipelines come before batches, since their faults are the cause of those
    /// of a batch.
    id: (Kind, u64),
    about: About,
    outcome: Event<std::result::Result<(), ErrorKind>>,
}

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Part,
    Batch,
}

/// How many verdicts were made, and how many of them are faults: while there is none, no lineage need be searched.
static MADE: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);

impl Verdict {
    pub(crate) fn new(about: About) -> Self {
        let kind = if matches!(about, About::Batch(_)) { Kind::Batch } else { Kind::Part };
        Self(Arc::new(Inner { id: (kind, MADE.fetch_add(1, Ordering::Relaxed)), about, outcome: Event::new() }))
    }

    /// On work that has yet to be recorded.
    pub(crate) fn of_batch() -> Self {
        Self::new(About::Batch(OnceLock::new()))
    }

    /// Tells the verdict on a batch what was recorded.
    pub(crate) fn recorded(&self, ops: Vec<Origin>) {
        if let About::Batch(slot) = &self.0.about {
            let _ = slot.set(ops);
        }
    }

    pub(crate) fn settle(&self, outcome: std::result::Result<(), ErrorKind>) {
        if outcome.is_err() {
            FAULTS.fetch_add(1, Ordering::Release);
        }
        self.0.outcome.set(outcome);
    }

    fn read(&self, outcome: std::result::Result<(), ErrorKind>) -> Result<()> {
        outcome.map_err(|kind| self.0.about.error(&kind))
    }

    pub(crate) fn failed(&self) -> Option<Error> {
        self.read(self.0.outcome.get()?).err()
    }

    pub(crate) async fn wait(&self) -> Result<()> {
        self.read(self.0.outcome.wait().await)
    }

    pub(crate) fn passed(&self) -> bool {
        self.0.outcome.is(std::result::Result::is_ok)
    }
}

/// The verdicts that a buffer's content depends on, in order of their ids; those that passed are forgotten on the way.
/// Results of the same batch mostly share one list.
#[derive(Clone, Default)]
pub(crate) struct Lineage(Option<Arc<[Verdict]>>);

impl Lineage {
    pub(crate) fn of(verdict: &Verdict) -> Self {
        Self(Some([verdict.clone()].into()))
    }

    fn all(&self) -> &[Verdict] {
        self.0.as_deref().unwrap_or_default()
    }

    pub(crate) fn add(&mut self, verdict: &Verdict) {
        if !verdict.passed() {
            self.merge(&Self::of(verdict));
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        let (ours, theirs) = (self.all(), other.all());
        let known = |v: &Verdict| ours.binary_search_by_key(&v.0.id, |o| o.0.id).is_ok();
        if ours.is_empty() {
            self.0.clone_from(&other.0);
        } else if !theirs.iter().all(known) {
            let (mut ours, mut theirs) = (ours.iter().peekable(), theirs.iter().peekable());
            let mut all: Vec<Verdict> = Vec::with_capacity(ours.len() + theirs.len());
            loop {
                let first = match (ours.peek(), theirs.peek()) {
                    (Some(a), Some(b)) if b.0.id < a.0.id => theirs.next(),
                    (Some(a), Some(b)) if b.0.id == a.0.id => ours.next().and(theirs.next()),
                    (None, _) => theirs.next(),
                    _ => ours.next(),
                };
                let Some(verdict) = first else { break };
                if !verdict.passed() {
                    all.push(verdict.clone());
                }
            }
            self.0 = Some(all.into());
        }
    }

    pub(crate) fn failed(&self) -> Option<Error> {
        if FAULTS.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.all().iter().find_map(Verdict::failed)
    }

    /// Waits until all have spoken; the first fault in order of the work is the answer.
    pub(crate) async fn wait(&self) -> Result<()> {
        for verdict in self.all() {
            verdict.wait().await?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::{About, Lineage, Origin, Verdict};
    use crate::error::ErrorKind;

    fn origin(op: &'static str, shape: &[usize]) -> Origin {
        Origin { op, shape: shape.into() }
    }

    fn told(verdict: &Verdict, kind: ErrorKind) -> String {
        verdict.settle(Err(kind));
        let mut lineage = Lineage::default();
        lineage.add(verdict);
        lineage.failed().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn a_fault_names_the_op_and_the_shape() {
        let refused = || ErrorKind::Internal("refused".into());
        let op = Verdict::new(About::Op(origin("mm", &[2, 3])));
        assert_eq!(told(&op, refused()), "mm: [2, 3]: refused");
        let about = About::Allocation { origin: origin("add_t", &[4, 1]), bytes: 256, live: 512 };
        let text = "add_t: out of GPU memory: 256 bytes for [4, 1], with 512 bytes in use: none left";
        assert_eq!(told(&Verdict::new(about), ErrorKind::OutOfMemory("none left".into())), text);
        let one = Verdict::of_batch();
        one.recorded(vec![origin("relu_t", &[7])]);
        assert_eq!(told(&one, refused()), "relu_t: [7]: refused");
        let many = Verdict::of_batch();
        many.recorded((1..7).map(|n| origin("relu_t", &[n])).collect());
        let text = "relu_t: one of 6 ops submitted together, relu [1] · relu [2] · relu [3] · relu [4] …: refused";
        assert_eq!(told(&many, refused()), text);
    }

    #[test]
    fn a_lost_device_is_about_nothing_else() {
        let op = Verdict::new(About::Op(origin("mm", &[2, 3])));
        assert_eq!(told(&op, ErrorKind::DeviceLost("reset".into())), "mm: the GPU device is lost: reset");
    }

    #[test]
    fn lineages_merge_in_order_and_forget_what_passed() {
        let [a, b, c] = [1, 2, 3].map(|n| Verdict::new(About::Op(origin("mm", &[n]))));
        let (mut ours, mut theirs) = (Lineage::default(), Lineage::default());
        [&a, &c].into_iter().for_each(|v| ours.add(v));
        [&a, &b, &c].into_iter().for_each(|v| theirs.add(v));
        ours.merge(&theirs);
        let ids = |l: &Lineage| l.all().iter().map(|v| v.0.id.1).collect::<Vec<_>>();
        assert_eq!(ids(&ours), [&a, &b, &c].map(|v| v.0.id.1));
        b.settle(Ok(()));
        let d = Verdict::of_batch();
        ours.merge(&Lineage::of(&d));
        assert_eq!(ids(&ours), [&a, &c, &d].map(|v| v.0.id.1));
    }
}
