//! Pointers of callers: checked as far as an address can be, and followed here alone.

use std::ffi::c_void;

use warpfold_engine::HostArray;
use warpfold_gpu::kernel::AnyView;
use warpfold_num::{Column, DType, Element, Value, with_element};
use warpfold_plan::shape::Layout;

use crate::failure::{Failure, Outcome};

/// An array of a caller: aligned, not null, no longer than memory can be.
#[derive(Clone, Copy)]
pub(crate) struct RawArray {
    pub(crate) dtype: DType,
    address: *const u8,
    pub(crate) len: usize,
}

/// An array, and where its elements lie in the memory that it takes.
#[derive(Clone)]
pub(crate) struct Memory {
    pub(crate) raw: RawArray,
    /// `None`: one after another along one axis.
    pub(crate) layout: Option<Layout>,
}

impl RawArray {
    /// Checks what an address, a type and a length tell. `what` names the array in messages.
    pub(crate) fn new(
        what: &str,
        dtype: DType,
        address: *const c_void,
        len: usize,
    ) -> Outcome<Self> {
        let align = with_element!(dtype, T => align_of::<T>());
        if len == 0 {
            // C gives any pointer, null among them, for no elements.
            let address = std::ptr::without_provenance(align);
            return Ok(RawArray { dtype, address, len });
        }
        let bytes = len.checked_mul(dtype.size()).filter(|&bytes| bytes <= isize::MAX as usize);
        let fits = bytes.is_some_and(|bytes| address.addr().checked_add(bytes).is_some());
        if !fits {
            return Err(Failure::argument(format!(
                "{what} of {len} elements of {dtype} is longer than memory; check the length, which counts elements"
            )));
        }
        check(what, dtype.name(), address, align)?;
        Ok(RawArray { dtype, address: address.cast(), len })
    }

    /// The array as the engine sees it.
    ///
    /// # Safety
    /// Memory of so many elements lies at the address, and nobody writes to it while `'a` lasts.
    pub(crate) unsafe fn lend<'a>(&self, what: &str) -> Outcome<HostArray<'a>> {
        if self.dtype == DType::Bool {
            // SAFETY: the caller vouches for `len` bytes at the address, which `new` has found to be no null.
            let bytes = unsafe { std::slice::from_raw_parts(self.address, self.len) };
            if bytes.iter().fold(0, |all, byte| all | byte) > 1 {
                let at = bytes.iter().position(|&byte| byte > 1).unwrap_or_default();
                return Err(Failure::argument(format!(
                    "byte {at} of {what} is {}, and a bool is 0 or 1; convert it, or say WF_U8",
                    bytes[at]
                )));
            }
        }
        // SAFETY: `new` checked null and alignment, the bools were looked at, every other pattern of bits is a value of the other types, and the
        // caller vouches for the rest.
        Ok(unsafe { HostArray::from_raw(self.dtype, self.address, self.len) })
    }

    /// The array in a GPU's memory, where nothing here follows its address.
    ///
    /// # Safety
    /// Memory that the GPU can read has so many elements at the address, and nobody writes to it while `'a` lasts.
    pub(crate) unsafe fn on_device<'a>(&self) -> AnyView<'a> {
        // SAFETY: as the caller vouches.
        unsafe { self.on_device_as(self.dtype) }
    }

    /// The same, read as elements of another type of their size.
    ///
    /// # Safety
    /// As [`on_device`](Self::on_device).
    pub(crate) unsafe fn on_device_as<'a>(&self, dtype: DType) -> AnyView<'a> {
        assert_eq!(dtype.size(), self.dtype.size(), "elements are of one size");
        // SAFETY: `new` checked the alignment; the caller vouches for the rest.
        unsafe { AnyView::from_raw(dtype, self.address.addr() as u64, self.len) }
    }

    /// The array as a slice of an integer type, whose size is that of the array's elements.
    ///
    /// # Safety
    /// As [`lend`](Self::lend).
    pub(crate) unsafe fn integers<'a, T: Element>(&self) -> &'a [T] {
        assert!(self.dtype.size() == size_of::<T>() && T::DTYPE != DType::Bool);
        // SAFETY: `new` checked null and alignment, which is that of the size for integers; the size is that of the elements, and the
        // caller vouches for the rest.
        unsafe { std::slice::from_raw_parts(self.address.cast(), self.len) }
    }
}

/// Refuses null and misaligned pointers.
fn check(what: &str, type_name: &str, address: *const c_void, align: usize) -> Outcome<()> {
    if address.is_null() {
        return Err(Failure::argument(format!("{what} is a null pointer; give an address")));
    }
    if !address.addr().is_multiple_of(align) {
        return Err(Failure::argument(format!(
            "{what} at {address:p} is not aligned to the {align} bytes of {type_name}; copy it to where it is"
        )));
    }
    Ok(())
}

/// Looks at a pointer that a value will be written to.
pub(crate) fn check_output<T>(what: &str, out: *mut T) -> Outcome<()> {
    check(what, "its type", out.cast_const().cast(), align_of::<T>())
}

