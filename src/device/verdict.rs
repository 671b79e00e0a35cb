//! What the GPU said of a piece of work, and which results it spoils.
//!
//! WebGPU reports faults later and by error scope. Each batch of work (and each allocation) gets one verdict;
//! each tensor carries the verdicts that it depends on, so that a fault reaches the reads it spoiled and no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::event::Event;
use crate::error::{ErrorKind, Result};

/// Shared by all that depends on one piece of work.
#[derive(Clone)]
pub(crate) struct Verdict(Arc<Inner>);

struct Inner {
    /// Order of lineages: batches come after the allocations and pipelines whose faults spoil them.
    id: (Kind, u64),
    outcome: Event<std::result::Result<(), ErrorKind>>,
}

/// What a verdict is about.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Part,
    Batch,
}

/// Verdicts made so far, and those of them that are faults: as long as there is none, nobody has to look for one.
static MADE: AtomicU64 = AtomicU64::new(0);
static FAULTS: AtomicU64 = AtomicU64::new(0);

impl Verdict {
    /// Of an allocation, a pipeline, a bind group or a write.
    pub(crate) fn new() -> Self {
        Self::about(Kind::Part)
    }

    pub(crate) fn of_batch() -> Self {
        Self::about(Kind::Batch)
    }

    fn about(kind: Kind) -> Self {
        Self(Arc::new(Inner { id: (kind, MADE.fetch_add(1, Ordering::Relaxed)), outcome: Event::new() }))
    }

    pub(crate) fn settle(&self, outcome: std::result::Result<(), ErrorKind>) {
        if outcome.is_err() {
            FAULTS.fetch_add(1, Ordering::Release);
        }
        self.0.outcome.set(outcome);
    }

    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        self.0.outcome.get().and_then(std::result::Result::err)
    }

    pub(crate) async fn wait(&self) -> std::result::Result<(), ErrorKind> {
        self.0.outcome.wait().await
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
            let mut all: Vec<Verdict> = ours.iter().chain(theirs).filter(|v| !v.passed()).cloned().collect();
            all.sort_by_key(|v| v.0.id);
            all.dedup_by_key(|v| v.0.id);
            self.0 = Some(all.into());
        }
    }

    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        if FAULTS.load(Ordering::Acquire) == 0 {
            return None;
        }
        self.all().iter().find_map(Verdict::failed)
    }

    /// Waits until all have spoken; the first fault in order of the work is the answer.
    pub(crate) async fn wait(&self, op: &'static str) -> Result<()> {
        for verdict in self.all() {
            if let Err(kind) = verdict.wait().await {
                return Err(crate::Error::new(op, kind));
            }
        }
        Ok(())
    }
}
