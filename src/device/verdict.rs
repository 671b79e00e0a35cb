//! What the GPU said of a piece of work, and which results it spoils.
//!
//! WebGPU reports faults later and by error scope. Each batch of work (and each allocation) gets one verdict;
//! each tensor carries the verdicts that it depends on, so that a fault reaches the reads it spoiled and no other.

use std::sync::Arc;

use super::event::Event;
use crate::error::{ErrorKind, Result};

/// Shared by all that depends on one piece of work.
#[derive(Clone)]
pub(crate) struct Verdict(Arc<Event<std::result::Result<(), ErrorKind>>>);

impl Verdict {
    pub(crate) fn new() -> Self {
        Self(Arc::new(Event::new()))
    }

    pub(crate) fn settle(&self, outcome: std::result::Result<(), ErrorKind>) {
        self.0.set(outcome);
    }

    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        self.0.get().and_then(std::result::Result::err)
    }

    pub(crate) fn passed(&self) -> bool {
        matches!(self.0.get(), Some(Ok(())))
    }

    fn same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The verdicts that a buffer's content depends on; those that passed are forgotten on the way.
#[derive(Clone, Default)]
pub(crate) struct Lineage(Vec<Verdict>);

impl Lineage {
    pub(crate) fn add(&mut self, verdict: &Verdict) {
        if !verdict.passed() && !self.0.iter().any(|v| v.same(verdict)) {
            self.0.push(verdict.clone());
        }
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.0.retain(|v| !v.passed());
        other.0.iter().for_each(|v| self.add(v));
    }

    pub(crate) fn failed(&self) -> Option<ErrorKind> {
        self.0.iter().find_map(Verdict::failed)
    }

    /// Waits until all have spoken; the first fault in order of the work is the answer.
    pub(crate) async fn wait(&self, op: &'static str) -> Result<()> {
        for verdict in &self.0 {
            if let Err(kind) = verdict.0.wait().await {
                return Err(crate::Error::new(op, kind));
            }
        }
        Ok(())
    }
}
