//! [`KeepContext`]: the thread's current context, as it was.

use std::marker::PhantomData;

use cudarc::driver::result;
use cudarc::driver::sys::CUcontext;

use crate::driver;

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
        // Without a driver there is none, and asking would end the program.
        let is_there = driver::version().is_ok();
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
        let Some(context) = self.context else { return };
        if result::ctx::get_current().ok().flatten() != self.context {
            // SAFETY: it was current on this thread, and whoever made it keeps it.
            let _ = unsafe { result::ctx::set_current(context) };
        }
    }
}
