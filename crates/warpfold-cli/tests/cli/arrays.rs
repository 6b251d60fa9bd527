//! Arrays of small integers, encoded by hand for every type, and what reductions make of them in plain integer arithmetic.

use warpfold::{DType, bf16, f16};

/// An array of complex integers; the imaginary parts are dropped where the type has none.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) dtype: DType,
    pub(crate) values: Vec<(i64, i64)>,
}

impl Array {
    /// Values that every type holds: bools are 0 and 1, the rest 0 to 12, without order, the extremes more than once.
    pub(crate) fn sample(dtype: DType, n: usize) -> Array {
        let values = (0..n as i64).map(|i| {
            let value = match dtype {
                DType::Bool => i % 3 % 2,
                _ => (i * 7 + 3) % 13,
            };
            (value, if dtype.is_complex() { (i * 5 + 1) % 11 - 4 } else { 0 })
        });
        Array { dtype, values: values.collect() }
    }

    /// The elements, one after another, little-endian or big-endian.
    pub(crate) fn bytes(&self, big_endian: bool) -> Vec<u8> {
        let mut bytes = Vec::new();
        for &(re, im) in &self.values {
            let parts = if self.dtype.is_complex() { vec![re, im] } else { vec![re] };
            for part in parts {
                let mut part = little_endian(self.dtype, part);
                if big_endian {
                    part.reverse();
                }
                bytes.extend(part);
            }
        }
        bytes
    }

    /// The sum as the program prints it.
    pub(crate) fn sum(&self) -> String {
        let (re, im) = self.values.iter().fold((0, 0), |(re, im), (r, i)| (re + r, im + i));
        match self.dtype {
            dtype if dtype.is_complex() => {
                format!("{re}.0{}{im}.0i", if im < 0 { "" } else { "+" })
            }
            dtype if dtype.is_float() => format!("{re}.0"),
            _ => re.to_string(),
        }
    }

    /// The smallest and the largest element, printed.
    pub(crate) fn minmax(&self) -> (String, String) {
        let reals = || self.values.iter().map(|&(re, _)| re);
        let print = |value: i64| match self.dtype {
            DType::Bool => (value == 1).to_string(),
            dtype if dtype.is_float() => format!("{value}.0"),
            _ => value.to_string(),
        };
        (print(reals().min().expect("not empty")), print(reals().max().expect("not empty")))
    }

    /// The first index of the smallest and of the largest element.
    pub(crate) fn arg(&self) -> (usize, usize) {
        let first = |wanted: i64| {
            self.values.iter().position(|&(re, _)| re == wanted).expect("it is there")
        };
        let reals = || self.values.iter().map(|&(re, _)| re);
        (first(reals().min().expect("not empty")), first(reals().max().expect("not empty")))
    }

    /// How many elements are not zero.
    pub(crate) fn count(&self) -> usize {
        self.values.iter().filter(|&&value| value != (0, 0)).count()
    }

    /// The reductions to ask for and the lines to expect.
    pub(crate) fn expectations(&self) -> Vec<(&'static str, String)> {
        let mut all = vec![("sum", self.sum()), ("count", self.count().to_string())];
        if !self.dtype.is_complex() {
            let ((min, max), (argmin, argmax)) = (self.minmax(), self.arg());
            all.push(("minmax", format!("{min} {max}")));
            all.push(("argmin", argmin.to_string()));
            all.push(("argmax", argmax.to_string()));
        }
        all
    }

    /// NumPy's name for the type with a byte order.
    pub(crate) fn descr(&self, big_endian: bool) -> String {
        let order = if big_endian { '>' } else { '<' };
        match self.dtype {
            DType::Bool => "|b1".into(),
            DType::I8 => "|i1".into(),
            DType::U8 => "|u1".into(),
            DType::I16 => format!("{order}i2"),
            DType::I32 => format!("{order}i4"),
            DType::I64 => format!("{order}i8"),
            DType::U16 => format!("{order}u2"),
            DType::U32 => format!("{order}u4"),
            DType::U64 => format!("{order}u8"),
            DType::F16 => format!("{order}f2"),
            DType::BF16 => "<V2".into(),
            DType::F32 => format!("{order}f4"),
            DType::F64 => format!("{order}f8"),
            DType::Complex64 => format!("{order}c8"),
            DType::Complex128 => format!("{order}c16"),
        }
    }
}

fn little_endian(dtype: DType, part: i64) -> Vec<u8> {
    match dtype {
        DType::Bool | DType::U8 => vec![part as u8],
        DType::I8 => (part as i8).to_le_bytes().into(),
        DType::I16 => (part as i16).to_le_bytes().into(),
        DType::I32 => (part as i32).to_le_bytes().into(),
        DType::I64 => part.to_le_bytes().into(),
        DType::U16 => (part as u16).to_le_bytes().into(),
        DType::U32 => (part as u32).to_le_bytes().into(),
        DType::U64 => (part as u64).to_le_bytes().into(),
        DType::F16 => f16::from_f64(part as f64).to_le_bytes().into(),
        DType::BF16 => bf16::from_f64(part as f64).to_le_bytes().into(),
        DType::F32 | DType::Complex64 => (part as f32).to_le_bytes().into(),
        DType::F64 | DType::Complex128 => (part as f64).to_le_bytes().into(),
    }
}

/// A `.npy` header, written as NumPy does: padded so that the elements start at a multiple of `align`.
pub(crate) fn npy_header(version: u8, dictionary: &str, align: usize) -> Vec<u8> {
    let width = if version == 1 { 2 } else { 4 };
    let start = 8 + width;
    let length = (start + dictionary.len() + 1).next_multiple_of(align) - start;
    let mut bytes = b"\x93NUMPY".to_vec();
    bytes.extend([version, 0]);
    bytes.extend(&(length as u32).to_le_bytes()[..width]);
    bytes.extend(dictionary.as_bytes());
    bytes.resize(start + length - 1, b' ');
    bytes.push(b'\n');
    bytes
}

/// The dictionary of a `.npy` header.
pub(crate) fn dictionary(descr: &str, fortran: bool, shape: &str) -> String {
    let order = if fortran { "True" } else { "False" };
    format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}")
}
