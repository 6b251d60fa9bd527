//! Maps and operators of one's own on a GPU: their bits beside the processor's, their speed beside reading alone, and how long a new expression takes.
//!
//! `cuda_maps [BYTES [all | whole | rows | parts | operators | shapes]]` prints a line of JSON for each map and type, over arrays of so many bytes each, 2^29 unless given; of rows, beside
//! which the plain sums of the same rows are timed, a line for each length; `parts` alone of columns, segments of several lengths and keys, `operators` alone of operators,
//! `shapes` of these in several shapes of their launches.

#[path = "cuda_maps/operators.rs"]
mod operators;

use std::time::{Instant, SystemTime, UNIX_EPOCH};

use warpfold::cuda::{Gpu, Queue, RawKernel};
use warpfold::kernel::{
    AnyBuffer, AnyReduceBatched, AnySegments, AnyView, BatchedLaunch, MapGroups, MapLaunches,
    MapParts,
};
use warpfold::map::{Folded, HostArray, Map, Operand, Reduction};
use warpfold::partial::Finish;
use warpfold::shape::{Folding, Layout};
use warpfold::{Column, Element, Op, Policy, Segments, bf16, f16, reduce_segments};
use warpfold_engine::{self as engine, Indices, Parts};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

/// Launches between two marks, and how many times both are measured in turn.
const LAUNCHES: usize = 10;
const ROUNDS: usize = 9;

/// A map: the reduction, the condition, how many of the arrays it reads, and the percentage of the read ceiling that is asked of it.
struct Case {
    reduction: &'static str,
    keep: Option<&'static str>,
    arrays: usize,
    target: Option<u32>,
}

const fn case(reduction: &'static str, arrays: usize, target: u32) -> Case {
    Case { reduction, keep: None, arrays, target: Some(target) }
}

const fn more(reduction: &'static str, arrays: usize, keep: Option<&'static str>) -> Case {
    Case { reduction, keep, arrays, target: None }
}

const FLOATS: &[Case] = &[
    case("sum(abs(x - y))", 2, 96),
    case("mean(x, weights=abs(y))", 2, 90),
    case("cosine(x, y)", 2, 90),
    case("count(x > 0.3)", 1, 98),
    case("argmax(abs(x))", 1, 98),
    case("count(x > y)", 2, 98),
    case("argmax(abs(x - y))", 2, 98),
    case("sum(exp(x))", 1, 70),
    more("sum(log1p(abs(x)))", 1, None),
    more("sum(tanh(x))", 1, None),
    more("sum(sin(x))", 1, None),
    more("sum(x**3)", 1, None),
    more("sum(abs(x))", 1, None),
    more("sum(x * y)", 2, None),
    more("rmse(x, y)", 2, None),
    more("mean(x)", 2, Some("y > 0")),
    more("var(x - y)", 2, None),
    more("sum(select(abs(x - y) < 1, (x - y) * (x - y) * 0.5, abs(x - y) - 0.5))", 2, None),
];

const NARROW: &[Case] = &[
    more("sum(abs(x - y))", 2, None),
    more("count(x > 0.3)", 1, None),
    more("argmax(abs(x))", 1, None),
];

const INTEGERS: &[Case] =
    &[more("sum(x - y)", 2, None), more("count(x > y)", 2, None), more("max(abs(x))", 1, None)];

/// A map of rows: the reduction, the expression of `x`, of `w` with one value a column and of `m` with one a row, and the percentage of the read ceiling
/// that is asked where elements are of 16 bits.
struct RowCase {
    op: Op,
    value: &'static str,
    target: Option<u32>,
}

const fn rows(op: Op, value: &'static str, target: Option<u32>) -> RowCase {
    RowCase { op, value, target }
}

const ROWS: &[RowCase] = &[
    rows(Op::Mean, "x * x", Some(80)),
    rows(Op::Sum, "(x * w)**2", Some(80)),
    rows(Op::Sum, "x * w", Some(80)),
    rows(Op::Sum, "exp(x - m)", Some(80)),
    rows(Op::Sum, "abs(x - m)", Some(80)),
    rows(Op::Max, "x * w", Some(80)),
    rows(Op::Var, "x - m", None),
    rows(Op::L2, "x - m", None),
];
const LENGTHS: &[usize] = &[64, 1000, 1024, 4096, 16384];
/// Elements whose rows are compared with the processor's.
const COMPARED: usize = 1 << 22;

