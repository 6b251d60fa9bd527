//! The small states of sums, moments and dot products of integers and floats.

use arrow::array::ArrayRef;
use arrow::buffer::NullBuffer;
use datafusion_common::Result;
use warpfold_exact::exact::{Expansion, Pair, Small};
use warpfold_exact::partial::Partial;
use warpfold_exact::{Dot, Exact, Moments};
use warpfold_num::Op;

use crate::cell::Cell;
use crate::function::Function;
use crate::number::{Inexact, Whole64, fold, only};
use crate::slot::Slot;
use crate::task::Task;

/// How the engine's partial of a batch goes into the wide state.
macro_rules! wide_from {
    ($op:expr, $wide:ident, $variant:ident) => {
        type Wide = $wide<T>;

        fn fold(
            wide: &mut Self::Wide,
            columns: &[ArrayRef],
            valid: Option<&NullBuffer>,
        ) -> Result<()> {
            if let Some(Partial::$variant(batch)) = fold($op, columns, valid)? {
                wide.merge(&batch);
            }
            Ok(())
        }

        fn count(&self) -> u64 {
            self.count
        }
    };
}

/// Two floats: 106 bits between the largest sum and the lowest bit of a value.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatSum<T> {
    sum: Expansion<2>,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T> Default for FloatSum<T> {
    fn default() -> Self {
        FloatSum { sum: Expansion::default(), count: 0, element: std::marker::PhantomData }
    }
}

impl<T: Inexact> Slot for FloatSum<T> {
    type Item = T;
    wide_from!(Op::Sum, Exact, Sum);

    #[inline(always)]
    fn add(&mut self, x: T) -> bool {
        let fits = self.sum.add(x.into());
        self.count += u64::from(fits);
        fits
    }

    fn add_wide(wide: &mut Exact<T>, x: T) {
        wide.add(x);
    }

    fn absorb(&mut self, wide: &Exact<T>) -> bool {
        let part = &wide.parts.as_ref()[0];
        let fits = part.special.value::<T>().is_none() && self.sum.add_fixed(&part.fixed, T::UNIT);
        self.count += if fits { wide.count } else { 0 };
        fits
    }

    fn widen(&self) -> Exact<T> {
        let mut wide: Exact<T> = Exact { count: self.count, ..Exact::default() };
        self.sum.add_to(only(wide.parts.as_mut()), T::UNIT);
        wide
    }

    fn quick(&self, task: Task) -> Option<Cell> {
        let &[high, low] = self.sum.terms();
        let sum = Pair { high, low };
        // The two terms added up must be far from overflow.
        let is_far = high.abs() < 1e300 && low.abs() < 1e300;
        match task.function {
            _ if !is_far => None,
            Function::Sum => Some(sum.round::<T>().cell()),
            Function::Avg => sum.mean::<T>(self.count).map(T::cell),
            _ => None,
        }
    }
}

/// Sum and sum of squares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatMoments<T> {
    sum: Expansion<2>,
    squares: Expansion<3>,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T> Default for FloatMoments<T> {
    fn default() -> Self {
        let (sum, squares) = (Expansion::default(), Expansion::default());
        FloatMoments { sum, squares, count: 0, element: std::marker::PhantomData }
    }
}

impl<T: Inexact> Slot for FloatMoments<T> {
    type Item = T;
    wide_from!(Op::Var, Moments, Moments);

    #[inline(always)]
    fn add(&mut self, x: T) -> bool {
        let mut new = *self;
        let fits = new.sum.add(x.into()) && T::add_product(&mut new.squares, x, x);
        if fits {
            *self = FloatMoments { count: self.count + 1, ..new };
        }
        fits
    }

    fn add_wide(wide: &mut Moments<T>, x: T) {
        wide.add(x);
    }

    fn absorb(&mut self, wide: &Moments<T>) -> bool {
        let (sum, squares) = (&wide.sum.as_ref()[0], &wide.squares);
        let is_special = sum.special.union(squares.special).value::<T>().is_some();
        let mut new = *self;
        let fits = !is_special
            && new.sum.add_fixed(&sum.fixed, T::UNIT)
            && new.squares.add_fixed(&squares.fixed, 2 * T::UNIT);
        if fits {
            *self = FloatMoments { count: self.count + wide.count, ..new };
        }
        fits
    }

    fn widen(&self) -> Moments<T> {
        let mut wide: Moments<T> = Moments { count: self.count, ..Moments::default() };
        self.sum.add_to(only(wide.sum.as_mut()), T::UNIT);
        self.squares.add_to(&mut wide.squares, 2 * T::UNIT);
        wide
    }
}

/// Three floats.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FloatDot<T> {
    sum: Expansion<3>,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T> Default for FloatDot<T> {
    fn default() -> Self {
        FloatDot { sum: Expansion::default(), count: 0, element: std::marker::PhantomData }
    }
}

impl<T: Inexact> Slot for FloatDot<T> {
    type Item = (T, T);
    wide_from!(Op::Dot, Dot, Dot);

    #[inline(always)]
    fn add(&mut self, (x, y): (T, T)) -> bool {
        let fits = T::add_product(&mut self.sum, x, y);
        self.count += u64::from(fits);
        fits
    }

