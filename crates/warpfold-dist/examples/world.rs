//! One rank of a world: `mpirun -n 3 target/debug/examples/world mpi check`, or `tcp`; `time` measures exchanges in place of checking them.
//!
//! `check` folds shares of arrays that every rank knows, and compares what is merged with what one rank makes of the whole; rank 0 prints a
//! line at the end. `time` prints JSON: microseconds of a merge and of a bare gather of the same bytes, in turn.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpfold_dist::nccl::{self, Through};
use warpfold_dist::{
    Agreement, Comm, Mpi, Nccl, Result, Tcp, Threads, Way, all_merge, all_merge_batched,
    all_reduce, exchange, exchange_agreed, share,
};
use warpfold_engine::{HostArray, Request, check, reduce};
use warpfold_exact::{AnyPartial, Exact, Partial};
use warpfold_num::{DType, Element, Op};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("mpi") => Mpi::load().and_then(|comm| {
            let by = comm.description().to_string();
            run(&comm, &by, &arguments)
        }),
        Some("mpi-reduce") => Mpi::load().and_then(|comm| reduce_tensors(&comm)),
        Some("tcp") => Tcp::from_env().and_then(|comm| run(&comm, "TCP", &arguments)),
        Some("nccl") => Tcp::from_env().and_then(|tcp| nccl(&tcp, &arguments)),
        Some("probe") => nccl::probe(arguments.get(1).map_or("libnccl.so.2", String::as_str)).map(
            |(version, id)| {
                let is_filled = id.iter().any(|&byte| byte != 0);
                println!("{{\"nccl\": {version:?}, \"unique_id\": {is_filled}}}");
            },
        ),
        Some("threads") => threads(&arguments),
        _ => {
            eprintln!(
                "world mpi|tcp|nccl check|time|fail, world mpi-reduce, world threads RANKS, world probe LIBNCCL"
            );
            return 2.into();
        }
    };
    if let Err(error) = outcome {
        eprintln!("world: {error}");
        return 1.into();
    }
    0.into()
}

fn run<C: Comm>(comm: &C, by: &str, arguments: &[String]) -> Result<()> {
    match arguments.get(1).map(String::as_str) {
        Some("time") => time(comm, by),
        Some("fail") => {
            let is_last = comm.rank() + 1 == comm.size();
            let outcome = if is_last { Err("it was asked to fail") } else { Ok(&b"fine"[..]) };
            exchange(comm, "a failure", outcome).map(drop)
        }
        _ => {
            check_all(comm)?;
            if arguments[0] != "nccl" {
                check_reports(comm)?;
                // Exchanges while somebody watches are others of MPI's.
                check_all(comm)?;
            }
            if comm.rank() == 0 {
                println!("ok: {} ranks by {by}", comm.size());
            }
            Ok(())
        }
    }
}

/// By NCCL, whose ranks meet over TCP, through memory of the host and of the devices in turn.
fn nccl(tcp: &Tcp, arguments: &[String]) -> Result<()> {
    for through in [Through::Host, Through::Device] {
        let options = nccl::Options { through, ..nccl::Options::from_env(tcp.rank()) };
        let comm = Nccl::enter(options, tcp)?;
        run(&comm, &format!("{} through {through:?}", comm.description()), arguments)?;
    }
    Ok(())
}

/// Sums of tensors, correctly rounded and by MPI itself, in turn; and how many of MPI's elements differ.
fn reduce_tensors(comm: &Mpi) -> Result<()> {
    for n in [1usize << 10, 1 << 16, 1 << 20] {
        let rounds = ((1usize << 24) >> n.ilog2()).clamp(5, 51);
        row::<f32>(comm, n, rounds, |x| comm.sum_f32(x))?;
        row::<f64>(comm, n, rounds, |x| comm.sum_f64(x))?;
    }
    Ok(())
}

/// A float that tensors are made of here.
trait Tensor: Element + bytemuck::Pod + warpfold_num::Scalar {
    /// Bits of a number; those of one grid add up without rounding.
    const BITS: u32;
    fn of(x: f64) -> Self;
}

impl Tensor for f32 {
    const BITS: u32 = 20;

