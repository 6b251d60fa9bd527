//! Arrays from the host piece by piece: the result of the whole, however it was pushed.

use warpfold::cuda::{Gpu, PIECE_BYTES, Stream};
use warpfold::partial::{Finish, Output};
use warpfold::{Accuracy, DType, Element, Error, Nan, Op, Policy, Result, with_element};

use crate::bound;
use crate::compare::{near, same};
use crate::data::{Contents, Random, array};
use crate::sample::Sample;

/// The whole array in pushes of random lengths.
fn streamed<T: Element>(gpu: &Gpu, op: Op, policy: Policy, x: &[T], seed: u64) -> Result<Output> {
    let mut random = Random(seed);
    let mut stream = Stream::new(gpu, op, policy)?;
    let mut rest = x;
    while !rest.is_empty() {
        let n = 1 + random.below(2 * stream.piece()) as usize;
        let (now, later) = rest.split_at(n.min(rest.len()));
        stream.push(now)?;
        rest = later;
    }
    assert_eq!(stream.seen(), x.len() as u64);
    stream.finish(Finish::default())
}

fn on_cpu<T: Element>(op: Op, policy: Policy, x: &[T]) -> Result<Output> {
    warpfold::reduce(x).policy(policy).partial(op)?.finish(op, Finish::default())
}

fn three_pieces<T: Sample>(gpu: &Gpu) {
    let mut random = Random(7);
    let x = array::<T>(Contents::Plain, 2 * PIECE_BYTES / size_of::<T>() + 12_345, &mut random);
    let policy = Policy { accuracy: Accuracy::Fast, ..Policy::default() };
    for &op in Op::ALL {
        let found = match streamed(gpu, op, policy, &x, 1) {
            Err(Error::Undefined { .. } | Error::Unsupported { .. }) => continue,
            other => other,
        };
        let expected = on_cpu(op, Policy::default(), &x);
        let rounds = T::DTYPE.is_float()
            && matches!(op, Op::Sum | Op::Mean | Op::Var | Op::Std | Op::L1 | Op::L2 | Op::Sumsq);
        // A grid of pieces as long as these has a warp a multiprocessor at the least.
        let additions = bound::additions(x.len(), gpu.facts().multiprocessors, 32);
        let right = if rounds {
            near(&found, &expected, bound::of(op, &x, additions))
        } else {
            same(&found, &expected)
        };
        assert!(right, "{op} of {}: {found:?}, not {expected:?}", T::DTYPE);
        let again = streamed(gpu, op, policy, &x, 2);
        assert!(same(&found, &again), "{op} of {}: other pushes, {again:?}", T::DTYPE);
    }
}

#[test]
fn results_are_those_of_the_whole_however_it_is_pushed() {
    let Some(gpu) = crate::gpu() else { return };
    for dtype in [DType::I8, DType::U64, DType::F32, DType::F64, DType::Complex64, DType::Bool] {
        with_element!(dtype, T => three_pieces::<T>(&gpu));
    }
}

#[test]
fn indices_count_from_the_start_of_the_array() {
    let Some(gpu) = crate::gpu() else { return };
    let n = 3 * PIECE_BYTES / 4 + 5;
    let mut x = vec![0f32; n];
    (x[n - 3], x[n - 2]) = (2.0, -1.0);
    let policy = Policy::default();
    let index = |op| streamed(&gpu, op, policy, &x, 3).unwrap();
    assert_eq!(index(Op::ArgMax), Output::One((n as u64 - 3).into()));
    assert_eq!(index(Op::ArgMin), Output::One((n as u64 - 2).into()));
    x[n - 1] = f32::NAN;
    let index = |op, nan| streamed(&gpu, op, Policy { nan, ..policy }, &x, 3).unwrap();
    assert_eq!(index(Op::ArgMax, Nan::Propagate), Output::One((n as u64 - 1).into()));
    assert_eq!(index(Op::ArgMax, Nan::Ignore), Output::One((n as u64 - 3).into()));
}

#[test]
fn dot_takes_pairs_and_nothing_else() {
    let Some(gpu) = crate::gpu() else { return };
    let mut random = Random(5);
    let n = PIECE_BYTES / 4 + 77;
    let (x, y) = (
        array::<i32>(Contents::Ties, n, &mut random),
        array::<i32>(Contents::Ties, n, &mut random),
    );
    let mut stream = Stream::new(&gpu, Op::Dot, Policy::default()).unwrap();
    assert!(matches!(stream.push(&x), Err(Error::Undefined { .. })));
    let mut stream_again = Stream::new(&gpu, Op::Dot, Policy::default()).unwrap();
    let wrong = stream_again.push_pair(&x, &y[1..]);
    assert_eq!(wrong, Err(Error::LengthMismatch { left: n as u64, right: n as u64 - 1 }));
    stream = Stream::new(&gpu, Op::Dot, Policy::default()).unwrap();
    for (x, y) in x.chunks(1_000_003).zip(y.chunks(1_000_003)) {
        stream.push_pair(x, y).unwrap();
    }
    let expected = warpfold::dot(&x, &y).unwrap();
    assert_eq!(stream.finish(Finish::default()), Ok(Output::One(expected.into())));
}

#[test]
fn nothing_pushed_is_an_empty_array() {
    let Some(gpu) = crate::gpu() else { return };
    let empty =
        |op| Stream::<u8>::new(&gpu, op, Policy::default()).unwrap().finish(Finish::default());
    assert_eq!(empty(Op::Sum), Ok(Output::One(0u64.into())));
    assert_eq!(empty(Op::All), Ok(Output::One(true.into())));
    assert_eq!(empty(Op::Max), Err(Error::Empty { op: Op::Max, ignored: false }));
    let mut stream =
        Stream::new(&gpu, Op::Max, Policy { nan: Nan::Ignore, ..Policy::default() }).unwrap();
    stream.push(&[f32::NAN]).unwrap();
    assert_eq!(stream.finish(Finish::default()), Err(Error::Empty { op: Op::Max, ignored: true }));
}

/// A few launches of the upload under compute-sanitizer.
#[test]
fn sanitizer_upload() {
    let Some(gpu) = crate::gpu() else { return };
    let x: Vec<i16> = (0..PIECE_BYTES as i32 / 2 + 100).map(|i| i as i16).collect();
    let found = streamed(&gpu, Op::Sum, Policy::default(), &x, 1);
    assert!(same(&found, &on_cpu(Op::Sum, Policy::default(), &x)));
}
