//! Many outputs over worlds of several sizes: partials are those of one rank, to the last bit, gathered or summed as digits.

mod data;

use std::sync::Arc;

use data::{Style, with_array};
use warpfold_dist::{
    Agreement, Comm, Error, Threads, Way, all_merge, all_merge_batched, all_merge_keyed, share,
};
use warpfold_engine::{HostArray, Parts, Request, check, group_by, partials, reduce};
use warpfold_exact::AnyPartial;
use warpfold_exact::partial::Finish;
use warpfold_num::{Column, DType, Element, Nan, Op, Policy};
use warpfold_plan::shape::{Folding, Layout};

const WORLDS: [usize; 5] = [1, 2, 3, 4, 7];
const COLUMNS: usize = 5;
const ROWS: usize = 40;
const WAYS: [Way; 3] = [Way::Auto, Way::Gather, Way::Sum];

/// Rows of a rank: even, nearly all on the first, all on the last.
fn rows(shares: usize, rank: usize, size: usize) -> std::ops::Range<usize> {
    let last = rank + 1 == size;
    match shares {
        0 => {
            let range = share(ROWS as u64, 1, rank, size);
            range.start as usize..range.end as usize
        }
        1 => {
            let start = |rank: usize| if rank == 0 { 0 } else { ROWS - (size - rank) };
            start(rank)..if last { ROWS } else { start(rank + 1) }
        }
        _ => {
            if last {
                0..ROWS
            } else {
                0..0
            }
        }
    }
}

/// The partial of each column of some rows; indices are those of rows.
fn columns<T: Element>(
    op: Op,
    x: &[T],
    rows: std::ops::Range<usize>,
    policy: Policy,
) -> Vec<AnyPartial> {
    let layout = Layout::c(&[rows.len() as u64, COLUMNS as u64]).expect("a shape");
    let folding = Folding::of(layout, &[0]).expect("an axis");
    let parts = Parts::Axes(folding.form().expect("few outputs"), folding);
    let x = HostArray::of(&x[rows.start * COLUMNS..rows.end * COLUMNS]);
    let request = Request::new(op, x).policy(policy).parts(Arc::new(parts));
    let shift = |partial: AnyPartial| partial.reindexed(&|index| index + rows.start as u64);
    partials(&request).expect("a reduction that is defined").into_iter().map(shift).collect()
}

fn bytes(partials: &[AnyPartial]) -> Vec<Vec<u8>> {
    partials.iter().map(AnyPartial::to_bytes).collect()
}

fn is_cut_dependent(op: Op, dtype: DType) -> bool {
    op == Op::Prod && dtype.is_float()
}

#[test]
fn outputs_of_every_world_have_the_bits_of_one_rank() {
    for size in WORLDS {
        Threads::run(size, |comm| {
            for &dtype in DType::ALL {
                for style in Style::ALL.into_iter().filter(|style| *style != Style::Single) {
                    with_array!(dtype, style, ROWS * COLUMNS, T, x => every_op::<T>(&comm, &x, style));
                }
            }
        });
    }
}

fn every_op<T: Element>(comm: &Threads, x: &[T], style: Style) {
    let ops = Op::ALL.iter().filter(|&&op| op != Op::Dot && check(op, T::DTYPE).is_ok());
    for (&op, nan) in ops.flat_map(|op| [(op, Nan::Propagate), (op, Nan::Ignore)]) {
        let policy = Policy { nan, threads: Some(1), ..Policy::default() };
        let agreement = Agreement::new(op, T::DTYPE).policy(&policy);
        let expected = columns(op, x, 0..ROWS, policy);
        for (shares, way) in (0..3).flat_map(|shares| WAYS.map(|way| (shares, way))) {
            let mine = columns(op, x, rows(shares, comm.rank(), comm.size()), policy);
            let what = format!("{op} {} {style:?} {shares} {way:?} {}", T::DTYPE, comm.size());
            let merged = all_merge_batched(comm, &agreement, Ok(&mine), way);
            if is_cut_dependent(op, T::DTYPE) && comm.size() > 1 {
                assert!(merged.unwrap_err().to_string().contains("as a whole"), "{what}");
                continue;
            }
            let merged = merged.unwrap();
            // Any and all stop at the first element that decides, so only what they say is compared.
            if !matches!(op, Op::Any | Op::All) {
                assert_eq!(bytes(&merged), bytes(&expected), "{what}");
            }
            let read = |all: &[AnyPartial]| -> Vec<String> {
                all.iter().map(|p| format!("{:?}", p.finish(op, Finish::default()))).collect()
            };
            assert_eq!(read(&merged), read(&expected), "{what}");
        }
    }
}