    fn of(x: f64) -> f32 {
        x as f32
    }
}

impl Tensor for f64 {
    const BITS: u32 = 48;

    fn of(x: f64) -> f64 {
        x
    }
}

/// One of four numbers for each element: two on a coarse grid below 2^10, and two on a fine one, so that ranks add up shares of either exactly, and the
/// sum of all four is rounded.
fn number<T: Tensor>(k: usize, which: usize) -> f64 {
    let bits = warpfold_num::random::word(0, (4 * k + which) as u64);
    let integer = (bits as i64) >> (64 - T::BITS);
    let unit = if which < 2 { 10 - T::BITS as i32 } else { 2 - 2 * T::BITS as i32 + 10 };
    integer as f64 * 2f64.powi(unit)
}

fn row<T: Tensor>(
    comm: &Mpi,
    n: usize,
    rounds: usize,
    own: impl Fn(&mut [T]) -> Result<()>,
) -> Result<()> {
    // The same four numbers for each element, whatever the number of ranks: each has added up its share of them, exactly.
    let mine = share(4, 1, comm.rank(), comm.size());
    let x: Vec<T> = (0..n)
        .map(|k| T::of(mine.clone().map(|which| number::<T>(k, which as usize)).sum()))
        .collect();
    let (mut ours, mut theirs) = (x.clone(), x.clone());
    all_reduce(comm, &mut ours, 1)?;
    own(&mut theirs)?;
    let differ = ours.iter().zip(&theirs).filter(|(ours, theirs)| ours != theirs).count();
    let digest = |x: &[T]| {
        let bytes: &[u8] = bytemuck::cast_slice(x);
        bytes.iter().fold(0xcbf2_9ce4_8422_2325u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        })
    };
    let (mut exact, mut rounded) = (Vec::new(), Vec::new());
    for _ in 0..rounds {
        let mut y = x.clone();
        comm.sum_u64(&mut [0])?;
        let start = Instant::now();
        all_reduce(comm, &mut y, 1)?;
        exact.push(start.elapsed().as_secs_f64());
        let mut y = x.clone();
        comm.sum_u64(&mut [0])?;
        let start = Instant::now();
        own(&mut y)?;
        rounded.push(start.elapsed().as_secs_f64());
    }
    let median = |times: &mut Vec<f64>| {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2] * 1e6
    };
    if comm.rank() == 0 {
        let (exact, rounded, ranks, by) =
            (median(&mut exact), median(&mut rounded), comm.size(), comm.description());
        let (ours, theirs) = (digest(&ours), digest(&theirs));
        println!(
            "{{\"by\": {by:?}, \"ranks\": {ranks}, \"dtype\": \"{}\", \"elements\": {n}, \"all_reduce_us\": {exact:.1}, \"mpi_us\": {rounded:.1}, \"differ\": {differ}, \"bits\": \"{ours:016x}\", \"mpi_bits\": \"{theirs:016x}\"}}",
            T::DTYPE
        );
    }
    Ok(())
}

/// A world of threads, as large as is asked for: the time of one sum of partials as digits, with as many digits as f64 has, whose result is known.
fn threads(arguments: &[String]) -> Result<()> {
    let size: usize = arguments.get(1).and_then(|text| text.parse().ok()).unwrap_or(1000);
    let start = Instant::now();
    let within = std::time::Duration::from_secs(300);
    let sums = Threads::run_within(size, within, |comm| -> Result<(f64, f64)> {
        let mut sum = Exact::<f64>::new();
        // Cancels but for the ranks' own small numbers.
        for x in [1e300, f64::from(comm.rank() as u32), -1e300] {
            sum.add(x);
        }
        let mine = AnyPartial::from(Partial::Sum(sum));
        let agreement = Agreement::new(Op::Sum, DType::F64);
        all_merge(&comm, &agreement, Ok(&mine))?;
        let begun = Instant::now();
        let merged = all_merge(&comm, &agreement, Ok(&mine))?;
        let seconds = begun.elapsed().as_secs_f64();
        let AnyPartial::F64(Partial::Sum(sum)) = merged else { unreachable!("a sum") };
        Ok((sum.round(), seconds))
    });
    let expected = (size * (size - 1) / 2) as f64;
    let mut slowest = 0f64;
    for sum in sums {
        let (sum, seconds) = sum?;
        assert_eq!(sum.to_bits(), expected.to_bits());
        slowest = slowest.max(seconds);
    }
    println!(
        "{{\"by\": \"threads\", \"ranks\": {size}, \"right\": true, \"merge_us\": {:.1}, \"seconds\": {:.2}}}",
        1e6 * slowest,
        start.elapsed().as_secs_f64()
    );
    Ok(())
}