    fn add_wide(wide: &mut Dot<T>, (x, y): (T, T)) {
        wide.add(x, y);
    }

    fn absorb(&mut self, wide: &Dot<T>) -> bool {
        let part = &wide.parts.as_ref()[0];
        let fits =
            part.special.value::<T>().is_none() && self.sum.add_fixed(&part.fixed, 2 * T::UNIT);
        self.count += if fits { wide.count } else { 0 };
        fits
    }

    fn widen(&self) -> Dot<T> {
        let mut wide: Dot<T> = Dot { count: self.count, ..Dot::default() };
        self.sum.add_to(only(wide.parts.as_mut()), 2 * T::UNIT);
        wide
    }
}

/// 128 bits, which fewer than 2^63 integers of 64 bits cannot fill.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IntegerSum<T> {
    sum: i128,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T: Whole64> Slot for IntegerSum<T> {
    type Item = T;
    wide_from!(Op::Sum, Exact, Sum);

    #[inline(always)]
    fn add(&mut self, x: T) -> bool {
        let x: i128 = x.into();
        self.sum += x;
        self.count += 1;
        true
    }

    fn add_wide(wide: &mut Exact<T>, x: T) {
        wide.add(x);
    }

    fn absorb(&mut self, wide: &Exact<T>) -> bool {
        let sum = wide.parts.as_ref()[0].fixed.to_i128().and_then(|x| self.sum.checked_add(x));
        self.count += sum.map_or(0, |_| wide.count);
        self.sum = sum.unwrap_or(self.sum);
        sum.is_some()
    }

    fn widen(&self) -> Exact<T> {
        let mut wide: Exact<T> = Exact { count: self.count, ..Exact::default() };
        only(wide.parts.as_mut()).fixed.add_signed(self.sum, 0);
        wide
    }

    fn quick(&self, task: Task) -> Option<Cell> {
        match task.function {
            Function::Sum => T::try_from(self.sum).ok().map(T::cell),
            // What two floats hold.
            Function::Avg if self.sum.unsigned_abs() < 1 << 105 => {
                self.sum.mean::<f64>(self.count).map(Cell::F64)
            }
            _ => None,
        }
    }
}

/// Sum and sum of squares.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IntegerMoments<T> {
    sum: i128,
    squares: u128,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T: Whole64> Slot for IntegerMoments<T> {
    type Item = T;
    wide_from!(Op::Var, Moments, Moments);

    #[inline(always)]
    fn add(&mut self, x: T) -> bool {
        let x: i128 = x.into();
        let Some(squares) = self.squares.checked_add(x.unsigned_abs() * x.unsigned_abs()) else {
            return false;
        };
        *self = IntegerMoments { sum: self.sum + x, squares, count: self.count + 1, ..*self };
        true
    }

    fn add_wide(wide: &mut Moments<T>, x: T) {
        wide.add(x);
    }

    fn absorb(&mut self, wide: &Moments<T>) -> bool {
        let sum = wide.sum.as_ref()[0].fixed.to_i128().and_then(|x| self.sum.checked_add(x));
        let squares = wide.squares.fixed.to_u128().and_then(|x| self.squares.checked_add(x));
        let (Some(sum), Some(squares)) = (sum, squares) else { return false };
        *self = IntegerMoments { sum, squares, count: self.count + wide.count, ..*self };
        true
    }

    fn widen(&self) -> Moments<T> {
        let mut wide: Moments<T> = Moments { count: self.count, ..Moments::default() };
        only(wide.sum.as_mut()).fixed.add_signed(self.sum, 0);
        wide.squares.fixed.add(self.squares, 0, false);
        wide
    }
}

/// 128 bits, as long as they suffice.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct IntegerDot<T> {
    sum: i128,
    count: u64,
    element: std::marker::PhantomData<T>,
}

impl<T: Whole64> Slot for IntegerDot<T> {
    type Item = (T, T);
    wide_from!(Op::Dot, Dot, Dot);

    #[inline(always)]
    fn add(&mut self, (x, y): (T, T)) -> bool {
        let (x, y): (i128, i128) = (x.into(), y.into());
        let sum = x.checked_mul(y).and_then(|product| self.sum.checked_add(product));
        self.count += u64::from(sum.is_some());
        self.sum = sum.unwrap_or(self.sum);
        sum.is_some()
    }

    fn add_wide(wide: &mut Dot<T>, (x, y): (T, T)) {
        wide.add(x, y);
    }

    fn absorb(&mut self, wide: &Dot<T>) -> bool {
        let sum = wide.parts.as_ref()[0].fixed.to_i128().and_then(|x| self.sum.checked_add(x));
        self.count += sum.map_or(0, |_| wide.count);
        self.sum = sum.unwrap_or(self.sum);
        sum.is_some()
    }

    fn widen(&self) -> Dot<T> {
        let mut wide: Dot<T> = Dot { count: self.count, ..Dot::default() };
        only(wide.parts.as_mut()).fixed.add_signed(self.sum, 0);
        wide
    }
}
