//! Compiling ahead of first use.

use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::task::Poll;

use super::gpu::Gpu;
use crate::error::{ErrorKind, Result};
use crate::platform::{self, Job, Pipeline};

impl Gpu {
    /// Compiles pipelines side by side without blocking the caller. `progress` hears how many of how many are done.
    pub(crate) async fn compile(
        self: &Arc<Self>,
        op: &'static str,
        pipelines: &[usize],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<()> {
        self.alive(op)?;
        let mut jobs = Vec::new();
        let mut open = Vec::new();
        for &pipeline in pipelines {
            let Some((verdict, first)) = self.pipelines.reserve(pipeline) else { continue };
            let recipe = if first { self.pipelines.recipe(pipeline, &self.layouts) } else { None };
            if let Some((layout, recipe)) = recipe {
                let (gpu, verdict) = (self.clone(), verdict.clone());
                let done = move |made: std::result::Result<Pipeline, ErrorKind>| {
                    verdict.settle(made.map(|made| gpu.pipelines.insert(pipeline, made)));
                };
                jobs.push(Job { layout, recipe, done: Box::new(done) });
            }
            open.push(Box::pin(verdict.wait()));
        }
        platform::compile(&self.device, &self.lost, jobs);
        let (total, mut outcome, mut reported) = (open.len(), Ok(()), 0);
        let all = poll_fn(|cx| {
            open.retain_mut(|verdict| match verdict.as_mut().poll(cx) {
                Poll::Pending => true,
                Poll::Ready(said) => {
                    outcome = outcome.clone().and(said);
                    false
                }
            });
            let done = total - open.len();
            if done > reported {
                reported = done;
                progress(done, total);
            }
            if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        });
        self.lost.or(all).await;
        self.alive(op)?;
        outcome.map_err(|error| self.fault(error))
    }
}