fn check_all<C: Comm>(comm: &C) -> Result<()> {
    let integers: Vec<i64> =
        (0..10_007).map(|i: i64| i.wrapping_mul(-7_046_029_254_386_353_131)).collect();
    let floats: Vec<f64> = integers.iter().map(|&bits| f64::from_bits(bits as u64)).collect();
    let mild: Vec<f64> = floats.iter().map(|x| if x.is_finite() { *x } else { 1.0 }).collect();
    let singles: Vec<f32> = mild.iter().map(|&x| x as f32).collect();
    check_array(comm, &integers)?;
    check_array(comm, &floats)?;
    check_array(comm, &mild)?;
    check_array(comm, &singles)?;
    let mut numbers = [comm.rank() as u64, u64::MAX, 7];
    comm.sum_u64(&mut numbers)?;
    let n = comm.size() as u64;
    assert_eq!(numbers, [n * (n - 1) / 2, n.wrapping_neg(), 7 * n]);
    let (rank, size) = (comm.rank() as u8, comm.size());
    let mine: Vec<u8> = (0..size as u8).flat_map(|to| [rank, to, 9]).collect();
    let mut theirs = vec![0; mine.len()];
    comm.all_to_all(&mine, &mut theirs)?;
    assert_eq!(theirs, (0..size as u8).flat_map(|from| [from, rank, 9]).collect::<Vec<u8>>());
    let mut tensor = [[1e300, -0.0, 0.5], [-1e300, -0.0, 0.25]][comm.rank() % 2];
    all_reduce(comm, &mut tensor, 1)?;
    let (even, odd) = (size.div_ceil(2) as f64, (size / 2) as f64);
    let left = if size.is_multiple_of(2) { 0.0 } else { 1e300f64 };
    assert_eq!(tensor.map(f64::to_bits), [left, 0.0, even * 0.5 + odd * 0.25].map(f64::to_bits));
    check_digits(comm)?;
    Ok(())
}

/// Rank 0 learns how far the others are, beside exchanges, and does something while it waits for them.
fn check_reports<C: Comm>(comm: &C) -> Result<()> {
    let ticks = Arc::new(AtomicU64::new(0));
    let count = ticks.clone();
    comm.while_waiting(Box::new(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    }));
    let (rank, size) = (comm.rank() as u64, comm.size() as u64);
    for done in 0..200 {
        comm.report(done);
    }
    if rank > 0 {
        std::thread::sleep(Duration::from_millis(300));
        // The last but one may be under way still, and then this one is dropped: it is said until it is heard.
        (0..20).for_each(|_| {
            comm.report(1000 * rank);
            std::thread::sleep(Duration::from_millis(5));
        });
    }
    comm.all_gather(&[1], &mut vec![0; size as usize])?;
    if rank == 0 {
        let (begun, all) = (Instant::now(), 1000 * size * (size - 1) / 2);
        while comm.reported() < all && begun.elapsed() < Duration::from_secs(10) {}
        assert_eq!(comm.reported(), all);
        assert!(size == 1 || ticks.load(Ordering::Relaxed) > 0);
    }
    Ok(())
}

