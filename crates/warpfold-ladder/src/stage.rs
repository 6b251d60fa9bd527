//! [`Stage`]: where rungs are climbed when asked: it sees to copies of the array, the ceiling, and the words about both.

use std::time::Duration;

use warpfold::plan::CudaFacts;
use warpfold::{DType, Result};

use crate::climb::{Observer, Options, climb, climb_cpu};
use crate::divergence::divergence;
use crate::found::Divergence;
use crate::found::{Device, Ladder, Peak};
use crate::host::Runs;
use crate::plan::Case;
use crate::rung::Rung;
use crate::target::{Simulator, Target};
use crate::with_number;
use warpfold_lab::array::Data;
use warpfold_lab::cuda::report::{Peer, Temperature};
use warpfold_lab::sampler::Sampling;

/// What to climb, as far as it does not depend on the machine.
#[derive(Debug, Clone)]
pub struct LadderRequest {
    /// Operation, element type, elements, threads of a block.
    pub case: Case,
    /// The rungs, from the lowest up.
    pub rungs: Vec<&'static Rung>,
    /// What the array holds.
    pub data: Data,
    /// How often to run what is timed.
    pub runs: Runs,
    /// Where the array is when it is timed.
    pub temperature: Temperature,
    /// Blocks of rungs that stride over the array, in place of as many as fill the machine.
    pub grid: Option<u32>,
}

/// A machine with rungs on it.
pub trait Stage {
    /// What reports call it.
    fn device(&self) -> Device;

    /// What plans know of it; `None` where kernels do not run.
    fn facts(&self) -> Option<CudaFacts>;

    /// Bytes of its last cache: arrays within it are hot when they are met again. None where time says nothing.
    fn cache(&self) -> u64;

    /// Bytes of memory that arrays can have.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn free(&self) -> Result<u64>;

    /// Microseconds of a launch that does nothing; none where nothing is launched, or time says nothing.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn launch(&mut self) -> Result<Option<f64>> {
        Ok(None)
    }

    /// The fastest reading of large arrays; none where time says nothing.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn reading(&mut self) -> Result<Option<Peak>> {
        Ok(None)
    }

    /// Additions of elements of a type per second that touch no memory, and how they were done; none where time says nothing.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn adding(&mut self, dtype: DType) -> Result<Option<(f64, String)>> {
        let _ = dtype;
        Ok(None)
    }

    /// Climbs.
    ///
    /// # Errors
    /// As [`climb`].
    fn climb(&mut self, request: &LadderRequest, observer: &mut dyn Observer) -> Result<Ladder>;

    /// Runs the pair that diverges; `None` where kernels do not run.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn divergence(&mut self, rounds: u32, runs: Runs) -> Result<Option<Divergence>>;

    /// Registers of a rung's threads, where a driver tells them.
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    fn registers(&mut self, rung: &Rung, case: Case) -> Result<Option<u32>>;
}

/// What is the same in every climb of a stage.
#[derive(Debug, Clone, Default)]
pub struct Setting {
    /// The arrays' seed.
    pub seed: u64,
    /// Other libraries' figures of the same day.
    pub peers: Vec<Peer>,
    /// The revision of the sources.
    pub revision: Option<String>,
}

/// The options of a climb, without what depends on the machine.
fn options(request: &LadderRequest, setting: &Setting) -> Options {
    Options {
        rungs: request.rungs.clone(),
        data: request.data,
        seed: setting.seed,
        runs: request.runs,
        temperature: request.temperature,
        grid: request.grid,
        peers: setting.peers.clone(),
        revision: setting.revision.clone(),
        ..Options::new(request.case)
    }
}

/// The simulator as a stage: it counts, and times nothing.
#[derive(Debug, Clone, Default)]
pub struct Simulated {
    simulator: Simulator,
    setting: Setting,
}

impl Simulated {
    /// One in which everything but the machine is set so.
    pub fn new(setting: Setting) -> Simulated {
        Simulated { simulator: Simulator::default(), setting }
    }
}

impl Stage for Simulated {
    fn device(&self) -> Device {
        self.simulator.device()
    }

    fn facts(&self) -> Option<CudaFacts> {
        Some(self.simulator.machine().facts())
    }

    fn cache(&self) -> u64 {
        0
    }

    fn free(&self) -> Result<u64> {
        self.simulator.free()
    }

    fn climb(&mut self, request: &LadderRequest, observer: &mut dyn Observer) -> Result<Ladder> {
        let options = options(request, &self.setting);
        with_number!(request.case.dtype, T => climb::<T, _>(&mut self.simulator, &options, observer))
    }

    fn divergence(&mut self, rounds: u32, runs: Runs) -> Result<Option<Divergence>> {
        divergence(&mut self.simulator, rounds, runs).map(Some)
    }

    fn registers(&mut self, _: &Rung, _: Case) -> Result<Option<u32>> {
        Ok(None)
    }
}

/// Words of the array whose reading is the processor's ceiling: 128 MiB.
const READ_WORDS: usize = 16 << 20;

/// This computer alone: the rungs of the host, and the library.
#[derive(Debug, Clone, Default)]
pub struct Processor {
    setting: Setting,
    /// Measured when it is first asked for.
    peak: Option<Peak>,
}

impl Processor {
    /// One in which everything but the machine is set so.
    pub fn new(setting: Setting) -> Processor {
        Processor { setting, peak: None }
    }
}

impl Stage for Processor {
    fn device(&self) -> Device {
        crate::climb::here()
    }

    fn facts(&self) -> Option<CudaFacts> {
        None
    }

    fn cache(&self) -> u64 {
        warpfold_lab::machine::Machine::here().caches.last().copied().unwrap_or(0)
    }