/// Keys that are on all ranks, on some and on one; ranks without elements.
#[test]
fn groups_by_key_have_the_bits_of_one_rank() {
    let keys: Vec<i64> =
        (0..ROWS * COLUMNS).map(|k| (k * k % 23) as i64 * 1_000_000_007 - 9).collect();
    for size in WORLDS {
        Threads::run(size, |comm| {
            for dtype in [
                DType::Bool,
                DType::I32,
                DType::U64,
                DType::BF16,
                DType::F32,
                DType::F64,
                DType::Complex64,
            ] {
                for style in [Style::Finite, Style::Special] {
                    with_array!(dtype, style, ROWS * COLUMNS, T, x => groups::<T>(&comm, &keys, &x));
                }
            }
        });
    }
}

fn keyed<T: Element>(op: Op, keys: &[i64], x: &[T]) -> (Vec<i128>, Vec<AnyPartial>) {
    let policy = Policy { threads: Some(1), ..Policy::default() };
    let parts = Arc::new(group_by(keys, x.len(), policy).expect("a key for each element"));
    let Some(Column::I64(found)) = parts.keys() else { panic!("keys") };
    let found = found.iter().map(|&key| i128::from(key)).collect();
    let request = Request::new(op, HostArray::of(x)).policy(policy).parts(parts);
    (found, partials(&request).expect("a reduction that is defined"))
}

fn groups<T: Element>(comm: &Threads, keys: &[i64], x: &[T]) {
    // Indices within groups are not those of one rank's; what else extremes tell is in min and max.
    let ops = [Op::Sum, Op::Var, Op::Count, Op::L1, Op::Linf, Op::Prod];
    for op in ops.into_iter().filter(|&op| !is_cut_dependent(op, T::DTYPE)) {
        let (expected_keys, expected) = keyed(op, keys, x);
        for (shares, way) in (0..3).flat_map(|shares| WAYS.map(|way| (shares, way))) {
            let mine = rows(shares, comm.rank(), comm.size());
            let mine = mine.start * COLUMNS..mine.end * COLUMNS;
            let (own_keys, own) = keyed(op, &keys[mine.clone()], &x[mine]);
            let agreement = Agreement::new(op, T::DTYPE);
            let (found_keys, found) =
                all_merge_keyed(comm, &agreement, Ok((&own_keys, &own)), way).unwrap();
            assert_eq!(found_keys, expected_keys);
            let what = format!("{op} {} {shares} {way:?} {}", T::DTYPE, comm.size());
            assert_eq!(bytes(&found), bytes(&expected), "{what}");
        }
    }
}

#[test]
fn products_of_floats_are_merged_where_one_rank_has_each() {
    for size in WORLDS {
        Threads::run(size, |comm| {
            let x: Vec<f64> = (0..60).map(|k| 1.0 + f64::from(k) * 0.37).collect();
            let keys: Vec<i64> = (0..60).map(|k| k / 10).collect();
            let (expected_keys, expected) = keyed(Op::Prod, &keys, &x);
            // Each key on one rank.
            let own: Vec<usize> = (0..60).filter(|k| k / 10 % size == comm.rank()).collect();
            let own_keys: Vec<i64> = own.iter().map(|&k| keys[k]).collect();
            let own_x: Vec<f64> = own.iter().map(|&k| x[k]).collect();
            let (own_keys, own) = keyed(Op::Prod, &own_keys, &own_x);
            let agreement = Agreement::new(Op::Prod, DType::F64);
            let (found_keys, found) =
                all_merge_keyed(&comm, &agreement, Ok((&own_keys, &own)), Way::Auto).unwrap();
            assert_eq!((found_keys, bytes(&found)), (expected_keys, bytes(&expected)));
        });
    }
}

