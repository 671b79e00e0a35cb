//! Recording a kernel.

use super::gpu::{Gpu, Recorder};
use super::pool::Buffer;
use super::storage::Storage;
use crate::error::{Error, ErrorKind, Result};
use crate::kernel::Grid;
use crate::platform::Scopes;
use crate::verdict::{About, Lineage, Origin, Verdict};

/// Workgroups in one dimension of a dispatch, WebGPU's limit on every adapter.
const GRID_MAX: u64 = 65_535;

impl Gpu {
    /// Records one dispatch of a pipeline of the kernel table.
    pub(crate) fn dispatch(
        &self,
        op: &'static str,
        pipeline: usize,
        params: &[u8],
        inputs: &[&Storage],
        outputs: &[&Storage],
        Grid { groups, cost }: Grid,
    ) -> Result<()> {
        self.alive(op)?;
        let origin = Origin { op, shape: outputs.first().map(|y| y.shape.clone()).unwrap_or_default() };
        let y = groups.div_ceil(GRID_MAX).max(1);
        let x = groups.div_ceil(y).max(1);
        if y > GRID_MAX {
            let what = format!("workgroups of one dispatch for shape {:?}", origin.shape);
            return Err(Error::new(op, ErrorKind::LimitExceeded { what, wanted: groups, limit: GRID_MAX * GRID_MAX }));
        }
        let mut lineage = Lineage::default();
        let no_kernel = || Error::new(op, ErrorKind::Internal(format!("there is no kernel {pipeline}")));
        lineage
            .add(self.pipelines.get_or_compile(pipeline, &origin, &self.device, &self.layouts).ok_or_else(no_kernel)?);
        for input in inputs {
            lineage.merge(&input.lineage());
        }
        for output in outputs {
            lineage.add(&output.buffer.allocation);
        }
        if let Some(error) = lineage.failed() {
            return Err(self.fault(error));
        }

        let mut recorder = self.recorder();
        let bound: Vec<&Buffer> = inputs.iter().chain(outputs).map(|s| &*s.buffer).collect();
        let (read, written) = bound.split_at(inputs.len());
        // A missing buffer makes a whole batch invalid: where one may be missing, no other work shares the batch.
        let alone = bound.iter().any(|b| b.risky());
        if alone {
            self.submit(&mut recorder);
        }
        let Recorder { batch, groups: cache, .. } = &mut *recorder;
        let scopes = alone.then(|| Scopes::push(&self.device));
        let group = cache.get(&self.device, &self.layouts, &self.ring, read, written);
        if let Some(scopes) = scopes {
            let bindable = Verdict::new(About::Op(origin.clone()));
            scopes.pop(&bindable);
            lineage.add(&bindable);
        }
        bound.iter().for_each(|b| b.used_in(batch.id));
        batch.dispatch(origin, pipeline, group, params, (x as u32, y as u32), cost);
        lineage.merge(&batch.lineage);
        recorder.stats.dispatches += 1;
        if alone || self.full(&recorder.batch) {
            self.submit(&mut recorder);
        }
        drop(recorder);
        for output in outputs {
            output.lineage().merge(&lineage);
        }
        Ok(())
    }
}
