//! Times reductions of whole arrays beside a pass that only looks for zeros, on one thread: a line of JSON a row.
//!
//! `cargo run --release -p warpfold-cpu --example flat -- [operations] [types] [KiB] [isa]`, such as `var,stats f16,f32 256,262144 avx2`. With
//! `LD_PRELOAD` of `bench/clock` its seconds are the processor's, which other programs lengthen little.

use std::hint::black_box;
use std::time::{Duration, Instant};

use warpfold_cpu::reduce;
use warpfold_num::{Complex, DType, Element, Isa, Op, Policy, bf16, f16};
use warpfold_plan::{HostArray, Request};

/// The least of many runs' seconds: other programs only make runs longer.
fn least(mut work: impl FnMut()) -> f64 {
    work();
    let (begin, mut least, mut runs) = (Instant::now(), f64::MAX, 0);
    while begin.elapsed() < Duration::from_millis(120) || runs < 4 {
        let start = Instant::now();
        // Short runs together, as a clock of the processor's time has its own cost.
        let together = 8;
        (0..together).for_each(|_| work());
        least = least.min(start.elapsed().as_secs_f64() / f64::from(together));
        runs += 1;
    }
    least
}

fn measure<T: Element>(ops: &str, x: &[T], policy: Policy) {
    let bytes = size_of_val(x) as f64;
    let (half, array) = (x.len() / 2, HostArray::of(x));
    let rate = |request: &Request<'_>| {
        bytes / 1e9 / least(|| _ = black_box(reduce(request).expect("a reduction of the type")))
    };
    let ones = vec![1u64; size_of_val(x) / size_of::<u64>()];
    let reading = rate(&Request::new(Op::All, HostArray::of(&ones)).policy(policy));
    drop(ones);
    for op in ops.split(',') {
        let op: Op = op.parse().expect("a reduction");
        if op.is_ordered() && T::DTYPE.is_complex() {
            continue;
        }
        let request = match op {
            Op::Dot => Request::new(op, HostArray::of(&x[..half])).pair(HostArray::of(&x[half..])),
            _ => Request::new(op, array),
        };
        let rate = rate(&request.policy(policy));
        println!(
            r#"{{"op": "{op}", "dtype": "{}", "kib": {}, "gb_per_s": {rate:.2}, "reading_gb_per_s": {reading:.2}}}"#,
            T::DTYPE,
            bytes / 1024.0,
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let ops = arguments.next().unwrap_or("sum,var,l1,l2,dot,prod,max,stats".into());
    let types = arguments
        .next()
        .unwrap_or("i8,u8,i16,u16,i32,u32,i64,u64,f16,bf16,f32,f64,complex64,complex128".into());
    let sizes = arguments.next().unwrap_or("256,262144".into());
    let isa = arguments.next().map(|text| match &*text {
        "avx512" => Isa::Avx512,
        "avx2" => Isa::Avx2,
        _ => Isa::Baseline,
    });
    let policy = Policy { isa, threads: Some(1), ..Policy::default() };
    let word = |at: usize| warpfold_num::random::word(0, at as u64);
    let unit = |at: usize| (word(at) >> 11) as f64 / 2f64.powi(53);
    for kib in sizes.split(',') {
        let bytes = kib.parse::<usize>().expect("a number of KiB") << 10;
        for name in types.split(',') {
            macro_rules! of {
                ($ty:ty, $make:expr) => {
                    measure::<$ty>(
                        &ops,
                        &(0..bytes / size_of::<$ty>()).map($make).collect::<Vec<_>>(),
                        policy,
                    )
                };
            }
            match name.parse().expect("a type") {
                DType::F16 => of!(f16, |at| f16::from_f64(unit(at))),
                DType::BF16 => of!(bf16, |at| bf16::from_f64(unit(at))),
                DType::F32 => of!(f32, |at| unit(at) as f32),
                DType::F64 => of!(f64, unit),
                DType::I8 => of!(i8, |at| word(at) as i8),
                DType::U8 => of!(u8, |at| word(at) as u8),
                DType::I16 => of!(i16, |at| word(at) as i16),
                DType::U16 => of!(u16, |at| word(at) as u16),
                DType::I32 => of!(i32, |at| word(at) as i32),
                DType::U32 => of!(u32, |at| word(at) as u32),
                DType::I64 => of!(i64, |at| word(at) as i64),
                DType::U64 => of!(u64, word),
                DType::Complex64 => {
                    of!(Complex<f32>, |at| Complex::new(unit(at) as f32, unit(at + bytes) as f32))
                }
                DType::Complex128 => {
                    of!(Complex<f64>, |at| Complex::new(unit(at), unit(at + bytes)))
                }
                other => panic!("{other} is not measured here"),
            }
        }
    }
}
