//! Exact reductions of random arrays in random launches, CPU bits against GPU bits: `WARPFOLD_SOAK_ARRAYS` gives how many (100,000
//! otherwise). Ignored unless asked for.

use warpfold::cuda::{Buffer, Gpu, Queue};
use warpfold::partial::{Finish, Output};
use warpfold::plan::Shape;
use warpfold::{DType, Element, Error, Nan, Op, Policy, Result, with_element};

use crate::compare::{bits, same};
use crate::data::{Kind, Random, array};

const KINDS: [Kind; 6] =
    [Kind::Plain, Kind::Wide, Kind::Specials, Kind::Zeros, Kind::Ties, Kind::Lowest];
const OPS: [Op; 7] = [Op::Sum, Op::Mean, Op::L1, Op::L2, Op::Var, Op::Std, Op::Dot];
const LONGEST: usize = 1 << 16;

#[test]
#[ignore = "a minute of full load; bench/cuda/run.sh soak runs it"]
fn soak_exact_sums_of_random_arrays() {
    let Some(gpu) = crate::gpu() else { return };
    let asked = std::env::var("WARPFOLD_SOAK_ARRAYS").ok().and_then(|s| s.parse().ok());
    let floats: Vec<DType> = DType::ALL.iter().copied().filter(|d| d.is_float()).collect();
    let arrays = asked.unwrap_or(100_000) / floats.len() as u64 + 1;
    let mut wrong = 0;
    for dtype in &floats {
        wrong += with_element!(*dtype, T => one_type::<T>(&gpu, arrays));
    }
    let total = arrays * floats.len() as u64;
    eprintln!(
        "{total} arrays of {} types, each in a launch of its own shape: {wrong} mismatches",
        floats.len()
    );
    assert_eq!(wrong, 0);
}

fn one_type<T: Element>(gpu: &Gpu, arrays: u64) -> u64 {
    let mut random = Random(T::DTYPE as u64 + 77);
    let mut queue = gpu.queue().unwrap();
    let value = gpu.alloc::<u64>(2).unwrap();
    let pools = KINDS.map(|kind| {
        let x = array::<T>(kind, 2 * LONGEST, &mut random);
        let on_gpu = gpu.upload(&x).unwrap();
        (kind, x, on_gpu)
    });
    let mut wrong = 0;
    for _ in 0..arrays {
        let (kind, pool, on_gpu) = &pools[random.below(KINDS.len() as u64) as usize];
        let op = OPS[random.below(OPS.len() as u64) as usize];
        if op == Op::L1 && T::DTYPE.is_complex() {
            continue;
        }
        let most = random.below(17);
        let n = random.below(1 << most) as usize;
        let (i, j) = (random.below(LONGEST as u64) as usize, random.below(LONGEST as u64) as usize);
        let (x, y) = (&pool[i..i + n], &pool[j..j + n]);
        let nan = if random.below(2) == 0 { Nan::Propagate } else { Nan::Ignore };
        let policy = Policy { nan, ..Policy::default() };
        let shape = Shape {
            block: 32 * (1 + random.below(16) as u32),
            per_multiprocessor: 1 + random.below(16) as u32,
            packs: 1 + random.below(8) as u32,
            alone: random.below(3000) as u32,
        };
        let reduce = match op {
            Op::Dot => gpu.reduce_two(on_gpu.slice(i..i + n), on_gpu.slice(j..j + n)).unwrap(),
            _ => gpu.reduce(on_gpu.slice(i..i + n)),
        };
        let reduce = reduce.policy(policy).shape(shape);
        let cpu = reference(x, y, op, policy);
        let found = reduce.output(op, Finish::default());
        let mut agree = same(&found, &cpu);
        if matches!(op, Op::Sum | Op::L1 | Op::Dot) {
            // SAFETY: array and value outlive the queue's work, which is waited for.
            unsafe { queue.start(&reduce, op, value.address()).unwrap() };
            agree &= left::<T>(&queue, &value, op) == parts(&cpu);
        }
        if !agree {
            wrong += 1;
            eprintln!(
                "{op} of {n} {} ({kind:?} from {i}, {nan:?}, {shape:?}): {found:?}, cpu {cpu:?}",
                T::DTYPE
            );
        }
    }
    wrong
}

fn reference<T: Element>(x: &[T], y: &[T], op: Op, policy: Policy) -> Result<Output> {
    let partial = match op {
        Op::Dot => warpfold::reduce_pair(x, y).policy(policy).partial(op)?,
        _ => warpfold::reduce(x).policy(policy).partial(op)?,
    };
    partial.finish(op, Finish::default()).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
        other => other,
    })
}

/// The bits of a result's parts.
fn parts(result: &Result<Output>) -> Vec<u64> {
    match result {
        Ok(Output::One(value)) => bits(value),
        other => panic!("{other:?} is no sum"),
    }
}

/// The bits of the parts that the device rounded and left.
fn left<T: Element>(queue: &Queue, value: &Buffer<u64>, op: Op) -> Vec<u64> {
    queue.synchronize().unwrap();
    let words = value.download().unwrap();
    let count = if op == Op::L1 { 1 } else { T::PARTS };
    match T::DTYPE {
        DType::F64 | DType::Complex128 => words[..count].to_vec(),
        _ => (0..count).map(|k| words[0] >> (32 * k) & 0xffff_ffff).collect(),
    }
}
