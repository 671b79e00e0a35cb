//! A recipe of the kernel table becomes a pipeline once, ahead of time or at first use.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::bindings::Layouts;
use crate::kernel::Recipe;
use crate::platform::{Layout, Pipeline, Scopes};
use crate::verdict::{About, Origin, Verdict};

/// Pipelines by number. Shapes are uniforms, so no call ever needs another one.
pub(crate) struct Pipelines {
    slots: Vec<Slot>,
    pub(crate) created: AtomicU64,
}

struct Slot {
    /// `None` in the place of an f16 pipeline whose kernel cannot read f16; no call asks for it.
    recipe: Option<Recipe>,
    made: OnceLock<(Pipeline, Verdict)>,
    /// What the GPU says of it, if somebody asked ahead of time.
    reserved: OnceLock<Verdict>,
}

impl Pipelines {
    pub(crate) fn new() -> Self {
        let slot = |recipe| Slot { recipe, made: OnceLock::new(), reserved: OnceLock::new() };
        Self { slots: Recipe::all().map(slot).collect(), created: AtomicU64::new(0) }
    }

    pub(crate) fn get(&self, pipeline: usize) -> Option<&Pipeline> {
        self.slots.get(pipeline)?.made.get().map(|(made, _)| made)
    }

    /// The names of those that exist for f32.
    pub(crate) fn names(&self) -> Vec<String> {
        let made = self.slots.iter().filter(|slot| slot.made.get().is_some());
        made.filter_map(|slot| slot.recipe).filter(|recipe| !recipe.half).map(|recipe| recipe.name()).collect()
    }

    /// Makes sure that a pipeline exists; what the GPU says of it is the answer. `None` if there is no such kernel.
    pub(crate) fn get_or_compile(
        &self,
        pipeline: usize,
        origin: &Origin,
        device: &wgpu::Device,
        layouts: &Layouts,
    ) -> Option<&Verdict> {
        let slot = self.slots.get(pipeline)?;
        let recipe = slot.recipe?;
        let (_, verdict) = slot.made.get_or_init(|| {
            let verdict = Verdict::new(About::Op(origin.clone()));
            let scopes = Scopes::push(device);
            let made = layouts.of(recipe.desc.arity).pipeline(device, recipe);
            scopes.pop(&verdict);
            self.created.fetch_add(1, Ordering::Relaxed);
            (made, verdict)
        });
        Some(verdict)
    }

    /// What a pipeline is made of.
    pub(crate) fn recipe(&self, pipeline: usize, layouts: &Layouts) -> Option<(Arc<Layout>, Recipe)> {
        let recipe = self.slots.get(pipeline)?.recipe?;
        Some((layouts.of(recipe.desc.arity).clone(), recipe))
    }

    /// The verdict on a pipeline, and whether the caller is the first to ask and so has it made.
    pub(crate) fn reserve(&self, pipeline: usize) -> Option<(&Verdict, bool)> {
        let slot = self.slots.get(pipeline)?;
        let recipe = slot.recipe?;
        if let Some((_, verdict)) = slot.made.get() {
            return Some((verdict, false));
        }
        let mut first = false;
        let verdict = slot.reserved.get_or_init(|| {
            first = true;
            Verdict::new(About::Warmup(recipe.name()))
        });
        Some((verdict, first))
    }

    /// Stores a pipeline that was compiled ahead of time. If an op has compiled it meanwhile, that one stays.
    pub(crate) fn insert(&self, pipeline: usize, made: Pipeline) {
        let Some(Slot { recipe: Some(recipe), made: slot, .. }) = self.slots.get(pipeline) else { return };
        let verdict = Verdict::new(About::Warmup(recipe.name()));
        verdict.settle(Ok(()));
        if slot.set((made, verdict)).is_ok() {
            self.created.fetch_add(1, Ordering::Relaxed);
        }
    }
}
