//! [`KeepContext`]: the thread's current context, as it was.

use std::marker::PhantomData;

use cudarc::driver::sys::CUcontext;
use cudarc::driver::{result, sys};

/// Gives the thread back the CUDA context that was current when this was made: reductions make that of their GPU current, and another library
/// may count on its own.
pub struct KeepContext {
    context: Option<CUcontext>,
    /// A thread's own affair.
    thread: PhantomData<*mut ()>,
}

impl KeepContext {
    /// Notes which context is current.
    pub fn new() -> Self {
        // Without a driver there is none; asking would end the program.
        // SAFETY: it only looks for the library.
        let is_there = unsafe { sys::is_culib_present() };
        let context = if is_there { result::ctx::get_current().ok().flatten() } else { None };
        KeepContext { context, thread: PhantomData }
    }
}

impl Default for KeepContext {
    fn default() -> Self {
        KeepContext::new()
    }
}

impl Drop for KeepContext {
    fn drop(&mut self) {
        if let Some(context) = self.context {
            // SAFETY: it was current on this thread, and whoever made it keeps it.
            let _ = unsafe { result::ctx::set_current(context) };
        }
    }
}
