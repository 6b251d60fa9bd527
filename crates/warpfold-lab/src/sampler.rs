//! Timing: warm-up, then repeats in alternation until a budget is spent; a sample of many batched calls where one is short.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Where time comes from; tests bring their own.
pub trait Clock {
    /// Time since some fixed moment.
    fn now(&mut self) -> Duration;
}

/// The machine's monotonic clock.
#[derive(Debug, Clone, Copy)]
pub struct Monotonic(Instant);

impl Default for Monotonic {
    fn default() -> Self {
        Monotonic(Instant::now())
    }
}

impl Clock for Monotonic {
    fn now(&mut self) -> Duration {
        self.0.elapsed()
    }
}

/// How long and how often to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Each subject runs so long before anything is recorded, and at least once.
    pub warm_up: Duration,
    /// Recording of a subject stops after so much of its own time.
    pub budget: Duration,
    /// Samples recorded even if the budget is spent.
    pub min_samples: usize,
    /// Samples recorded at most.
    pub max_samples: usize,
    /// Calls are batched until a sample lasts about so long, far above the clock's own cost (tens of ns).
    pub shortest_sample: Duration,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            warm_up: Duration::from_millis(20),
            budget: Duration::from_millis(250),
            min_samples: 5,
            max_samples: 1000,
            shortest_sample: Duration::from_micros(100),
        }
    }
}

/// Seconds of one call, over all samples.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Timing {
    /// Samples taken.
    pub samples: usize,
    /// Calls in each sample.
    pub batch: u64,
    /// Seconds: the fastest sample.
    pub min: f64,
    /// Seconds: a quarter of the samples were faster.
    pub q1: f64,
    /// Seconds: half of the samples were faster. The figure that is quoted.
    pub median: f64,
    /// Seconds: three quarters of the samples were faster.
    pub q3: f64,
}

impl Timing {
    /// Statistics of samples in seconds per call.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(mut seconds: Vec<f64>, batch: u64) -> Self {
        assert!(!seconds.is_empty(), "a timing needs at least one sample");
        seconds.sort_by(f64::total_cmp);
        let quantile = |q: f64| {
            let place = q * (seconds.len() - 1) as f64;
            let (low, high) = (seconds[place.floor() as usize], seconds[place.ceil() as usize]);
            low + (high - low) * place.fract()
        };
        Timing {
            samples: seconds.len(),
            batch,
            min: seconds[0],
            q1: quantile(0.25),
            median: quantile(0.5),
            q3: quantile(0.75),
        }
    }

    /// Half the distance between the quartiles as a fraction of the median.
    pub fn spread(&self) -> f64 {
        (self.q3 - self.q1) / 2.0 / self.median
    }
}

/// Times closures against each other.
#[derive(Debug, Clone, Copy, Default)]
pub struct Sampler<C = Monotonic> {
    /// How long and how often.
    pub sampling: Sampling,
    /// The clock.
    pub clock: C,
}

impl<C: Clock> Sampler<C> {
    /// Times one subject.
    pub fn measure(&mut self, mut subject: impl FnMut()) -> Timing {
        let [timing] = self.alternate([&mut subject]);
        timing
    }

    /// Times several subjects, one sample of each in turn, so that what disturbs the machine disturbs all of them.
    pub fn alternate<const K: usize>(
        &mut self,
        mut subjects: [&mut dyn FnMut(); K],
    ) -> [Timing; K] {
        let batches = subjects.each_mut().map(|subject| self.warm_up(subject));
        let mut samples = [(); K].map(|()| Vec::new());
        let budget = self.sampling.budget * K as u32;
        let start = self.clock.now();
        loop {
            for ((subject, &batch), samples) in subjects.iter_mut().zip(&batches).zip(&mut samples)
            {
                let before = self.clock.now();
                for _ in 0..batch {
                    subject();
                }
                samples.push((self.clock.now() - before).as_secs_f64() / batch as f64);
            }
            let taken = samples.first().map_or(usize::MAX, Vec::len);
            let spent = self.clock.now() - start >= budget;
            if taken >= self.sampling.max_samples || spent && taken >= self.sampling.min_samples {
                break;
            }
        }
        let mut batches = batches.into_iter();
        samples.map(|seconds| Timing::of(seconds, batches.next().unwrap_or(1)))
    }

    /// Runs a subject for the warm-up's time and returns how many calls fill the shortest sample.
    fn warm_up(&mut self, subject: &mut dyn FnMut()) -> u64 {
        let start = self.clock.now();
        let mut calls = 0u32;
        let mut last;
        loop {
            let before = self.clock.now();
            subject();
            calls += 1;
            let now = self.clock.now();
            last = now - before;
            if now - start >= self.sampling.warm_up {
                break;
            }
        }
        // The mean of a warm-up is dear by its first calls (page faults, sleeping threads); the last call may be dear by chance.
        let mean = (self.clock.now() - start) / calls;
        let call = last.min(mean).max(Duration::from_nanos(1));
        (self.sampling.shortest_sample.as_nanos() / call.as_nanos()).clamp(1, 1 << 20) as u64
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    /// A clock that only work moves.
    #[derive(Clone, Default)]
    struct Worked(Rc<Cell<Duration>>);

    impl Worked {
        fn work(&self, nanos: u64) {
            self.0.set(self.0.get() + Duration::from_nanos(nanos));
        }
    }

    impl Clock for Worked {
        fn now(&mut self) -> Duration {
            self.0.get()
        }
    }

    fn sampler() -> (Sampler<Worked>, Worked) {
        let clock = Worked::default();
        (Sampler { sampling: Sampling::default(), clock: clock.clone() }, clock)
    }

    #[test]
    fn a_steady_subject_has_its_own_time_and_no_spread() {
        let (mut sampler, clock) = sampler();
        let timing = sampler.measure(|| clock.work(5_000_000));
        assert_eq!(timing.batch, 1);
        assert_eq!(timing.samples, 50);
        assert!((timing.median - 0.005).abs() < 1e-12 && timing.spread() < 1e-9, "{timing:?}");
    }

    #[test]
    fn short_subjects_are_batched_and_long_ones_are_repeated_all_the_same() {
        let (mut sampler, clock) = sampler();
        let [short, long] =
            sampler.alternate([&mut || clock.work(50), &mut || clock.work(1_000_000_000)]);
        assert_eq!(short.batch, 2000);
        assert!((short.median - 50e-9).abs() < 1e-15, "{short:?}");
        assert_eq!((long.samples, short.samples), (5, 5));
    }

    #[test]
    fn one_disturbed_sample_moves_no_median() {
        let timing = Timing::of(vec![1.0, 900.0, 1.0, 1.0, 1.0], 1);
        assert_eq!((timing.median, timing.q1, timing.q3, timing.min), (1.0, 1.0, 1.0, 1.0));
    }

    #[test]
    fn quartiles_lie_between_samples() {
        let timing = Timing::of(vec![4.0, 1.0, 3.0, 2.0], 1);
        assert_eq!((timing.q1, timing.median, timing.q3), (1.75, 2.5, 3.25));
        assert_eq!(timing.spread(), 0.3);
    }
}
