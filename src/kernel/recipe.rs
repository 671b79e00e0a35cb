//! From the table to a pipeline: numbers, names, and the text of the module.

use super::row::{Desc, Variant};
use super::table;
use super::unroll::unroll;

/// All that it takes to build a pipeline: a row, one of its variants, and whether some inputs hold f16.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Recipe {
    pub(crate) desc: &'static Desc,
    variant: &'static Variant,
    pub(crate) half: bool,
}

impl Recipe {
    /// Every pipeline that can exist, by its number: for each variant of each row, the one for f32 and the one for f16,
    /// which is `None` where no input may hold f16.
    pub(crate) fn all() -> impl Iterator<Item = Option<Self>> {
        let of = |desc: &'static Desc, variant| {
            [false, true].map(|half| (!half || desc.source.half.1 > 0).then_some(Self { desc, variant, half }))
        };
        table::ALL.iter().flat_map(move |desc| desc.variants.iter().flat_map(move |variant| of(desc, variant)))
    }

    pub(crate) fn name(&self) -> String {
        let half = if self.half { "_F16" } else { "" };
        format!("{}{}{half}", self.desc.name, self.variant.suffix)
    }

    /// The whole WGSL text of the module: the variant's constants, then its files. A variant says whether its marked
    /// loops are written out: measured, that makes some kernels faster and others slower.
    pub(crate) fn source(&self) -> String {
        let Variant { constants, wide, .. } = self.variant;
        let mut text: String = constants.iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect();
        for part in self.desc.source.parts {
            text.push_str(part[usize::from(*wide)][usize::from(self.half)]);
        }
        if constants.contains(&("UNROLL", 1)) { unroll(&text) } else { text }
    }
}
