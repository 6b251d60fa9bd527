//! [`wf_result`]: results in the library's memory, by name.

use std::ffi::{CString, c_char, c_void};

use warpfold_engine::{self as engine, Columns, Parts};
use warpfold_num::{Column, DType, with_element};

use crate::failure::{Failure, Outcome, guard};
use crate::memory::{self, object, write_if_wanted};
use crate::request::wf_request;
use crate::run::Ready;
use crate::status::wf_status;
use crate::types::wf_dtype;

/// The results of a request, which the library owns: columns by name, the keys of groups, the shape of what was kept of a view.
/// Every pointer that comes from one is valid until it is freed. It can be read by several threads at once.
pub struct wf_result {
    columns: Vec<(CString, DType, Column)>,
    outputs: usize,
    keys: Option<(DType, Column)>,
    shape: Vec<u64>,
}

impl wf_result {
    /// Columns, and their type where it is one: a column of nothing does not tell it.
    pub(crate) fn new(columns: Columns, dtype: Option<DType>) -> Self {
        let named = |(name, column): (&str, Column)| {
            let its = if column.is_empty() { dtype } else { None }.or(column.dtype());
            let its = its.unwrap_or_else(|| unreachable!("requests refuse other types"));
            (CString::new(name).unwrap_or_default(), its, column)
        };
        let columns: Vec<_> = columns.into_iter().map(named).collect();
        let outputs = columns.first().map_or(0, |(_, _, column)| column.len());
        wf_result { columns, outputs, keys: None, shape: Vec::new() }
    }

    /// # Safety
    /// What the request borrows is as the caller of the interface promised.
    unsafe fn of(request: &wf_request) -> Outcome<Self> {
        // SAFETY: as the caller vouches.
        let ready = unsafe { Ready::new(request) }?;
        engine::check(request.op, ready.request.x.dtype())?;
        let dtype = request.op.result_dtype(ready.request.x.dtype(), ready.finish.round_to);
        let mut result = wf_result::new(ready.columns()?, dtype);
        let parts = &*ready.request.parts;
        result.keys = request.partition.keys().zip(parts.keys().cloned());
        result.shape = match parts {
            Parts::Axes(_, folding) => folding.shape(),
            Parts::Whole => Vec::new(),
            _ => vec![result.outputs as u64],
        };
        Ok(result)
    }
}

/// Where the numbers of a column of a type lie; anywhere if there are none.
fn address(column: &Column, dtype: DType) -> *const c_void {
    with_element!(dtype, T => column.slice::<T>().map_or(std::ptr::dangling(), |values| values.as_ptr().cast()))
}

/// Runs a request and makes an object of its results, whatever their number and types. Free it with wf_result_free.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_request_result(
    request: *const wf_request,
    result: *mut *mut wf_result,
) -> wf_status {
    // SAFETY: the caller's duty, for the request and what it borrows.
    guard(|| unsafe {
        memory::hand_over("the pointer to the new result", result, || {
            wf_result::of(object("the request", request)?)
        })
    })
}

/// Frees a result; nothing happens for a null pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_free(result: *mut wf_result) {
    // SAFETY: the caller's duty: null, or a result that was not freed.
    unsafe { memory::free(result) }
}

/// How many outputs there are, which is the length of each column, and how many columns: 1, 2 of WF_MINMAX, up to 12 of WF_STATS.
/// Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_size(
    result: *const wf_result,
    outputs: *mut usize,
    columns: *mut usize,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let result = object("the result", result)?;
        write_if_wanted("the number of outputs", outputs, result.outputs)?;
        write_if_wanted("the number of columns", columns, result.columns.len())
    })
}

/// A column: its name, such as "sum", the type of its elements, and where they lie. Any of the three pointers may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_column(
    result: *const wf_result,
    column: usize,
    name: *mut *const c_char,
    dtype: *mut wf_dtype,
    data: *mut *const c_void,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let result = object("the result", result)?;
        let Some((its_name, its_type, values)) = result.columns.get(column) else {
            return Err(Failure::argument(format!(
                "column {column} of a result with {}; they count from 0",
                result.columns.len()
            )));
        };
        write_if_wanted("the pointer to the name", name, its_name.as_ptr())?;
        write_if_wanted("the pointer to the type", dtype, (*its_type).into())?;
        write_if_wanted("the pointer to the data", data, address(values, *its_type))
    })
}

/// The keys of groups or runs, one for each output: the type that they were given in, and where they lie. WF_ERROR_UNSUPPORTED where outputs
/// have no keys. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_keys(
    result: *const wf_result,
    dtype: *mut wf_dtype,
    data: *mut *const c_void,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let Some((its_type, keys)) = &object("the result", result)?.keys else {
            return Err(Failure::new(
                wf_status::WF_ERROR_UNSUPPORTED,
                "keys of a result whose outputs have none; wf_request_groups and wf_request_runs give some",
            ));
        };
        // Keys of bools were read as bytes, and are 0 or 1.
        let held = keys.dtype().unwrap_or(*its_type);
        write_if_wanted("the pointer to the type", dtype, (*its_type).into())?;
        write_if_wanted("the pointer to the data", data, address(keys, held))
    })
}

/// The shape of the results: the axes that were kept of a view, one axis of parts, none of a whole array. Either pointer may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn wf_result_shape(
    result: *const wf_result,
    ndim: *mut usize,
    shape: *mut *const u64,
) -> wf_status {
    // SAFETY: the caller's duty.
    guard(|| unsafe {
        let result = object("the result", result)?;
        write_if_wanted("the number of axes", ndim, result.shape.len())?;
        write_if_wanted("the pointer to the shape", shape, result.shape.as_ptr())
    })
}
