//! The driver's calls that the executor needs, in Rust's terms: with `pinned.rs` the only file that names cudarc, but for slices of its own.

use std::ffi::{CString, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};

use cudarc::driver::sys::{self, CUdevice_attribute_enum as Attribute, CUresult};
pub(crate) use cudarc::driver::{CudaContext, CudaEvent, CudaStream};
use cudarc::driver::{DriverError, result};

use crate::home::Home;
use crate::{Error, Result};

/// Why there is no driver, asked once.
fn driver() -> Result<i32> {
    static VERSION: OnceLock<Result<i32, String>> = OnceLock::new();
    let version = VERSION.get_or_init(|| {
        // SAFETY: looks for the library by its names; loading NVIDIA's driver has no preconditions.
        if !unsafe { sys::is_culib_present() } {
            return Err("the NVIDIA driver's library (libcuda.so.1) is not on this machine".into());
        }
        result::init().map_err(|error| text(error.0))?;
        let mut version = 0;
        // SAFETY: the pointer is to a live integer.
        let code = unsafe { sys::cuDriverGetVersion(&mut version) };
        if code != CUresult::CUDA_SUCCESS {
            return Err(text(code));
        }
        if version < 12_000 {
            return Err(format!(
                "the driver knows CUDA {}.{}, and the kernels need 12.0 (driver 525)",
                version / 1000,
                version % 1000 / 10
            ));
        }
        Ok(version)
    });
    version.clone().map_err(|obstacle| Error::Device {
        requested: "use of an NVIDIA GPU".into(),
        obstacle,
        remedy: "install or update NVIDIA's driver, or run on the CPU",
    })
}

/// Name and explanation of a driver's error code.
fn text(code: CUresult) -> String {
    let error = DriverError(code);
    match (error.error_name(), error.error_string()) {
        (Ok(name), Ok(text)) => format!("{} ({})", text.to_string_lossy(), name.to_string_lossy()),
        _ => format!("driver error {}", code as i32),
    }
}

/// A stream of work of a GPU, another library's among them.
pub type StreamHandle = Arc<CudaStream>;

/// The library's error for a driver's, with what was asked.
pub(crate) fn failed(error: DriverError, requested: impl FnOnce() -> String) -> Error {
    let remedy = match error.0 {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "free device memory, or reduce in pieces",
        CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_MISALIGNED_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_FAILED => {
            "a kernel failed, and CUDA gives this process no second try: check the pointers given, and start again"
        }
        CUresult::CUDA_ERROR_DEVICE_UNAVAILABLE | CUresult::CUDA_ERROR_NO_DEVICE => {
            "check nvidia-smi, or run on the CPU"
        }
        CUresult::CUDA_ERROR_INVALID_DEVICE => "`warpfold devices` lists those there are",
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            "the driver is older than the kernels: update it to 525 or later"
        }
        _ => "if it comes again, report it with the driver's version",
    };
    let version = driver()
        .map_or(String::new(), |v| format!(" [driver for CUDA {}.{}]", v / 1000, v % 1000 / 10));
    Error::Device { requested: requested(), obstacle: text(error.0) + &version, remedy }
}

/// How many GPUs the driver shows.
pub(crate) fn count() -> Result<usize> {
    driver()?;
    let count = CudaContext::device_count();
    count.map(|n| n as usize).map_err(|e| failed(e, || "counting the GPUs".into()))
}

/// The version of CUDA that the driver knows: 13000 is 13.0.
pub(crate) fn version() -> Result<i32> {
    driver()
}

/// The primary context of a GPU, kept as long as the value lives.
pub(crate) fn context(ordinal: usize) -> Result<Arc<CudaContext>> {
    driver()?;
    CudaContext::new(ordinal).map_err(|e| failed(e, || format!("opening GPU {ordinal}")))
}

/// Facts that the driver knows of a device.
pub(crate) struct Properties {
    pub(crate) name: String,
    pub(crate) compute: u32,
    pub(crate) multiprocessors: u32,
    pub(crate) memory: u64,
    pub(crate) l2: u64,
    pub(crate) clocks: [u32; 2],
    pub(crate) memory_width: u32,
    pub(crate) bus: String,
}

