//! What every saved partial has in common: the header, and the way in and out.

use super::digits::MOST;
use super::words::{Form, Reader, Refused, Writer};
use crate::element::{DType, Element};
use crate::exact::{Dot, Exact, Moments};
use crate::partial::{Count, Extremes, Magnitude, Norm1, Partial, Product, Stats};
use crate::{Error, Op, PartialKind, Result};

const MAGIC: [u8; 4] = *b"WFPT";
/// The version that most partials are saved in.
pub(super) const VERSION: u8 = 1;
/// That of products of floats that know the indices of their elements.
pub(super) const WITH_INDICES: u8 = 2;
/// The first byte of the compact form of the first version, which no magic begins with; that of the second follows it.
const COMPACT: u8 = 0xc1;
const COMPACT_WITH_INDICES: u8 = COMPACT + 1;
/// The element type's code where a kind knows none.
const NO_DTYPE: u8 = 255;

/// Element types by their code. Codes are for ever: append only.
const DTYPES: [DType; 15] = [
    DType::Bool,
    DType::I8,
    DType::I16,
    DType::I32,
    DType::I64,
    DType::U8,
    DType::U16,
    DType::U32,
    DType::U64,
    DType::F16,
    DType::BF16,
    DType::F32,
    DType::F64,
    DType::Complex64,
    DType::Complex128,
];

/// What saved bytes say of themselves, so that a program can choose the type to read them as.
///
/// ```
/// use warpfold_exact::{Exact, partial::bytes::{Header, PartialKind}};
/// use warpfold_num::DType;
/// let bytes = Exact::<f32>::new().to_bytes();
/// let header = Header::read(&bytes)?;
/// assert_eq!(header, Header { kind: PartialKind::Sum, dtype: Some(DType::F32) });
/// # Ok::<(), warpfold_num::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Header {
    /// Which partial follows.
    pub kind: PartialKind,
    /// Of which elements, where the kind depends on it.
    pub dtype: Option<DType>,
}

impl Header {
    /// Reads the header alone; what follows it is not looked at.
    ///
    /// # Errors
    /// [`Error::BadPartial`] if these are no saved partial, or one of another version.
    pub fn read(bytes: &[u8]) -> Result<Header> {
        let read = || Ok(Header::open(bytes)?.0);
        read().map_err(|why| Error::BadPartial { expected: "any reduction", why })
    }

    /// The header, the version of the layout, and what follows them.
    fn open(bytes: &[u8]) -> Refused<(Header, u8, Reader<'_>)> {
        if let [form @ (COMPACT | COMPACT_WITH_INDICES), rest @ ..] = bytes {
            let mut input = Reader::new(Form::Compact, rest);
            let codes = input.bytes(2)?;
            let version = form - COMPACT + VERSION;
            return Ok((Header::of(codes[0], codes[1], version)?, version, input));
        }
        let mut input = Reader::new(Form::Words, bytes);
        let (header, version) = Header::unpack(input.word()?)?;
        Ok((header, version, input))
    }

    fn dtype_code(self) -> u8 {
        let code = |dtype| DTYPES.iter().position(|&d| d == dtype).map(|code| code as u8);
        self.dtype.map_or(Some(NO_DTYPE), code).expect("every type has a code")
    }

    fn pack(self, version: u8, form: Form) -> Writer {
        let (kind, dtype) = (self.kind as u8, self.dtype_code());
        let [a, b, c, d] = MAGIC;
        match form {
            Form::Words => Writer::new(form, &[a, b, c, d, version, kind, dtype, 0]),
            Form::Compact => Writer::new(form, &[COMPACT + version - VERSION, kind, dtype]),
        }
    }

    /// The header and the version of the layout.
    fn unpack(word: u64) -> Refused<(Header, u8)> {
        let [magic @ .., version, kind, dtype, reserved] = word.to_le_bytes();
        if magic != MAGIC {
            return Err("they do not begin with WFPT".into());
        }
        if !(VERSION..=WITH_INDICES).contains(&version) {
            return Err(format!(
                "they are of version {version}, and this is version {WITH_INDICES}"
            ));
        }
        if reserved != 0 {
            return Err("byte 7 is not zero".into());
        }
        Ok((Header::of(kind, dtype, version)?, version))
    }

    /// What the codes of kind and element type stand for, in a version that has them.
    fn of(kind: u8, dtype: u8, version: u8) -> Refused<Header> {
        let known = PartialKind::ALL.iter().copied().find(|&k| k as u8 == kind);
        let kind = known.ok_or_else(|| format!("no kind of partial has the code {kind}"))?;
        let dtype = match (dtype, DTYPES.get(usize::from(dtype))) {
            (NO_DTYPE, _) => None,
            (_, Some(&dtype)) => Some(dtype),
            (_, None) => return Err(format!("no element type has the code {dtype}")),
        };
        let has_indices = kind == PartialKind::Product && dtype.is_some_and(DType::is_float);
        if version == WITH_INDICES && !has_indices {
            return Err(format!("a partial of {} has no version {version}", kind.name()));
        }
        Ok(Header { kind, dtype })
    }
}

