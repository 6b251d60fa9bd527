//! The run: limits, then verify and time every row, then what it takes on the host.

use regex_lite::Regex;
use warpfold::cuda::{Buffer, Gpu, Queue};
use warpfold::kernel::AnyReduce;
use warpfold::partial::Finish;
use warpfold::plan::Shape;
use warpfold::{Accuracy, DType, Element, Op, Policy, Result, with_element};

use super::cases::{Case, cases};
use super::data::Data;
use super::device_time::DeviceTime;
use super::latency;
use super::limits::{Limits, Variant};
use super::pool::{POOL, Pool};
use super::report::{
    Device, Latency, Limits as Found, Peer, Reading, Report, Row, SCHEMA, Temperature,
};
use super::table::LARGE;
use super::verify::verify;
use crate::report::{Failure, Header};
use crate::sampler::Timing;

/// What to measure and how.
#[derive(Debug, Clone)]
pub struct Options {
    /// Rows whose name matches, such as `sum/f32/fast/2GiB/cold`.
    pub filter: Regex,
    /// How to time.
    pub time: DeviceTime,
    /// The revision of the sources, to be kept in the report.
    pub revision: Option<String>,
    /// First uses of kernels, which only other processes can measure: see [`first_uses`](super::first_uses).
    pub first_uses: Vec<Latency>,
    /// Other libraries' figures of the same run.
    pub peers: Vec<Peer>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            filter: Regex::new("").expect("the empty expression matches everything"),
            time: DeviceTime::default(),
            revision: None,
            first_uses: Vec::new(),
            peers: Vec::new(),
        }
    }
}

/// Is told of the run as it goes; `()` listens to nothing.
pub trait Observer {
    /// So many rows will be measured.
    fn planned(&mut self, rows: usize) {
        let _ = rows;
    }

    /// Something is being prepared: no rows for a while.
    fn preparing(&mut self, what: &str) {
        let _ = what;
    }

    /// A row was measured, or left out because the GPU has no such reduction (`None`).
    fn row(&mut self, row: Option<&Row>) {
        let _ = row;
    }

    /// A row was not timed.
    fn failed(&mut self, failure: &Failure) {
        let _ = failure;
    }
}

impl Observer for () {}

/// Measures a GPU. Wrong results are not timed: they are in the report's failures.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device): also if it has less than some 5 GiB of free memory.
pub fn run(gpu: &Gpu, options: &Options, observer: &mut dyn Observer) -> Result<Report> {
    let header = Header::now(SCHEMA, options.revision.clone());
    let cases: Vec<Case> =
        cases().into_iter().filter(|case| options.filter.is_match(&case.name())).collect();
    observer.planned(cases.len());
    observer.preparing("4 GiB of arrays and the read ceiling");
    let mut bench = Bench::new(gpu, options.time)?;
    let mut limits = bench.limits()?;
    let (mut rows, mut failures) = (Vec::new(), Vec::new());
    let mut ceiling = None;
    for case in cases {
        if ceiling.is_none_or(|(dtype, _)| dtype != case.dtype) {
            // Anew for each type, so that a device that slows down does so for both.
            ceiling = Some((case.dtype, bench.ceiling()?));
        }
        let rate = ceiling.map(|(_, rate)| rate);
        let row = with_element!(case.dtype, T => bench.row::<T>(case, rate)?);
        match row {
            Measured::Row(row) => {
                observer.row(Some(&row));
                rows.push(row);
            }
            Measured::Undefined => observer.row(None),
            Measured::Wrong(error) => {
                let failure = Failure { name: case.name(), error };
                observer.failed(&failure);
                failures.push(failure);
            }
        }
    }
    limits.empty = limits.empty.min(bench.limits.empty(&mut bench.queue, options.time)?);
    observer.preparing("latencies");
    let mut latencies = options.first_uses.clone();
    latencies.extend(latency::on_host(gpu, &mut bench.queue)?);
    Ok(Report {
        header,
        device: device(gpu),
        method: method(options.time),
        limits,
        rows,
        latencies,
        failures,
        peers: options.peers.clone(),
    })
}

fn method(time: DeviceTime) -> String {
    format!(
        "device events around calls back to back on one stream, median of {} samples of about {} ms; cold: arrays in rotation \
         through {} GiB, hot: the same array again",
        time.samples,
        time.sample / 1e3,
        POOL >> 30
    )
}

/// The GPU, for reports.
pub(super) fn device(gpu: &Gpu) -> Device {
    let facts = gpu.description();
    Device {
        name: facts.name.clone(),
        compute: facts.compute,
        multiprocessors: facts.multiprocessors,
        memory: facts.memory,
        l2: facts.l2,
        driver: facts.release.clone(),
        cuda: facts.driver,
        clocks: facts.clocks,
    }
}

/// What became of a row.
enum Measured {
    Row(Row),
    /// The GPU has no such reduction.
    Undefined,
    Wrong(String),
}

/// The arrays and where results go.
pub(super) struct Bench<'a> {
    gpu: &'a Gpu,
    pub(super) queue: Queue,
    pool: Pool,
    result: Buffer<u64>,
    limits: Limits,
    reader: Option<Variant>,
    time: DeviceTime,
}