pub(crate) fn properties(ordinal: usize) -> Result<Properties> {
    driver()?;
    let requested = |e| failed(e, || format!("asking what GPU {ordinal} is"));
    let device = result::device::get(ordinal as i32).map_err(requested)?;
    // SAFETY: the device was just given by the driver.
    let number = |which| unsafe { result::device::get_attribute(device, which) }.map_err(requested);
    let major = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?;
    let minor = number(Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?;
    // Drivers may cease to report these, and nothing depends on them.
    let attribute = |which| number(which).unwrap_or(0);
    Ok(Properties {
        name: result::device::get_name(device).map_err(requested)?,
        compute: (10 * major + minor) as u32,
        multiprocessors: number(Attribute::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)? as u32,
        // SAFETY: as above.
        memory: unsafe { result::device::total_mem(device) }.map_err(requested)? as u64,
        l2: number(Attribute::CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE)? as u64,
        clocks: [
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_CLOCK_RATE) as u32 / 1000,
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE) as u32 / 1000,
        ],
        memory_width: attribute(Attribute::CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH) as u32,
        bus: format!(
            "{:04x}:{:02x}:{:02x}.0",
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID),
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_BUS_ID),
            attribute(Attribute::CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID)
        ),
    })
}

/// An entry point, loaded as long as its context lives: modules are never unloaded, for there are few.
#[derive(Clone, Copy)]
pub(crate) struct Function(sys::CUfunction);

// SAFETY: a CUfunction is a handle that the driver lets any thread use while its module is loaded.
unsafe impl Send for Function {}
// SAFETY: as above; launching does not change it.
unsafe impl Sync for Function {}

/// Registers that each thread of a kernel has.
pub(crate) fn registers(context: &CudaContext, function: Function) -> Result<u32> {
    let requested = || "asking how many registers a kernel has".to_owned();
    context.bind_to_thread().map_err(|e| failed(e, requested))?;
    let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_NUM_REGS;
    // SAFETY: functions are as long-lived as their context.
    let number = unsafe { result::function::get_function_attribute(function.0, which) };
    number.map(|number| number as u32).map_err(|e| failed(e, requested))
}

/// Lets blocks of a kernel have so many bytes of dynamic shared memory; from 48 KB on the driver wants to be told.
pub(crate) fn allow_shared(context: &CudaContext, function: Function, bytes: u32) -> Result<()> {
    const UNTOLD: u32 = 48 << 10;
    if bytes <= UNTOLD {
        return Ok(());
    }
    let requested = || format!("{bytes} bytes of shared memory for a block");
    context.bind_to_thread().map_err(|e| failed(e, requested))?;
    let which = sys::CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
    // SAFETY: functions are as long-lived as their context.
    unsafe { result::function::set_function_attribute(function.0, which, bytes as i32) }
        .map_err(|e| failed(e, requested))
}

/// Compiles PTX for the device (or finds it in the driver's cache) and looks up its entries.
pub(crate) fn load(
    context: &CudaContext,
    name: &str,
    ptx: &str,
    entries: &[String],
) -> Result<Vec<Function>> {
    let requested = || format!("loading the kernels of {name}");
    let c = |text: &str| CString::new(text).expect("PTX and names hold no NUL");
    context.bind_to_thread().map_err(|e| failed(e, requested))?;
    let image = c(ptx);
    // SAFETY: the image is text that ends in NUL, and the context is current.
    let module = unsafe { result::module::load_data(image.as_ptr().cast()) }
        .map_err(|e| failed(e, requested))?;
    entries
        .iter()
        // SAFETY: the module was just loaded and is never unloaded.
        .map(|entry| unsafe { result::module::get_function(module, c(entry)) })
        .map(|function| function.map(Function).map_err(|e| failed(e, requested)))
        .collect()
}

/// Parameters that a kernel is launched with at most.
const MOST_PARAMETERS: usize = 24;

/// Starts a kernel whose parameters are 64 bits each, in `[blocks, threads, bytes of dynamic shared memory]`, on a stream; returns before it has run.
///
/// # Safety
/// Parameters must be as many as the kernel takes. The addresses among them must be of memory that the device can reach, of the sizes the
/// kernel reads and writes, until it has run; a workspace must be used by this stream alone.
pub(crate) unsafe fn launch(
    stream: &CudaStream,
    function: Function,
    [grid, block, shared]: [u32; 3],
    words: &[u64],
    requested: impl Fn() -> String,
) -> Result<()> {
    stream.context().bind_to_thread().map_err(|e| failed(e, &requested))?;
    assert!(words.len() <= MOST_PARAMETERS, "{} parameters", words.len());
    let mut pointers = [ptr::null_mut::<c_void>(); MOST_PARAMETERS];
    for (pointer, word) in pointers.iter_mut().zip(words) {
        *pointer = ptr::from_ref(word).cast_mut().cast();
    }
    let pointers = &mut pointers[..words.len()];
    let (grid, block, stream) = ((grid, 1, 1), (block, 1, 1), stream.cu_stream());
    // SAFETY: as the caller promises; the driver copies the parameters before it returns.
    unsafe { result::launch_kernel(function.0, grid, block, shared, stream, pointers) }
        .map_err(|e| failed(e, &requested))
}