/// A partial that has a layout.
pub(super) trait Saved: Sized {
    const HEADER: Header;

    /// The version of the layout that it is written in.
    fn version(&self) -> u8 {
        VERSION
    }

    /// Writes what follows the header.
    fn write(&self, out: &mut Writer);

    /// Reads what follows the header.
    fn read(input: &mut Reader<'_>) -> Refused<Self>;

    /// Reads what follows the header of a later version.
    fn read_with_indices(input: &mut Reader<'_>) -> Refused<Self> {
        Self::read(input)
    }
}

fn save<P: Saved>(partial: &P, form: Form) -> Vec<u8> {
    let mut out = P::HEADER.pack(partial.version(), form);
    partial.write(&mut out);
    out.into_bytes()
}

fn load<P: Saved>(bytes: &[u8]) -> Result<P> {
    let read = || {
        let (header, version, mut input) = Header::open(bytes)?;
        let Header { kind, dtype } = P::HEADER;
        if header.kind != kind {
            return Err(format!("they hold a partial of {}", header.kind.name()));
        }
        if header.dtype != dtype {
            let name = |dtype: Option<DType>| dtype.map_or("untyped", DType::name);
            return Err(format!("they hold {} elements, not {}", name(header.dtype), name(dtype)));
        }
        let partial = match version {
            WITH_INDICES => P::read_with_indices(&mut input)?,
            _ => P::read(&mut input)?,
        };
        input.end()?;
        Ok(partial)
    };
    read().map_err(|why| Error::BadPartial { expected: P::HEADER.kind.name(), why })
}

fn add<P: Saved>(partial: &P) -> Vec<u64> {
    let mut out = Writer::Digits(Vec::new());
    partial.write(&mut out);
    match out {
        Writer::Digits(digits) => digits,
        Writer::Bytes(..) => unreachable!("it began as digits"),
    }
}

fn sum<P: Saved>(digits: &[u64], world: u64) -> Result<P> {
    let read = || {
        if world > MOST {
            return Err(format!("digits of at most {MOST} partials add up, not of {world}"));
        }
        let mut input = Reader::of_digits(digits, world);
        let partial = P::read(&mut input)?;
        input.end()?;
        Ok(partial)
    };
    read().map_err(|why| Error::BadPartial { expected: P::HEADER.kind.name(), why })
}

/// What those partials have beside that are sums.
macro_rules! summed {
    ($([$($generics:tt)*] $ty:ty;)+) => {$(
        impl<$($generics)*> $ty {
            /// The partial as digits, which anyone may add up: in the layout of [`partial::bytes::digits`](crate::partial::bytes::digits).
            pub fn to_digits(&self) -> Vec<u64> {
                add(self)
            }

            /// The partial that so many partials make together, from the sums of their digits.
            ///
            /// ```
            /// use warpfold_exact::Exact;
            /// let digits = [1e300f64, 1.0, -1e300].map(|x| {
            ///     let mut sum = Exact::new();
            ///     sum.add(x);
            ///     sum.to_digits()
            /// });
            /// let total: Vec<u64> = (0..digits[0].len()).map(|k| digits.iter().map(|d| d[k]).sum()).collect();
            /// assert_eq!(Exact::<f64>::from_digits(&total, 3)?.round(), 1.0);
            /// # Ok::<(), warpfold_num::Error>(())
            /// ```
            ///
            /// # Errors
            /// [`Error::BadPartial`] if so many partials cannot have these digits.
            pub fn from_digits(digits: &[u64], world: u64) -> Result<Self> {
                sum(digits, world)
            }
        }
    )+};
}
summed! {
    [T: Element] Exact<T>;
    [T: Element] Moments<T>;
    [T: Element] Dot<T>;
    [] Count;
    [T: Element] Norm1<T>;
}

/// The public way in and out, on every partial alike.
macro_rules! saved {
    ($([$($generics:tt)*] $ty:ty;)+) => {$(
        impl<$($generics)*> $ty {
            /// The partial as bytes, in the layout of [`partial::bytes`](crate::partial::bytes).
            pub fn to_bytes(&self) -> Vec<u8> {
                save(self, Form::Words)
            }

            /// The partial in few bytes: the compact form of [`partial::bytes`](crate::partial::bytes).
            pub fn to_compact(&self) -> Vec<u8> {
                save(self, Form::Compact)
            }

            /// The partial from its bytes, in either form.
            ///
            /// # Errors
            /// [`Error::BadPartial`] if the bytes are not exactly what [`to_bytes`](Self::to_bytes) or [`to_compact`](Self::to_compact)
            /// writes for this type.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
                load(bytes)
            }
        }
    )+};
}
saved! {
    [T: Element] Exact<T>;
    [T: Element] Moments<T>;
    [T: Element] Dot<T>;
    [T: crate::Ordered] Extremes<T>;
    [] Count;
    [T: Element] Product<T>;
    [T: Element] Norm1<T>;
    [T: Element] Magnitude<T>;
    [T: Element] Stats<T>;
}