/// Many outputs, gathered and summed as digits.
fn check_digits<C: Comm>(comm: &C) -> Result<()> {
    let mine: Vec<AnyPartial> = (0..300)
        .map(|k| {
            let mut sum = Exact::<f64>::new();
            sum.add(number::<f64>(k, comm.rank() % 4));
            AnyPartial::from(Partial::Sum(sum))
        })
        .collect();
    let agreement = Agreement::new(Op::Sum, DType::F64);
    for way in [Way::Gather, Way::Sum] {
        let merged = all_merge_batched(comm, &agreement, Ok(&mine), way)?;
        for (k, merged) in merged.iter().enumerate() {
            let mut sum = Exact::<f64>::new();
            (0..comm.size()).for_each(|rank| sum.add(number::<f64>(k, rank % 4)));
            assert_eq!(merged.to_bytes(), sum.to_bytes(), "{way:?} {k}");
        }
    }
    Ok(())
}

fn partial<T: Element>(op: Op, x: &[T], first: u64) -> AnyPartial {
    let array = HostArray::of(x);
    let request = Request::new(op, array).starting_at(first);
    reduce(&if op == Op::Dot { request.pair(array) } else { request }).expect("a reduction")
}

fn check_array<C: Comm, T: Element>(comm: &C, x: &[T]) -> Result<()> {
    let mine = share(x.len() as u64, 1, comm.rank(), comm.size());
    let is_served =
        |op: Op| check(op, T::DTYPE).is_ok() && !(op == Op::Prod && T::DTYPE.is_float());
    for &op in Op::ALL.iter().filter(|&&op| is_served(op)) {
        let part = partial(op, &x[mine.start as usize..mine.end as usize], mine.start);
        let merged = all_merge(comm, &Agreement::new(op, T::DTYPE), Ok(&part))?;
        if !matches!(op, Op::Any | Op::All) {
            assert_eq!(merged.to_bytes(), partial(op, x, 0).to_bytes(), "{op} of {}", T::DTYPE);
        }
    }
    Ok(())
}

/// Medians of rounds in which merge and gather take turns.
fn time<C: Comm>(comm: &C, by: &str) -> Result<()> {
    const ROUNDS: usize = 301;
    const CALLS: u32 = 20;
    let doubles: Vec<f64> =
        (0..1_000_000).map(|k| number::<f64>(k, 0) + number::<f64>(k, 2)).collect();
    let singles: Vec<f32> = doubles.iter().map(|&x| x as f32).collect();
    // The first goes twice: clocks rise while it runs the first time.
    for (k, (op, dtype)) in [
        (Op::Sum, DType::F32),
        (Op::Sum, DType::F32),
        (Op::Sum, DType::F64),
        (Op::Var, DType::F64),
        (Op::Stats, DType::F64),
    ]
    .into_iter()
    .enumerate()
    {
        let agreement = Agreement::new(op, dtype);
        let mine =
            if dtype == DType::F32 { partial(op, &singles, 0) } else { partial(op, &doubles, 0) };
        let bytes = mine.to_compact();
        let mut all = vec![0; bytes.len() * comm.size()];
        let [mut merges, mut gathers, mut exchanges] = [const { Vec::<f64>::new() }; 3];
        for _ in 0..ROUNDS {
            let start = Instant::now();
            for _ in 0..CALLS {
                all_merge(comm, &agreement, Ok(&mine))?;
            }
            merges.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            for _ in 0..CALLS {
                comm.all_gather(&bytes, &mut all)?;
            }
            gathers.push(start.elapsed().as_secs_f64());
            let start = Instant::now();
            for _ in 0..CALLS {
                exchange_agreed(comm, &agreement, Ok(&bytes))?;
            }
            exchanges.push(start.elapsed().as_secs_f64());
        }
        let median = |times: &mut Vec<f64>| {
            times.sort_by(f64::total_cmp);
            times[ROUNDS / 2] * 1e6 / f64::from(CALLS)
        };
        let (merge, gather, exchange) =
            (median(&mut merges), median(&mut gathers), median(&mut exchanges));
        if comm.rank() == 0 && k > 0 {
            let (ranks, length) = (comm.size(), bytes.len());
            println!(
                "{{\"by\": {by:?}, \"ranks\": {ranks}, \"op\": \"{op}\", \"dtype\": \"{dtype}\", \"bytes\": {length}, \"gather_us\": {gather:.3}, \"exchange_us\": {exchange:.3}, \"merge_us\": {merge:.3}}}"
            );
        }
    }
    Ok(())
}
