//! The benchmark of segments on a GPU: every length there is, verified, then timed; bytes are those of input, offsets and results.

use regex_lite::Regex;
use serde::Serialize;
use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::{DeviceSegments, ReduceSegments};
use warpfold::{Accuracy, Op, Result};

use super::device_time::DeviceTime;

/// Sebastiano Vigna's splitmix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A case that was measured, or why its results were wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SegmentRow {
    /// Such as `sum/f32/fast/every 16`.
    pub name: String,
    /// Elements.
    pub elements: u64,
    /// Segments.
    pub segments: u64,
    /// Bytes of input, offsets and results.
    pub bytes: u64,
    /// Microseconds of device time, the median.
    pub microseconds: f64,
    /// Bytes over that time.
    pub bytes_per_second: f64,
    /// The launch.
    pub plan: String,
    /// What was wrong; then nothing was timed.
    pub wrong: Option<String>,
}

/// How an array is cut.
enum Cut {
    Every(u64),
    Offsets(Vec<u64>),
}

/// Lengths, of about `n` elements.
fn cuts(n: u64) -> Vec<(String, Cut)> {
    let every =
        [1, 3, 16, 31, 256, 4096, 1 << 16, 1 << 24, n].into_iter().filter(|&length| length <= n);
    let mut all: Vec<_> =
        every.map(|length| (format!("every {length}"), Cut::Every(length))).collect();
    let mut random = Random(7);
    let mut offsets = vec![0];
    while let Some(&end) = offsets.last().filter(|&&end| end < n) {
        offsets.push((end + random.next() % 65).min(n));
    }
    all.push(("random up to 64".into(), Cut::Offsets(offsets)));
    // Lengths by rank: the k-th longest of 2^16 has n / (k H) elements, shuffled.
    let count = (n / 4096).clamp(1, 1 << 16);
    let harmonic: f64 = (1..=count).map(|k| 1.0 / k as f64).sum();
    let mut lengths: Vec<u64> =
        (1..=count).map(|k| (n as f64 / (k as f64 * harmonic)) as u64).collect();
    for k in (1..lengths.len()).rev() {
        lengths.swap(k, (random.next() % (k as u64 + 1)) as usize);
    }
    all.push(("Zipf".into(), Cut::Offsets(ends(lengths))));
    let tiny = (n / 256).min(1 << 20);
    let giant = (0..=tiny).map(|k| if k == tiny / 2 { n - 4 * tiny } else { 4 }).collect();
    all.push(("one giant among tiny ones".into(), Cut::Offsets(ends(giant))));
    all
}

fn ends(lengths: Vec<u64>) -> Vec<u64> {
    let mut end = 0;
    let next = lengths.into_iter().map(|length| {
        end += length;
        end
    });
    std::iter::once(0).chain(next).collect()
}

/// Measures sums of the segments of `n` f32; each row is told as it is known.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device).
pub fn segments(
    gpu: &Gpu,
    n: u64,
    filter: &Regex,
    time: DeviceTime,
    mut tell: impl FnMut(&SegmentRow),
) -> Result<Vec<SegmentRow>> {
    let mut random = Random(1);
    let host: Vec<f32> =
        (0..n).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect();
    let x = gpu.upload(&host)?;
    let mut rows = Vec::new();
    for (cut_name, cut) in cuts(n) {
        for accuracy in [Accuracy::Fast, Accuracy::Exact] {
            let word = if accuracy == Accuracy::Fast { "fast" } else { "exact" };
            let name = format!("sum/f32/{word}/{cut_name}");
            if !filter.is_match(&name) {
                continue;
            }
            let row = match &cut {
                Cut::Every(length) => {
                    let whole = n / length * length;
                    let reduce = gpu
                        .reduce_segments(x.slice(..whole as usize), DeviceSegments::Every(*length));
                    let bounds = |k: u64| k * length;
                    row(
                        gpu,
                        name,
                        &reduce.accuracy(accuracy),
                        &host,
                        whole / length,
                        0,
                        bounds,
                        time,
                    )?
                }
                Cut::Offsets(offsets) => {
                    let on_device: Buffer<u64> = gpu.upload(offsets)?;
                    let reduce = gpu.reduce_segments(&x, &on_device);
                    let bounds = |k: u64| offsets[k as usize];
                    let segments = offsets.len() as u64 - 1;
                    row(gpu, name, &reduce.accuracy(accuracy), &host, segments, 8, bounds, time)?
                }
            };
            if let Some(row) = row {
                tell(&row);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

#[allow(clippy::too_many_arguments, reason = "one case, told in full")]
fn row(
    gpu: &Gpu,
    name: String,
    reduce: &ReduceSegments<'_, Gpu, f32>,
    host: &[f32],
    segments: u64,
    offset_bytes: u64,
    bounds: impl Fn(u64) -> u64,
    time: DeviceTime,
) -> Result<Option<SegmentRow>> {
    let plan = match reduce.plan(Op::Sum) {
        Err(warpfold::Error::Unsupported { .. }) => return Ok(None),
        plan => plan?,
    };
    let found = reduce.sum()?;
    let wrong = (0..segments).zip(&found).find_map(|(k, &found)| {
        let part = &host[bounds(k) as usize..bounds(k + 1) as usize];
        let sum: f64 = part.iter().map(|&x| f64::from(x)).sum();
        let tolerance = 2f64.powi(-22) * (1.0 + part.len() as f64);
        let near = (f64::from(found) - sum).abs() <= tolerance;
        (!near).then(|| format!("segment {k} of {} elements: {found}, not {sum}", part.len()))
    });
    let elements = bounds(segments) - bounds(0);
    let bytes = 4 * elements + offset_bytes * (segments + 1) + 4 * segments;
    let mut row = SegmentRow {
        name,
        elements,
        segments,
        bytes,
        microseconds: 0.0,
        bytes_per_second: 0.0,
        plan: plan.to_string(),
        wrong,
    };
    if row.wrong.is_none() {
        let mut queue = gpu.queue()?;
        let out = gpu.alloc::<f32>(segments as usize)?;
        let workspace = gpu.alloc::<u8>(plan.workspace as usize)?;
        let faults = gpu.upload(&[0xffu8; ReduceSegments::<Gpu, f32>::FAULT_BYTES])?;
        let launches =
            reduce.launches(Op::Sum, out.address(), workspace.address(), faults.address())?;
        // SAFETY: all of it outlives the queue's work: `measure` waits for it.
        let timed = time.measure(&mut queue, |queue, _| unsafe { queue.start_many(&launches) })?;
        row.microseconds = timed.median;
        row.bytes_per_second = bytes as f64 / timed.median * 1e6;
    }
    Ok(Some(row))
}
