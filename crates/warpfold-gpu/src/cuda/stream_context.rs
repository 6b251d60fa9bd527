//! A stream context: a stream with a workspace and a result slot of its own, for one reduction at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::device::Device;
use crate::driver::{self, CudaStream, Mapped, Memory};
use crate::kernel::{
    AnyView, Arguments, BatchedLaunch, Launch, RECORD_WORDS, Ready, Record, counted, record_offset,
    record_words, workspace_bytes,
};
use crate::partial::Finish;
use crate::plan::{CudaPlan, MAX_PER_MULTIPROCESSOR};
use crate::{Error, Result};

/// The slot's words: the record, then the stamp on a sector of its own.
const STAMP: usize = RECORD_WORDS;

/// How long the host watches the stamp before it lets the driver wait, which sees the end later and holds up other threads' launches.
const SPIN: Duration = Duration::from_millis(1);

pub(super) struct StreamContext {
    device: Arc<Device>,
    stream: Arc<CudaStream>,
    workspace: Memory,
    slot: Mapped,
    stamp: u64,
}

impl StreamContext {
    pub(super) fn new(device: &Arc<Device>) -> Result<StreamContext> {
        let stream = device.context.new_stream();
        let stream = stream.map_err(|e| driver::failed(e, || "a new stream".into()))?;
        StreamContext::on(device, stream)
    }

    /// On a stream that exists already.
    pub(super) fn on(device: &Arc<Device>, stream: Arc<CudaStream>) -> Result<StreamContext> {
        let blocks = device.description.multiprocessors * MAX_PER_MULTIPROCESSOR;
        let workspace = Memory::zeroed(&device.context, workspace_bytes(blocks) as usize)?;
        let slot = Mapped::zeroed(&device.context, RECORD_WORDS + 1)?;
        Ok(StreamContext { device: device.clone(), stream, workspace, slot, stamp: 0 })
    }

    /// Lets the stream context wait until an array, and the other of a dot product, may be read.
    pub(super) fn after_all(&self, x: AnyView<'_>, y: Option<AnyView<'_>>) -> Result<()> {
        self.after(x.ready)?;
        y.map_or(Ok(()), |y| self.after(y.ready))
    }

    /// Lets the stream context wait for what a stream was given so far.
    pub(super) fn after(&self, ready: Ready<'_>) -> Result<()> {
        let Some(stream) = ready.stream else { return Ok(()) };
        let requested = || "waiting for another stream".into();
        self.stream.join(stream).map_err(|e| driver::failed(e, requested))
    }

    /// Starts a plan whose record goes to the stream context's slot; [`wait`](Self::wait) before the next.
    ///
    /// # Safety
    /// `x` (and `y` for dot) must be addresses of `n` elements that the device can read until `wait` returns.
    pub(super) unsafe fn begin(&mut self, plan: &CudaPlan, x: u64, y: u64) -> Result<()> {
        self.stamp += 1;
        let arguments = Arguments {
            record: self.slot.address(),
            done: self.slot.address() + 8 * STAMP as u64,
            stamp: self.stamp,
            ..self.arguments(plan, x, y)
        };
        // SAFETY: the caller vouches for the arrays; the rest is this stream context's own.
        unsafe { self.launch(Launch::of(plan, arguments)) }
    }

    /// Starts a plan whose value stays on the device, in up to two launches; returns before they have run. With the address of a length there, of as many
    /// elements, the plan's at most.
    ///
    /// # Safety
    /// As [`begin`](Self::begin), and `value` must be as large as the result, and a length be at its address; all of it until the stream has come that far.
    pub(super) unsafe fn start(
        &mut self,
        plan: &CudaPlan,
        [x, y, value]: [u64; 3],
        finish: Finish,
        length: Option<u64>,
    ) -> Result<()> {
        let record = self.workspace.address() + record_offset(self.blocks());
        let arguments = Arguments { value, record, ..self.arguments(plan, x, y) };
        let launches = Launch::leaving(plan, finish, arguments)?;
        let Some(length) = length else {
            // SAFETY: as the caller promises; the workspace is this stream context's own, with the record at its end.
            return unsafe { self.launch(launches) };
        };
        counted::check(plan)?;
        let launches = counted::launches(launches, self.device.description.compute, length)?;
        // SAFETY: as above; no kernel reads more elements than the plan has.
        unsafe { self.start_batched(&launches) }
    }

