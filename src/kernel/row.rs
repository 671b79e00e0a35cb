//! What a row of the table is made of, typed by its parameters and its numbers of inputs and outputs.

use std::marker::PhantomData;
use std::ops::Range;

/// Bytes of a dispatch's uniform parameters: WebGPU's default offset alignment.
pub(crate) const SLOT: usize = 256;
/// Inputs and outputs of a kernel at most.
pub(crate) const INPUTS_MAX: usize = 4;
pub(crate) const OUTPUTS_MAX: usize = 2;

/// A kernel's uniform parameters, laid out as the `Params` struct of its WGSL file.
pub(crate) trait Params: bytemuck::Pod {
    /// Name and byte offset of each member.
    const FIELDS: &'static [(&'static str, u32)];
}

/// How many buffers a kernel reads and writes. Bindings are by position: read-only inputs, then the outputs, then the
/// uniform parameters with a dynamic offset.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arity {
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Arity {
    /// What each binding is, in terms of the caller.
    pub(crate) fn kinds<T: Copy>(self, [read, write, uniform]: [T; 3]) -> impl Iterator<Item = T> {
        let reads = std::iter::repeat_n(read, self.inputs);
        reads.chain(std::iter::repeat_n(write, self.outputs)).chain([uniform])
    }
}

/// A WGSL file and what it imports, as `build.rs` found it.
#[derive(Debug)]
pub(crate) struct Source {
    /// The texts in order, each by `[wide][half]`.
    pub(super) parts: &'static [[[&'static str; 2]; 2]],
    /// The inputs that may hold f16: the first, and the first after them.
    pub(super) half: (usize, usize),
}

/// One of the ways in which a row is built.
#[derive(Debug)]
pub(crate) struct Variant {
    /// Appended to the row's name.
    pub(super) suffix: &'static str,
    /// Which of the choices `{1,4}` and `{,4}` in imports it takes: single values, or vectors of four.
    pub(super) wide: bool,
    pub(super) constants: &'static [(&'static str, u32)],
}

/// The only variant of most rows.
pub(super) const PLAIN: Variant = Variant { suffix: "", wide: false, constants: &[] };

/// A row of the table.
#[derive(Debug)]
pub(crate) struct Desc {
    pub(crate) name: &'static str,
    pub(super) source: Source,
    pub(crate) entry: &'static str,
    pub(crate) arity: Arity,
    pub(crate) fields: &'static [(&'static str, u32)],
    pub(super) variants: &'static [Variant],
    /// The ops that may run it.
    pub(crate) ops: &'static [&'static str],
}

/// A variant of a row. A call with other numbers of inputs or outputs, or other parameters, does not compile.
pub(crate) struct Kernel<P: Params, const IN: usize, const OUT: usize = 1> {
    /// The number of its pipeline for f32; the next is that for f16.
    pub(crate) pipeline: usize,
    half: (usize, usize),
    params: PhantomData<fn(P)>,
}

impl<P: Params, const IN: usize, const OUT: usize> Kernel<P, IN, OUT> {
    pub(super) const fn new(first_variant: usize, source: &Source) -> Self {
        assert!(IN <= INPUTS_MAX && 1 <= OUT && OUT <= OUTPUTS_MAX && source.half.1 <= IN);
        assert!(size_of::<P>() <= SLOT);
        Self { pipeline: 2 * first_variant, half: source.half, params: PhantomData }
    }

    /// Another variant of the same row, by its place in the row's list.
    pub(crate) fn variant(&self, i: usize) -> Self {
        Self { pipeline: self.pipeline + 2 * i, half: self.half, params: PhantomData }
    }

    /// The inputs that it can read as f16, all of them or none.
    pub(crate) fn half(&self) -> Range<usize> {
        self.half.0..self.half.1
    }
}

/// How much a dispatch is: its workgroups, and its estimated number of operations.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grid {
    pub(crate) groups: u64,
    pub(crate) cost: u64,
}

/// Declares parameter structs with the member table that the tests compare with the WGSL.
macro_rules! params {
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $ty:ty),* $(,)? })*) => {$(
        $(#[$doc])*
        #[repr(C)]
        #[derive(Debug, Clone, Copy, bytemuck::Pod, bytemuck::Zeroable)]
        pub(crate) struct $name { $(pub(crate) $field: $ty),* }
        impl $crate::kernel::row::Params for $name {
            const FIELDS: &'static [(&'static str, u32)] =
                &[$((stringify!($field), std::mem::offset_of!($name, $field) as u32)),*];
        }
    )*};
}

/// Declares the table: a constant for each row, and `ALL` in the same order. A row reads
/// `NAME: Params, inputs [to outputs], entry in file [as variants] for the ops that may run it;`
macro_rules! kernels {
    ($($(#[$doc:meta])* $name:ident: $params:ident, $inputs:literal $(to $outputs:literal)?, $entry:ident in $file:ident
        $(as $variants:expr)?; $($op:ident)*;)*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms, reason = "the rows' own names, used as numbers")]
        enum Row { $($name),* }
        const VARIANTS: &[&[$crate::kernel::row::Variant]] = &[$($crate::kernel::row::variants!($($variants)?)),*];
        $(
            $(#[$doc])*
            pub(crate) const $name: $crate::kernel::row::Kernel<$params, $inputs $(, $outputs)?> =
                $crate::kernel::row::Kernel::new($crate::kernel::row::first_variant(VARIANTS, Row::$name as usize), &source::$file);
        )*
        /// Every row.
        pub(crate) static ALL: &[$crate::kernel::row::Desc] = &[$($crate::kernel::row::Desc {
            name: stringify!($name),
            source: source::$file,
            entry: stringify!($entry),
            arity: $crate::kernel::row::Arity { inputs: $inputs, outputs: $crate::kernel::row::outputs!($($outputs)?) },
            fields: <$params as $crate::kernel::row::Params>::FIELDS,
            variants: VARIANTS[Row::$name as usize],
            ops: &[$(stringify!($op)),*],
        }),*];
    };
}

/// How many variants the rows before `row` have.
pub(super) const fn first_variant(variants: &[&[Variant]], row: usize) -> usize {
    let (mut first, mut i) = (0, 0);
    while i < row {
        first += variants[i].len();
        i += 1;
    }
    first
}

macro_rules! variants {
    () => {
        &[$crate::kernel::row::PLAIN]
    };
    ($variants:expr) => {
        &$variants
    };
}

macro_rules! outputs {
    () => {
        1
    };
    ($count:literal) => {
        $count
    };
}

pub(super) use {kernels, outputs, params, variants};