    fn free(&self) -> Result<u64> {
        // The tree works in a copy.
        Ok(warpfold_lab::machine::available_memory() / 2)
    }

    fn reading(&mut self) -> Result<Option<Peak>> {
        if self.peak.is_none() {
            let words = vec![1u64; READ_WORDS];
            let threads = rayon::current_num_threads();
            // Some forty loops are tried: few samples of each tell which is the fastest.
            let sampling = Sampling {
                warm_up: Duration::from_millis(5),
                budget: Duration::from_millis(100),
                min_samples: 3,
                ..Sampling::default()
            };
            let (_, found) = warpfold_lab::cpu::Reading::fastest(&words, threads, sampling);
            let how = format!("{} bytes, {threads} threads, {}", found.bytes, found.variant);
            self.peak = Some(Peak { bytes_per_second: found.bytes_per_second, how });
        }
        Ok(self.peak.clone())
    }

    fn adding(&mut self, dtype: DType) -> Result<Option<(f64, String)>> {
        let threads = rayon::current_num_threads();
        Ok(Some((
            warpfold_lab::cpu::add_rate(dtype),
            format!("{threads} threads, registers alone"),
        )))
    }

    fn climb(&mut self, request: &LadderRequest, observer: &mut dyn Observer) -> Result<Ladder> {
        let method = Some("the monotonic clock around each call".to_owned());
        let options =
            Options { peak: self.peak.clone(), method, ..options(request, &self.setting) };
        with_number!(request.case.dtype, T => climb_cpu::<T>(&options, observer))
    }

    fn divergence(&mut self, _: u32, _: Runs) -> Result<Option<Divergence>> {
        Ok(None)
    }

    fn registers(&mut self, _: &Rung, _: Case) -> Result<Option<u32>> {
        Ok(None)
    }
}

#[cfg(feature = "cuda")]
pub use gpu::OnGpu;

#[cfg(feature = "cuda")]
mod gpu {
    use warpfold::cuda::Gpu;

    use super::*;
    use crate::{Cuda, Plan, Way};
    use warpfold_lab::cuda::{READ_BYTES, read_peak};

    /// Copies of an array at most: of the smallest, more than there is any use for.
    const MOST_COPIES: usize = 1 << 14;

    /// A GPU as a stage.
    pub struct OnGpu {
        gpu: Gpu,
        target: Cuda,
        setting: Setting,
        /// Measured when it is first asked for.
        peak: Option<Peak>,
    }

    impl OnGpu {
        /// One in which everything but the machine is set so.
        ///
        /// # Errors
        /// [`Error::Device`](warpfold::Error::Device).
        pub fn new(gpu: &Gpu, setting: Setting) -> Result<OnGpu> {
            Ok(OnGpu { gpu: gpu.clone(), target: Cuda::new(gpu)?, setting, peak: None })
        }

        fn peak(&mut self) -> Result<Peak> {
            if self.peak.is_none() {
                let read = read_peak(&self.gpu, READ_BYTES, Temperature::Cold)?;
                let how = format!("{} bytes, {}", read.bytes, read.variant);
                self.peak = Some(Peak { bytes_per_second: read.bytes_per_second, how });
            }
            Ok(self.peak.clone().expect("it was measured"))
        }
    }

    /// What was done about the cache, in words.
    fn method(temperature: Temperature, copies: usize) -> String {
        let arrays = match temperature {
            Temperature::Cold => format!("cold, {copies} copies of the array in rotation"),
            Temperature::Hot => "hot, the same array again and again".to_owned(),
        };
        format!(
            "device events around each run, all its launches together, back to back on one stream; {arrays}"
        )
    }

    impl Stage for OnGpu {
        fn device(&self) -> Device {
            self.target.device()
        }

        fn facts(&self) -> Option<CudaFacts> {
            Some(self.gpu.facts())
        }

        fn cache(&self) -> u64 {
            self.gpu.description().l2
        }

        fn free(&self) -> Result<u64> {
            Ok(self.target.free()?.min(warpfold_lab::machine::available_memory()))
        }

        fn launch(&mut self) -> Result<Option<f64>> {
            warpfold_lab::cuda::empty_launch(&self.gpu).map(Some)
        }

        fn reading(&mut self) -> Result<Option<Peak>> {
            self.peak().map(Some)
        }

        fn adding(&mut self, dtype: DType) -> Result<Option<(f64, String)>> {
            warpfold_lab::cuda::add_rate(&self.gpu, dtype).map(Some)
        }

        fn climb(
            &mut self,
            request: &LadderRequest,
            observer: &mut dyn Observer,
        ) -> Result<Ladder> {
            let mut options = options(request, &self.setting);
            options.peak = Some(self.peak()?);
            if request.temperature == Temperature::Cold {
                options.copies = self.target.cold_copies(&options)?.min(MOST_COPIES);
            }
            options.method = Some(method(request.temperature, options.copies));
            let dtype = request.case.dtype;
            with_number!(dtype, T => climb::<T, _>(&mut self.target, &options, observer))
        }

        fn divergence(&mut self, rounds: u32, runs: Runs) -> Result<Option<Divergence>> {
            divergence(&mut self.target, rounds, runs).map(Some)
        }

        fn registers(&mut self, rung: &Rung, case: Case) -> Result<Option<u32>> {
            let Way::Kernel(kernel) = rung.way else { return Ok(None) };
            match Plan::new(kernel, case, self.target.machine().facts()) {
                Ok(plan) => self.target.registers(&plan.module, &plan.entry).map(Some),
                Err(_) => Ok(None),
            }
        }
    }
}
