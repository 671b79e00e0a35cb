//! Which kernels each op may run, and compiling them ahead of time.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::kernel::Recipe;
use crate::kernel::table::ALL;

/// Ops that run no kernel.
const WITHOUT: &[&str] = &["dup"];

/// The f32 pipelines, by number, of every op whose name `wanted` accepts.
fn recipes(wanted: impl Fn(&str) -> bool) -> impl Iterator<Item = (usize, Recipe)> {
    let all = (0..).zip(Recipe::all()).filter_map(|(pipeline, recipe)| Some((pipeline, recipe?)));
    all.filter(move |(_, recipe)| !recipe.half && recipe.desc.ops.iter().any(|op| wanted(op)))
}

/// As `recipes`, the numbers alone.
pub(crate) fn pipelines(wanted: impl Fn(&str) -> bool) -> Vec<usize> {
    recipes(wanted).map(|(pipeline, _)| pipeline).collect()
}

/// The error for the first of the names that no op has, as `spelled` spells them.
pub(crate) fn unknown<S: AsRef<str>>(names: &[S], spelled: impl Fn(&str) -> String) -> Option<Error> {
    let ops = ALL.iter().flat_map(|row| row.ops).chain(WITHOUT);
    let known = |name: &&S| ops.clone().any(|op| spelled(op) == name.as_ref());
    let name = names.iter().find(|name| !known(name))?.as_ref();
    Some(Error::argument("warmup", format!("{name:?} is not the name of an op")))
}

/// # First use
impl Context {
    /// Compiles the pipelines that the named `ops` may need, whatever the shapes; all of them without names. They are
    /// compiled side by side: in threads natively, and by the browser without blocking the page. An op that is called
    /// before compiles what it needs itself, and so does the first product, gather or attention that reads f16.
    /// `progress` hears how many of how many are done.
    ///
    /// # Errors
    /// `invalid-argument` for a name that no op has; `device-lost`; `internal` if the driver refuses a pipeline.
    pub async fn warmup(&self, ops: &[&str], progress: impl FnMut(usize, usize)) -> Result<()> {
        if let Some(error) = unknown(ops, str::to_string) {
            return Err(error);
        }
        let pipelines = pipelines(|op| ops.is_empty() || ops.contains(&op));
        self.gpu.compile("warmup", &pipelines, progress).await
    }
}

/// The kernels of an op, for a test that compares them with what its cases run.
#[doc(hidden)]
pub fn kernels_of(name: &str) -> Vec<String> {
    recipes(|op| op == name).map(|(_, recipe)| recipe.name()).collect()
}
