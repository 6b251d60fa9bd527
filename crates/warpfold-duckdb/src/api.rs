//! DuckDB's C interface: the functions that are used here, by name.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use libloading::os::unix::{Library, RTLD_LAZY, RTLD_LOCAL};

/// An object of DuckDB's, of which nothing but its address is known.
pub(crate) type Handle = *mut c_void;
/// The state of a group.
pub(crate) type StatePtr = *mut c_void;

pub(crate) type StateSize = unsafe extern "C" fn(Handle) -> u64;
pub(crate) type Init = unsafe extern "C" fn(Handle, StatePtr);
pub(crate) type Update = unsafe extern "C" fn(Handle, Handle, *mut StatePtr);
pub(crate) type Combine = unsafe extern "C" fn(Handle, *mut StatePtr, *mut StatePtr, u64);
pub(crate) type Finalize = unsafe extern "C" fn(Handle, *mut StatePtr, Handle, u64, u64);
pub(crate) type Destroy = unsafe extern "C" fn(*mut StatePtr, u64);

/// What an extension is given by whoever loads it.
#[repr(C)]
pub(crate) struct Access {
    pub(crate) set_error: unsafe extern "C" fn(Handle, *const c_char),
    pub(crate) get_database: unsafe extern "C" fn(Handle) -> *mut Handle,
    pub(crate) get_api: unsafe extern "C" fn(Handle, *const c_char) -> *const c_void,
}

static API: OnceLock<Api> = OnceLock::new();

/// DuckDB's interface, once the extension is loaded.
pub(crate) fn api() -> Option<&'static Api> {
    API.get()
}

macro_rules! api {
    ($($name:ident: fn($($arg:ty),*) $(-> $result:ty)?;)+) => {
        /// The functions, as `duckdb.h` declares them.
        pub(crate) struct Api {
            $(pub(crate) $name: unsafe extern "C" fn($($arg),*) $(-> $result)?,)+
        }

        impl Api {
            /// Finds them in a library.
            fn find(library: &Library) -> Result<Api, String> {
                Ok(Api {
                    // SAFETY: the function has the signature that DuckDB's header declares for its name.
                    $($name: unsafe {
                        *library
                            .get(concat!("duckdb_", stringify!($name), "\0").as_bytes())
                            .map_err(|_| missing(stringify!($name)))?
                    },)+
                })
            }
        }
    };
}

api! {
    connect: fn(Handle, *mut Handle) -> u32;
    disconnect: fn(*mut Handle);
    create_logical_type: fn(u32) -> Handle;
    destroy_logical_type: fn(*mut Handle);
    create_aggregate_function: fn() -> Handle;
    destroy_aggregate_function: fn(*mut Handle);
    aggregate_function_set_name: fn(Handle, *const c_char);
    aggregate_function_add_parameter: fn(Handle, Handle);
    aggregate_function_set_return_type: fn(Handle, Handle);
    aggregate_function_set_functions: fn(Handle, StateSize, Init, Update, Combine, Finalize);
    aggregate_function_set_destructor: fn(Handle, Destroy);
    aggregate_function_set_error: fn(Handle, *const c_char);
    create_aggregate_function_set: fn(*const c_char) -> Handle;
    destroy_aggregate_function_set: fn(*mut Handle);
    add_aggregate_function_to_set: fn(Handle, Handle) -> u32;
    register_aggregate_function_set: fn(Handle, Handle) -> u32;
    data_chunk_get_size: fn(Handle) -> u64;
    data_chunk_get_vector: fn(Handle, u64) -> Handle;
    vector_get_data: fn(Handle) -> *mut c_void;
    vector_get_validity: fn(Handle) -> *mut u64;
    vector_ensure_validity_writable: fn(Handle);
}

fn missing(name: &str) -> String {
    format!(
        "this DuckDB does not export duckdb_{name}, as programs that it is linked into statically do not; load the extension into its shared library, such as that of the Python package"
    )
}

impl Api {
    /// Finds the interface for [`api`], where that is still to be done.
    pub(crate) fn load(access: &Access) -> Result<&'static Api, String> {
        if API.get().is_none() {
            // A second database that loads it at this moment has found the same.
            let _ = API.set(Api::of(access)?);
        }
        api().ok_or_else(|| "the interface is gone".into())
    }

    /// The interface of the library that loads this one, which is that of a function it has given.
    fn of(access: &Access) -> Result<Api, String> {
        let mut found = libc::Dl_info {
            dli_fname: std::ptr::null(),
            dli_fbase: std::ptr::null_mut(),
            dli_sname: std::ptr::null(),
            dli_saddr: std::ptr::null_mut(),
        };
        // SAFETY: `dladdr` fills what it is pointed to, and looks any address up.
        let is_found =
            unsafe { libc::dladdr(access.get_api as *const c_void, &raw mut found) } != 0;
        if !is_found || found.dli_fname.is_null() {
            return Err("DuckDB's library has no name".into());
        }
        // SAFETY: `dladdr` said that it is a string, which lives as long as the library is loaded.
        let name = unsafe { CStr::from_ptr(found.dli_fname) };
        let name = name.to_string_lossy().into_owned();
        // SAFETY: the library is loaded already, and so nothing of it runs now.
        let library =
            unsafe { Library::open(Some(&name), RTLD_LAZY | RTLD_LOCAL | libc::RTLD_NOLOAD) };
        let library = library
            .or_else(|_| Ok::<_, libloading::Error>(Library::this()))
            .map_err(|error| error.to_string())?;
        let api = Api::find(&library)?;
        // Its functions are called as long as it is there.
        std::mem::forget(library);
        Ok(api)
    }
}
