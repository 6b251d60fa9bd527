//! The MPI library that is there when the program runs: which one it is, and its functions by their signatures.
//!
//! Libraries differ in what a handle is (a pointer in Open MPI and in the ABI of MPI 5.0, an `int` in MPICH and those compatible with it) and
//! in the values of constants, which are those of their headers: `mpi_abi.h` of MPI 5.0, `mpi.h` of MPICH 4 and 5 and of Open MPI 4.1 and 5.

use std::cell::RefCell;
use std::ffi::{c_char, c_int, c_void};
use std::path::Path;

use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_NOW};

use super::polled::UnderWay;

/// The library's functions; `H` is what handles are.
pub(super) struct Calls<H> {
    pub(super) initialized: unsafe extern "C" fn(*mut c_int) -> c_int,
    pub(super) init_thread:
        unsafe extern "C" fn(*mut c_int, *mut c_void, c_int, *mut c_int) -> c_int,
    pub(super) finalized: unsafe extern "C" fn(*mut c_int) -> c_int,
    pub(super) finalize: unsafe extern "C" fn() -> c_int,
    pub(super) version: unsafe extern "C" fn(*mut c_char, *mut c_int) -> c_int,
    pub(super) rank: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    pub(super) size: unsafe extern "C" fn(H, *mut c_int) -> c_int,
    pub(super) all_gather:
        unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    pub(super) all_to_all:
        unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H) -> c_int,
    pub(super) all_reduce:
        unsafe extern "C" fn(*const c_void, *mut c_void, c_int, H, H, H) -> c_int,
    pub(super) start_gather:
        unsafe extern "C" fn(*const c_void, c_int, H, *mut c_void, c_int, H, H, *mut H) -> c_int,
    pub(super) start_reduce:
        unsafe extern "C" fn(*const c_void, *mut c_void, c_int, H, H, H, *mut H) -> c_int,
    pub(super) start_send:
        unsafe extern "C" fn(*const c_void, c_int, H, c_int, c_int, H, *mut H) -> c_int,
    pub(super) test: unsafe extern "C" fn(*mut H, *mut c_int, *mut Status) -> c_int,
    pub(super) probe: unsafe extern "C" fn(c_int, c_int, H, *mut c_int, *mut Status) -> c_int,
    pub(super) receive:
        unsafe extern "C" fn(*mut c_void, c_int, H, c_int, c_int, H, *mut Status) -> c_int,
    pub(super) handles: Handles<H>,
    pub(super) under_way: RefCell<UnderWay<H>>,
    /// `MPI_THREAD_FUNNELED`: threads fold, and one of them calls MPI.
    pub(super) funneled: c_int,
}

/// Room for an `MPI_Status`, of which nothing is read: it has 20 bytes in MPICH, 24 in Open MPI and 32 in the ABI of MPI 5.0.
pub(super) type Status = [u64; 16];

/// Constants of the library.
#[derive(Clone, Copy)]
pub(super) struct Handles<H> {
    /// `MPI_ANY_SOURCE`.
    pub(super) anyone: c_int,
    pub(super) world: H,
    pub(super) byte: H,
    pub(super) u64: H,
    pub(super) f32: H,
    pub(super) f64: H,
    pub(super) sum: H,
}

