//! Integers and floats: how columns of them are folded, and their wide states.

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use datafusion_common::{DataFusionError, Result, internal_err};
use warpfold_engine::{HostArray, Request};
use warpfold_exact::exact::{Expansion, Limbs, Register, Special};
use warpfold_exact::partial::{Output, Partial};
use warpfold_exact::{Dot, Exact, Moments};
use warpfold_num::{Element, Error, Float, Integer, Op, Ordered, Policy, Real};

use crate::cell::Cell;
use crate::column::{Native, kept, values};
use crate::slot::{Item, Wide};
use crate::task::Task;

/// An element that columns have.
pub(crate) trait Number: Native + Element + Real + Ordered {
    fn cell(self) -> Cell;

    /// Bits by which equal numbers are known.
    fn bits(self) -> u64;

    fn from_bits(bits: u64) -> Self;
}

/// An integer that columns have.
pub(crate) trait Whole64: Number + Integer + Into<i128> + TryFrom<i128> {}

impl Whole64 for i64 {}
impl Whole64 for u64 {}

/// A float that columns have.
pub(crate) trait Inexact: Number + Float + Into<f64> {
    /// Adds a product without loss, if it can.
    fn add_product<const N: usize>(sum: &mut Expansion<N>, x: Self, y: Self) -> bool;
}

macro_rules! number {
    ($ty:ty, $variant:ident, $bits:expr, $from:expr) => {
        impl Number for $ty {
            fn cell(self) -> Cell {
                Cell::$variant(self)
            }

            fn bits(self) -> u64 {
                ($bits)(self)
            }

            fn from_bits(bits: u64) -> Self {
                ($from)(bits)
            }
        }
    };
}
number!(i64, I64, |x: i64| x as u64, |bits: u64| bits as i64);
number!(u64, U64, |x: u64| x, |bits: u64| bits);
number!(f32, F32, |x: f32| float_bits(x.into()), |bits: u64| f64::from_bits(bits) as f32);
number!(f64, F64, float_bits, f64::from_bits);

/// The bits of a float; zeros are one, and so are NaN.
fn float_bits(x: f64) -> u64 {
    if x.is_nan() { f64::NAN.to_bits() } else { (x + 0.0).to_bits() }
}

impl Inexact for f32 {
    #[inline(always)]
    fn add_product<const N: usize>(sum: &mut Expansion<N>, x: f32, y: f32) -> bool {
        // 48 bits at most, and no exponent that f64 does not have.
        sum.add(f64::from(x) * f64::from(y))
    }
}

impl Inexact for f64 {
    #[inline(always)]
    fn add_product<const N: usize>(sum: &mut Expansion<N>, x: f64, y: f64) -> bool {
        sum.add_product(x, y)
    }
}

/// An error of a reduction, as the engine's.
fn failed(error: &Error) -> DataFusionError {
    DataFusionError::Execution(error.to_string())
}

impl<T: Number> Item for T {
    #[inline(always)]
    fn each(columns: &[ArrayRef], mut each: impl FnMut(usize, T)) -> Result<()> {
        let x = values::<T>(&columns[0])?;
        x.iter().enumerate().for_each(|(row, &x)| each(row, x));
        Ok(())
    }

    fn key(self) -> [u8; 16] {
        (self, self).key()
    }

    fn from_key(key: [u8; 16]) -> T {
        <(T, T)>::from_key(key).0
    }
}

impl<T: Number> Item for (T, T) {
    #[inline(always)]
    fn each(columns: &[ArrayRef], mut each: impl FnMut(usize, (T, T))) -> Result<()> {
        let (x, y) = (values::<T>(&columns[0])?, values::<T>(&columns[1])?);
        x.iter().zip(y).enumerate().for_each(|(row, (&x, &y))| each(row, (x, y)));
        Ok(())
    }

    fn key(self) -> [u8; 16] {
        (u128::from(self.0.bits()) << 64 | u128::from(self.1.bits())).to_be_bytes()
    }

    fn from_key(key: [u8; 16]) -> (T, T) {
        let both = u128::from_be_bytes(key);
        (T::from_bits((both >> 64) as u64), T::from_bits(both as u64))
    }
}

