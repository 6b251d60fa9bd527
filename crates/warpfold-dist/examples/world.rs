//! One rank of a world: `mpirun -n 3 target/debug/examples/world mpi check`, or `tcp`; `time` measures exchanges in place of checking them.
//!
//! `check` folds shares of arrays that every rank knows, and compares what is merged with what one rank makes of the whole; rank 0 prints a
//! line at the end. `time` prints JSON: microseconds of a merge and of a bare gather of the same bytes, in turn.

use std::time::Instant;

use warpfold_dist::{Agreement, Comm, Mpi, Result, Tcp, all_merge, exchange, share};
use warpfold_engine::{HostArray, Request, check, reduce};
use warpfold_exact::AnyPartial;
use warpfold_num::{DType, Element, Op};

fn main() -> std::process::ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match arguments.first().map(String::as_str) {
        Some("mpi") => Mpi::load().and_then(|comm| {
            let by = comm.description().to_string();
            run(&comm, &by, &arguments)
        }),
        Some("tcp") => Tcp::from_env().and_then(|comm| run(&comm, "TCP", &arguments)),
        _ => {
            eprintln!("world mpi|tcp check|time|fail");
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
            if comm.rank() == 0 {
                println!("ok: {} ranks by {by}", comm.size());
            }
            Ok(())
        }
    }
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
        let mine = AnyPartial::empty(op, dtype);
        let bytes = mine.to_bytes();
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
                exchange(comm, agreement.text(), Ok(&bytes))?;
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
