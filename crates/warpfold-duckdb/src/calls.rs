//! What DuckDB calls: a function's steps over states of its own memory.
//!
//! Every step holds: `states` are as many addresses as it says, each of room for a state that [`init`] began, aligned to a word, and used by one
//! thread at a time; vectors are flat, of the types that the function was registered with, with a value for each row.

use std::any::Any;
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::api::{Api, Handle, StatePtr, api};
use crate::function::Function;
use crate::state::{Gives, State};

/// Has what a step panics of, or says, be the query's error.
fn guarded(info: Handle, step: impl FnOnce(&Api) -> Result<(), String>) {
    let Some(api) = api() else { return };
    let text = |panic: Box<dyn Any + Send>| match panic.downcast::<String>() {
        Ok(text) => *text,
        Err(_) => "the extension failed".into(),
    };
    let done =
        catch_unwind(AssertUnwindSafe(|| step(api))).unwrap_or_else(|panic| Err(text(panic)));
    if let Err(message) = done {
        let message = CString::new(message.replace('\0', " ")).unwrap_or_default();
        // SAFETY: the call is going on, and the message is copied by it.
        unsafe { (api.aggregate_function_set_error)(info, message.as_ptr()) };
    }
}

pub(crate) unsafe extern "C" fn size<S: State>(_: Handle) -> u64 {
    const { assert!(align_of::<S>() <= 8, "DuckDB aligns states to a word") };
    size_of::<S>() as u64
}

pub(crate) unsafe extern "C" fn init<S: State>(_: Handle, state: StatePtr) {
    // SAFETY: there is room for a state, and none yet.
    unsafe { state.cast::<S>().write(S::default()) };
}

pub(crate) unsafe extern "C" fn update<S: State>(
    info: Handle,
    chunk: Handle,
    states: *mut StatePtr,
) {
    guarded(info, |api| {
        // SAFETY: the chunk has a column of the function's argument, with a value for each row and one bit of validity, if it has any.
        let (x, valid, states) = unsafe {
            let rows = (api.data_chunk_get_size)(chunk) as usize;
            if rows == 0 {
                return Ok(());
            }
            let vector = (api.data_chunk_get_vector)(chunk, 0);
            let x = slice::from_raw_parts((api.vector_get_data)(vector).cast::<S::Item>(), rows);
            let valid = (api.vector_get_validity)(vector);
            let valid = (!valid.is_null()).then(|| slice::from_raw_parts(valid, rows.div_ceil(64)));
            (x, valid, slice::from_raw_parts(states.cast::<*mut S>(), rows))
        };
        let is_valid =
            |row: usize| valid.is_none_or(|words| words[row / 64] >> (row % 64) & 1 == 1);
        let state = |row: usize| {
            let state: *mut S = states[row];
            // SAFETY: each state is there, begun, and nobody else's now; one is borrowed at a time.
            unsafe { &mut *state }
        };
        if states.iter().all(|state| *state == states[0]) {
            match valid {
                None => state(0).add_all(x),
                Some(_) => {
                    let kept: Vec<S::Item> =
                        (0..x.len()).filter(|&row| is_valid(row)).map(|row| x[row]).collect();
                    state(0).add_all(&kept);
                }
            }
            return Ok(());
        }
        for (row, &x) in x.iter().enumerate() {
            if is_valid(row) {
                state(row).add(x);
            }
        }
        Ok(())
    });
}

pub(crate) unsafe extern "C" fn combine<S: State>(
    info: Handle,
    sources: *mut StatePtr,
    targets: *mut StatePtr,
    count: u64,
) {
    guarded(info, |_| {
        for at in 0..count as usize {
            // SAFETY: both states are there and begun; a source is no target.
            let (source, target) =
                unsafe { (&*(*sources.add(at)).cast::<S>(), &mut *(*targets.add(at)).cast::<S>()) };
            target.merge(source);
        }
        Ok(())
    });
}

pub(crate) unsafe extern "C" fn finalize<S: Gives<O>, O: Copy, const F: usize>(
    info: Handle,
    states: *mut StatePtr,
    result: Handle,
    count: u64,
    offset: u64,
) {
    guarded(info, |api| {
        let function = Function::ALL[F];
        for at in 0..count as usize {
            let row = offset as usize + at;
            // SAFETY: the state is there and begun.
            let state = unsafe { &*(*states.add(at)).cast::<S>() };
            let given = state
                .give(function)
                .map_err(|error| format!("{}: {error}", function.name().to_string_lossy()))?;
            // SAFETY: the result's vector has room for the rows from the offset on, and a bit of validity for each once that is writable.
            unsafe {
                match given {
                    Some(value) => (api.vector_get_data)(result).cast::<O>().add(row).write(value),
                    None => {
                        (api.vector_ensure_validity_writable)(result);
                        *(api.vector_get_validity)(result).add(row / 64) &= !(1 << (row % 64));
                    }
                }
            }
        }
        Ok(())
    });
}

pub(crate) unsafe extern "C" fn destroy<S: State>(states: *mut StatePtr, count: u64) {
    for at in 0..count as usize {
        // SAFETY: the state is there and begun, and not used again.
        unsafe { (*states.add(at)).cast::<S>().drop_in_place() };
    }
}
