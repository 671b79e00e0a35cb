//! The crate's one error type: a code, the op it happened in, and what to change.

use std::fmt;
use std::panic::Location;

/// The result of everything that can fail at once (device ops give failed tensors instead).
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong. The text of each variant names the values that did not fit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ErrorKind {
    /// There is no WebGPU here: an old browser, an insecure page, or a build without a backend.
    #[error("WebGPU is not available: {0}")]
    NoWebGpu(String),
    /// WebGPU is there but offers no adapter that can be used.
    #[error("no usable GPU adapter: {0}")]
    NoAdapter(String),
    /// Lengths or shapes do not fit together, or do not fit the sizes given.
    #[error("{0}")]
    ShapeMismatch(String),
    /// A number that the op cannot take, such as a head count that does not divide.
    #[error("{0}")]
    InvalidArgument(String),
    /// A row number outside the table, or rows beyond a cache's capacity.
    #[error("{0}")]
    IndexOutOfRange(String),
    /// More bytes or elements than the adapter or the format of a kernel allows.
    #[error("{wanted} {what} wanted, at most {limit} allowed")]
    LimitExceeded {
        /// What is limited, and the shape that asks for it.
        what: String,
        /// What was asked for.
        wanted: u64,
        /// What this device allows.
        limit: u64,
    },
    /// The GPU could not provide the memory. Drop tensors and try again.
    #[error("out of GPU memory: {0}")]
    OutOfMemory(String),
    /// The device is gone: a driver reset, or it was destroyed. Make a new context.
    #[error("the GPU device is lost: {0}")]
    DeviceLost(String),
    /// A tensor of one context was handed to another.
    #[error("a tensor of another context was passed; tensors of two contexts never mix")]
    WrongContext,
    /// A fault of the driver or of this library. Please report it.
    #[error("{0}")]
    Internal(String),
}

impl ErrorKind {
    /// A fault that the GPU told, with what it is about in front. A lost device is about nothing but itself.
    pub(crate) fn about(&self, what: &str) -> Self {
        match self {
            Self::OutOfMemory(text) => Self::OutOfMemory(format!("{what}: {text}")),
            Self::Internal(text) => Self::Internal(format!("{what}: {text}")),
            other => other.clone(),
        }
    }
}

/// An [`ErrorKind`], the op that met it, and on native the line that called the op.
#[derive(Clone, PartialEq)]
pub struct Error(Box<Inner>);

#[derive(Clone, PartialEq)]
struct Inner {
    kind: ErrorKind,
    op: &'static str,
    location: Option<&'static Location<'static>>,
}

impl Error {
    pub(crate) fn new(op: &'static str, kind: ErrorKind) -> Self {
        Self(Box::new(Inner { kind, op, location: None }))
    }

    pub(crate) fn shape(op: &'static str, why: impl Into<String>) -> Self {
        Self::new(op, ErrorKind::ShapeMismatch(why.into()))
    }

    pub(crate) fn argument(op: &'static str, why: impl Into<String>) -> Self {
        Self::new(op, ErrorKind::InvalidArgument(why.into()))
    }

    /// The same error, seen from `location` if it has no place yet.
    pub(crate) fn at(mut self, location: &'static Location<'static>) -> Self {
        self.0.location.get_or_insert(location);
        self
    }

    /// The stable code, one of the `ErrorCode` strings of the npm package's types.
    pub fn code(&self) -> &'static str {
        match self.0.kind {
            ErrorKind::NoWebGpu(_) => "no-webgpu",
            ErrorKind::NoAdapter(_) => "no-adapter",
            ErrorKind::ShapeMismatch(_) => "shape-mismatch",
            ErrorKind::InvalidArgument(_) => "invalid-argument",
            ErrorKind::IndexOutOfRange(_) => "index-out-of-range",
            ErrorKind::LimitExceeded { .. } => "limit-exceeded",
            ErrorKind::OutOfMemory(_) => "out-of-memory",
            ErrorKind::DeviceLost(_) => "device-lost",
            ErrorKind::WrongContext => "wrong-context",
            ErrorKind::Internal(_) => "internal",
        }
    }

    /// What went wrong, with its values.
    pub fn kind(&self) -> &ErrorKind {
        &self.0.kind
    }

    /// The name of the op (or call) that met the error first.
    pub fn op(&self) -> &'static str {
        self.0.op
    }

    /// Where the op was called, on native.
    pub fn location(&self) -> Option<&'static Location<'static>> {
        self.0.location
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.op, self.0.kind)?;
        match self.0.location {
            Some(at) => write!(f, " (at {}:{}:{})", at.file(), at.line(), at.column()),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}] {self}", self.code())
    }
}

impl std::error::Error for Error {}
