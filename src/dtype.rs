//! How values are stored.

/// How a tensor's values are stored. Ops take both, compute in f32 and give [`F32`](Dtype::F32).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Dtype {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats, in half the memory: 11 significant bits, up to 65,504.
    F16,
}

impl Dtype {
    /// Bytes of so many values, in whole words.
    pub(crate) fn bytes(self, len: u64) -> u64 {
        match self {
            Self::F32 => len * 4,
            Self::F16 => len.div_ceil(2) * 4,
        }
    }
}
