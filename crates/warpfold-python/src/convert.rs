//! From the engine's result types to those that the array API gives.

use std::ffi::CString;

use pyo3::exceptions::{PyOverflowError, PyTypeError, PyUserWarning};
use pyo3::prelude::*;
use warpfold_engine::map::{Folded, Map};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Column, Complex, DType, Op, Overflow, Policy, ResultKind, Value, bf16, f16};

use crate::names::{self, name};
use crate::policy::Correction;
use crate::take::Home;

/// What JAX makes of a type, where it has 32 bits at most.
const fn narrow(dtype: DType) -> DType {
    match dtype {
        DType::F64 => DType::F32,
        DType::Complex128 => DType::Complex64,
        DType::I64 => DType::I32,
        DType::U64 => DType::U32,
        other => other,
    }
}

/// The type that a caller asks for. Says, as JAX does, that it has no results of one of 64 bits.
pub(crate) fn asked(dtype: Option<&Bound<'_, PyAny>>, home: Home) -> PyResult<Option<DType>> {
    let Some(given) = dtype else { return Ok(None) };
    let to = names::dtype(given)?;
    if home == (Home::Jax { is_narrow: true }) && narrow(to) != to {
        let text = format!(
            "dtype={} needs JAX with 64 bits, and the result is {}; set jax_enable_x64 first",
            name(to),
            name(narrow(to))
        );
        let (py, text) = (given.py(), CString::new(text).unwrap_or_default());
        PyErr::warn(py, &py.get_type::<PyUserWarning>(), &text, 1)?;
    }
    Ok(Some(to))
}

/// Whether the result is a float whatever the elements are.
const fn is_float(op: Op) -> bool {
    matches!(op.result(), ResultKind::Average | ResultKind::Real)
}

/// Whether the result of complex elements is complex.
const fn is_linear(op: Op) -> bool {
    matches!(op.result(), ResultKind::Average | ResultKind::Total)
}

/// Whether the result counts elements, whatever they are.
const fn is_index(op: Op) -> bool {
    matches!(op.result(), ResultKind::Index)
}

/// How the results of a call are read, and what type they have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted {
    op: Op,
    /// The elements as the caller sees them.
    dtype: DType,
    /// For the engine.
    pub(crate) finish: Finish,
    /// A correction that is no whole number.
    corrected: Option<f64>,
    /// An integer type that the caller names.
    integer: Option<DType>,
}

impl Wanted {
    /// Of a reduction of a type, rounded to another type if the caller names one.
    pub(crate) fn new(
        op: Op,
        dtype: DType,
        correction: Correction,
        policy: Policy,
        to: Option<DType>,
        home: Home,
    ) -> PyResult<Self> {
        let refused = |to: DType, why: &str| {
            Err(PyTypeError::new_err(format!(
                "dtype={} does not apply to {op} of {}: {why}",
                name(to),
                name(dtype)
            )))
        };
        let is_whole = !dtype.is_float() && !is_float(op);
        let (mut round_to, mut integer) = (None, None);
        match to.map(|to| if home == (Home::Jax { is_narrow: true }) { narrow(to) } else { to }) {
            Some(to) if to.is_complex() && !(dtype.is_complex() && is_linear(op)) => {
                return refused(to, "the result is real; name a real type");
            }
            Some(to) if to.is_complex() => round_to = Some(to),
            Some(to) if to.is_float() && dtype.is_complex() && is_linear(op) => {
                return refused(to, "the result is complex; name a complex type");
            }
            Some(to) if to.is_float() => round_to = Some(to),
            Some(to) if to == DType::Bool || !is_whole => {
                return refused(to, "the result is a float; name a float type");
            }
            Some(to) => integer = Some(to),
            // The array API gives what it was given.
            None if matches!(dtype, DType::F16 | DType::BF16) && op.is_rounded() => {
                round_to = Some(dtype)
            }
            // JAX has 32 bits by default, and would round or wrap what is wider.
            None if home == (Home::Jax { is_narrow: true }) && !dtype.is_float() => {
                let is_unsigned = matches!(dtype, DType::U8 | DType::U16 | DType::U32 | DType::U64);
                let is_own =
                    matches!(op, Op::Min | Op::Max | Op::MinMax | Op::Any | Op::All | Op::Stats);
                match is_float(op) {
                    true => round_to = Some(DType::F32),
                    false if is_own => {}
                    false => integer = Some(if is_unsigned { DType::U32 } else { DType::I32 }),
                }
            }
            None if home == (Home::Jax { is_narrow: true }) && is_index(op) => {
                integer = Some(DType::I32)
            }
            None => {}
        }
        let (ddof, corrected) = match (correction, op) {
            (Correction::Whole(ddof), _) => (ddof, None),
            (Correction::Other(number), Op::Var | Op::Std) => (0, Some(number)),
            (Correction::Other(number), _) => {
                return Err(PyTypeError::new_err(format!(
                    "correction={number} does not apply to {op}: give a whole number, or take var or std alone"
                )));
            }
        };
        let finish = Finish { ddof, overflow: policy.overflow, round_to };
        Ok(Wanted { op, dtype, finish, corrected, integer })
    }