/// What a function says of its state; nothing, and too few rows for a sample, are NULL.
fn finish<T: Element>(partial: &Partial<T>, task: Task) -> Result<Option<Cell>> {
    if partial.count() == Some(0) {
        return Ok(None);
    }
    match partial.finish(task.function.op(), task.finish()) {
        Ok(Output::One(value)) => Cell::of(value).map(Some),
        Ok(other) => internal_err!("{other:?} is the result of no function here"),
        Err(Error::Empty { .. } | Error::TooFew { .. }) => Ok(None),
        Err(Error::Overflow { .. }) => {
            let (name, output) = (task.function.name(), task.output());
            Err(DataFusionError::Execution(format!(
                "{name}: the exact result is beyond {output}; cast the column to DECIMAL(38, 0) or DOUBLE"
            )))
        }
        Err(error) => Err(failed(&error)),
    }
}

/// The engine's partial of columns without their nulls.
pub(crate) fn fold<T: Number>(
    op: Op,
    columns: &[ArrayRef],
    valid: Option<&NullBuffer>,
) -> Result<Option<Partial<T>>> {
    let mut all = columns.iter().map(|column| values::<T>(column));
    let (x, y) = (all.next().transpose()?.unwrap_or_default(), all.next().transpose()?);
    let (x_kept, y_kept);
    let (x, y) = match valid {
        None => (x, y),
        Some(valid) => {
            (x_kept, y_kept) = (kept(x, valid), y.map(|y| kept(y, valid)));
            (&x_kept[..], y_kept.as_deref())
        }
    };
    if x.is_empty() {
        return Ok(None);
    }
    // The engine around has threads of its own.
    let request = Request::new(op, HostArray::of(x));
    let request = request.policy(Policy { threads: Some(1), ..Policy::default() });
    let request = y.into_iter().fold(request, |request, y| request.pair(HostArray::of(y)));
    let partial = warpfold_engine::reduce(&request).map_err(|error| failed(&error))?;
    match partial.typed() {
        Some(partial) => Ok(Some(partial)),
        None => internal_err!("the partial is of another type"),
    }
}

/// The exact accumulators are wide states; what differs is which registers they have.
macro_rules! wide {
    ($partial:ident, $specials:expr, $subtract:expr, $variant:expr) => {
        impl<T: Element> Wide for $partial<T> {
            fn merge(&mut self, other: &Self) {
                self.merge(other);
            }

            fn subtract(&mut self, other: &Self) {
                let subtract: fn(&mut Self, &Self) = $subtract;
                subtract(self, other);
                self.count -= other.count;
            }

            fn specials(&mut self) -> [Option<&mut Special>; 2] {
                let specials: fn(&mut Self) -> [Option<&mut Special>; 2] = $specials;
                specials(self)
            }

            fn count(&self) -> u64 {
                self.count
            }

            fn to_bytes(&self) -> Vec<u8> {
                self.to_compact()
            }

            fn from_bytes(bytes: &[u8]) -> Result<Self> {
                $partial::from_bytes(bytes).map_err(|error| failed(&error))
            }

            fn finish(&self, task: Task) -> Result<Option<Cell>> {
                finish(&$variant(self.clone().into()), task)
            }
        }
    };
}
wide!(
    Exact,
    |one| [one.parts.as_mut().first_mut().map(|part| &mut part.special), None],
    |one, other| subtract(one.parts.as_mut(), other.parts.as_ref()),
    Partial::Sum
);
wide!(
    Moments,
    |one| {
        let sum = one.sum.as_mut().first_mut().map(|part| &mut part.special);
        [sum, Some(&mut one.squares.special)]
    },
    |one, other| {
        subtract(one.sum.as_mut(), other.sum.as_ref());
        one.squares.fixed.subtract(&other.squares.fixed);
    },
    Partial::Moments
);
wide!(
    Dot,
    |one| [one.parts.as_mut().first_mut().map(|part| &mut part.special), None],
    |one, other| subtract(one.parts.as_mut(), other.parts.as_ref()),
    Partial::Dot
);

/// The one register of a real number's parts.
pub(crate) fn only<L>(parts: &mut [Register<L>]) -> &mut Register<L> {
    &mut parts[0]
}

fn subtract<L: Limbs>(mine: &mut [Register<L>], theirs: &[Register<L>]) {
    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| mine.fixed.subtract(&theirs.fixed));
}
