//! The benchmark of segments and axes on a GPU: every length there is, verified, then timed; bytes are those of input, offsets and results.

use regex_lite::Regex;
use serde::Serialize;
use warpfold::cuda::{Buffer, Gpu};
use warpfold::kernel::{DeviceSegments, Machine, ReduceMany};
use warpfold::{Accuracy, Layout, Op, Result};

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

/// Numbers from -1 to 1.
fn numbers(n: u64) -> Vec<f32> {
    let mut random = Random(1);
    (0..n).map(|_| (random.next() >> 40) as f32 / (1 << 23) as f32 - 1.0).collect()
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
    let host = numbers(n);
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

/// Shapes of about `n` elements, and the axis that is folded.
fn axes(n: u64) -> Vec<(Layout, i64)> {
    let side = n.isqrt();
    let c = |shape: &[u64], axis| (Layout::c(shape).expect("the shape is small"), axis);
    let mut all = vec![
        c(&[side, side], 0),
        c(&[side, side], 1),
        c(&[n / 4, 4], 0),
        c(&[n / 4, 4], 1),
        c(&[4, n / 4], 0),
        c(&[4, n / 4], 1),
        c(&[3, n / 3], 0),
        c(&[n / 3, 3], 0),
    ];
    let middle = [512, 3, n / (512 * 3 * 512), 512];
    all.extend((0..4).map(|axis| c(&[middle[0], middle[1], middle[3], middle[2]], axis)));
    let (turned, _) = c(&[side, side], 0);
    all.push((turned.transposed(), 0));
    all
}

/// Measures sums over axes of about `n` f32.
///
/// # Errors
/// [`Error::Device`](warpfold::Error::Device).
pub fn sums_over_axes(
    gpu: &Gpu,
    n: u64,
    filter: &Regex,
    time: DeviceTime,
    mut tell: impl FnMut(&SegmentRow),
) -> Result<Vec<SegmentRow>> {
    let host = numbers(n);
    let x = gpu.upload(&host)?;
    let mut rows = Vec::new();
    for (layout, axis) in axes(n) {
        let elements = layout.shape().iter().product::<u64>();
        for accuracy in [Accuracy::Fast, Accuracy::Exact] {
            let word = if accuracy == Accuracy::Fast { "fast" } else { "exact" };
            let transposed = if layout.axes()[0].stride == 1 { " transposed" } else { "" };
            let name = format!("sum/f32/{word}/{:?} axis {axis}{transposed}", layout.shape());
            if !filter.is_match(&name) {
                continue;
            }
            let reduce = Machine::reduce_axes(gpu, &x, &layout, &[axis])?.accuracy(accuracy);
            let expected = by_rows(&host, &layout, axis as usize);
            if let Some(row) = timed(gpu, name, &reduce, elements, 0, &expected, time)? {
                tell(&row);
                rows.push(row);
            }
        }
    }
    Ok(rows)
}

/// Sums over an axis in f64, and how many elements are in each.
fn by_rows(x: &[f32], layout: &Layout, axis: usize) -> Vec<(f64, u64)> {
    let shape = layout.shape();
    let (inner, length): (u64, u64) = (shape[axis + 1..].iter().product(), shape[axis]);
    let outputs = shape.iter().product::<u64>() / length;
    let mut sums = vec![(0.0, length); outputs as usize];
    let strides: Vec<u64> = layout.axes().iter().map(|axis| axis.stride.unsigned_abs()).collect();
    let mut indices = vec![0u64; shape.len()];
    for place in 0..outputs * length {
        let at: u64 = indices.iter().zip(&strides).map(|(index, stride)| index * stride).sum();
        let output = place / (length * inner) * inner + place % inner;
        sums[output as usize].0 += f64::from(x[at as usize]);
        for (index, length) in indices.iter_mut().zip(&shape).rev() {
            *index += 1;
            if *index < *length {
                break;
            }
            *index = 0;
        }
    }
    sums
}

#[allow(clippy::too_many_arguments, reason = "one case, told in full")]
fn row(
    gpu: &Gpu,
    name: String,
    reduce: &ReduceMany<'_, Gpu, f32>,
    host: &[f32],
    segments: u64,
    offset_bytes: u64,
    bounds: impl Fn(u64) -> u64,
    time: DeviceTime,
) -> Result<Option<SegmentRow>> {
    let sums = |k: u64| {
        let part = &host[bounds(k) as usize..bounds(k + 1) as usize];
        (part.iter().map(|&x| f64::from(x)).sum(), part.len() as u64)
    };
    let expected: Vec<(f64, u64)> = (0..segments).map(sums).collect();
    let elements = bounds(segments) - bounds(0);
    timed(gpu, name, reduce, elements, offset_bytes * (segments + 1), &expected, time)
}

/// A case verified, then timed.
fn timed(
    gpu: &Gpu,
    name: String,
    reduce: &ReduceMany<'_, Gpu, f32>,
    elements: u64,
    offset_bytes: u64,
    expected: &[(f64, u64)],
    time: DeviceTime,
) -> Result<Option<SegmentRow>> {
    let segments = expected.len() as u64;
    let plan = match reduce.plan(Op::Sum) {
        Err(warpfold::Error::Unsupported { .. }) => return Ok(None),
        plan => plan?,
    };
    let found = reduce.sum()?;
    let wrong =
        (0..segments).zip(found.iter().zip(expected)).find_map(|(k, (&found, &(sum, length)))| {
            let tolerance = 2f64.powi(-22) * (1.0 + length as f64);
            let near = (f64::from(found) - sum).abs() <= tolerance;
            (!near).then(|| format!("output {k} of {length} elements: {found}, not {sum}"))
        });
    let bytes = 4 * elements + offset_bytes + 4 * segments;
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
        let faults = gpu.upload(&[0xffu8; ReduceMany::<Gpu, f32>::FAULT_BYTES])?;
        let launches =
            reduce.launches(Op::Sum, out.address(), workspace.address(), faults.address())?;
        // SAFETY: all of it outlives the queue's work: `measure` waits for it.
        let timed = time.measure(&mut queue, |queue, _| unsafe { queue.start_many(&launches) })?;
        row.microseconds = timed.median;
        row.bytes_per_second = bytes as f64 / timed.median * 1e6;
    }
    Ok(Some(row))
}
