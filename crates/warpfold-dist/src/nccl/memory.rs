//! [`Gpu`]: a device's context, a stream, and memory for what goes through NCCL.

use std::ffi::{c_int, c_void};
use std::time::{Duration, Instant};

use super::library::{Driver, Handle};

/// `CUDA_ERROR_NOT_READY`.
const NOT_READY: c_int = 600;
/// `CU_STREAM_NON_BLOCKING`, and `CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP`.
const NON_BLOCKING: u32 = 1;
const PORTABLE_AND_MAPPED: u32 = 3;

/// What NCCL reads from and writes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Through {
    /// Page-locked memory of the host, which devices reach by themselves: no copies, for short messages.
    #[default]
    Host,
    /// Memory of the device, with a copy on each side.
    Device,
}

/// A device as NCCL needs it.
pub(super) struct Gpu {
    driver: Driver,
    device: c_int,
    context: Handle,
    pub(super) stream: Handle,
    staging: Staging,
}

/// Memory of both sides, as large as the largest exchange so far.
struct Staging {
    bytes: usize,
    host: *mut c_void,
    device: u64,
}

fn checked(call: &str, code: c_int) -> Result<(), String> {
    match code {
        0 => Ok(()),
        code => Err(format!("{call} returned error {code}")),
    }
}

impl Gpu {
    pub(super) fn open(name: &str, ordinal: usize) -> Result<Gpu, String> {
        let driver = Driver::open(name).map_err(|why| format!("{name}: {why}"))?;
        let null = std::ptr::null_mut;
        let (mut device, mut context, mut stream) = (0, null(), null());
        // SAFETY: the signatures are the driver's; pointers are to variables that live here. The context is made current before the stream is created.
        unsafe {
            checked("cuInit", (driver.init)(0))?;
            checked("cuDeviceGet", (driver.device)(&mut device, ordinal as c_int))
                .map_err(|why| format!("there is no GPU {ordinal}: {why}"))?;
            checked("cuDevicePrimaryCtxRetain", (driver.retain)(&mut context, device))?;
            checked("cuCtxSetCurrent", (driver.set_current)(context))?;
            checked("cuStreamCreate", (driver.stream)(&mut stream, NON_BLOCKING))?;
        }
        let staging = Staging { bytes: 0, host: null(), device: 0 };
        Ok(Gpu { driver, device, context, stream, staging })
    }

    /// Makes the device the calling thread's.
    pub(super) fn enter(&self) -> Result<(), String> {
        // SAFETY: the context is retained as long as this lives.
        checked("cuCtxSetCurrent", unsafe { (self.driver.set_current)(self.context) })
    }

    fn grow(&mut self, bytes: usize) -> Result<(), String> {
        if bytes <= self.staging.bytes {
            return Ok(());
        }
        let bytes = bytes.next_power_of_two().max(1 << 16);
        self.release();
        // SAFETY: the signatures are the driver's; each pointer is to a field that lives here. What is allocated is freed once, by `release`.
        unsafe {
            let host = &mut self.staging.host;
            checked("cuMemHostAlloc", (self.driver.host_alloc)(host, bytes, PORTABLE_AND_MAPPED))?;
            checked("cuMemAlloc", (self.driver.alloc)(&mut self.staging.device, bytes))?;
        }
        self.staging.bytes = bytes;
        Ok(())
    }

    fn release(&mut self) {
        let Staging { host, device, .. } = std::mem::replace(
            &mut self.staging,
            Staging { bytes: 0, host: std::ptr::null_mut(), device: 0 },
        );
        // SAFETY: both were allocated by `grow`, nothing on the stream uses them any more, and they are forgotten here.
        unsafe {
            if !host.is_null() {
                (self.driver.host_free)(host);
            }
            if device != 0 {
                (self.driver.free)(device);
            }
        }
    }

    /// Has `call` turn `mine` into `result`: it enqueues work from one address of so many bytes to another.
    pub(super) fn exchange(
        &mut self,
        through: Through,
        mine: &[u8],
        result: &mut [u8],
        timeout: Duration,
        call: impl FnOnce(*const c_void, *mut c_void, Handle) -> Result<(), String>,
        is_well: impl Fn() -> Result<(), String>,
    ) -> Result<(), String> {
        let after = mine.len().next_multiple_of(256);
        self.enter()?;
        self.grow(after + result.len())?;
        let (host, device, stream) =
            (self.staging.host.cast::<u8>(), self.staging.device, self.stream);
        // SAFETY: the room has as many bytes as were asked for, on both sides; nothing else uses it until the stream is done, which is waited for.
        unsafe {
            std::ptr::copy_nonoverlapping(mine.as_ptr(), host, mine.len());
            let back = host.add(after);
            match through {
                Through::Host => call(host.cast(), back.cast(), stream)?,
                Through::Device => {
                    let to = (self.driver.to_device)(device, host.cast(), mine.len(), stream);
                    checked("cuMemcpyHtoDAsync", to)?;
                    let there = device + after as u64;
                    call(device as *const c_void, there as *mut c_void, stream)?;
                    let to = (self.driver.to_host)(back.cast(), there, result.len(), stream);
                    checked("cuMemcpyDtoHAsync", to)?;
                }
            }
        }
        self.wait(timeout, is_well)?;
        // SAFETY: as above; the stream is done, so the bytes are there.
        unsafe {
            std::ptr::copy_nonoverlapping(host.add(after), result.as_mut_ptr(), result.len());
        }
        Ok(())
    }

    /// Waits for the stream, and looks now and then whether NCCL has given up.
    pub(super) fn wait(
        &self,
        timeout: Duration,
        is_well: impl Fn() -> Result<(), String>,
    ) -> Result<(), String> {
        let begun = Instant::now();
        for turn in 1u64.. {
            // SAFETY: the stream lives as long as this.
            match unsafe { (self.driver.query)(self.stream) } {
                0 => return Ok(()),
                NOT_READY => {}
                code => return checked("cuStreamQuery", code),
            }
            if turn.is_multiple_of(1 << 10) {
                is_well()?;
                if begun.elapsed() > timeout {
                    return Err(format!(
                        "an exchange by NCCL was not done within {timeout:?}: another rank hangs or has died"
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        if self.enter().is_ok() {
            self.release();
            // SAFETY: both are this one's own, and used no more.
            unsafe {
                (self.driver.destroy)(self.stream);
                (self.driver.release)(self.device);
            }
        }
    }
}
