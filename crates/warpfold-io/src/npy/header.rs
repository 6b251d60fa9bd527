//! [`Header`]: the first bytes of a `.npy` file.

use std::io::{ErrorKind, Read};

use warpfold_num::DType;

use super::NpyError;
use super::literal::{Literal, dictionary};
use crate::Endian;
use crate::Problem;
use crate::kind::NPY_MAGIC;

/// Longest header that is read; NumPy's are 118 bytes, and its own reader stops at 10,000 characters.
const HEADER_LIMIT: u64 = 64 << 10;

/// What the elements are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Descr {
    /// A type that NumPy has a name for, and the order of its bytes.
    Known(DType, Endian),
    /// `V2`: two bytes of anything, which is how bfloat16 is saved.
    TwoBytes,
}

/// What a `.npy` file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The element type.
    pub descr: Descr,
    /// Whether the first index varies fastest.
    pub fortran_order: bool,
    /// The size of each axis; none for a single element.
    pub shape: Vec<u64>,
    /// The number of elements.
    pub len: u64,
    /// Where the elements start, in bytes from the start of the file.
    pub data_start: u64,
}

impl Header {
    /// Reads a header and leaves the reader where the elements start.
    ///
    /// # Errors
    /// [`Problem::Npy`] for everything that is not as the format has it, [`Problem::Io`].
    pub fn read(reader: &mut (impl Read + ?Sized)) -> Result<Header, Problem> {
        Ok(Header::of(&Start::read(reader)?)?)
    }

    /// What the bytes before the elements say.
    pub(super) fn of(start: &Start) -> Result<Header, NpyError> {
        Header::parse(&start.text, start.bytes.len() as u64)
    }

    fn parse(text: &str, data_start: u64) -> Result<Header, NpyError> {
        let (mut descr, mut order, mut shape) = (None, None, None);
        for (key, value) in dictionary(text).map_err(NpyError::Header)? {
            match key.as_str() {
                "descr" => descr = Some(value),
                "fortran_order" => order = Some(value),
                "shape" => shape = Some(value),
                _ => return Err(NpyError::Header(format!("it has an unknown key {key:?}"))),
            }
        }
        let descr = descr_of(descr.ok_or_else(|| missing("descr"))?)?;
        let fortran_order = match order.ok_or_else(|| missing("fortran_order"))? {
            Literal::Bool(fortran) => fortran,
            other => {
                return Err(NpyError::Header(format!(
                    "fortran_order is {}, not True or False",
                    other.kind()
                )));
            }
        };
        let shape = shape_of(shape.ok_or_else(|| missing("shape"))?)?;
        let size = match descr {
            Descr::Known(dtype, _) => dtype.size() as u64,
            Descr::TwoBytes => 2,
        };
        // An axis of 0 makes the array empty, however long the others are.
        let len = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis)),
        };
        match len {
            Some(len) if len.checked_mul(size).is_some_and(|bytes| bytes <= i64::MAX as u64) => {
                Ok(Header { descr, fortran_order, shape, len, data_start })
            }
            _ => Err(NpyError::ShapeOverflow { shape: format!("{shape:?}") }),
        }
    }

    /// Whether the elements lie in another order than C's.
    pub fn is_transposed(&self) -> bool {
        self.fortran_order && self.shape.iter().filter(|&&axis| axis > 1).count() > 1
    }
}

/// The bytes before the elements.
pub(super) struct Start {
    pub(super) bytes: Vec<u8>,
    /// The dictionary.
    text: String,
}

impl Start {
    /// Reads them.
    ///
    /// # Errors
    /// As [`Header::read`].
    pub(super) fn read(reader: &mut (impl Read + ?Sized)) -> Result<Start, Problem> {
        let mut bytes = vec![0; 8];
        take(reader, &mut bytes[..6]).map_err(|p| match p {
            Problem::Npy(_) => NpyError::NotNpy.into(),
            other => other,
        })?;
        if &bytes[..6] != NPY_MAGIC {
            return Err(NpyError::NotNpy.into());
        }
        take(reader, &mut bytes[6..])?;
        let (major, minor) = (bytes[6], bytes[7]);
        let mut length = [0; 4];
        let width = match (major, minor) {
            (1, 0) => 2,
            (2 | 3, 0) => 4,
            _ => return Err(NpyError::Version { major, minor }.into()),
        };
        take(reader, &mut length[..width])?;
        bytes.extend_from_slice(&length[..width]);
        let limit = HEADER_LIMIT;
        let header = u64::from(u32::from_le_bytes(length));
        if header > limit {
            return Err(NpyError::HeaderTooLong { bytes: header, limit }.into());
        }
        let mut text = vec![0; header as usize];
        take(reader, &mut text)?;
        bytes.extend_from_slice(&text);
        // Versions 1 and 2 are Latin-1, version 3 is UTF-8; they differ in the names of fields only.
        let text = match major {
            3 => String::from_utf8(text).map_err(|_| NpyError::Header("it is not UTF-8".into()))?,
            _ => text.into_iter().map(char::from).collect(),
        };
        Ok(Start { bytes, text })
    }

