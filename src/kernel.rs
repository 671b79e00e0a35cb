//! What a kernel is: a row of the closed table in `kernels.rs`, typed by its parameters and its numbers of inputs and outputs.

use std::marker::PhantomData;
use std::ops::Range;

use crate::tensor::Tensor;
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
    pub(crate) load: Option<Load>,
    pub(crate) constants: &'static [(&'static str, u32)],
    pub(crate) entry: &'static str,
    pub(crate) inputs: u8,
    pub(crate) outputs: u8,
    pub(crate) fields: &'static [(&'static str, u32)],
}

/// The file that binds some inputs and loads from them, for inputs that hold f32 and for such that hold f16. A row that
/// has one is two pipelines.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) f32: &'static str,
    pub(crate) f16: &'static str,
    pub(crate) f16_name: &'static str,
}

/// The inputs that a file of `lib` binds, by its name.
pub(crate) const fn bound(file: &str) -> Range<usize> {
    match file.as_bytes() {
        b"x" => 0..1,
        b"b" | b"b4" => 1..2,
        b"kv" | b"kv4" => 1..3,
        _ => 0..0,
    }
}

impl Desc {
    /// The whole WGSL text of the module: the row's constants, then its files. A row says whether its marked loops are
    /// written out: measured, that makes some kernels faster and others slower.
    pub(crate) fn source(&self, f16: bool) -> String {
        let mut text: String =
            self.constants.iter().map(|(name, value)| format!("const {name} = {value}u;\n")).collect();
        let load = self.load.as_ref().map(|load| if f16 { load.f16 } else { load.f32 });
        self.sources.iter().copied().chain(load).for_each(|file| text.push_str(file));
        if self.constants.contains(&("UNROLL", 1)) { unroll(&text) } else { text }
    }
}

/// A row of the table. A call with other numbers of inputs or outputs, or other parameters, does not compile.
pub(crate) struct Kernel<P: Params, const IN: usize, const OUT: usize = 1> {
    pub(crate) row: usize,
    f16: Range<usize>,
    params: PhantomData<fn(P)>,
}

/// A call of a kernel, checked: what the recorder needs to know of it.
pub(crate) struct Work<'a> {
    pub(crate) row: usize,
    /// The inputs that it can read as f16, all of them or none.
    pub(crate) f16: &'a Range<usize>,
    pub(crate) params: &'a [u8],
    pub(crate) inputs: &'a [&'a Tensor],
    pub(crate) groups: u64,
    pub(crate) cost: u64,
}

impl<P: Params, const IN: usize, const OUT: usize> Kernel<P, IN, OUT> {
    pub(crate) const fn new(row: usize, f16: Range<usize>) -> Self {
        assert!(IN <= crate::device::INPUTS_MAX && 1 <= OUT && OUT <= crate::device::OUTPUTS_MAX && f16.end <= IN);
        // One slot of the uniform ring.
        assert!(size_of::<P>() <= crate::device::SLOT);
        Self { row, f16, params: PhantomData }
    }

    pub(crate) fn work<'a>(&'a self, params: &'a P, inputs: &'a [&'a Tensor; IN], groups: u64, cost: u64) -> Work<'a> {
        let Self { row, f16, .. } = self;
        Work { row: *row, f16, params: bytemuck::bytes_of(params), inputs, groups, cost }
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

/// Declares the table: one static a kernel, and `ALL` in the same order. `reading` names the file of `lib` that binds
/// some inputs and loads from them.
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $params:ident, $inputs:literal $(to $outputs:literal)?, $entry:literal in [$($file:literal),*] $(reading $load:literal)? $(with $constants:expr)?;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the rows' own names, used as numbers")]
        enum Row { $($name),* }
        $(
            $(#[$doc])*
            pub(crate) static $name: $crate::kernel::Kernel<$params, $inputs $(, $outputs)?> =
                $crate::kernel::Kernel::new(Row::$name as usize, $crate::kernel::loaded!($($load)?));
        )*
        /// Every row: a pipeline, or two where inputs can hold f16.
        pub(crate) static ALL: &[$crate::kernel::Desc] = &[$($crate::kernel::Desc {
            name: stringify!($name),
            sources: &[$(include_str!(concat!(env!("OUT_DIR"), "/shaders/", $file))),*],
            load: $crate::kernel::load!($name $($load)?),
            constants: $crate::kernel::or_none!($($constants)?),
            entry: $entry,
            inputs: $inputs,
            outputs: $crate::kernel::or_one!($($outputs)?),
            fields: <$params as $crate::kernel::Params>::FIELDS,
        }),*];
    };
}

macro_rules! loaded {
    () => {
        0..0
    };
    ($file:literal) => {
        $crate::kernel::bound($file)
    };
}

macro_rules! load {
    ($name:ident) => {
        None
    };
    ($name:ident $file:literal) => {
        Some($crate::kernel::Load {
            f32: include_str!(concat!(env!("OUT_DIR"), "/shaders/lib/", $file, "_f32.wgsl")),
            f16: include_str!(concat!(env!("OUT_DIR"), "/shaders/lib/", $file, "_f16.wgsl")),
            f16_name: concat!(stringify!($name), "_F16"),
        })
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

pub(crate) use {kernels, load, loaded, or_none, or_one, params};