/// Which ABI was found.
pub(super) enum Binding {
    Pointers(Calls<*mut c_void>, &'static str),
    Ints(Calls<c_int>, &'static str),
}

fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: callers take each name by the type that MPI's standard and the library's headers declare it by.
    let found = unsafe { library.get::<T>(name) };
    found.map(|symbol| *symbol).map_err(|_| format!("it has no {name}"))
}

fn calls<H: Copy>(
    library: &Library,
    handles: Handles<H>,
    funneled: c_int,
) -> Result<Calls<H>, String> {
    Ok(Calls {
        initialized: symbol(library, "MPI_Initialized")?,
        init_thread: symbol(library, "MPI_Init_thread")?,
        finalized: symbol(library, "MPI_Finalized")?,
        finalize: symbol(library, "MPI_Finalize")?,
        version: symbol(library, "MPI_Get_library_version")?,
        rank: symbol(library, "MPI_Comm_rank")?,
        size: symbol(library, "MPI_Comm_size")?,
        all_gather: symbol(library, "MPI_Allgather")?,
        all_to_all: symbol(library, "MPI_Alltoall")?,
        all_reduce: symbol(library, "MPI_Allreduce")?,
        start_gather: symbol(library, "MPI_Iallgather")?,
        start_reduce: symbol(library, "MPI_Iallreduce")?,
        start_send: symbol(library, "MPI_Isend")?,
        test: symbol(library, "MPI_Test")?,
        probe: symbol(library, "MPI_Iprobe")?,
        receive: symbol(library, "MPI_Recv")?,
        handles,
        under_way: RefCell::new(None),
        funneled,
    })
}

/// Names to try, those of the launcher's own library first.
pub(super) fn names(get: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let open_mpi = ["libmpi.so.40"];
    let mpich = ["libmpi.so.12", "libmpi_abi.so.1", "libmpi_abi.so.0"];
    let others = ["libmpi_abi.so", "libmpi.so"];
    let is_mpich = get("OMPI_COMM_WORLD_SIZE").is_none() && get("PMI_SIZE").is_some();
    let first = if is_mpich { [&mpich[..], &open_mpi] } else { [&open_mpi[..], &mpich] };
    let named = get("WARPFOLD_MPI");
    match named {
        Some(name) => vec![name],
        None => first.concat().iter().chain(&others).map(ToString::to_string).collect(),
    }
}

/// Opens a library and tells which ABI it has.
pub(super) fn open(name: &str) -> Result<Binding, String> {
    // SAFETY: an MPI library is what its name says; loading one runs its initialisers, as linking with it would. It is never unloaded, because
    // its threads and handlers would lose their code.
    let library = unsafe { Library::open(Some(name), RTLD_NOW | RTLD_GLOBAL) };
    let library = library.map_err(|error| error.to_string())?;
    let found = recognise(&library, name);
    std::mem::forget(library);
    found
}

fn recognise(library: &Library, name: &str) -> Result<Binding, String> {
    let file = Path::new(name).file_name().unwrap_or_default().to_string_lossy();
    if file.starts_with("libmpi_abi") {
        let handle = |value: usize| std::ptr::without_provenance_mut(value);
        let handles = Handles {
            anyone: -1,
            world: handle(0x101),
            byte: handle(0x247),
            u64: handle(0x259),
            f32: handle(0x210),
            f64: handle(0x214),
            sum: handle(0x21),
        };
        return Ok(Binding::Pointers(calls(library, handles, 1024)?, "MPI 5.0 ABI"));
    }
    // Open MPI's handles are the addresses of its globals.
    let global = |name: &str| symbol::<*mut c_void>(library, name);
    if let Ok(world) = global("ompi_mpi_comm_world") {
        let (byte, u64) = (global("ompi_mpi_byte")?, global("ompi_mpi_uint64_t")?);
        let (f32, f64) = (global("ompi_mpi_float")?, global("ompi_mpi_double")?);
        let sum = global("ompi_mpi_op_sum")?;
        let handles = Handles { anyone: -1, world, byte, u64, f32, f64, sum };
        return Ok(Binding::Pointers(calls(library, handles, 1)?, "Open MPI"));
    }
    let handles = Handles {
        anyone: -2,
        world: 0x4400_0000,
        byte: 0x4c00_010d,
        u64: 0x4c00_083e,
        f32: 0x4c00_040a,
        f64: 0x4c00_080b,
        sum: 0x5800_0003,
    };
    let calls = calls(library, handles, 1)?;
    let version = version(&calls);
    match ["MPICH", "Intel", "MVAPICH", "CRAY"].iter().any(|name| version.contains(name)) {
        true => Ok(Binding::Ints(calls, "MPICH ABI")),
        false => Err(format!("it is {version:?}, whose handles are not known")),
    }
}

/// What the library calls itself.
pub(super) fn version<H>(calls: &Calls<H>) -> String {
    // MPI_MAX_LIBRARY_VERSION_STRING: 8192 in MPICH and the ABI, 256 in Open MPI.
    let mut text = vec![0u8; 8192];
    let mut length = 0;
    // SAFETY: the buffer has the longest length that the standard's ABI and both libraries allow; the call may be made before MPI_Init.
    let code = unsafe { (calls.version)(text.as_mut_ptr().cast(), &mut length) };
    let length = if code == 0 { usize::try_from(length).unwrap_or(0) } else { 0 };
    let text = String::from_utf8_lossy(&text[..length.min(8192)]).into_owned();
    text.lines().next().unwrap_or_default().trim_matches(['\0', ' ', ',']).to_string()
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn the_launcher_s_own_library_comes_first() {
        let with =
            |variable: &'static str| names(move |name| (name == variable).then(|| "2".into()));
        assert_eq!(with("PMI_SIZE")[0], "libmpi.so.12");
        assert_eq!(with("OMPI_COMM_WORLD_SIZE")[0], "libmpi.so.40");
        assert_eq!(with("WARPFOLD_MPI"), ["2"]);
    }
}
