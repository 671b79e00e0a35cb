//! Reads a GGUF v3 file: its metadata, and its tensors as f32.

use std::{collections::HashMap, fs, path::Path};

use half::f16;

use super::Result;

/// A metadata value; integers of every width and truth values are `Int`.
#[derive(Debug)]
pub(crate) enum Value {
    Int(i64),
    Float(f64),
    String(String),
    Array(Vec<Value>),
}

struct Entry {
    shape: Vec<usize>,
    kind: u32,
    offset: usize,
}

pub(crate) struct Gguf {
    bytes: Vec<u8>,
    metadata: HashMap<String, Value>,
    tensors: HashMap<String, Entry>,
    /// Where the tensors' bytes begin.
    data: usize,
}

impl Gguf {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let bytes = fs::read(path)?;
        let mut r = Reader { bytes: &bytes, at: 0 };
        if r.take(4)? != b"GGUF" || r.u32()? != 3 {
            return Err(format!("{} is no GGUF v3 file", path.display()).into());
        }
        let (tensor_count, metadata_count) = (r.u64()?, r.u64()?);

        let mut metadata = HashMap::new();
        for _ in 0..metadata_count {
            let key = r.string()?;
            let kind = r.u32()?;
            metadata.insert(key, r.value(kind)?);
        }

        let mut tensors = HashMap::new();
        for _ in 0..tensor_count {
            let name = r.string()?;
            let rank = r.u32()?;
            // The fastest axis comes first in the file, last here.
            let mut shape = (0..rank).map(|_| r.size()).collect::<Result<Vec<_>>>()?;
            shape.reverse();
            tensors.insert(name, Entry { shape, kind: r.u32()?, offset: r.size()? });
        }

        let alignment = match metadata.get("general.alignment") {
            Some(Value::Int(n)) => usize::try_from(*n)?,
            _ => 32,
        };
        let data = r.at.next_multiple_of(alignment);
        Ok(Self { metadata, tensors, data, bytes })
    }

    /// The metadata value of `key`.
    pub(crate) fn get(&self, key: &str) -> Result<&Value> {
        self.metadata.get(key).ok_or_else(|| format!("the GGUF file has no {key}").into())
    }

    pub(crate) fn int<T: TryFrom<i64>>(&self, key: &str) -> Result<T> {
        match self.get(key)? {
            Value::Int(n) => T::try_from(*n).map_err(|_| format!("{key} = {n} is out of range").into()),
            other => Err(format!("{key} is {other:?}, not an integer").into()),
        }
    }

    pub(crate) fn float(&self, key: &str) -> Result<f32> {
        match self.get(key)? {
            Value::Float(x) => Ok(*x as f32),
            other => Err(format!("{key} is {other:?}, not a number").into()),
        }
    }

    pub(crate) fn array(&self, key: &str) -> Result<&[Value]> {
        match self.get(key)? {
            Value::Array(values) => Ok(values),
            other => Err(format!("{key} is {other:?}, not an array").into()),
        }
    }

    pub(crate) fn tensor_count(&self) -> usize {
        self.tensors.len()
    }

    /// The tensor `name` dequantised, with its shape in row-major order.
    pub(crate) fn tensor(&self, name: &str) -> Result<(Vec<f32>, &[usize])> {
        let Entry { shape, kind, offset } =
            self.tensors.get(name).ok_or_else(|| format!("the GGUF file has no tensor {name}"))?;
        let (block_len, block_bytes, dequantise): (usize, usize, Dequantise) = match kind {
            0 => (1, 4, f32_block),
            3 => (32, 20, q4_1_block),
            8 => (32, 34, q8_0_block),
            other => {
                return Err(format!("{name}: tensor type {other} is none of F32, Q4_1, Q8_0").into());
            }
        };
        let len: usize = shape.iter().product();
        let mut r = Reader { bytes: &self.bytes, at: self.data + offset };
        let mut values = Vec::with_capacity(len);
        for block in r.take(len / block_len * block_bytes)?.chunks_exact(block_bytes) {
            dequantise(block, &mut values);
        }
        Ok((values, shape))
    }
}

/// Appends the values of one block.
type Dequantise = fn(&[u8], &mut Vec<f32>);

fn f32_block(block: &[u8], out: &mut Vec<f32>) {
    out.push(f32::from_le_bytes([block[0], block[1], block[2], block[3]]));
}

/// d, m, then 32 four-bit q, low halves first: d·q + m.
fn q4_1_block(block: &[u8], out: &mut Vec<f32>) {
    let (d, m) = (scale(&block[0..2]), scale(&block[2..4]));
    out.extend(block[4..].iter().map(|b| d * f32::from(b & 15) + m));
    out.extend(block[4..].iter().map(|b| d * f32::from(b >> 4) + m));
}

/// d, then 32 signed bytes q: d·q.
fn q8_0_block(block: &[u8], out: &mut Vec<f32>) {
    let d = scale(&block[0..2]);
    out.extend(block[2..].iter().map(|&b| d * f32::from(b.cast_signed())));
}

fn scale(bytes: &[u8]) -> f32 {
    f16::from_le_bytes([bytes[0], bytes[1]]).to_f32()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, n: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(n).ok_or("the GGUF file is damaged")?;
        let taken = self.bytes.get(self.at..end).ok_or("the GGUF file ends too early")?;
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into()?)
    }

    fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn size(&mut self) -> Result<usize> {
        Ok(usize::try_from(self.u64()?)?)
    }

    fn string(&mut self) -> Result<String> {
        let len = self.size()?;
        Ok(String::from_utf8(self.take(len)?.to_vec())?)
    }

    fn value(&mut self, kind: u32) -> Result<Value> {
        Ok(match kind {
            0 | 7 => Value::Int(u8::from_le_bytes(self.array()?).into()),
            1 => Value::Int(i8::from_le_bytes(self.array()?).into()),
            2 => Value::Int(u16::from_le_bytes(self.array()?).into()),
            3 => Value::Int(i16::from_le_bytes(self.array()?).into()),
            4 => Value::Int(u32::from_le_bytes(self.array()?).into()),
            5 => Value::Int(i32::from_le_bytes(self.array()?).into()),
            6 => Value::Float(f32::from_le_bytes(self.array()?).into()),
            8 => Value::String(self.string()?),
            9 => {
                let (kind, len) = (self.u32()?, self.u64()?);
                Value::Array((0..len).map(|_| self.value(kind)).collect::<Result<_>>()?)
            }
            10 => Value::Int(self.u64()?.try_into()?),
            11 => Value::Int(i64::from_le_bytes(self.array()?)),
            12 => Value::Float(f64::from_le_bytes(self.array()?)),
            other => {
                return Err(format!("the GGUF file holds a value of unknown type {other}").into());
            }
        })
    }
}