struct Bench {
    gpu: Gpu,
    read: RawKernel,
    bytes: usize,
}

impl Bench {
    fn of_type<T: Element>(&self, both: &[T], cases: &[Case]) -> Outcome<()> {
        let n = both.len() / 2;
        let on = self.gpu.upload(both)?;
        let arrays = [HostArray::of(&both[..n]), HostArray::of(&both[n..])];
        let views: [AnyView<'_>; 2] = [on.slice(..n).into(), on.slice(n..).into()];
        let out = self.gpu.upload(&[0u64; 64])?;
        for case in cases {
            let reduction: Reduction = case.reduction.parse()?;
            let names = [("x", T::DTYPE), ("y", T::DTYPE)];
            let of = &names[..case.arrays];
            let map = Map::all(&[reduction], case.keep, of, Policy::default())?;
            let result =
                |folded: &Folded| format!("{:?}", map.results(folded, Finish::default())[0]);
            let here = result(&map.fold(&arrays[..case.arrays], 0)?);
            let there =
                result(&warpfold::kernel::map::fold(&self.gpu, &map, &views[..case.arrays], 0)?);
            let launches = MapLaunches::new(&self.gpu, &map, &views[..case.arrays], None)?;
            let bytes = case.arrays * self.bytes;
            let [read, time] =
                self.times(bytes, on.address(), out.address(), launches.launches())?;
            let percent = (1000.0 * read / time).round() / 10.0;
            let target = case.target.map_or("null".into(), |target| target.to_string());
            let keep = case.keep.map_or("null".into(), |keep| format!("\"{keep}\""));
            println!(
                "{{\"map\": \"{}\", \"where\": {keep}, \"dtype\": \"{}\", \"bytes\": {bytes}, \"launches\": {}, \
                 \"has_bits_of_processor\": {}, \"read_us\": {read:.2}, \"us\": {time:.2}, \"percent\": {percent}, \"asked_percent\": {target}}}",
                case.reduction,
                T::DTYPE,
                launches.launches().len(),
                here == there
            );
            if here != there {
                eprintln!("{}: {there}, and on the processor {here}", case.reduction);
            }
        }
        Ok(())
    }

    /// Maps of rows of the first half of an array, beside plain sums of the same rows.
    fn rows_of_type<T: Element>(&self, both: &[T], small: impl Fn(f64) -> T) -> Outcome<()> {
        let on = self.gpu.upload(&both[..both.len() / 2])?;
        let out = self.gpu.upload(&[0u64; 64])?;
        for &length in LENGTHS {
            let count = on.len() / length;
            let (n, compared) = (count * length, (COMPARED / length).min(count));
            let w: Vec<T> = (0..length).map(|k| small(0.5 + (k % 37) as f64 / 40.0)).collect();
            let m: Vec<T> = (0..count).map(|k| small((k % 11) as f64 / 16.0)).collect();
            let (on_w, on_m) = (self.gpu.upload(&w)?, self.gpu.upload(&m)?);
            let x: AnyView<'_> = on.slice(..n).into();
            let plain = self.plain_sums(x, length, [on.address(), out.address()])?;
            for RowCase { op, value, target } in ROWS {
                let named = [("x", x), ("w", (&on_w).into()), ("m", (&on_m).into())];
                let map = self.gpu.map(value, named).rows(length as u64);
                let map = map.per_column("w").per_row("m");
                let there = map.columns(*op, Finish::default())?.remove(0).1;
                let arrays = [
                    HostArray::of(&both[..compared * length]).into(),
                    Operand::of_columns(&w),
                    Operand::of_rows(&m[..compared]),
                ];
                let names = ["x", "w", "m"].map(|name| (name, T::DTYPE));
                let of: Reduction = format!("{op}({value})").parse()?;
                let processors = Map::all(&[of], None, &names, Policy::default())?;
                let every = Segments::every(length as u64);
                let here = reduce_segments(&both[..compared * length], every)?;
                let here = here.mapped(&processors, &arrays, Finish::default())?;
                let same = is_same(&here[0].1[0].1, &there);
                let Some(launch) = map.launch(*op, 0)? else {
                    println!(
                        "{{\"rows\": \"{op}({value})\", \"dtype\": \"{}\", \"length\": {length}, \"has_kernel\": false}}",
                        T::DTYPE
                    );
                    continue;
                };
                let bytes = n * size_of::<T>();
                let [read, time] =
                    self.times(bytes, on.address(), out.address(), launch.launches())?;
                let percent = |time: f64| (1000.0 * read / time).round() / 10.0;
                let target = target.filter(|_| size_of::<T>() == 2 && length >= 1024);
                let target = target.map_or("null".into(), |target| target.to_string());
                println!(
                    "{{\"rows\": \"{op}({value})\", \"dtype\": \"{}\", \"length\": {length}, \"bytes\": {bytes}, \"has_bits_of_processor\": {same}, \
                     \"read_us\": {read:.2}, \"us\": {time:.2}, \"percent\": {}, \"plain_sum_us\": {plain:.2}, \"plain_sum_percent\": {}, \"asked_percent\": {target}}}",
                    T::DTYPE,
                    percent(time),
                    percent(plain)
                );
            }
        }
        Ok(())
    }

    /// Maps of columns, of segments of several lengths and of keys, of the first half of an array.
    fn parts_of_type<T: Element>(&self, both: &[T]) -> Outcome<()> {
        let n = (both.len() / 2).min(1 << 28) >> 16 << 16;
        let (x, on) = (&both[..n], self.gpu.upload(&both[..n])?);
        let out = self.gpu.upload(&[0u64; 64])?;
        let at = [on.address(), out.address()];
        let on: AnyView<'_> = (&on).into();
        let policy = Policy::default();
        let lengths = |most: u32| {
            // Powers of a root of a prime go through all lengths; of nothing there is no mean.
            let mut length = 1u64;
            let mut offsets = vec![0u32];
            while let Some(&last) = offsets.last().filter(|&&last| (last as usize) < n) {
                length = length * 48_271 % 0x7fff_ffff;
                let next = last + 1 + length as u32 % (2 * most - 1);
                offsets.push(next.min(n as u32));
            }
            offsets
        };
        for columns in [4u64, 64, 1024, 1023, 65_536] {
            let rows = n as u64 / columns;
            let shape = [rows, columns];
            let whole = (rows * columns) as usize;
            let (x, on) = (&x[..whole], on.slice(..whole));
            let folding = Folding::of(Layout::c(&shape)?, &[0])?;
            let here = Parts::Axes(folding.form()?, folding);
            self.part(
                &format!("{columns} columns"),
                x,
                on,
                &here,
                MapParts::axes(&shape, &[0])?,
                at,
            )?;
        }
        let mut named: Vec<(String, Vec<u32>)> = [16, 100, 1000, 10_000]
            .map(|most| (format!("segments of {most} on average"), lengths(most)))
            .into();
        // One that is as long as all others together.
        let mut uneven = lengths(16);
        uneven.retain(|&end| end as usize <= n / 4 || end as usize >= 3 * n / 4);
        named.push(("segments of 16 on average and one of half the array".into(), uneven));
        for (name, offsets) in named {
            let there = self.gpu.upload(&offsets)?;
            let here = engine::segments(Segments::offsets(&offsets), n as u64, policy)?;
            self.part(&name, x, on, &here, MapParts::segments((&there).into())?, at)?;
        }
        for most in [100u64, 10_000] {
            let mut key = 1u64;
            let mut keys = vec![0u32; n];
            for at in &mut keys {
                key = key * 48_271 % 0x7fff_ffff;
                *at = (key % most) as u32;
            }
            let begun = Instant::now();
            let groups = MapGroups::by(&self.gpu, &self.gpu.upload(&keys)?)?;
            let grouped = begun.elapsed().as_secs_f64();
            let here = engine::group_by(&keys, n, policy)?;
            let name = format!("{most} keys, grouped in {grouped:.3} s with their copies");
            self.part(&name, x, on, &here, groups.parts(), at)?;
        }
        Ok(())
    }

    /// One way to part an array, by some maps.
    fn part<T: Element>(
        &self,
        name: &str,
        x: &[T],
        on: AnyView<'_>,
        here: &Parts<'_>,
        there: MapParts<'_>,
        at: [u64; 2],
    ) -> Outcome<()> {
        for (op, value) in [(Op::Sum, "abs(x)"), (Op::Mean, "x * x"), (Op::Max, "x + 1")] {
            let map = self.gpu.map(value, [("x", on)]).parts(there.clone());
            let found = map.columns(op, Finish::default())?.remove(0).1;
            let of: Reduction = format!("{op}({value})").parse()?;
            let processors = Map::all(&[of], None, &[("x", T::DTYPE)], Policy::default())?;
            let inputs = [HostArray::of(x)];
            let expected =
                processors.columns(&inputs, here, Indices::OfInput, Finish::default())?;
            let same = expected[0].1[0].1 == found;
            let Some(launch) = map.launch(op, 0)? else {
                println!(
                    "{{\"parts\": \"{name}\", \"map\": \"{op}({value})\", \"has_kernel\": false, \"has_bits_of_processor\": {same}}}"
                );
                continue;
            };
            let bytes = size_of_val(x);
            let [read, time] = self.times(bytes, at[0], at[1], launch.launches())?;
            println!(
                "{{\"parts\": \"{name}\", \"map\": \"{op}({value})\", \"dtype\": \"{}\", \"bytes\": {bytes}, \"has_bits_of_processor\": {same}, \
                 \"read_us\": {read:.2}, \"us\": {time:.2}, \"percent\": {}}}",
                T::DTYPE,
                (1000.0 * read / time).round() / 10.0
            );
        }
        Ok(())
    }

    /// Microseconds of the kernel that sums rows as they are.
    fn plain_sums(&self, x: AnyView<'_>, length: usize, at: [u64; 2]) -> Outcome<f64> {
        let segments = AnySegments::Every(length as u64);
        let batched = AnyReduceBatched::segments(&self.gpu, x, segments);
        let plan = batched.plan(Op::Sum)?;
        let bytes = |bytes: u64| -> Outcome<AnyBuffer> {
            let zeros = vec![0u8; bytes as usize];
            Ok(AnyBuffer::upload(&self.gpu, warpfold::DType::U8, &zeros)?)
        };
        let results = bytes(plan.outputs() * plan.output().size() as u64)?;
        let workspace = bytes(plan.workspace.max(8))?;
        let faults = self.gpu.upload(&[0xffu8; AnyReduceBatched::FAULT_BYTES])?;
        let addresses = [results.address(), workspace.address(), faults.address()];
        let launches = batched.launches(Op::Sum, addresses[0], addresses[1], addresses[2])?;
        let read = x.len() * x.dtype().size();
        Ok(self.times(read, at[0], at[1], &launches)?[1])
    }

    /// Microseconds of reading alone and of the launches, medians of rounds in which they take turns.
    fn times(
        &self,
        bytes: usize,
        address: u64,
        out: u64,
        launches: &[BatchedLaunch],
    ) -> Outcome<[f64; 2]> {
        let grid = self.gpu.facts().multiprocessors * 4;
        let mut queue = self.gpu.queue()?;
        let mut times = [Vec::new(), Vec::new()];
        let mut timed = |queue: &mut Queue, which: usize, round: usize| -> Outcome<()> {
            let begin = queue.mark()?;
            for _ in 0..LAUNCHES {
                // SAFETY: the array has so many bytes and `out` room for what is written; both outlive the queue's work, as do the launches' memory.
                unsafe {
                    match which {
                        0 => queue.start_raw(
                            &self.read,
                            [grid, 512, 0],
                            &[address, bytes as u64 / 16, out],
                        )?,
                        _ => queue.start_batched(launches)?,
                    }
                }
            }
            let time = queue.mark()?.microseconds_since(&begin)? / LAUNCHES as f64;
            // The first round warms up.
            if round > 0 {
                times[which].push(time);
            }
            Ok(())
        };
        for round in 0..=ROUNDS {
            timed(&mut queue, 0, round)?;
            timed(&mut queue, 1, round)?;
        }
        Ok(times.map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        }))
    }

    /// How long the first call of a new expression takes, one whose code the driver has in its cache, and the next ones.
    fn first_uses(&self) -> Outcome<()> {
        // One that no driver has seen.
        let nonce = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos() % 1_000_000_007;
        let x: Vec<f32> = (0..1000).map(|k| k as f32).collect();
        for (name, expression) in
            [("sum", format!("abs(x - {nonce}e-6)")), ("argmax", format!("abs(x - {nonce}e-7)"))]
        {
            let op = name.parse::<warpfold::Op>()?;
            let timed = |gpu: &Gpu| -> Outcome<[f64; 2]> {
                let on = gpu.upload(&x)?;
                // What every first call of a GPU pays.
                gpu.map("x", [("x", &on)]).count()?;
                let map = gpu.map(&expression, [("x", &on)]);
                let once = || -> Outcome<f64> {
                    let start = Instant::now();
                    map.output(op, Finish::default())?;
                    Ok(start.elapsed().as_secs_f64() * 1e3)
                };
                let first = once()?;
                let mut later = (0..50).map(|_| once()).collect::<Outcome<Vec<_>>>()?;
                later.sort_by(f64::total_cmp);
                Ok([first, later[later.len() / 2]])
            };
            let [new, later] = timed(&self.gpu)?;
            // Another opening of the GPU loads its kernels anew, by the driver's cache.
            let [cached, _] = timed(&Gpu::open(0)?)?;
            println!(
                "{{\"first_use\": \"{name}\", \"new_ms\": {new:.2}, \"cached_ms\": {cached:.2}, \"later_ms\": {later:.3}, \
                 \"asked_new_ms\": 400, \"asked_cached_ms\": 10}}"
            );
        }
        Ok(())
    }
}

