//! What goes wrong: a number that is returned and a message that the thread keeps; no panic crosses the border.

use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

use warpfold_num::{Error, Op};

use crate::status::wf_status;

thread_local! {
    static LAST: RefCell<Option<CString>> = const { RefCell::new(None) };
}

/// Why a call could not do what was asked.
#[derive(Debug)]
pub(crate) struct Failure {
    status: wf_status,
    message: String,
}

pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(status: wf_status, message: impl Into<String>) -> Self {
        Failure { status, message: message.into() }
    }

    pub(crate) fn argument(message: impl Into<String>) -> Self {
        Self::new(wf_status::WF_ERROR_ARGUMENT, message)
    }

    fn of_panic(panic: &(dyn Any + Send)) -> Self {
        let text = panic.downcast_ref::<&str>().copied();
        let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        let message =
            format!("warpfold panicked, which is a bug: {}", text.unwrap_or("it did not say why"));
        Self::new(wf_status::WF_ERROR_PANIC, message)
    }

    /// Leaves the message to the thread, if that is not ending.
    fn remember(self) -> wf_status {
        let mut message = self.message.into_bytes();
        message.retain(|&byte| byte != 0);
        let message = CString::new(message).unwrap_or_default();
        let _ = LAST.try_with(|last| last.replace(Some(message)));
        self.status
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let error = in_c(error);
        Failure { status: status_of(&error), message: error.to_string() }
    }
}

/// The error with remedies that are calls of C.
fn in_c(error: Error) -> Error {
    match error {
        Error::Overflow { op, dtype, result, value, .. } => {
            let remedy = if op == Op::Prod {
                "wf_request_set_overflow(request, WF_OVERFLOW_WRAP) keeps the low 64 bits, and elements of doubles have a product that is rounded"
            } else {
                "wf_request_set_round_to(request, WF_F64) rounds it, and wf_request_set_overflow(request, WF_OVERFLOW_WRAP) keeps the low 64 bits"
            };
            Error::Overflow { op, dtype, result, value, remedy }
        }
        Error::Output { output, error } => Error::Output { output, error: Box::new(in_c(*error)) },
        other => other,
    }
}

fn status_of(error: &Error) -> wf_status {
    match error {
        Error::Empty { .. } => wf_status::WF_ERROR_EMPTY,
        Error::TooFew { .. } => wf_status::WF_ERROR_TOO_FEW,
        Error::Overflow { .. } => wf_status::WF_ERROR_OVERFLOW,
        Error::LengthMismatch { .. } => wf_status::WF_ERROR_LENGTH_MISMATCH,
        Error::Undefined { .. } => wf_status::WF_ERROR_UNDEFINED,
        Error::Unsupported { .. } => wf_status::WF_ERROR_UNSUPPORTED,
        Error::Shape { .. } => wf_status::WF_ERROR_SHAPE,
        Error::Segments { .. } => wf_status::WF_ERROR_SEGMENTS,
        Error::Keys { .. } => wf_status::WF_ERROR_KEYS,
        // The message names the output; the number says what is wrong with it.
        Error::Output { error, .. } => status_of(error),
        Error::Device { .. } => wf_status::WF_ERROR_DEVICE,
        Error::BadPartial { .. } => wf_status::WF_ERROR_BAD_PARTIAL,
        _ => wf_status::WF_ERROR_OTHER,
    }
}

/// Runs the body of a function of the interface.
#[inline]
pub(crate) fn guard(body: impl FnOnce() -> Outcome<()>) -> wf_status {
    // A panic leaves no object behind that Rust code would look at: the caller may only free what was being changed.
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => wf_status::WF_OK,
        Ok(Err(failure)) => failure.remember(),
        Err(panic) => Failure::of_panic(&*panic).remember(),
    }
}

/// What the last call of this thread that failed had to say: what was asked for, what stood in the way, what to do. UTF-8, empty
/// if none failed. It is valid until the next call of this thread fails or the thread ends; calls that succeed leave it as it is.
#[unsafe(no_mangle)]
pub extern "C" fn wf_last_error() -> *const c_char {
    let message = LAST.try_with(|last| last.borrow().as_deref().map(CStr::as_ptr));
    message.ok().flatten().unwrap_or(c"".as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: `wf_last_error` gives a C string that lives until this thread's next failure.
        unsafe { CStr::from_ptr(wf_last_error()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_is_a_status_and_a_message() {
        assert_eq!(last(), "");
        assert_eq!(guard(|| panic!("at {}", 7)), wf_status::WF_ERROR_PANIC);
        assert!(last().ends_with("a bug: at 7"), "{}", last());
        assert_eq!(guard(|| Ok(())), wf_status::WF_OK);
        assert!(last().ends_with("a bug: at 7"), "success leaves the message");
        assert_eq!(guard(|| std::panic::panic_any(5u8)), wf_status::WF_ERROR_PANIC);
        assert!(last().ends_with("it did not say why"), "{}", last());
    }

    #[test]
    fn messages_are_strings_of_c_and_belong_to_their_thread() {
        assert_eq!(guard(|| Err(Failure::argument("a\0b"))), wf_status::WF_ERROR_ARGUMENT);
        assert_eq!(last(), "ab");
        assert_eq!(std::thread::spawn(last).join().expect("no panic"), "");
    }
}