/// Whether what a stream is given is being recorded into a graph.
pub(crate) fn is_captured(stream: &CudaStream) -> Result<bool> {
    let status = stream.capture_status();
    let status = status.map_err(|e| failed(e, || "asking whether a stream is captured".into()))?;
    Ok(status != sys::CUstreamCaptureStatus::CU_STREAM_CAPTURE_STATUS_NONE)
}

/// Starts to fill device memory with a byte, in a stream.
///
/// # Safety
/// So many bytes from the address on must be memory of the stream's device.
pub(crate) unsafe fn fill(stream: &CudaStream, address: u64, bytes: usize, byte: u8) -> Result<()> {
    let requested = || format!("filling {bytes} bytes on the device");
    stream.context().bind_to_thread().map_err(|e| failed(e, requested))?;
    if bytes == 0 {
        return Ok(());
    }
    // SAFETY: as the caller promises.
    unsafe { result::memset_d8_async(address, byte, bytes, stream.cu_stream()) }
        .map_err(|e| failed(e, requested))
}

/// Starts to copy bytes of the host to device memory, in a stream.
///
/// # Safety
/// As many bytes from the address on must be memory of the stream's device; the host's are to stay until the stream has come that far.
pub(crate) unsafe fn write(stream: &CudaStream, address: u64, bytes: &[u8]) -> Result<()> {
    let requested = || format!("copying {} bytes to the device", bytes.len());
    stream.context().bind_to_thread().map_err(|e| failed(e, requested))?;
    if bytes.is_empty() {
        return Ok(());
    }
    // SAFETY: as the caller promises.
    unsafe { result::memcpy_htod_async(address, bytes, stream.cu_stream()) }
        .map_err(|e| failed(e, requested))
}

/// Copies device memory to the host.
///
/// # Safety
/// So many bytes from the address on must be memory of the context's device.
pub(crate) unsafe fn read(
    context: &Arc<CudaContext>,
    address: u64,
    bytes: &mut [u8],
) -> Result<()> {
    let requested = || format!("copying {} bytes from the device", bytes.len());
    context.bind_to_thread().map_err(|e| failed(e, requested))?;
    if bytes.is_empty() {
        return Ok(());
    }
    let len = bytes.len();
    // SAFETY: as the caller promises.
    unsafe { result::memcpy_dtoh_sync(bytes, address) }
        .map_err(|e| failed(e, || format!("copying {len} bytes from the device")))
}

/// Bytes of the device's memory that are free.
pub(crate) fn free_memory(context: &CudaContext) -> Result<u64> {
    let requested = || "asking how much memory is free".to_owned();
    context.bind_to_thread().map_err(|e| failed(e, requested))?;
    result::mem_get_info().map(|(free, _)| free as u64).map_err(|e| failed(e, requested))
}

/// Device memory of its own.
pub struct Memory {
    context: Arc<CudaContext>,
    address: u64,
    bytes: usize,
}

impl Memory {
    /// So many bytes, zeroed; none for 0.
    pub(crate) fn zeroed(context: &Arc<CudaContext>, bytes: usize) -> Result<Memory> {
        let memory = Memory::uninitialised(context, bytes)?;
        if bytes > 0 {
            // The host does not wait for a memset, nor do streams of reductions for the null stream.
            // SAFETY: the range was just allocated; the null stream is always there.
            unsafe {
                result::memset_d8_sync(memory.address, 0, bytes)
                    .and_then(|()| result::stream::synchronize(std::ptr::null_mut()))
            }
            .map_err(|e| failed(e, || format!("clearing {bytes} bytes of device memory")))?;
        }
        Ok(memory)
    }

    /// So many bytes, whatever they hold; none for 0.
    pub(crate) fn uninitialised(context: &Arc<CudaContext>, bytes: usize) -> Result<Memory> {
        let requested = || {
            let free = result::mem_get_info()
                .map_or(String::new(), |(free, total)| format!(" ({free} of {total} are free)"));
            format!("{bytes} bytes of device memory{free}")
        };
        context.bind_to_thread().map_err(|e| failed(e, requested))?;
        let address = match bytes {
            0 => 0,
            // SAFETY: the context is current, and the size is not zero.
            _ => unsafe { result::malloc_sync(bytes) }.map_err(|e| failed(e, requested))?,
        };
        Ok(Memory { context: context.clone(), address, bytes })
    }

    /// A copy of host memory.
    pub(crate) fn copy_of(context: &Arc<CudaContext>, bytes: &[u8]) -> Result<Memory> {
        let mut memory = Memory::uninitialised(context, bytes.len())?;
        memory.write(0, bytes)?;
        Ok(memory)
    }

    /// Where it lies.
    pub(crate) fn home(&self) -> Home {
        Home::Cuda(self.context.ordinal())
    }

