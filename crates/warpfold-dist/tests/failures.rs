//! What ranks are told when one of them fails, differs, leaves, or hands over what is no partial.

use std::time::{Duration, Instant};

use warpfold_dist::{Agreement, Comm, Error, Threads, all_merge, exchange};
use warpfold_engine::{HostArray, Request};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::{DType, Nan, Op, Policy};

fn outcomes(work: impl Fn(&Threads, bool) -> Result<AnyPartial, Error> + Sync) -> Vec<Error> {
    let outcomes = Threads::run(3, |comm| work(&comm, comm.rank() == 2).map(|_| ()));
    outcomes.into_iter().map(|outcome| outcome.expect_err("no rank has a result")).collect()
}

#[test]
fn ranks_that_differ_are_named_by_all() {
    let sum = Agreement::new(Op::Sum, DType::F32);
    let others = [
        Agreement::new(Op::Mean, DType::F32),
        Agreement::new(Op::Sum, DType::F64),
        sum.clone().policy(&Policy { nan: Nan::Ignore, ..Policy::default() }),
        sum.clone().and("ddof 1"),
    ];
    for other in others {
        let found = outcomes(|comm, odd| {
            let agreement = if odd { &other } else { &sum };
            let mine = AnyPartial::empty(agreement.op(), agreement.dtype());
            all_merge(comm, agreement, Ok(&mine))
        });
        for error in found {
            let expected = Error::Differs {
                rank: 2,
                theirs: other.text().into(),
                expected: sum.text().into(),
            };
            assert_eq!(error, expected);
        }
    }
}

/// Another version may fold, or write partials, in another way.
#[test]
fn ranks_of_another_version_are_refused() {
    let agreement = Agreement::new(Op::Sum, DType::F32);
    let own = agreement.text();
    let earlier = own.replace(concat!("warpfold ", env!("CARGO_PKG_VERSION")), "warpfold 0.0.9");
    assert_ne!(own, earlier, "ranks agree on the version");
    let found = outcomes(|comm, odd| {
        let met = exchange(comm, if odd { &earlier } else { own }, Ok(&[]));
        met.map(|_| AnyPartial::empty(Op::Sum, DType::F32))
    });
    for error in found {
        let expected = Error::Differs { rank: 2, theirs: earlier.clone(), expected: own.into() };
        assert_eq!(error, expected);
    }
}

#[test]
fn the_message_of_a_rank_that_failed_reaches_all() {
    let agreement = Agreement::new(Op::Sum, DType::F32);
    let mine = AnyPartial::empty(Op::Sum, DType::F32);
    let found = outcomes(|comm, odd| {
        let why = "x.npy: there is no such file";
        all_merge(comm, &agreement, if odd { Err(why) } else { Ok(&mine) })
    });
    for error in found {
        assert_eq!(error.to_string(), "rank 2 failed: x.npy: there is no such file");
    }
}

#[test]
fn partials_of_another_reduction_are_refused() {
    let agreement = Agreement::new(Op::Sum, DType::F32);
    for wrong in [AnyPartial::empty(Op::Var, DType::F32), AnyPartial::empty(Op::Sum, DType::F64)] {
        let found = outcomes(|comm, odd| {
            let right = AnyPartial::empty(Op::Sum, DType::F32);
            all_merge(comm, &agreement, Ok(if odd { &wrong } else { &right }))
        });
        for error in found {
            assert!(matches!(error, Error::Contribution { rank: 2, .. }), "{error}");
        }
    }
}

#[test]
fn shares_of_a_product_that_overlap_or_leave_a_gap_have_no_result() {
    let agreement = Agreement::new(Op::Prod, DType::F64);
    for (first, word) in [(3, "in more than one"), (5, "elements 4 to 5 are in none")] {
        Threads::run(3, |comm| {
            let first = if comm.rank() == 2 { first } else { 2 * comm.rank() as u64 };
            let request = Request::new(Op::Prod, HostArray::of(&[2.0f64, 0.5])).starting_at(first);
            let mine = warpfold_engine::reduce(&request).unwrap();
            let all = all_merge(&comm, &agreement, Ok(&mine)).unwrap();
            let error = all.finish(Op::Prod, Finish::default()).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
        });
    }
}

#[test]
fn contributions_of_any_length_arrive() {
    for lengths in [[0, 1, 2], [840, 841, 0], [100_000, 3, 5000]] {
        Threads::run(3, |comm| {
            let mine = vec![comm.rank() as u8 + 1; lengths[comm.rank()]];
            let all = exchange(&comm, "bytes", Ok(&mine)).unwrap();
            for (rank, bytes) in all.iter().enumerate() {
                assert_eq!(*bytes, vec![rank as u8 + 1; lengths[rank]]);
            }
        });
    }
}

#[test]
fn sums_of_numbers_are_modulo_two_to_the_64() {
    Threads::run(4, |comm| {
        let mut numbers = [comm.rank() as u64, u64::MAX, 1 << 40];
        comm.sum_u64(&mut numbers).unwrap();
        assert_eq!(numbers, [6, u64::MAX - 3, 1 << 42]);
        comm.sum_u64(&mut []).unwrap();
    });
}

#[test]
fn a_rank_that_leaves_or_sleeps_is_named_by_the_others() {
    let mut world = Threads::world(3, Duration::from_millis(300));
    let last = world.pop().unwrap();
    let start = Instant::now();
    let gather = |comm: &Threads| comm.all_gather(&[1], &mut [0; 3]).unwrap_err().to_string();
    let errors: Vec<String> = std::thread::scope(|scope| {
        let waiting: Vec<_> = world.iter().map(|comm| scope.spawn(|| gather(comm))).collect();
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(start.elapsed() >= Duration::from_millis(250) && start.elapsed().as_secs() < 20);
    assert!(errors.iter().all(|error| error.starts_with("rank 2 of 3 is lost: it did not answer")));
    drop(last);
    assert!(gather(&world[0]).starts_with("rank 2 of 3 is lost: its thread ended"));
}
