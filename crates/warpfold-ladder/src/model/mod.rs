//! Time without a GPU: what a launch takes, from what the simulator counts and what is known of a device.
//!
//! ```text
//! PTX -> Code (issue slots by pipe)  \
//! simulated blocks -> counters, Paths -> Sample (what a block asks for and waits for) -> interval (mean value analysis) -> Prediction
//! Device (clocks, rates, latencies)  /
//! ```
//!
//! A block asks servers for service (whoever starts blocks, schedulers, shared memory, memory, atomic units) and waits for latencies between. The roofline says that no
//! launch is faster than its busiest server (S. Williams et al., 2009); Little's law, that a multiprocessor which holds few blocks is as slow as their latencies (V. Volkov,
//! *Better Performance at Lower Occupancy*, 2010; S. Hong, H. Kim, *An Analytical Model for a GPU Architecture with Memory-level and Thread-level Parallelism Awareness*, ISCA 2009). Mean value
//! analysis is both at once and what lies between. No constant is fitted to a rung: [`Device`] names the source of each.

mod advice;
mod code;
mod compare;
mod device;
mod library;
mod measured;
mod path;
mod predict;
mod queue;
mod sample;
mod surface;
mod values;

pub use advice::{Advice, Change};
pub use code::{Code, Machine, Pipe, Wait};
pub use compare::{Compared, Set, against, of_papers, of_results, published};
pub use device::{Atomics, DEVICES, Device, H200, Holds, Lanes, Latency};
pub use library::{predict_library, reduction_of};
pub use measured::measured;
pub use predict::{Launching, Limit, Prediction, predict};
pub use queue::interval;
pub use sample::{Alone, Demand, Sample};
pub use surface::{Standing, Surface};

/// The errors of the model over all that was measured of rungs on an H200: the median and the worst, in percent, rounded up, as `docs/predictions.md` lists them; a test compares.
pub const ERROR: [f64; 2] = [5.0, 28.0];
