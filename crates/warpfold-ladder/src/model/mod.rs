//! Time without a GPU: what a launch takes, from what the simulator counts and what is known of a device.

mod code;
mod compare;
mod device;
mod library;
mod path;
mod predict;
mod queue;
mod sample;

pub use code::{Code, Machine, Pipe, Wait};
pub use compare::{Compared, Set, against, of_papers, of_results};
pub use library::predict_library;
pub use device::{Atomics, DEVICES, Device, H200, Holds, Lanes, Latency};
pub use predict::{Launching, Limit, Prediction, predict};
pub use queue::interval;
pub use sample::{Alone, Demand, Sample};
