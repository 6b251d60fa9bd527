//! Streams that stop, are saved and go on elsewhere: the result is that of the pieces joined, indices included.

use warpfold::partial::Finish;
use warpfold::{Error, Nan, Op, Partial, Policy, Result, Stream};

use crate::backend::{Ask, Backend, Cpu};
use crate::oracle::cells;
use crate::sample::{Sample, Words};

const CPU: Cpu = Cpu(warpfold::plan::Isa::Avx512);

/// What a process leaves behind: the partial's bytes and how many elements were seen.
type Left = (Option<Vec<u8>>, u64);

/// One process: goes on from what another left, takes a piece, and leaves the same kind of thing.
fn process<T: Sample>(ask: Ask, left: Left, x: &[T], y: &[T]) -> Result<Left> {
    let partial = left.0.map(|bytes| Partial::<T>::from_bytes(&bytes)).transpose()?;
    let mut stream = Stream::resume(ask.op, ask.policy, partial, left.1)?;
    match ask.op {
        Op::Dot => stream.push_pair(x, y)?,
        _ => stream.push(x)?,
    }
    Ok((stream.partial().map(Partial::to_bytes), stream.seen()))
}

#[test]
fn a_resumed_stream_is_the_whole_one() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let mut words = Words(51);
        for n in [0, 1, 90, 3000] {
            // Only NaNs at the start, so that indices and counts of what is ignored matter, and extremes in the last part.
            let mut x: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            let nans = x.len() / 4;
            x[..nans].iter_mut().step_by(2).for_each(|x| *x = T::near(f64::NAN));
            let at = x.len().saturating_sub(2);
            x[at..].fill(T::near(90.0));
            let y: Vec<T> = (0..n).map(|_| T::tame(&mut words)).collect();
            let cuts = [0, x.len() / 3, x.len() / 3, x.len() * 3 / 4, x.len()];
            for &op in backend.ops() {
                for nan in [Nan::Propagate, Nan::Ignore] {
                    let policy = Policy { nan, ..Policy::default() };
                    let ask = Ask { policy, ..Ask::new(op) };
                    let whole = backend.reduce(ask, &x, &y);
                    let mut left = (None, 0);
                    let pieces = cuts.windows(2).map(|w| w[0]..w[1]);
                    let ends = pieces.map(|p| {
                        left = process(ask, left.clone(), &x[p.clone()], &y[p])?;
                        Ok(left.1)
                    });
                    match ends.collect::<Result<Vec<u64>>>() {
                        Ok(ends) => assert_eq!(ends.last(), Some(&(x.len() as u64))),
                        Err(error) => {
                            assert_eq!(Err(error), whole.map(|_| ()));
                            continue;
                        }
                    }
                    let partial = left.0.map(|bytes| Partial::<T>::from_bytes(&bytes).unwrap());
                    let stream = Stream::resume(op, policy, partial, left.1).unwrap();
                    let resumed = stream.finish(ask.finish);
                    let bits = |answer: Result<_>| answer.map(|output| cells(&output));
                    if op == Op::Prod && T::DTYPE.is_float() {
                        // The product of floats depends on the split; the same split must give the same bits.
                        let split = backend.stream(ask, &x, &y, &cuts[1..4]);
                        assert_eq!(bits(resumed), bits(split), "{op} of {}", T::DTYPE);
                    } else {
                        assert_eq!(bits(resumed), bits(whole), "{op} of {n} {}", T::DTYPE);
                    }
                }
            }
        }
    }
    for_every_element!(body(&CPU));
}

/// Two processes over the halves of one array, merged in either order.
#[test]
fn streams_of_parts_know_where_they_start() {
    let x: Vec<f32> = (0..2000).map(|k| ((k * 7919) % 1999) as f32).collect();
    let (left, right) = x.split_at(800);
    for op in [Op::ArgMin, Op::ArgMax] {
        let part = |x: &[f32], at| {
            let stream = Stream::new(op, Policy::default()).unwrap();
            let mut stream = stream.starting_at(at);
            let (early, late) = x.split_at(x.len() / 2);
            stream.push(early).unwrap();
            stream.push(late).unwrap();
            assert_eq!(stream.seen(), x.len() as u64);
            stream.partial().unwrap().clone()
        };
        let (one, other) = (part(left, 0), part(right, 800));
        let whole = CPU.reduce(Ask::new(op), &x, &[]);
        for (mut all, rest) in [(one.clone(), &other), (other.clone(), &one)] {
            all.merge(rest);
            assert_eq!(all.finish(op, Finish::default()), whole, "{op}");
        }
    }
}

#[test]
fn what_cannot_be_resumed_says_why() {
    let partial = |op| CPU.partial(Ask::new(op), &[1.0f64, 2.0, 3.0], &[]).unwrap();
    let refused = |op, partial, seen| {
        Stream::<f64>::resume(op, Policy::default(), partial, seen).unwrap_err()
    };
    let other = refused(Op::Sum, Some(partial(Op::Max)), 3);
    assert!(matches!(other, Error::Undefined { op: Op::Sum, .. }), "{other}");
    for (partial, seen) in [(Some(partial(Op::Max)), 2), (None, 1)] {
        let error = refused(Op::Max, partial, seen);
        assert!(matches!(error, Error::Unsupported { op: Op::Max, .. }), "{error}");
    }
    // Any and all stop where they know, so that their counts are no count of all.
    for (op, from) in [(Op::Count, Op::Any), (Op::All, Op::Any)] {
        let error = refused(op, Some(partial(from)), 3);
        assert!(error.to_string().contains("fewer elements"), "{op} from {from}: {error}");
    }
    for (op, from) in [(Op::Any, Op::Any), (Op::Any, Op::Count), (Op::All, Op::Count)] {
        assert!(Stream::<f64>::resume(op, Policy::default(), Some(partial(from)), 3).is_ok());
    }
    // An index beyond 64 bits is refused before anything is taken in.
    let mut late =
        Stream::<u8>::new(Op::ArgMin, Policy::default()).unwrap().starting_at(u64::MAX - 1);
    late.push(&[4]).unwrap();
    assert!(matches!(late.push(&[3]), Err(Error::Unsupported { .. })));
    assert_eq!(late.seen(), 1);
}
