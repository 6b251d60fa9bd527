//! Random arrays in launches of random shapes: the bits of the CPU, whatever the grid, the block and the array, on the host and left on the device.

use warpfold::partial::{Finish, Output};
use warpfold::plan::Shape;
use warpfold::{DType, Element, Error, Nan, Op, Policy, Result, with_element};

use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::on_device::{OnDevice, difference, own_of_16};

const KINDS: [Contents; 6] = [
    Contents::Plain,
    Contents::Wide,
    Contents::Specials,
    Contents::Zeros,
    Contents::Ties,
    Contents::Lowest,
];

/// Reduces so many arrays of every type, each in a launch of its own shape, and says how many results were wrong.
pub(crate) fn mismatches<M: OnDevice>(machine: &M, arrays: u64, longest: usize, seed: u64) -> u64 {
    let each = arrays.div_ceil(DType::ALL.len() as u64);
    let one = |dtype: &DType| {
        let mut random = Random(seed + *dtype as u64);
        with_element!(*dtype, T => of_type::<M, T>(machine, each, longest, &mut random))
    };
    DType::ALL.iter().map(one).sum()
}

fn of_type<M: OnDevice, T: Element>(
    machine: &M,
    arrays: u64,
    longest: usize,
    random: &mut Random,
) -> u64 {
    let pools = KINDS.map(|kind| {
        let x = array::<T>(kind, 2 * longest, random);
        let on_device = machine.upload(&x).unwrap();
        (kind, x, on_device)
    });
    let mut wrong = 0;
    for _ in 0..arrays {
        let (kind, pool, on_device) = &pools[random.below(KINDS.len() as u64) as usize];
        let op = Op::ALL[random.below(Op::ALL.len() as u64) as usize];
        // As many short arrays as long ones.
        let most = longest.min(1 << random.below(1 + u64::from(longest.ilog2())));
        let n = random.below(most as u64 + 1) as usize;
        let [i, j] = [(); 2].map(|()| random.below(longest as u64) as usize);
        let nan = if random.below(2) == 0 { Nan::Propagate } else { Nan::Ignore };
        let (policy, ddof) = (Policy { nan, ..Policy::default() }, random.below(2));
        let shape = Shape {
            block: 32 * (1 + random.below(16) as u32),
            per_multiprocessor: 1 + random.below(16) as u32,
            vectors: 1 + random.below(8) as u32,
            alone: random.below(3000) as u32,
        };
        let view = |first: usize| on_device.slice(first..first + n);
        let reduce = match op {
            Op::Dot => machine.reduce_two(view(i), view(j)).unwrap(),
            _ => machine.reduce(view(i)),
        };
        let reduce = reduce.policy(policy).shape(shape);
        let finish = Finish { ddof, ..Finish::default() };
        let found = reduce.output(op, finish);
        if let Err(Error::Undefined { .. }) = found {
            assert!(T::DTYPE.is_complex(), "{op} of {}", T::DTYPE);
            continue;
        }
        let cpu = reference(&pool[i..i + n], &pool[j..j + n], op, policy, finish);
        let mut reported = Vec::new();
        if !same(&found, &cpu) {
            reported.push(format!("{found:?}, cpu {cpu:?}"));
        }
        if op != Op::Stats {
            reported.extend(difference(machine, &reduce, op, finish, &found));
            if let Some(own) = own_of_16::<T>(op) {
                let finish = Finish { round_to: Some(own), ..finish };
                let found = reduce.output(op, finish);
                reported.extend(difference(machine, &reduce, op, finish, &found));
            }
        }
        if !reported.is_empty() {
            wrong += 1;
            let dtype = T::DTYPE;
            eprintln!(
                "{op} of {n} {dtype} ({kind:?} from {i}, {nan:?}, ddof {ddof}, {shape:?}): {reported:?}"
            );
        }
    }
    wrong
}

fn reference<T: Element>(
    x: &[T],
    y: &[T],
    op: Op,
    policy: Policy,
    finish: Finish,
) -> Result<Output> {
    let partial = match op {
        Op::Dot => warpfold::reduce_pair(x, y).policy(policy).partial(op)?,
        _ => warpfold::reduce(x).policy(policy).partial(op)?,
    };
    partial.finish(op, finish).map_err(|error| match error {
        Error::Empty { .. } => Error::Empty { op, ignored: !x.is_empty() },
        other => other,
    })
}
