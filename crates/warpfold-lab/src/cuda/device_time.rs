//! [`DeviceTime`]: time as the device sees it.

use warpfold::Result;
use warpfold::cuda::Queue;

use crate::sampler::Timing;

/// How calls are timed: samples of many calls, back to back on one queue, between two events of the device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceTime {
    /// Samples.
    pub samples: usize,
    /// Microseconds of device time in a sample, about; three calls at least.
    pub sample: f64,
}

impl Default for DeviceTime {
    fn default() -> Self {
        DeviceTime { samples: 11, sample: 8000.0 }
    }
}

impl DeviceTime {
    /// Enough to rank variants.
    pub(super) fn brief(self) -> DeviceTime {
        DeviceTime { samples: 3, sample: self.sample / 4.0 }
    }

    /// Microseconds of a call; `call` is told how many were before it.
    pub(super) fn measure(
        self,
        queue: &mut Queue,
        mut call: impl FnMut(&mut Queue, usize) -> Result<()>,
    ) -> Result<Timing> {
        self.measure_calls(queue, &mut call)
    }

    fn measure_calls(
        self,
        queue: &mut Queue,
        call: &mut dyn FnMut(&mut Queue, usize) -> Result<()>,
    ) -> Result<Timing> {
        let mut next = 0;
        let mut calls = |queue: &mut Queue, count: usize| -> Result<f64> {
            let start = queue.mark()?;
            for _ in 0..count {
                call(queue, next)?;
                next += 1;
            }
            Ok(queue.mark()?.microseconds_since(&start)? / count as f64)
        };
        calls(queue, 3)?;
        let estimate = calls(queue, 3)?;
        let count = ((self.sample / estimate.max(2.0)) as usize).clamp(3, 400);
        let times = (0..self.samples).map(|_| calls(queue, count));
        Ok(Timing::of(times.collect::<Result<_>>()?, count as u64))
    }
}
