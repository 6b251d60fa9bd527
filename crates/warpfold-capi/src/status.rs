//! What became of a call, as a number and its name.

use std::ffi::{CStr, c_char};

/// The number of a [`wf_status`] as it arrives.
pub type status_code = i32;

/// What became of a call. Zero is success; wf_last_error() says in words what went wrong.
#[repr(i32)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum wf_status {
    /// Success.
    WF_OK = 0,
    /// An argument that no call can have: a null or misaligned pointer, a number of no enumerator, a size that overflows,
    /// a bool that is neither 0 nor 1, a request without an array.
    WF_ERROR_ARGUMENT = 1,
    /// The output's type is not the result's; see wf_result_type.
    WF_ERROR_TYPE = 2,
    /// The output has too little room; the number of elements that it needs was written where the call says so.
    WF_ERROR_CAPACITY = 3,
    /// The reduction has no value for an empty input.
    WF_ERROR_EMPTY = 4,
    /// ddof leaves no degree of freedom.
    WF_ERROR_TOO_FEW = 5,
    /// The mathematical result does not fit its integer type; the message has the exact value.
    WF_ERROR_OVERFLOW = 6,
    /// The two arrays of a dot product differ in length.
    WF_ERROR_LENGTH_MISMATCH = 7,
    /// The reduction is not defined for the element type.
    WF_ERROR_UNDEFINED = 8,
    /// An option does not apply to this reduction and element type.
    WF_ERROR_UNSUPPORTED = 9,
    /// A shape, strides or axes that are none of the array.
    WF_ERROR_SHAPE = 10,
    /// Offsets that are no segments of the array.
    WF_ERROR_SEGMENTS = 11,
    /// Keys that are none of the array's elements, or no numbers of groups.
    WF_ERROR_KEYS = 12,
    /// Bytes that are no saved partial, or one of another kind.
    WF_ERROR_BAD_PARTIAL = 13,
    /// A device could not do what was asked.
    WF_ERROR_DEVICE = 14,
    /// A bug of the library: it panicked. Objects that the call was changing may only be freed. Please report it.
    WF_ERROR_PANIC = 15,
    /// An error that this version of the interface has no number for.
    WF_ERROR_OTHER = 16,
}

/// The enumerator's name of a status, such as "WF_ERROR_EMPTY": static, not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn wf_status_name(status: status_code) -> *const c_char {
    const NAMES: [&CStr; 17] = [
        c"WF_OK",
        c"WF_ERROR_ARGUMENT",
        c"WF_ERROR_TYPE",
        c"WF_ERROR_CAPACITY",
        c"WF_ERROR_EMPTY",
        c"WF_ERROR_TOO_FEW",
        c"WF_ERROR_OVERFLOW",
        c"WF_ERROR_LENGTH_MISMATCH",
        c"WF_ERROR_UNDEFINED",
        c"WF_ERROR_UNSUPPORTED",
        c"WF_ERROR_SHAPE",
        c"WF_ERROR_SEGMENTS",
        c"WF_ERROR_KEYS",
        c"WF_ERROR_BAD_PARTIAL",
        c"WF_ERROR_DEVICE",
        c"WF_ERROR_PANIC",
        c"WF_ERROR_OTHER",
    ];
    let name = usize::try_from(status).ok().and_then(|status| NAMES.get(status));
    name.copied().unwrap_or(c"no wf_status").as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_its_own_name() {
        for status in 0..=wf_status::WF_ERROR_OTHER as i32 {
            // SAFETY: `wf_status_name` gives a static C string.
            let name = unsafe { CStr::from_ptr(wf_status_name(status)) };
            // The debug form is the enumerator's name; the number is that of one.
            let all = [
                wf_status::WF_OK,
                wf_status::WF_ERROR_ARGUMENT,
                wf_status::WF_ERROR_TYPE,
                wf_status::WF_ERROR_CAPACITY,
                wf_status::WF_ERROR_EMPTY,
                wf_status::WF_ERROR_TOO_FEW,
                wf_status::WF_ERROR_OVERFLOW,
                wf_status::WF_ERROR_LENGTH_MISMATCH,
                wf_status::WF_ERROR_UNDEFINED,
                wf_status::WF_ERROR_UNSUPPORTED,
                wf_status::WF_ERROR_SHAPE,
                wf_status::WF_ERROR_SEGMENTS,
                wf_status::WF_ERROR_KEYS,
                wf_status::WF_ERROR_BAD_PARTIAL,
                wf_status::WF_ERROR_DEVICE,
                wf_status::WF_ERROR_PANIC,
                wf_status::WF_ERROR_OTHER,
            ];
            assert_eq!(name.to_str(), Ok(format!("{:?}", all[status as usize]).as_str()));
        }
    }
}