impl<'a> Bench<'a> {
    pub(super) fn new(gpu: &'a Gpu, time: DeviceTime) -> Result<Bench<'a>> {
        Ok(Bench {
            gpu,
            queue: gpu.queue()?,
            pool: Pool::new(gpu, DType::F32)?,
            result: gpu.alloc(8)?,
            limits: Limits::load(gpu)?,
            reader: None,
            time,
        })
    }

    /// The limits, searched for.
    fn limits(&mut self) -> Result<Found> {
        let empty = self.limits.empty(&mut self.queue, self.time)?;
        let mut readings: Vec<Reading> = Vec::new();
        for (bytes, temperature) in [
            (LARGE, Temperature::Cold),
            (POOL as u64, Temperature::Cold),
            (16 << 20, Temperature::Hot),
        ] {
            let (variant, reading) =
                self.limits.fastest(&mut self.queue, &self.pool, bytes, temperature, self.time)?;
            self.reader.get_or_insert(variant);
            readings.push(reading);
        }
        Ok(Found { empty, readings })
    }

    /// The rate of the fastest reading kernel now, over large arrays.
    fn ceiling(&mut self) -> Result<f64> {
        let variant = self.reader.expect("limits come first");
        let (cold, time) = (Temperature::Cold, self.time);
        let us = self.limits.read(&mut self.queue, &self.pool, LARGE, cold, variant, time)?;
        Ok(LARGE as f64 / us * 1e6)
    }

    /// Verifies and times a row.
    fn row<T: Element>(&mut self, case: Case, rate: Option<f64>) -> Result<Measured> {
        let Case { op, dtype, accuracy, n, temperature, data } = case;
        self.pool.hold(dtype, data)?;
        match verify::<T>(self.gpu, &self.pool, op, accuracy) {
            None => return Ok(Measured::Undefined),
            Some(Err(wrong)) => return Ok(Measured::Wrong(wrong)),
            Some(Ok(())) => {}
        }
        let timed = self.time(case, None, self.time)?;
        let bytes = case.bytes();
        let large = temperature == Temperature::Cold && bytes >= LARGE;
        Ok(Measured::Row(Row {
            op,
            dtype,
            accuracy,
            n,
            bytes,
            temperature,
            data,
            microseconds: timed.median,
            quartiles: Some([timed.q1, timed.q3]),
            bytes_per_second: bytes as f64 / timed.median * 1e6,
            ceiling: rate.filter(|_| large),
        }))
    }

    /// Lets the pool hold uniform data of a type.
    pub(super) fn hold(&mut self, dtype: DType) -> Result<()> {
        self.pool.hold(dtype, Data::Uniform)
    }

    /// Times a case, in another shape than the plan's where one is given.
    pub(super) fn time(
        &mut self,
        case: Case,
        shape: Option<Shape>,
        time: DeviceTime,
    ) -> Result<Timing> {
        let Bench { gpu, queue, pool, result, .. } = self;
        let policy = Policy { accuracy: case.accuracy, ..Policy::default() };
        let mut leaves = LeftOnDevice::Unknown;
        time.measure(queue, |queue, k| {
            let k = if case.temperature == Temperature::Hot { 0 } else { k };
            let x = pool.array(case.dtype, case.n, k);
            let mut reduce = match case.op {
                Op::Dot => AnyReduce::pair(*gpu, x, pool.array(case.dtype, case.n, k + 1))?,
                _ => AnyReduce::new(*gpu, x),
            }
            .policy(policy);
            if let Some(shape) = shape {
                reduce = reduce.shape(shape);
            }
            // SAFETY: pool and result outlive the queue's work, which `measure` waits for; nothing else uses the result.
            unsafe { leaves.start(queue, &reduce, case.op, result.address()) }
        })
    }
}

/// What a timed reduction leaves on the device: its value, where its own kernel writes that. Others are finished on the host, or by a launch
/// more that takes the same few microseconds whatever the array is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeftOnDevice {
    /// Not yet asked for.
    Unknown,
    /// Its value.
    Value,
    /// A record that the host finishes.
    Nothing,
}

impl LeftOnDevice {
    /// Starts a reduction that is timed, and finds out what it leaves.
    ///
    /// # Safety
    /// As [`Queue::start`].
    ///
    /// # Errors
    /// [`Error::Device`](warpfold::Error::Device).
    pub unsafe fn start(
        &mut self,
        queue: &mut Queue,
        reduce: &AnyReduce<'_>,
        op: Op,
        value: u64,
    ) -> Result<()> {
        if *self == LeftOnDevice::Unknown {
            *self = match warpfold::kernel::is_finished_by_its_fold(&reduce.plan(op)?) {
                true => LeftOnDevice::Value,
                false => LeftOnDevice::Nothing,
            };
        }
        if *self == LeftOnDevice::Value {
            // SAFETY: as the caller promises.
            return unsafe { queue.start_any(reduce, op, Finish::default(), value) };
        }
        // SAFETY: as the caller promises.
        unsafe { queue.start_for_time(reduce, op) }
    }
}

/// Bytes of the arrays whose reading is the peak of cold arrays.
pub const READ_BYTES: u64 = LARGE;

/// The fastest reading of arrays of so many bytes, and nothing else.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device): also if the device has less than some 5 GiB of free memory.
pub fn read_peak(gpu: &Gpu, bytes: u64, temperature: Temperature) -> Result<Reading> {
    let bench = Bench::new(gpu, DeviceTime::default())?;
    let Bench { mut queue, pool, limits, time, .. } = bench;
    Ok(limits.fastest(&mut queue, &pool, bytes, temperature, time)?.1)
}

/// A case of the accuracy that the GPU has for a reduction of large arrays.
pub(super) fn case(op: Op, dtype: DType, bytes: u64, accuracy: Accuracy) -> Case {
    let n = bytes / dtype.size() as u64;
    Case { op, dtype, accuracy, n, temperature: Temperature::Cold, data: Data::Uniform }
}