/// Looks at a pointer that results of a type will be written to.
pub(crate) fn check_output_of(dtype: DType, out: *mut c_void) -> Outcome<()> {
    check("the output", dtype.name(), out, with_element!(dtype, T => align_of::<T>()))
}

/// Writes a value.
///
/// # Safety
/// Null, or the address of memory for a `T`.
pub(crate) unsafe fn write<T>(what: &str, out: *mut T, value: T) -> Outcome<()> {
    check_output(what, out)?;
    // SAFETY: neither null nor misaligned, as was checked; the caller vouches for the memory.
    unsafe { out.write(value) };
    Ok(())
}

/// Writes a value unless the caller does not want it.
///
/// # Safety
/// As [`write`].
pub(crate) unsafe fn write_if_wanted<T>(what: &str, out: *mut T, value: T) -> Outcome<()> {
    // SAFETY: as the caller vouches.
    if out.is_null() { Ok(()) } else { unsafe { write(what, out, value) } }
}

/// Writes bytes.
///
/// # Safety
/// Null, or the address of memory for so many bytes.
pub(crate) unsafe fn write_bytes(what: &str, out: *mut c_void, bytes: &[u8]) -> Outcome<()> {
    check(what, "bytes", out.cast_const(), 1)?;
    // SAFETY: not null, as was checked; the caller vouches for the memory, and `bytes` are the library's own.
    unsafe { bytes.as_ptr().copy_to_nonoverlapping(out.cast(), bytes.len()) };
    Ok(())
}

/// Writes a result, whose type was checked, after so many others of its type.
///
/// # Safety
/// `out` was checked by [`check_output_of`] for `dtype` and has memory for one element of it after `offset` others.
pub(crate) unsafe fn write_value(
    dtype: DType,
    out: *mut c_void,
    offset: usize,
    value: Value,
) -> Outcome<()> {
    with_element!(dtype, T => {
        let value = value.typed::<T>().ok_or_else(|| mistyped(dtype))?;
        // SAFETY: aligned and not null, and with memory for it, as the caller vouches.
        unsafe { out.cast::<T>().add(offset).write(value) };
    });
    Ok(())
}

/// Writes results, whose type was checked, after so many others of their type.
///
/// # Safety
/// As [`write_value`], for as many elements as the column has.
pub(crate) unsafe fn write_column(
    dtype: DType,
    out: *mut c_void,
    offset: usize,
    column: &Column,
) -> Outcome<()> {
    if column.is_empty() {
        return Ok(());
    }
    with_element!(dtype, T => {
        let values = column.slice::<T>().ok_or_else(|| mistyped(dtype))?;
        // SAFETY: aligned and not null, and with memory for them, as the caller vouches; the column is the library's own memory.
        unsafe { values.as_ptr().copy_to_nonoverlapping(out.cast::<T>().add(offset), values.len()) };
    });
    Ok(())
}

fn mistyped(dtype: DType) -> Failure {
    unreachable!("a result is not of {dtype}, the type that the contract gives it")
}

/// An object by its pointer.
///
/// # Safety
/// Null, or an object of this library that has not been freed and that nobody changes while `'a` lasts.
pub(crate) unsafe fn object<'a, T>(what: &str, object: *const T) -> Outcome<&'a T> {
    check(what, "its type", object.cast(), align_of::<T>())?;
    // SAFETY: not null, as was checked; the caller vouches for the object.
    Ok(unsafe { &*object })
}

/// An object that will be changed, by its pointer.
///
/// # Safety
/// Null, or an object of this library that has not been freed and that nobody else uses while `'a` lasts.
pub(crate) unsafe fn object_mut<'a, T>(what: &str, object: *mut T) -> Outcome<&'a mut T> {
    check(what, "its type", object.cast_const().cast(), align_of::<T>())?;
    // SAFETY: not null, as was checked; the caller vouches for the object.
    Ok(unsafe { &mut *object })
}

/// Hands a new object over to the caller.
///
/// # Safety
/// Null, or the address of memory for a pointer.
pub(crate) unsafe fn hand_over<T>(
    what: &str,
    out: *mut *mut T,
    make: impl FnOnce() -> Outcome<T>,
) -> Outcome<()> {
    // SAFETY: as the caller vouches. No pointer of old is left in it if the object cannot be made.
    unsafe { write(what, out, std::ptr::null_mut()) }?;
    let object = Box::into_raw(Box::new(make()?));
    // SAFETY: as above.
    unsafe { write(what, out, object) }
}

/// Frees an object that was handed over.
///
/// # Safety
/// Null, or an object that [`hand_over`] gave and that has not been freed.
pub(crate) unsafe fn free<T>(object: *mut T) {
    if !object.is_null() {
        // SAFETY: the caller vouches that it is a box of `hand_over`'s, and the only pointer to it.
        let object = unsafe { Box::from_raw(object) };
        crate::failure::guard(|| {
            drop(object);
            Ok(())
        });
    }
}
