//! Operators as text of parts of arrays, against the same operator of each part's elements alone.

use warpfold_engine::operator::{Operator, TypedOperator, Written, columns, fold};
use warpfold_engine::{HostArray, Parts, group_by, group_dense, segments};
use warpfold_num::random::Words;
use warpfold_num::{Column, DType, Policy, Value};
use warpfold_plan::segment::Segments;
use warpfold_plan::shape::{Folding, Layout};

/// Moments by Welford, and where the largest element of a part stands, with what stands beside it.
fn operator(identity: bool) -> TypedOperator {
    let written = Written {
        finish: Some("mean, m2 / max(n, 1), at, beside, n > 2"),
        identity: identity.then_some("0, 0, 0, -inf, 0, 0"),
        ..Written::new(
            "n: f64, mean: f64, m2: f64, most: f64, at: u64, beside: i64",
            "1, x, 0, x, index, y",
            "a.n + b.n,
             a.mean + (b.mean - a.mean) * (b.n / max(a.n + b.n, 1)),
             a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / max(a.n + b.n, 1)),
             max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)",
        )
    };
    let operator = Operator::parse(&written).expect("it is one");
    operator.typed(&[("x", DType::F64), ("y", DType::I16)]).expect("they suit")
}

/// Compares the columns of all parts with the folds of the elements of each.
fn check(parts: &Parts<'_>, members: &[Vec<usize>], n: usize) {
    let mut words = Words(n as u64);
    let x: Vec<f64> = (0..n).map(|_| words.fraction() * 50.0 - 10.0).collect();
    let y: Vec<i16> = (0..n).map(|k| (k % 3000) as i16 - 70).collect();
    let operator = operator(members.iter().any(Vec::is_empty));
    let one = Policy { threads: Some(1), ..Policy::default() };
    let mut wanted: Vec<Vec<Value>> = vec![Vec::new(); 5];
    for members in members {
        let x: Vec<f64> = members.iter().map(|&at| x[at]).collect();
        let y: Vec<i16> = members.iter().map(|&at| y[at]).collect();
        let found = fold(&operator, &[HostArray::of(&x), HostArray::of(&y)], one).expect("values");
        wanted.iter_mut().zip(found).for_each(|(column, value)| column.push(value));
    }
    for threads in [1, 3] {
        let policy = Policy { threads: Some(threads), ..Policy::default() };
        let arrays = [HostArray::of(&x), HostArray::of(&y)];
        let found = columns(&operator, &arrays, parts, policy).expect("every part has a result");
        let found: Vec<Vec<Value>> = found
            .iter()
            .map(|column| (0..column.len()).map(|at| column.get(at)).collect())
            .collect();
        assert!(found == wanted, "{} parts of {n} on {threads} threads", members.len());
    }
}

#[test]
fn rows_and_columns() {
    let shapes: [&[u64]; 9] = [
        &[300, 1],
        &[300, 7],
        &[90, 31],
        &[290, 32],
        &[90, 64],
        &[17, 4096],
        &[5, 1100],
        &[2, 300_000],
        &[3, 40, 9],
    ];
    for shape in shapes {
        let n: u64 = shape.iter().product();
        for axis in 0..shape.len() {
            let folding = Folding::of(Layout::c(shape).expect("it has"), &[axis as i64]);
            let folding = folding.expect("it has this axis");
            let (outputs, inputs) =
                (folding.outputs().expect("few"), folding.inputs().expect("few"));
            if outputs > 5000 {
                continue;
            }
            let members: Vec<Vec<usize>> = (0..outputs)
                .map(|output| (0..inputs).map(|k| folding.flat(output, k) as usize).collect())
                .collect();
            check(&Parts::Axes(folding.form().expect("it has"), folding), &members, n as usize);
        }
    }
}

#[test]
fn segments_of_any_lengths() {
    let mut words = Words(8);
    for longest in [3, 40, 200_000] {
        let mut offsets = vec![0u64];
        while *offsets.last().expect("one") < 600 || offsets.len() < 6 {
            offsets.push(offsets.last().expect("one") + words.below(longest));
        }
        let n = *offsets.last().expect("one") as usize;
        let members: Vec<Vec<usize>> =
            offsets.windows(2).map(|ends| (ends[0] as usize..ends[1] as usize).collect()).collect();
        let parts = segments(Segments::Offsets((&offsets[..]).into()), n as u64, Policy::default());
        check(&parts.expect("they ascend"), &members, n);
    }
}

#[test]
fn keys() {
    let mut words = Words(9);
    for (n, groups) in [(1000, 7), (900, 600), (200_000, 2)] {
        let keys: Vec<u32> = (0..n).map(|_| words.below(groups) as u32).collect();
        let members = |group: u32| (0..n).filter(|&at| keys[at] == group).collect::<Vec<_>>();
        let all: Vec<Vec<usize>> = (0..groups as u32).map(members).collect();
        let dense = group_dense(&keys, groups, n, Policy::default()).expect("they are below");
        check(&dense, &all, n);
        let some: Vec<Vec<usize>> = all.into_iter().filter(|group| !group.is_empty()).collect();
        check(&group_by(&keys, n, Policy::default()).expect("as many"), &some, n);
    }
}

#[test]
fn parts_without_a_result_are_named() {
    let x = [1i64, i64::MAX, 3, 4, 5];
    let operator = Operator::parse(&Written::new("s: i64", "x", "a.s + b.s")).expect("a sum");
    let operator = operator.typed(&[("x", DType::I64)]).expect("it suits");
    let of = |offsets: &[u64]| {
        let parts = segments(Segments::Offsets(offsets.into()), 5, Policy::default());
        columns(&operator, &[HostArray::of(&x)], &parts.expect("they ascend"), Policy::default())
    };
    assert_eq!(of(&[0, 1, 2, 5]).expect("they fit"), [Column::of(vec![1i64, i64::MAX, 12])]);
    let said = |offsets: &[u64]| of(offsets).expect_err("it is refused").to_string();
    assert!(said(&[0, 1, 1, 5]).starts_with("segment 1: operator: there are no elements"));
    assert!(said(&[0, 1, 3, 5]).starts_with("segment 1: merge, `a.s + b.s`"));
    let rows = segments(Segments::every(1), 0, Policy::default()).expect("none");
    let none: [i64; 0] = [];
    let found = columns(&operator, &[HostArray::of(&none)], &rows, Policy::default());
    assert_eq!(found.expect("none"), [Column::of::<i64>(Vec::new())]);
}