#[test]
fn ranks_that_differ_or_fail_are_named_whatever_the_way() {
    let sums = |n: usize| vec![AnyPartial::empty(Op::Sum, DType::F64); n];
    for way in WAYS {
        let agreement = Agreement::new(Op::Sum, DType::F64);
        let found = Threads::run(4, |comm| {
            let mine = sums(if comm.rank() == 2 { 3 } else { 2 });
            all_merge_batched(&comm, &agreement, Ok(&mine), way).unwrap_err()
        });
        for error in found {
            assert!(
                matches!(&error, Error::Differs { rank: 2, theirs, .. } if theirs.contains("3 outputs")),
                "{error}"
            );
        }
        let found = Threads::run(4, |comm| {
            let mine = if comm.rank() == 1 { Err("x.npy: gone") } else { Ok(&sums(2)[..]) };
            all_merge_batched(&comm, &agreement, mine, way).unwrap_err()
        });
        for error in found {
            assert_eq!(error, Error::Failed { rank: 1, why: "x.npy: gone".into() });
        }
        let found = Threads::run(2, |comm| {
            let mine = [AnyPartial::empty([Op::Sum, Op::Var][comm.rank()], DType::F64)];
            all_merge_batched(&comm, &agreement, Ok(&mine), way).unwrap_err()
        });
        assert!(found.iter().all(|error| error.to_string().contains("another reduction")));
        let found = Threads::run(2, |comm| {
            let keys = [[1, 2], [2, 1]][comm.rank()];
            all_merge_keyed(&comm, &agreement, Ok((&keys, &sums(2))), way).unwrap_err()
        });
        assert!(found.iter().all(|error| matches!(error, Error::Contribution { rank: 1, .. })));
    }
}

/// From 17 ranks on, scalars that are sums go as digits, and others as before.
#[test]
fn large_worlds_have_the_bits_of_one_rank() {
    const N: usize = 3000;
    let size = 40;
    let x: Vec<f64> =
        (0..N).map(|k| f64::from_bits(warpfold_num::random::word(0, k as u64))).collect();
    let x: Vec<f64> = x.into_iter().map(|x| if x.is_finite() { x } else { 1.5 }).collect();
    let partial = |op, first: usize, x: &[f64]| {
        let request = Request::new(op, HostArray::of(x)).starting_at(first as u64);
        let request = if op == Op::Dot { request.pair(HostArray::of(x)) } else { request };
        reduce(&request).expect("a reduction that is defined")
    };
    Threads::run(size, |comm| {
        for &op in Op::ALL {
            let mine = share(N as u64, 1, comm.rank(), size);
            let (first, end) = (mine.start as usize, mine.end as usize);
            let own = partial(op, first, &x[first..end]);
            let merged = all_merge(&comm, &Agreement::new(op, DType::F64), Ok(&own)).unwrap();
            if !matches!(op, Op::Any | Op::All) {
                assert_eq!(merged.to_bytes(), partial(op, 0, &x).to_bytes(), "{op}");
            }
        }
    });
    // They are told apart by a signature, and then by words.
    let found = Threads::run(size, |comm| {
        let agreement = Agreement::new(Op::Sum, DType::F64);
        let agreement = if comm.rank() == 33 { agreement.and("ddof 1") } else { agreement };
        all_merge(&comm, &agreement, Ok(&AnyPartial::empty(Op::Sum, DType::F64))).unwrap_err()
    });
    for error in found {
        assert!(matches!(&error, Error::Differs { rank: 33, .. }), "{error}");
    }
    // And so are ranks of another kind of reduction, which others would gather.
    for [most, one] in [[Op::Sum, Op::Max], [Op::Max, Op::Sum], [Op::Prod, Op::Var]] {
        let found = Threads::run(size, |comm| {
            let op = if comm.rank() == 3 { one } else { most };
            let mine = AnyPartial::empty(op, DType::F64);
            all_merge(&comm, &Agreement::new(op, DType::F64), Ok(&mine)).unwrap_err()
        });
        for error in found {
            assert!(matches!(&error, Error::Differs { rank: 3, .. }), "{error}");
        }
    }
    let found = Threads::run(size, |comm| {
        let empty = AnyPartial::empty(Op::Sum, DType::F64);
        let mine = if comm.rank() == 17 { Err("no such file") } else { Ok(&empty) };
        all_merge(&comm, &Agreement::new(Op::Sum, DType::F64), mine).unwrap_err()
    });
    assert!(found.iter().all(|error| matches!(error, Error::Failed { rank: 17, .. })));
}