/// Whether the first results are those of the processor, to the last bit.
fn is_same(here: &Column, there: &Column) -> bool {
    (0..here.len()).all(|k| format!("{:?}", here.get(k)) == format!("{:?}", there.get(k)))
}

/// Numbers about one, of either sign and of all their digits.
fn numbers<T: Element>(bytes: usize, part: impl Fn(f64) -> T) -> Vec<T> {
    let mut state = 7u64;
    let mut next = || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        let bits = state ^ state >> 29;
        let size = 0.1 + (bits >> 12) as f64 / (1u64 << 52) as f64 * 1.3;
        if bits & 1 == 0 { size } else { -size }
    };
    (0..2 * bytes / size_of::<T>()).map(|_| part(next())).collect()
}

fn main() -> Outcome<()> {
    let gpu = Gpu::open(0)?;
    let bytes = match std::env::args().nth(1) {
        Some(bytes) => bytes.parse::<usize>()? / 64 * 64,
        None => 1 << 29,
    };
    let limits = warpfold_kernels::find("limits.sm70").ok_or("the kernels lack one that reads")?;
    let read = RawKernel::load(&gpu, &limits.ptx(), "read_4")?;
    println!("{{\"gpu\": \"{}\"}}", gpu.description().name);
    let bench = Bench { gpu, read, bytes };
    let part = std::env::args().nth(2).unwrap_or_else(|| "all".into());
    if part == "operators" || part == "shapes" {
        bench.operators(&numbers(bytes, |x| x as f32), part == "shapes")?;
        return bench.operators(&numbers(bytes, |x| x), part == "shapes");
    }
    if part == "parts" {
        bench.parts_of_type(&numbers(bytes, bf16::from_f64))?;
        bench.parts_of_type(&numbers(bytes, |x| x as f32))?;
        bench.parts_of_type(&numbers(bytes, |x| x))?;
        return Ok(());
    }
    if part != "whole" {
        bench.rows_of_type(&numbers(bytes, bf16::from_f64), bf16::from_f64)?;
        bench.rows_of_type(&numbers(bytes, f16::from_f64), f16::from_f64)?;
        bench.rows_of_type(&numbers(bytes, |x| x as f32), |x| x as f32)?;
        bench.rows_of_type(&numbers(bytes, |x| x), |x| x)?;
    }
    if part == "rows" {
        return Ok(());
    }
    bench.first_uses()?;
    bench.of_type(&numbers(bytes, |x| x as f32), FLOATS)?;
    bench.of_type(&numbers(bytes, |x| x), FLOATS)?;
    bench.of_type(&numbers(bytes, f16::from_f64), NARROW)?;
    bench.of_type(&numbers(bytes, |x| (x * 1e9) as i32), INTEGERS)?;
    bench.of_type(&numbers(bytes, |x| (x * 1e18) as i64), INTEGERS)?;
    Ok(())
}
