//! NVRTC, NVIDIA's run-time compiler: fetched from PyPI at one version, loaded as a library; it needs no GPU.

use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::ptr;

use libloading::Library;

use crate::Outcome;
use crate::wheel::Wheel;

/// PTX 8.0 comes out of this version, which drivers since 525 run.
const WHEEL: Wheel = Wheel {
    requirement: "nvidia-cuda-nvrtc-cu12==12.0.140 \
        --hash=sha256:8e94e991d85c422de4da87bdc7472fdc1364367bd4aace7000b559cd33122071\n",
    platform: "manylinux1_x86_64",
    folder: "nvrtc-12.0.140",
    file: "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
};

/// The loaded compiler.
pub(crate) struct Nvrtc {
    library: Library,
}

type Program = *mut c_void;

impl Nvrtc {
    /// Loads the compiler, fetching it first where `tools` does not hold it.
    pub(crate) fn open(tools: &Path) -> Outcome<Nvrtc> {
        let library = WHEEL.file(tools)?;
        let open = |path: PathBuf| {
            // SAFETY: the file is NVRTC as published (its hash was checked), whose initialisers have no preconditions.
            unsafe { Library::new(&path) }
                .map_err(|error| format!("{} cannot be loaded: {error}", path.display()))
        };
        // Its builtins come first, and stay: the loader does not look beside the caller.
        let builtins = open(library.with_file_name("libnvrtc-builtins.so.12.0"))?;
        std::mem::forget(builtins);
        Ok(Nvrtc { library: open(library)? })
    }

    /// Compiles one self-contained source; `name` is what messages call it.
    pub(crate) fn compile(&self, name: &str, source: &str, options: &[String]) -> Outcome<String> {
        let c = |text: &str| CString::new(text).map_err(|_| format!("{name} contains a NUL byte"));
        let (source, name_c) = (c(source)?, c(name)?);
        let options: Vec<CString> = options.iter().map(|o| c(o)).collect::<Outcome<_>>()?;
        let pointers: Vec<*const c_char> = options.iter().map(|o| o.as_ptr()).collect();
        let mut program: Program = ptr::null_mut();
        // SAFETY: the signatures are those of nvrtc.h 12.0; every pointer outlives its call, sizes are asked before text is
        // read, and the program is destroyed once, after its last use.
        unsafe {
            type Create = unsafe extern "C" fn(
                *mut Program,
                *const c_char,
                *const c_char,
                c_int,
                *const *const c_char,
                *const *const c_char,
            ) -> c_int;
            let create: libloading::Symbol<'_, Create> = self.symbol(c"nvrtcCreateProgram")?;
            let compile: libloading::Symbol<
                '_,
                unsafe extern "C" fn(Program, c_int, *const *const c_char) -> c_int,
            > = self.symbol(c"nvrtcCompileProgram")?;
            let destroy: libloading::Symbol<'_, unsafe extern "C" fn(*mut Program) -> c_int> =
                self.symbol(c"nvrtcDestroyProgram")?;
            let code =
                create(&mut program, source.as_ptr(), name_c.as_ptr(), 0, ptr::null(), ptr::null());
            if code != 0 {
                return Err(format!("NVRTC takes no program {name}: error {code}"));
            }
            let code = compile(program, pointers.len() as c_int, pointers.as_ptr());
            let text = if code == 0 {
                self.text(program, c"nvrtcGetPTXSize", c"nvrtcGetPTX")
            } else {
                let log = self.text(program, c"nvrtcGetProgramLogSize", c"nvrtcGetProgramLog")?;
                Err(format!("{name} does not compile (NVRTC error {code}):\n{log}"))
            };
            destroy(&mut program);
            text
        }
    }

    /// # Safety
    /// `F` must be the function's signature.
    unsafe fn symbol<F>(&self, name: &CStr) -> Outcome<libloading::Symbol<'_, F>> {
        // SAFETY: as the caller promises.
        unsafe { self.library.get(name.to_bytes_with_nul()) }
            .map_err(|error| format!("NVRTC lacks {name:?}: {error}"))
    }

    /// # Safety
    /// `program` must be alive and compiled, and the names a pair of size and text.
    unsafe fn text(&self, program: Program, size: &CStr, text: &CStr) -> Outcome<String> {
        let mut bytes = 0usize;
        // SAFETY: signatures of nvrtc.h 12.0; the buffer has the size that was asked for.
        let buffer = unsafe {
            let ask: libloading::Symbol<'_, unsafe extern "C" fn(Program, *mut usize) -> c_int> =
                self.symbol(size)?;
            let read: libloading::Symbol<'_, unsafe extern "C" fn(Program, *mut c_char) -> c_int> =
                self.symbol(text)?;
            ask(program, &mut bytes);
            let mut buffer = vec![0u8; bytes];
            read(program, buffer.as_mut_ptr().cast());
            buffer
        };
        let end = buffer.iter().position(|&b| b == 0).unwrap_or(buffer.len());
        Ok(String::from_utf8_lossy(&buffer[..end]).into_owned())
    }
}