    /// Whether results are read from partials, with a correction that is no whole number.
    pub(crate) const fn is_corrected(&self) -> bool {
        self.corrected.is_some()
    }

    /// What a partial says.
    pub(crate) fn read(&self, partial: &AnyPartial, op: Op) -> warpfold_num::Result<Output> {
        match self.corrected {
            Some(number) => partial.finish_corrected(op, number, self.finish.round_to),
            None => partial.finish(op, self.finish),
        }
    }

    /// What is left of an expression says.
    pub(crate) fn read_mapped(&self, map: &Map, folded: &Folded) -> warpfold_num::Result<Output> {
        match self.corrected {
            Some(number) => map.finish_corrected(folded, number, self.finish.round_to),
            None => map.finish(folded, self.finish),
        }
    }

    /// What stands for a result that does not exist, where its type has something.
    pub(crate) fn nan(&self) -> Option<Value> {
        let real = match self.finish.round_to {
            Some(DType::Complex64) => DType::F32,
            Some(DType::Complex128) => DType::F64,
            Some(to) => to,
            None => match self.dtype {
                DType::Complex64 => DType::F32,
                DType::Complex128 => DType::F64,
                dtype if dtype.is_float() => dtype,
                _ if is_float(self.op) => DType::F64,
                _ => return None,
            },
        };
        let is_complex = self.dtype.is_complex() && is_linear(self.op);
        Some(match (real, is_complex) {
            (DType::F16, _) => Value::F16(f16::NAN),
            (DType::BF16, _) => Value::BF16(bf16::NAN),
            (DType::F32, false) => Value::F32(f32::NAN),
            (DType::F64, false) => Value::F64(f64::NAN),
            (DType::F32, true) => Value::Complex64(Complex::new(f32::NAN, f32::NAN)),
            (_, _) => Value::Complex128(Complex::new(f64::NAN, f64::NAN)),
        })
    }

    /// The elements as the caller sees them.
    pub(crate) const fn dtype(&self) -> DType {
        self.dtype
    }

    /// The element type of results, as the caller gets them.
    pub(crate) fn result(&self) -> Option<DType> {
        match self.op {
            Op::Min | Op::Max | Op::MinMax => Some(self.dtype),
            Op::Any | Op::All => Some(DType::Bool),
            Op::ArgMin | Op::ArgMax | Op::Count => Some(self.integer.unwrap_or(DType::I64)),
            Op::Stats => None,
            // Results that are not there have the type that some would have.
            _ => self.convert(Column::of_values(Vec::new())).ok()?.dtype(),
        }
    }

    /// The engine's type of results and the caller's, where one is the other as it lies in memory and nothing is looked at between.
    pub(crate) fn as_found(&self) -> Option<(DType, DType)> {
        let Wanted { op, dtype, finish, .. } = *self;
        let is_checked = op == Op::Prod && !dtype.is_float() && finish.round_to.is_some();
        let has_several = matches!(op, Op::MinMax | Op::Stats);
        if self.is_corrected() || is_checked || has_several || dtype == DType::Bool {
            return None;
        }
        let found = op.result_dtype(dtype, finish.round_to)?;
        match self.integer {
            // A count of things in memory, or the index of one, is far below 2^63.
            None | Some(DType::I64) if is_index(op) => Some((found, DType::I64)),
            None => Some((found, found)),
            Some(_) => None,
        }
    }

    /// One result with the type that the caller expects.
    pub(crate) fn value(&self, value: Value) -> PyResult<Value> {
        if self.dtype.is_float() && !is_index(self.op) {
            return Ok(value);
        }
        Ok(self.convert(Column::of_values(vec![value]))?.get(0))
    }

    /// The results with the type that the caller expects.
    pub(crate) fn convert(&self, column: Column) -> PyResult<Column> {
        let is_bool = self.dtype == DType::Bool;
        self.check_product(&column)?;
        Ok(match (self.op, self.typed(column)) {
            // Bools were read as bytes.
            (Op::Min | Op::Max | Op::MinMax, Column::U8(values)) if is_bool => {
                Column::Bool(values.into_iter().map(|value| value != 0).collect())
            }
            // A count of things in memory, or one: far below 2^63.
            (_, Column::U64(values)) if is_index(self.op) || is_bool => {
                self.whole(Column::I64(bytemuck::cast_vec(values)))?
            }
            (_, column) => self.whole(column)?,
        })
    }

