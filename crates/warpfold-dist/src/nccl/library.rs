//! NCCL and the CUDA driver as they are found when the program runs: their functions, by the signatures of `nccl.h` and `cuda.h`.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};

/// What all ranks need to find each other, made by one of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub(super) struct UniqueId(pub(super) [u8; 128]);

/// A communicator, a stream, a context: NCCL's and the driver's own.
pub(super) type Handle = *mut c_void;

/// `ncclUint8`, `ncclUint64` and `ncclSum`.
pub(super) const UINT8: c_int = 1;
pub(super) const UINT64: c_int = 5;
pub(super) const SUM: c_int = 0;

/// NCCL's functions.
pub(super) struct Calls {
    pub(super) version: unsafe extern "C" fn(*mut c_int) -> c_int,
    pub(super) unique_id: unsafe extern "C" fn(*mut UniqueId) -> c_int,
    pub(super) init_rank: unsafe extern "C" fn(*mut Handle, c_int, UniqueId, c_int) -> c_int,
    pub(super) all_gather:
        unsafe extern "C" fn(*const c_void, *mut c_void, usize, c_int, Handle, Handle) -> c_int,
    pub(super) all_reduce: unsafe extern "C" fn(
        *const c_void,
        *mut c_void,
        usize,
        c_int,
        c_int,
        Handle,
        Handle,
    ) -> c_int,
    pub(super) group_start: unsafe extern "C" fn() -> c_int,
    pub(super) group_end: unsafe extern "C" fn() -> c_int,
    pub(super) send:
        unsafe extern "C" fn(*const c_void, usize, c_int, c_int, Handle, Handle) -> c_int,
    pub(super) receive:
        unsafe extern "C" fn(*mut c_void, usize, c_int, c_int, Handle, Handle) -> c_int,
    pub(super) async_error: unsafe extern "C" fn(Handle, *mut c_int) -> c_int,
    pub(super) abort: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) destroy: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) error_string: unsafe extern "C" fn(c_int) -> *const c_char,
}

/// The driver's functions, for a context, a stream, and memory of both sides.
pub(super) struct Driver {
    pub(super) init: unsafe extern "C" fn(c_uint) -> c_int,
    pub(super) device: unsafe extern "C" fn(*mut c_int, c_int) -> c_int,
    pub(super) retain: unsafe extern "C" fn(*mut Handle, c_int) -> c_int,
    pub(super) release: unsafe extern "C" fn(c_int) -> c_int,
    pub(super) set_current: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) stream: unsafe extern "C" fn(*mut Handle, c_uint) -> c_int,
    pub(super) query: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) destroy: unsafe extern "C" fn(Handle) -> c_int,
    pub(super) alloc: unsafe extern "C" fn(*mut u64, usize) -> c_int,
    pub(super) free: unsafe extern "C" fn(u64) -> c_int,
    pub(super) host_alloc: unsafe extern "C" fn(*mut *mut c_void, usize, c_uint) -> c_int,
    pub(super) host_free: unsafe extern "C" fn(*mut c_void) -> c_int,
    pub(super) to_device: unsafe extern "C" fn(u64, *const c_void, usize, Handle) -> c_int,
    pub(super) to_host: unsafe extern "C" fn(*mut c_void, u64, usize, Handle) -> c_int,
}

fn open(name: &str) -> Result<Library, String> {
    // SAFETY: a library of this name is NVIDIA's, or stands in for it; loading it runs its initialisers, as linking with it would.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_LOCAL) };
    library.map_err(|error| error.to_string())
}

fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: callers take each name by the type that the library's header declares it by.
    let found = unsafe { library.get::<T>(name) };
    found.map(|symbol| *symbol).map_err(|_| format!("it has no {name}"))
}

impl Calls {
    /// Opens a library, which stays loaded: its threads would lose their code.
    pub(super) fn open(name: &str) -> Result<Calls, String> {
        let library = open(name)?;
        let calls = Calls {
            version: symbol(&library, "ncclGetVersion")?,
            unique_id: symbol(&library, "ncclGetUniqueId")?,
            init_rank: symbol(&library, "ncclCommInitRank")?,
            all_gather: symbol(&library, "ncclAllGather")?,
            all_reduce: symbol(&library, "ncclAllReduce")?,
            group_start: symbol(&library, "ncclGroupStart")?,
            group_end: symbol(&library, "ncclGroupEnd")?,
            send: symbol(&library, "ncclSend")?,
            receive: symbol(&library, "ncclRecv")?,
            async_error: symbol(&library, "ncclCommGetAsyncError")?,
            abort: symbol(&library, "ncclCommAbort")?,
            destroy: symbol(&library, "ncclCommDestroy")?,
            error_string: symbol(&library, "ncclGetErrorString")?,
        };
        std::mem::forget(library);
        Ok(calls)
    }

    /// NCCL's words for a code.
    pub(super) fn error(&self, call: &str, code: c_int) -> String {
        // SAFETY: NCCL returns a string of its own for any code, which lives as long as the library, or null.
        let text = unsafe {
            let text = (self.error_string)(code);
            if text.is_null() { c"no words for it" } else { CStr::from_ptr(text) }
        };
        format!("{call} returned {code} ({})", text.to_string_lossy())
    }
}

impl Driver {
    /// Opens a driver, which stays loaded.
    pub(super) fn open(name: &str) -> Result<Driver, String> {
        let library = open(name)?;
        let driver = Driver {
            init: symbol(&library, "cuInit")?,
            device: symbol(&library, "cuDeviceGet")?,
            retain: symbol(&library, "cuDevicePrimaryCtxRetain")?,
            release: symbol(&library, "cuDevicePrimaryCtxRelease_v2")?,
            set_current: symbol(&library, "cuCtxSetCurrent")?,
            stream: symbol(&library, "cuStreamCreate")?,
            query: symbol(&library, "cuStreamQuery")?,
            destroy: symbol(&library, "cuStreamDestroy_v2")?,
            alloc: symbol(&library, "cuMemAlloc_v2")?,
            free: symbol(&library, "cuMemFree_v2")?,
            host_alloc: symbol(&library, "cuMemHostAlloc")?,
            host_free: symbol(&library, "cuMemFreeHost")?,
            to_device: symbol(&library, "cuMemcpyHtoDAsync_v2")?,
            to_host: symbol(&library, "cuMemcpyDtoHAsync_v2")?,
        };
        std::mem::forget(library);
        Ok(driver)
    }
}
