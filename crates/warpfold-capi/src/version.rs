//! The library's version.

use std::ffi::{CStr, c_char};

/// The library's version, such as "0.1.0": static, not to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn wf_version() -> *const c_char {
    const VERSION: &CStr =
        match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
            Ok(version) => version,
            Err(_) => panic!("a version has no zero byte"),
        };
    VERSION.as_ptr()
}