    /// Starts a plan whose result goes nowhere; returns before it has run.
    ///
    /// # Safety
    /// As [`begin`](Self::begin), until the stream has come that far.
    pub(super) unsafe fn start_for_time(&mut self, plan: &CudaPlan, x: u64, y: u64) -> Result<()> {
        // SAFETY: as the caller promises; the workspace is this stream context's own.
        unsafe { self.launch(Launch::of(plan, self.arguments(plan, x, y))) }
    }

    /// The most blocks for the workspace.
    fn blocks(&self) -> u32 {
        self.device.description.multiprocessors * MAX_PER_MULTIPROCESSOR
    }

    fn arguments(&self, plan: &CudaPlan, x: u64, y: u64) -> Arguments {
        Arguments {
            x,
            y,
            n: plan.problem.n,
            workspace: self.workspace.address(),
            ..Default::default()
        }
    }

    /// # Safety
    /// As [`driver::launch`], but for the function.
    unsafe fn launch(&self, launches: impl Iterator<Item = Launch>) -> Result<()> {
        for launch in launches {
            let function = self.device.function(launch.kernel)?;
            let requested =
                || format!("launching {} in {} blocks", launch.kernel.entry(), launch.grid);
            let (shape, words) = ([launch.grid, launch.block, 0], launch.arguments.words());
            // SAFETY: the function is the launch's kernel by construction, which takes these words and no dynamic shared memory; the rest is the
            // caller's promise.
            unsafe { driver::launch(&self.stream, function, shape, &words, requested)? };
        }
        Ok(())
    }

    /// Starts launches one after another; returns before they have run.
    ///
    /// # Safety
    /// What the launches' addresses point to must be as large as their kernels take it to be, and live until the stream has come that far.
    pub(super) unsafe fn start_batched(&mut self, launches: &[BatchedLaunch]) -> Result<()> {
        for launch in launches {
            let function = self.device.batched(launch)?;
            let requested = || format!("launching {} in {} blocks", launch.entry, launch.grid);
            let shape = [launch.grid, launch.block, launch.shared_bytes];
            // SAFETY: the function is the launch's kernel by construction; the rest is the caller's promise.
            unsafe { driver::launch(&self.stream, function, shape, &launch.words, requested)? };
        }
        Ok(())
    }

    /// The record of the plan that was begun, once it is there.
    pub(super) fn wait(&mut self, plan: &CudaPlan) -> Result<Record> {
        // Looking at the clock, or pausing, takes longer than many looks at the stamp, and would show it later.
        const LOOKS: u32 = 64;
        let started = Instant::now();
        while !(0..LOOKS).any(|_| self.slot.word(STAMP) == self.stamp) {
            if started.elapsed() > SPIN {
                driver::synchronize(&self.stream, || plan.to_string())?;
                break;
            }
        }
        if self.slot.word(STAMP) != self.stamp {
            return Err(Error::Device {
                requested: plan.to_string(),
                obstacle: "the kernel ended without a result".into(),
                remedy: "report it with the driver's version",
            });
        }
        // The device wrote the record before the stamp, with a fence between; the host reads in that order.
        std::sync::atomic::fence(std::sync::atomic::Ordering::Acquire);
        Ok((0..record_words(plan)).map(|k| self.slot.word(k)).collect())
    }

    pub(super) fn stream(&self) -> &CudaStream {
        &self.stream
    }

    /// Waits for everything started on the stream context.
    pub(super) fn synchronize(&self) -> Result<()> {
        driver::synchronize(&self.stream, || "waiting for a stream".into())
    }
}

impl Drop for StreamContext {
    /// Nothing may still run when workspace and slot are freed. An error was reported by the reduction it belonged to.
    fn drop(&mut self) {
        let _ = self.synchronize();
    }
}
