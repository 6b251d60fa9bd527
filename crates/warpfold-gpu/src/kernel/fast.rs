//! Fast float results: values that were rounded on the way, on request. No partials: merging them would round again.

use warpfold_num::with_float;

use crate::{Complex, DType, Error, Op, Result, Value};

/// A rounded sum of elements, products, magnitudes or squares.
#[derive(Debug, Clone, PartialEq)]
pub struct FastSum {
    /// The real part, and for complex elements the imaginary one.
    pub parts: [f64; 2],
    /// Elements that went into it.
    pub count: u64,
    /// The element type.
    pub dtype: DType,
}

impl FastSum {
    /// What `op` is, in a float type.
    ///
    /// # Errors
    /// [`Error::Empty`] for the mean of nothing; [`Error::Unsupported`] for a type that is no float.
    pub(super) fn finish(&self, op: Op, to: DType) -> Result<Value> {
        let [re, im] = self.parts;
        match op {
            Op::Sum | Op::Dot => self.rounded(self.parts, op, to),
            Op::Mean if self.count == 0 => Err(Error::Empty { op, ignored: false }),
            Op::Mean => {
                let count = self.count as f64;
                self.rounded([re / count, im / count], op, to)
            }
            Op::L1 | Op::Sumsq => round(re, op, self.dtype, to),
            Op::L2 => round(re.sqrt(), op, self.dtype, to),
            other => unreachable!("{other} is not read from {self:?}"),
        }
    }

    fn rounded(&self, [re, im]: [f64; 2], op: Op, to: DType) -> Result<Value> {
        if !self.dtype.is_complex() {
            return round(re, op, self.dtype, to);
        }
        Ok(with_float!(to, op, self.dtype, F => Complex::new(of::<F>(re), of::<F>(im)).into()))
    }
}

/// Rounded moments: the mean, and the sum of squared distances from it.
#[derive(Debug, Clone, PartialEq)]
pub struct FastMoments {
    /// The mean, by components.
    pub mean: [f64; 2],
    /// The sum of squared distances from the mean.
    pub squares: f64,
    /// Elements that went into it.
    pub count: u64,
    /// The element type.
    pub dtype: DType,
}

impl FastMoments {
    /// The variance or its root over `count - ddof`, in a float type.
    ///
    /// # Errors
    /// [`Error::Empty`] without elements, [`Error::TooFew`] if `ddof >= count`; [`Error::Unsupported`] for a type that is no float.
    pub(super) fn finish(&self, op: Op, ddof: u64, to: DType) -> Result<Value> {
        let n = self.count;
        if n == 0 {
            return Err(Error::Empty { op, ignored: false });
        }
        if ddof >= n {
            return Err(Error::TooFew { op, n, ddof });
        }
        let variance = self.squares / (n - ddof) as f64;
        match op {
            Op::Var => round(variance, op, self.dtype, to),
            Op::Std => round(variance.sqrt(), op, self.dtype, to),
            other => unreachable!("{other} is not read from {self:?}"),
        }
    }
}

fn round(x: f64, op: Op, dtype: DType, to: DType) -> Result<Value> {
    Ok(with_float!(to, op, dtype, F => of::<F>(x).into()))
}

fn of<F: crate::element::Float>(x: f64) -> F {
    F::of(x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::element::Nearest;

    #[test]
    fn every_nan_is_the_one_nan_and_values_are_kept() {
        assert_eq!(f32::of(-f64::NAN).to_bits(), 0x7fc0_0000);
        // What an operation gives, not a constant: its NaN is the hardware's choice, or its operand.
        let found = std::hint::black_box(f64::from_bits(u64::MAX >> 1));
        assert_eq!(f64::of(found.sqrt()).to_bits(), f64::NAN.to_bits());
        assert_eq!(f32::of(found.sqrt()).to_bits(), f32::NAN.to_bits());
        assert_eq!(f32::of(1.5), 1.5);
        assert_eq!(f64::of(f64::MAX), f64::MAX);
        assert_eq!(f32::of(1e300), f32::INFINITY);
    }

    #[test]
    fn sums_of_complex_numbers_keep_both_parts_and_norms_one() {
        let sum = FastSum { parts: [9.0, -0.5], count: 2, dtype: DType::Complex64 };
        assert_eq!(sum.finish(Op::Mean, DType::F32), Ok(Complex::new(4.5f32, -0.25).into()));
        assert_eq!(sum.finish(Op::Sum, DType::F64), Ok(Complex::new(9f64, -0.5).into()));
        assert_eq!(sum.finish(Op::L2, DType::F32), Ok(3f32.into()));
        assert!(matches!(sum.finish(Op::Sum, DType::I32), Err(Error::Unsupported { .. })));
    }
}