    /// Whether elements are records; what is wrong with the header is said where it is parsed.
    pub(super) fn is_of_records(&self) -> bool {
        matches!(self.descr(), Ok(Literal::List(_)))
    }

    /// What the elements are.
    pub(super) fn descr(&self) -> Result<Literal, NpyError> {
        let entries = dictionary(&self.text).map_err(NpyError::Header)?;
        let descr = entries.into_iter().find(|(key, _)| key == "descr");
        descr.map(|(_, descr)| descr).ok_or_else(|| missing("descr"))
    }

    /// What stands before elements of another type, with more axes behind those that there are; and how many elements there are without these.
    pub(super) fn with(&self, descr: &str, axes: &[u64]) -> Result<(Vec<u8>, u64), NpyError> {
        let (mut order, mut shape) = (false, Vec::new());
        for (key, value) in dictionary(&self.text).map_err(NpyError::Header)? {
            match (key.as_str(), value) {
                ("shape", value) => shape = shape_of(value)?,
                ("fortran_order", Literal::Bool(fortran)) => order = fortran,
                _ => {}
            }
        }
        if order && !axes.is_empty() {
            return Err(NpyError::Header("fields with axes of their own in Fortran order are not read; write the field as an array of its own".into()));
        }
        let n = match shape.contains(&0) {
            true => Some(0),
            false => shape.iter().try_fold(1u64, |n, &axis| n.checked_mul(axis)),
        };
        let n = n.ok_or_else(|| NpyError::ShapeOverflow { shape: format!("{shape:?}") })?;
        let axes: String = shape.iter().chain(axes).map(|axis| format!("{axis},")).collect();
        let order = if order { "True" } else { "False" };
        let text =
            format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': ({axes}), }}\n");
        let length = (text.len() as u32).to_le_bytes();
        Ok(([&NPY_MAGIC[..], &[2, 0], &length, text.as_bytes()].concat(), n))
    }
}

fn missing(key: &str) -> NpyError {
    NpyError::Header(format!("the key {key:?} is missing"))
}

fn take(reader: &mut (impl Read + ?Sized), bytes: &mut [u8]) -> Result<(), Problem> {
    reader.read_exact(bytes).map_err(|error| match error.kind() {
        ErrorKind::UnexpectedEof => NpyError::HeaderTruncated.into(),
        _ => error.into(),
    })
}

fn descr_of(descr: Literal) -> Result<Descr, NpyError> {
    let text = match descr {
        Literal::Text(text) => text,
        Literal::List(_) => return Err(unknown("a structured type")),
        other => return Err(NpyError::Header(format!("descr is {}, not a string", other.kind()))),
    };
    let (order, code) = text.split_at_checked(1).unwrap_or(("", &text));
    let dtype = match code {
        "O" | "O8" | "O4" => return Err(NpyError::Objects),
        "V2" if order == "<" || order == "|" => return Ok(Descr::TwoBytes),
        "b1" => DType::Bool,
        "i1" => DType::I8,
        "i2" => DType::I16,
        "i4" => DType::I32,
        "i8" => DType::I64,
        "u1" => DType::U8,
        "u2" => DType::U16,
        "u4" => DType::U32,
        "u8" => DType::U64,
        "f2" => DType::F16,
        "f4" => DType::F32,
        "f8" => DType::F64,
        "c8" => DType::Complex64,
        "c16" => DType::Complex128,
        _ => return Err(unknown(&format!("{text:?}"))),
    };
    match order {
        "<" => Ok(Descr::Known(dtype, Endian::Little)),
        ">" => Ok(Descr::Known(dtype, Endian::Big)),
        "|" if dtype.size() == 1 => Ok(Descr::Known(dtype, Endian::NATIVE)),
        _ => Err(NpyError::Header(format!("the type {text:?} does not say its byte order"))),
    }
}

/// A type in words, or quoted already.
pub(super) fn unknown(descr: &str) -> NpyError {
    let known: Vec<_> = DType::ALL.iter().map(|dtype| dtype.name()).collect();
    NpyError::Type { descr: descr.to_owned(), known: known.join(", ") }
}

fn shape_of(shape: Literal) -> Result<Vec<u64>, NpyError> {
    let wrong = || NpyError::Header("the shape is no tuple of integers".into());
    let Literal::Tuple(axes) = shape else { return Err(wrong()) };
    let size = |axis| match axis {
        Literal::Integer(size) => Ok(size),
        _ => Err(wrong()),
    };
    axes.into_iter().map(size).collect()
}