impl<T: Element> Partial<T> {
    /// The partial as bytes: those of what it holds, in the layout of [`partial::bytes`](crate::partial::bytes).
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Partial::Sum(p) => p.to_bytes(),
            Partial::Moments(p) => p.to_bytes(),
            Partial::Dot(p) => p.to_bytes(),
            Partial::Extremes(p) => p.to_bytes(),
            Partial::Count(p) => p.to_bytes(),
            Partial::Product(p) => p.to_bytes(),
            Partial::Norm1(p) => p.to_bytes(),
            Partial::Magnitude(p) => p.to_bytes(),
            Partial::Stats(p) => p.to_bytes(),
        }
    }

    /// The partial in few bytes: the compact form of what it holds.
    pub fn to_compact(&self) -> Vec<u8> {
        match self {
            Partial::Sum(p) => p.to_compact(),
            Partial::Moments(p) => p.to_compact(),
            Partial::Dot(p) => p.to_compact(),
            Partial::Extremes(p) => p.to_compact(),
            Partial::Count(p) => p.to_compact(),
            Partial::Product(p) => p.to_compact(),
            Partial::Norm1(p) => p.to_compact(),
            Partial::Magnitude(p) => p.to_compact(),
            Partial::Stats(p) => p.to_compact(),
        }
    }

    /// The partial as digits that anyone may add up, if it is a sum: extremes, products, largest magnitudes and stats are none.
    pub fn to_digits(&self) -> Option<Vec<u64>> {
        Some(match self {
            Partial::Sum(p) => p.to_digits(),
            Partial::Moments(p) => p.to_digits(),
            Partial::Dot(p) => p.to_digits(),
            Partial::Count(p) => p.to_digits(),
            Partial::Norm1(p) => p.to_digits(),
            Partial::Extremes(_)
            | Partial::Product(_)
            | Partial::Magnitude(_)
            | Partial::Stats(_) => return None,
        })
    }

    /// The partial of a reduction that so many partials make together, from the sums of their digits.
    ///
    /// # Errors
    /// [`Error::BadPartial`] if so many partials cannot have these digits, or if those of `op` are no sums.
    pub fn from_digits(op: Op, digits: &[u64], world: u64) -> Result<Self> {
        Ok(match Self::empty(op) {
            Partial::Sum(_) => Partial::Sum(Exact::from_digits(digits, world)?),
            Partial::Moments(_) => Partial::Moments(Box::new(Moments::from_digits(digits, world)?)),
            Partial::Dot(_) => Partial::Dot(Box::new(Dot::from_digits(digits, world)?)),
            Partial::Count(_) => Partial::Count(Count::from_digits(digits, world)?),
            Partial::Norm1(_) => Partial::Norm1(Box::new(Norm1::from_digits(digits, world)?)),
            _ => {
                let why = format!("partials of {op} are no sums");
                return Err(Error::BadPartial { expected: op.name(), why });
            }
        })
    }

    /// The partial, of whatever kind, from its bytes, in either form.
    ///
    /// # Errors
    /// [`Error::BadPartial`] if the bytes are no saved partial of elements of this type.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        Ok(match Header::read(bytes)?.kind {
            PartialKind::Sum => Partial::Sum(Exact::from_bytes(bytes)?),
            PartialKind::Moments => Partial::Moments(Box::new(Moments::from_bytes(bytes)?)),
            PartialKind::Dot => Partial::Dot(Box::new(Dot::from_bytes(bytes)?)),
            PartialKind::Extremes if T::DTYPE.is_complex() => {
                let why = format!("{} has no order", T::DTYPE);
                return Err(Error::BadPartial { expected: "extremes", why });
            }
            PartialKind::Extremes => Partial::Extremes(Extremes::from_bytes(bytes)?),
            PartialKind::Count => Partial::Count(Count::from_bytes(bytes)?),
            PartialKind::Product => Partial::Product(Box::new(Product::from_bytes(bytes)?)),
            PartialKind::Norm1 => Partial::Norm1(Box::new(Norm1::from_bytes(bytes)?)),
            PartialKind::Magnitude => Partial::Magnitude(Box::new(Magnitude::from_bytes(bytes)?)),
            PartialKind::Stats => Partial::Stats(Box::new(Stats::from_bytes(bytes)?)),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_element_type_has_a_code() {
        for &dtype in DType::ALL {
            let header = Header { kind: PartialKind::Sum, dtype: Some(dtype) };
            for (form, version) in [Form::Words, Form::Compact].map(|form| (form, VERSION)) {
                let packed = header.pack(version, form).into_bytes();
                let (found, its_version, _) = Header::open(&packed).expect("it was packed");
                assert_eq!((found, its_version), (header, version));
            }
        }
    }
}
