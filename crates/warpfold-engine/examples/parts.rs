//! Times every reduction of rows and columns beside the same reduction of the whole array, for some element types: a line of JSON a row.
//!
//! `cargo run --release -p warpfold-engine --example parts -- [operations] [types] [MiB] [isa]`, such as `var,l2 f32,f64 32 avx2`. Before a shape is timed, some of its
//! outputs are compared with what each input gives alone, by its exact partial. `bench/peers/cpu/parts.py` does the same with NumPy.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use warpfold_engine::{HostArray, Parts, Request, columns, reduce};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Complex, DType, Element, Isa, Op, Policy, bf16, f16};
use warpfold_plan::shape::{Folding, Layout};

/// The least of many runs' seconds: other programs only make runs longer.
fn least(mut work: impl FnMut()) -> f64 {
    work();
    let (begin, mut least) = (Instant::now(), f64::MAX);
    while begin.elapsed() < Duration::from_millis(200) {
        let start = Instant::now();
        work();
        least = least.min(start.elapsed().as_secs_f64());
    }
    least
}

/// Shapes of `n` elements, a power of two, and the axis that is folded.
fn shapes(n: u64) -> Vec<(Vec<u64>, i64)> {
    let rows = [4, 16, 64, 1024, 16384].map(|length| (vec![n / length, length], 1));
    let columns = [4, 64, 2048].map(|rows| (vec![rows, n / rows], 0));
    let few = [(vec![n / 4, 4], 0), (vec![n / 64, 64], 0)];
    rows.into_iter().chain(columns).chain(few).collect()
}

/// Fails unless some outputs are those of their inputs alone.
fn verify<T: Element>(op: Op, x: &[T], shape: &[u64], axis: i64, request: &Request<'_>) {
    let found = columns(request, Finish::default()).expect("a reduction of each part");
    let [rows, length] = [shape[0] as usize, shape[1] as usize];
    let outputs = if axis == 1 { rows } else { length };
    for output in (0..outputs).step_by(outputs.div_ceil(7)) {
        let input: Vec<T> = match axis {
            1 => x[output * length..][..length].to_vec(),
            _ => x[output..].iter().step_by(length).copied().collect(),
        };
        let alone = reduce(&Request::new(op, HostArray::of(&input))).expect("a reduction");
        let alone = alone.finish(op, Finish::default()).expect("a result");
        let texts: Vec<String> = found.iter().map(|(_, all)| all.get(output).to_string()).collect();
        let expected = match alone {
            Output::One(value) => vec![value.to_string()],
            Output::Pair(least, greatest) => vec![least.to_string(), greatest.to_string()],
            // Of stats, the sum tells that its columns are those of the input.
            Output::Summary(all) => {
                assert_eq!(texts[2], all.sum.to_string(), "stats of {shape:?}, output {output}");
                continue;
            }
        };
        assert_eq!(texts, expected, "{op} of {shape:?}, output {output}");
    }
}

fn measure<T: Element>(op: Op, x: &[T], policy: Policy) {
    let bytes = size_of_val(x) as f64;
    let flat = least(|| {
        black_box(reduce(&Request::new(op, HostArray::of(x)).policy(policy)).is_ok());
    });
    for (shape, axis) in shapes(x.len() as u64) {
        let layout = Layout::c(&shape).expect("as many elements as the array");
        let folding = Folding::of(layout, &[axis]).expect("an axis of the shape");
        let form = folding.form().expect("a shape in memory");
        let parts = Arc::new(Parts::Axes(form, folding));
        let request = Request::new(op, HostArray::of(x)).parts(parts).policy(policy);
        verify(op, x, &shape, axis, &request);
        let seconds = least(|| {
            black_box(columns(&request, Finish::default()).is_ok());
        });
        println!(
            r#"{{"library": "warpfold", "op": "{op}", "dtype": "{}", "shape": {shape:?}, "axis": {axis}, "gb_per_s": {:.3}, "flat_gb_per_s": {:.3}}}"#,
            T::DTYPE,
            bytes / seconds / 1e9,
            bytes / flat / 1e9,
        );
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let ops = arguments.next().unwrap_or(
        "sum,mean,var,std,l1,l2,linf,prod,min,max,minmax,argmin,argmax,any,all,count,stats".into(),
    );
    let types = arguments.next().unwrap_or("f16,bf16,f32,f64,i32,complex64".into());
    let mib: usize = arguments.next().map_or(32, |text| text.parse().expect("a number of MiB"));
    let isa = arguments.next().map(|text| match &*text {
        "avx512" => Isa::Avx512,
        "avx2" => Isa::Avx2,
        _ => Isa::Baseline,
    });
    let policy = Policy { isa, ..Policy::default() };
    let bytes = (mib << 20).next_power_of_two();
    let unit = |at: usize| (warpfold_num::random::word(0, at as u64) >> 11) as f64 / 2f64.powi(53);
    for name in types.split(',') {
        let dtype: DType = name.parse().expect("a type");
        for op in ops.split(',') {
            let op: Op = op.parse().expect("a reduction");
            macro_rules! of {
                ($ty:ty, $make:expr) => {
                    measure::<$ty>(
                        op,
                        &(0..bytes / size_of::<$ty>()).map($make).collect::<Vec<_>>(),
                        policy,
                    )
                };
            }
            match dtype {
                DType::F16 => of!(f16, |at| f16::from_f64(unit(at))),
                DType::BF16 => of!(bf16, |at| bf16::from_f64(unit(at))),
                DType::F32 => of!(f32, |at| unit(at) as f32),
                DType::F64 => of!(f64, unit),
                // Of any others, products of a row overflow.
                DType::I32 if op == Op::Prod => of!(i32, |at| (at % 2) as i32 * 2 - 1),
                DType::I32 => of!(i32, |at| (unit(at) * 2e9 - 1e9) as i32),
                DType::I64 => of!(i64, |at| (unit(at) * 2e12 - 1e12) as i64),
                DType::Complex64
                    if matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax) => {}
                DType::Complex64 => {
                    of!(Complex<f32>, |at| Complex::new(unit(at) as f32, unit(at + bytes) as f32))
                }
                other => panic!("{other} is not measured here"),
            }
        }
    }
}