    /// Fails for a product of integers as a float, of which its partial knows only that 64 bits do not hold it: that is infinite.
    fn check_product(&self, column: &Column) -> PyResult<()> {
        let is_whole = self.op == Op::Prod && !self.dtype.is_float();
        let is_infinite = match column {
            _ if !is_whole => false,
            Column::F32(values) => values.iter().any(|value| value.is_infinite()),
            Column::F64(values) => values.iter().any(|value| value.is_infinite()),
            Column::BF16(values) => values.iter().any(|value| value.is_infinite()),
            _ => false,
        };
        match is_infinite {
            false => Ok(()),
            true => Err(PyOverflowError::new_err(format!(
                "a product of {} is beyond 64 bits, which is all that is kept of it; convert the elements to floats first, as x.astype(float) or x.cast does, or say f64(x) in an expression",
                name(self.dtype)
            ))),
        }
    }

    /// Extremes that were computed in a wider type, which holds each exactly, as elements again.
    pub(crate) fn elements(&self, output: Output) -> Output {
        if !matches!(self.op, Op::Min | Op::Max | Op::MinMax) {
            return output;
        }
        match output {
            Output::One(value) => Output::One(element(value, self.dtype)),
            Output::Pair(min, max) => {
                Output::Pair(element(min, self.dtype), element(max, self.dtype))
            }
            other => other,
        }
    }

    /// The same of a column.
    pub(crate) fn elements_of(&self, column: Column) -> Column {
        let is_own = !matches!(self.op, Op::Min | Op::Max | Op::MinMax)
            || column.is_empty()
            || column.dtype() == Some(self.dtype);
        match is_own {
            true => column,
            false => {
                let all = (0..column.len()).map(|at| element(column.get(at), self.dtype));
                Column::of_values(all.collect())
            }
        }
    }

    /// No results, of the type that some would have, which no values do not show.
    pub(crate) fn typed(&self, column: Column) -> Column {
        if !column.is_empty() || !self.op.is_rounded() {
            return column;
        }
        let read_as = if self.dtype == DType::Bool { DType::U8 } else { self.dtype };
        let value = match AnyPartial::empty(self.op, read_as).finish(self.op, self.finish) {
            Ok(Output::One(value)) => Some(value),
            _ => self.nan(),
        };
        let one = value.map(|value| Column::of_values(vec![value]));
        macro_rules! none {
            ($($variant:ident),+) => {
                match one {
                    $(Some(Column::$variant(_)) => Column::$variant(Vec::new()),)+
                    _ => column,
                }
            };
        }
        none!(I64, U64, F16, BF16, F32, F64, Complex64, Complex128)
    }

    fn whole(&self, column: Column) -> PyResult<Column> {
        let Some(to) = self.integer else { return Ok(column) };
        macro_rules! narrow {
            ($values:ident, $($variant:ident: $ty:ty),+) => {
                match to {
                    $(DType::$variant => Column::$variant(
                        $values.into_iter().map(|value| match <$ty>::try_from(value) {
                            Ok(narrow) => Ok(narrow),
                            Err(_) if self.finish.overflow == Overflow::Wrap => Ok(value as $ty),
                            Err(_) => Err(PyOverflowError::new_err(format!(
                                "{} of {} is {value}, which {} cannot hold; take a wider dtype, or overflow='wrap' to keep the low bits",
                                self.op, name(self.dtype), name(to)
                            ))),
                        }).collect::<PyResult<_>>()?,
                    ),)+
                    _ => unreachable!("{to} was found to be an integer"),
                }
            };
        }
        Ok(match column {
            Column::I64(values) => {
                narrow!(values, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
            }
            Column::U64(values) => {
                narrow!(values, I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
            }
            other => other,
        })
    }
}

/// An element, from a wider type that holds it exactly; bools as bytes.
fn element(value: Value, dtype: DType) -> Value {
    macro_rules! narrowed {
        ($($variant:ident: $ty:ty),+) => {
            match (value, dtype) {
                $(
                    (Value::I64(value), DType::$variant) => Value::$variant(value as $ty),
                    (Value::U64(value), DType::$variant) => Value::$variant(value as $ty),
                )+
                (Value::U64(value), DType::Bool) => Value::U8(value as u8),
                (Value::F32(value), DType::F16) => Value::F16(f16::from_f32(value)),
                (Value::F32(value), DType::BF16) => Value::BF16(bf16::from_f32(value)),
                (value, _) => value,
            }
        };
    }
    narrowed!(I8: i8, I16: i16, I32: i32, I64: i64, U8: u8, U16: u16, U32: u32, U64: u64)
}
