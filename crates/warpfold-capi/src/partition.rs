//! Parts of an array as a caller stated them, and as the engine takes them.

use warpfold_engine::{Parts, group_by, group_dense, runs_by_key, segments};
use warpfold_num::{DType, Error, Policy};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::{Folding, Layout};

use crate::failure::{Failure, Outcome};
use crate::memory::{Memory, RawArray};

/// How an array is parted, as it was stated.
#[derive(Clone)]
pub(crate) enum Partition {
    Whole,
    Axes(Vec<i64>),
    Every(u64),
    Offsets(RawArray),
    Groups(RawArray),
    Dense(RawArray, u64),
    Runs(RawArray),
}

/// Runs an expression with the keys as a slice of what they are.
macro_rules! with_keys {
    ($keys:expr, $slice:ident => $body:expr) => {{
        let keys: &RawArray = $keys;
        // SAFETY: the caller of the function vouches for the keys; bools were looked at by `lend`, and are bytes here.
        unsafe {
            match keys.dtype {
                DType::Bool => {
                    keys.lend("the keys")?;
                    let $slice = keys.integers::<u8>();
                    $body
                }
                DType::U8 => { let $slice = keys.integers::<u8>(); $body }
                DType::U16 => { let $slice = keys.integers::<u16>(); $body }
                DType::U32 => { let $slice = keys.integers::<u32>(); $body }
                DType::U64 => { let $slice = keys.integers::<u64>(); $body }
                DType::I8 => { let $slice = keys.integers::<i8>(); $body }
                DType::I16 => { let $slice = keys.integers::<i16>(); $body }
                DType::I32 => { let $slice = keys.integers::<i32>(); $body }
                DType::I64 => { let $slice = keys.integers::<i64>(); $body }
                other => return Err(not_keys(other)),
            }
        }
    }};
}

pub(crate) fn not_keys(dtype: DType) -> Failure {
    Failure::argument(format!("keys are no {dtype}; give integers or bools"))
}

pub(crate) fn is_integer(dtype: DType) -> bool {
    !dtype.is_float()
}

impl Partition {
    /// The parts of an array, checked.
    ///
    /// # Safety
    /// The offsets or keys are as the caller of the interface promised, while `'a` lasts.
    pub(crate) unsafe fn of<'a>(&self, memory: &Memory, policy: Policy) -> Outcome<Parts<'a>> {
        let flat = || match &memory.layout {
            None => Ok(memory.raw.len),
            Some(layout) if lies_in_order(layout) => Ok(memory.raw.len),
            Some(layout) => Err(Failure::from(Error::Shape {
                requested: format!("segments or groups of a view with {layout}"),
                obstacle: "its elements do not lie one after another".into(),
                remedy: "reduce it over axes, or copy it to an array",
            })),
        };
        Ok(match self {
            Partition::Whole => match &memory.layout {
                Some(layout) if !lies_in_order(layout) => {
                    let axes: Vec<i64> = (0i64..).take(layout.axes().len()).collect();
                    over(layout.clone(), &axes)?
                }
                _ => Parts::Whole,
            },
            Partition::Axes(axes) => {
                let layout = match &memory.layout {
                    Some(layout) => layout.clone(),
                    None => Layout::c(&[memory.raw.len as u64])?,
                };
                over(layout, axes)?
            }
            Partition::Every(length) => segments(Segments::every(*length), flat()? as u64, policy)?,
            Partition::Offsets(offsets) => {
                // SAFETY: as the caller vouches. Signed offsets are read as unsigned ones; a negative one is beyond every array's end.
                let offsets = unsafe {
                    if offsets.dtype.size() == 4 {
                        Segments::offsets(offsets.integers::<u32>())
                    } else {
                        Segments::offsets(offsets.integers::<u64>())
                    }
                };
                segments(offsets, flat()? as u64, policy)?
            }
            Partition::Groups(keys) => {
                with_keys!(keys, slice => group_by(slice, flat()?, policy)?)
            }
            Partition::Dense(keys, groups) => {
                with_keys!(keys, slice => group_dense(slice, *groups, flat()?, policy)?)
            }
            Partition::Runs(keys) => {
                with_keys!(keys, slice => runs_by_key(slice, flat()?, policy)?)
            }
        })
    }

    /// The type of the keys that the outputs have.
    pub(crate) fn keys(&self) -> Option<DType> {
        match self {
            Partition::Groups(keys) | Partition::Runs(keys) => Some(keys.dtype),
            _ => None,
        }
    }
}

/// Whether elements lie one after another in C order, so that the view is an array.
pub(crate) fn lies_in_order(layout: &Layout) -> bool {
    let mut next = 1i64;
    layout.is_empty()
        || layout.axes().iter().rev().all(|axis| {
            let is_next = axis.length == 1 || axis.stride == next;
            next = next.saturating_mul(i64::try_from(axis.length).unwrap_or(i64::MAX));
            is_next
        })
}

fn over(layout: Layout, axes: &[i64]) -> Outcome<Parts<'static>> {
    let folding = Folding::of(layout, axes)?;
    let form = folding.form()?;
    Ok(Parts::Axes(form, folding))
}