    /// Copies host memory to a part of it.
    pub(crate) fn write(&mut self, first: usize, bytes: &[u8]) -> Result<()> {
        assert!(first + bytes.len() <= self.bytes, "what is written fits");
        let requested = || format!("copying {} bytes to the device", bytes.len());
        self.context.bind_to_thread().map_err(|e| failed(e, requested))?;
        if bytes.is_empty() {
            return Ok(());
        }
        // The driver returns once it has taken pageable memory in, which is before the device has it; streams of reductions do not wait for the null stream.
        // SAFETY: the range is within the allocation; the null stream is always there.
        unsafe {
            result::memcpy_htod_sync(self.address + first as u64, bytes)
                .and_then(|()| result::stream::synchronize(std::ptr::null_mut()))
        }
        .map_err(|e| failed(e, requested))
    }

    /// Copies it back.
    pub(crate) fn read(&self, bytes: &mut [u8]) -> Result<()> {
        assert_eq!(bytes.len(), self.bytes, "the whole of it is read");
        // SAFETY: the allocation has this size.
        unsafe { read(&self.context, self.address, bytes) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if self.address != 0 && self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated by this value and freed once. The driver waits for work that may still use it. An error here is
            // an earlier launch's, which was reported where it was waited for.
            let _ = unsafe { result::free_sync(self.address) };
        }
    }
}

/// Page-locked host memory that the device writes to directly, as 64-bit words.
pub(crate) struct Mapped {
    context: Arc<CudaContext>,
    words: *mut u64,
    address: u64,
}

// SAFETY: the memory belongs to this value; reads are volatile, as the device writes at any time.
unsafe impl Send for Mapped {}

impl Mapped {
    pub(crate) fn zeroed(context: &Arc<CudaContext>, words: usize) -> Result<Mapped> {
        let requested = || format!("{} bytes of page-locked host memory", 8 * words);
        context.bind_to_thread().map_err(|e| failed(e, requested))?;
        let flags = sys::CU_MEMHOSTALLOC_DEVICEMAP | sys::CU_MEMHOSTALLOC_PORTABLE;
        // SAFETY: the context is current; the size is not zero.
        let host =
            unsafe { result::malloc_host(8 * words, flags) }.map_err(|e| failed(e, requested))?;
        let mut mapped = Mapped { context: context.clone(), words: host.cast(), address: 0 };
        // SAFETY: the range was just allocated, and is mapped.
        unsafe {
            mapped.words.write_bytes(0, words);
            sys::cuMemHostGetDevicePointer_v2(&mut mapped.address, host, 0).result()
        }
        .map_err(|e| failed(e, requested))?;
        Ok(mapped)
    }

    /// The device's address of it.
    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// The word as it is now; `k` is below the number allocated.
    pub(crate) fn word(&self, k: usize) -> u64 {
        // SAFETY: within the allocation by the callers, which are constants of this folder.
        unsafe { self.words.add(k).read_volatile() }
    }
}

impl Drop for Mapped {
    fn drop(&mut self) {
        if self.context.bind_to_thread().is_ok() {
            // SAFETY: allocated by this value and freed once; its stream context has waited for its launches.
            let _ = unsafe { result::free_host(self.words.cast()) };
        }
    }
}

/// Waits for everything on a stream.
pub(crate) fn synchronize(stream: &CudaStream, requested: impl FnOnce() -> String) -> Result<()> {
    stream.synchronize().map_err(|e| failed(e, requested))
}

/// Marks how far a stream has come, with the time.
pub(crate) fn record(stream: &CudaStream) -> Result<CudaEvent> {
    stream
        .record_event(Some(sys::CUevent_flags::CU_EVENT_DEFAULT))
        .map_err(|e| failed(e, || "recording an event".into()))
}

/// Milliseconds between two marks that the device has passed.
pub(crate) fn elapsed(from: &CudaEvent, to: &CudaEvent) -> Result<f32> {
    let requested = || "the time between two events".into();
    to.synchronize().map_err(|e| failed(e, requested))?;
    from.elapsed_ms(to).map_err(|e| failed(e, requested))
}

#[cfg(test)]
mod tests {
    use super::MOST_PARAMETERS;

    #[test]
    fn every_kernel_can_be_launched() {
        for module in warpfold_kernels::modules() {
            let ptx = module.ptx();
            for entry in ptx.split(".visible .entry ").skip(1) {
                let (name, rest) = entry.split_once('(').expect("an entry has parameters");
                let parameters =
                    rest.split(')').next().map_or(0, |list| list.matches(".param").count());
                assert!(parameters <= MOST_PARAMETERS, "{name} has {parameters} parameters");
            }
        }
    }
}
