//! [`OutputArray`]: memory of the caller's that results are written into.

use std::any::TypeId;
use std::cell::UnsafeCell;
use std::fmt;
use std::marker::PhantomData;
use std::mem::MaybeUninit;

use warpfold_num::{Column, DType, Error, Op, Result, with_element};

/// A place for one result, which one thread writes.
pub type Slot<R> = UnsafeCell<MaybeUninit<R>>;

/// Memory of the caller's for the results of many reductions: their type, and where they go. What it holds before is not looked at.
pub struct OutputArray<'a> {
    dtype: DType,
    address: *mut u8,
    len: usize,
    memory: PhantomData<&'a mut [u8]>,
}

// SAFETY: it has its memory alone, as `&mut [T]` of plain numbers does, and gives it as cells, which nobody reads or writes without a promise of their own.
unsafe impl Send for OutputArray<'_> {}
// SAFETY: as above.
unsafe impl Sync for OutputArray<'_> {}

impl<'a> OutputArray<'a> {
    /// A slice with its type inside; `None` of a type that arrays do not have, such as complex numbers of f16.
    pub fn of<R: Copy + 'static>(out: &'a mut [R]) -> Option<Self> {
        let dtype = *DType::ALL.iter().find(|&&dtype| is_of::<R>(dtype))?;
        let (address, len) = (out.as_mut_ptr().cast(), out.len());
        Some(OutputArray { dtype, address, len, memory: PhantomData })
    }

    /// The numbers of a column, to be written over; `None` of a type that arrays do not have.
    pub fn of_column(column: &'a mut Column) -> Option<Self> {
        with_element!(column.dtype()?, R => OutputArray::of(column.slice_mut::<R>()?))
    }

    /// An array by its address.
    ///
    /// # Safety
    /// `address` must be aligned to the element type and that of memory for `len` elements, which nobody else reads, writes or frees while `'a` lasts; of no
    /// elements it may be any.
    pub unsafe fn from_raw(dtype: DType, address: *mut u8, len: usize) -> Self {
        // Aligned to every element type.
        let nothing = std::ptr::without_provenance_mut(16);
        let address = if len == 0 { nothing } else { address };
        OutputArray { dtype, address, len, memory: PhantomData }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The places of results, if they are of this type. Each must hold a value of the type when the reduction returns.
    pub fn slots<R: 'static>(&self) -> Option<&[Slot<R>]> {
        // SAFETY: the constructors' callers vouch for the elements' type, number, alignment and lifetime, and that nobody else uses them; a cell of what may be
        // uninitialised has the layout of what is in it.
        is_of::<R>(self.dtype)
            .then(|| unsafe { std::slice::from_raw_parts(self.address.cast(), self.len) })
    }

    /// Checks that it is for so many results of this reduction.
    ///
    /// # Errors
    /// [`Error::Shape`] if it has another type or length; [`Error::Unsupported`] if the results have no type that is one.
    pub fn check(
        &self,
        op: Op,
        (dtype, round_to): (DType, Option<DType>),
        outputs: u64,
    ) -> Result<()> {
        let several = matches!(op, Op::MinMax | Op::Stats);
        let result = if several { None } else { op.result_dtype(dtype, round_to) };
        let Some(result) = result else {
            let why = "its results have several columns, or a type that no array has; ask for one column, or another type";
            return Err(Error::Unsupported { option: "memory for results", op, dtype, why });
        };
        if (result, outputs) == (self.dtype, self.len as u64) {
            return Ok(());
        }
        Err(Error::Shape {
            requested: format!("{op} of {dtype} into {} elements of {}", self.len, self.dtype),
            obstacle: format!("there are {outputs} results of {result}"),
            remedy: "give memory for so many of that type",
        })
    }

    /// Copies results that are elsewhere.
    ///
    /// # Panics
    /// If they are not as many, of its type.
    pub fn copy_from(&mut self, column: &Column) {
        with_element!(self.dtype, R => {
            let values = column.slice::<R>();
            let values = values.unwrap_or_else(|| panic!("results are not of {}", self.dtype));
            assert_eq!(values.len(), self.len, "as many results as there is memory for");
            // SAFETY: as in `slots`; it is borrowed alone, so that no cells are given.
            let out = unsafe {
                std::slice::from_raw_parts_mut(self.address.cast::<MaybeUninit<R>>(), self.len)
            };
            out.write_copy_of_slice(values);
        });
    }
}

/// Whether a type is the one of this name.
fn is_of<R: 'static>(dtype: DType) -> bool {
    with_element!(dtype, T => TypeId::of::<T>() == TypeId::of::<R>())
}

impl fmt::Debug for OutputArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "room for {} {} at {:p}", self.len, self.dtype, self.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpfold_num::Complex;

    #[test]
    fn memory_is_of_its_type_and_holds_what_is_copied() {
        let mut out = [0.0f32; 3];
        let mut array = OutputArray::of(&mut out).unwrap();
        assert_eq!((array.dtype(), array.len(), array.is_empty()), (DType::F32, 3, false));
        assert!(array.slots::<f32>().is_some_and(|slots| slots.len() == 3));
        assert!(array.slots::<i32>().is_none());
        array.copy_from(&Column::F32(vec![1.0, 2.0, 3.0]));
        assert_eq!(out, [1.0, 2.0, 3.0]);
        let mut column = Column::U64(vec![1, 2]);
        OutputArray::of_column(&mut column).unwrap().copy_from(&Column::U64(vec![3, 4]));
        assert_eq!(column, Column::U64(vec![3, 4]));
        assert!(OutputArray::of(&mut [Complex::new(0.0f64, 0.0)]).is_some());
        assert!(OutputArray::of(&mut [0i128]).is_none());
    }

    #[test]
    fn other_types_and_lengths_are_refused_with_what_there_is() {
        let mut out = [0.0f32; 3];
        let array = OutputArray::of(&mut out).unwrap();
        let check = |op, dtype, outputs| array.check(op, (dtype, None), outputs);
        assert!(check(Op::Sum, DType::F32, 3).is_ok());
        let message = check(Op::Sum, DType::F32, 4).unwrap_err().to_string();
        assert!(message.contains("there are 4 results of f32"), "{message}");
        let message = check(Op::ArgMax, DType::F32, 3).unwrap_err().to_string();
        assert!(message.contains("there are 3 results of u64"), "{message}");
        assert!(check(Op::MinMax, DType::F32, 3).is_err());
    }
}
