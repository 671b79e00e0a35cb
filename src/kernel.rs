//! What a kernel is: a row of the closed table in `kernels.rs`, typed by its parameters and its numbers of inputs and outputs.

use std::marker::PhantomData;

use crate::unroll::unroll;

/// A kernel's uniform parameters, laid out as the `Params` struct of its WGSL file.
pub(crate) trait Params: bytemuck::Pod {
    /// Name and byte offset of each member.
    const FIELDS: &'static [(&'static str, u32)];
}

/// Everything the device layer needs to build a pipeline. Bindings are by position: read-only inputs, then the outputs,
/// then the uniform parameters with a dynamic offset.
#[derive(Debug)]
pub(crate) struct Desc {
    pub(crate) name: &'static str,
    pub(crate) sources: &'static [&'static str],
    pub(crate) constants: &'static [(&'static str, u32)],
    pub(crate) entry: &'static str,
    pub(crate) inputs: u8,
    pub(crate) outputs: u8,
    pub(crate) fields: &'static [(&'static str, u32)],
}

impl Desc {
    /// The whole WGSL text of the module: the row's constants, then its files. A row says whether its marked loops are
    /// written out: measured, that makes some kernels faster and others slower.
    pub(crate) fn source(&self) -> String {
        let mut text: String =
            self.constants.iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect();
        self.sources.iter().for_each(|file| text.push_str(file));
        if self.constants.contains(&("UNROLL", 1)) { unroll(&text) } else { text }
    }
}

/// A row of the table. A call with other numbers of inputs or outputs, or other parameters, does not compile.
pub(crate) struct Kernel<P: Params, const IN: usize, const OUT: usize = 1> {
    pub(crate) row: usize,
    pub(crate) params: PhantomData<fn(P)>,
}

impl<P: Params, const IN: usize, const OUT: usize> Kernel<P, IN, OUT> {
    pub(crate) const fn new(row: usize) -> Self {
        assert!(IN <= crate::device::INPUTS_MAX && 1 <= OUT && OUT <= crate::device::OUTPUTS_MAX);
        // One slot of the uniform ring.
        assert!(size_of::<P>() <= crate::device::SLOT);
        Self { row, params: PhantomData }
    }
}

/// Declares parameter structs with the member table that the tests compare with the WGSL.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        pub(crate) struct $name { $(pub(crate) $field: $ty),* }
        impl $crate::kernel::Params for $name {
            const FIELDS: &'static [(&'static str, u32)] =
                &[$((stringify!($field), std::mem::offset_of!($name, $field) as u32)),*];
        }
    )*};
}

/// Declares the table: one static a kernel, and `ALL` in the same order. `reading` names the file in `lib` that binds an
/// input and loads from it.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $params:ident, $inputs:literal $(to $outputs:literal)?, $entry:literal in [$($file:literal),*] $(reading $load:literal)? $(with $constants:expr)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the rows' own names, used as numbers")]
        enum Row { $($name),* }
        $(
            $(#[$doc])*
            pub(crate) static $name: $crate::kernel::Kernel<$params, $inputs $(, $outputs)?> =
                $crate::kernel::Kernel::new(Row::$name as usize);
        )*
        /// Every pipeline that can exist.
        pub(crate) static ALL: &[$crate::kernel::Desc] = &[$($crate::kernel::Desc {
            name: stringify!($name),
            sources: &[
                $(include_str!(concat!(env!("OUT_DIR"), "/shaders/", $file)),)*
                $(include_str!(concat!(env!("OUT_DIR"), "/shaders/lib/", $load, "_f32.wgsl")),)?
            ],
            constants: $crate::kernel::or_none!($($constants)?),
            entry: $entry,
            inputs: $inputs,
            outputs: $crate::kernel::or_one!($($outputs)?),
            fields: <$params as $crate::kernel::Params>::FIELDS,
        }),*];
    };
}

macro_rules! or_none {
    () => {
        &[]
    };
    ($constants:expr) => {
        &$constants
    };
}

macro_rules! or_one {
    () => {
        1
    };
    ($count:literal) => {
        $count
    };
}

pub(crate) use {kernels, or_none, or_one, params};
