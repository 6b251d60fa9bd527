//! What has no result, and what no kernel folds: said as by the processor.

use warpfold::kernel::AnyView;
use warpfold::kernel::operator::{OperatorGrid, OperatorLaunches, fold};
use warpfold::map::HostArray;
use warpfold::{DType, Policy};
use warpfold_engine::operator::{self as engine, Written};

use super::{WELFORD, compare, typed};
use crate::machine;

const SUM: Written<'_> = Written {
    finish: None,
    identity: None,
    state: "s: i64",
    lift: "x",
    merge: "a.s + b.s",
    ..WELFORD
};

/// In a run, between runs, between blocks, between tiles, and where an element is lifted or the state finished.
#[test]
fn an_operation_without_a_value_is_told_as_by_the_processor() {
    for at in [3, 33, 1500, 9000] {
        let mut x = vec![1i64; 20_000];
        (x[at], x[at + 1]) = (i64::MAX - 20, 10);
        compare(&SUM, &[HostArray::of(&x)], 20_000, 0);
    }
    let mut x = vec![1i64; 5000];
    x[4321] = i64::MIN;
    let lifted = Written { lift: "abs(x)", ..SUM };
    compare(&lifted, &[HostArray::of(&x)], 5000, 0);
    compare(&lifted, &[HostArray::of(&x)], 4321, 0);
    compare(&Written { finish: Some("s // 0"), ..SUM }, &[HostArray::of(&[1i64; 40])], 40, 0);
}

#[test]
fn what_does_not_suit_is_refused_by_name() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1i64; 50]).expect("memory");
    let y = machine.upload(&[1.0f64; 50]).expect("memory");
    let views: [AnyView<'_>; 2] = [x.view().untyped(), y.view().untyped()];
    let said = |written: &Written<'_>, inputs: &[(&str, DType)], views: &[AnyView<'_>]| {
        let found = fold(&machine, &typed(written, inputs), views);
        found.expect_err("it is refused").to_string()
    };
    let (of_i64, of_f64) = ([("x", DType::I64)], [("x", DType::F64)]);
    assert!(said(&SUM, &of_i64, &views[1..]).contains("the arrays are of"));
    let both = [("x", DType::I64), ("y", DType::F64)];
    let short = [views[0], views[1].slice(1..)];
    assert!(said(&SUM, &both, &short).contains("give arrays of one length"));
    assert!(said(&SUM, &of_i64, &[views[0].slice(..0)]).contains("give an identity"));
    // Its laws are tried on the elements, as on the processor.
    let mean = Written { state: "m: f64", merge: "(a.m + b.m) / 2", ..SUM };
    let ascending: Vec<f64> = (0..50).map(f64::from).collect();
    let there = machine.upload(&ascending).expect("memory");
    let refused = said(&mean, &of_f64, &[there.view().untyped()]);
    assert!(refused.contains("said to be associative, and is not"), "{refused}");
    let here =
        engine::fold(&typed(&mean, &of_f64), &[HostArray::of(&ascending)], Policy::default());
    assert_eq!(here.expect_err("no law").to_string(), refused);
    // Nine arrays are more than kernels take; where some are not read, eight may be.
    let names = ["x", "b", "c", "d", "e", "f", "g", "h", "i"].map(|name| (name, DType::I64));
    let two = Written { state: "s: i64, t: i64", merge: "a.s + b.s, a.t + b.t", ..SUM };
    let all = [views[0]; 9];
    let nine = Written { lift: "x + b + c + d + e, f + g + h + i", ..two };
    assert!(said(&nine, &names, &all).contains("it reads 9 arrays, and kernels take 8"));
    let eight = typed(&Written { lift: "x + b + c + d, f + g + h + i", ..two }, &names);
    assert_eq!(fold(&machine, &eight, &all), Ok(vec![200i64.into(); 2]));
}

/// The same operations, of which each takes another as its result: they are two kernels.
#[test]
fn operators_that_differ_in_what_they_take_alone_are_told_apart() {
    let (x, y): (Vec<i64>, Vec<i64>) = (0..3000).map(|k| (k + 1, 7 * k)).unzip();
    let arrays = [HostArray::of(&x), HostArray::of(&y)];
    for lift in ["x + y, x", "x + y, y"] {
        let written = Written { state: "s: i64, t: i64", lift, merge: "a.s + b.s, a.t", ..SUM };
        compare(&written, &arrays, 3000, 0);
    }
}

#[test]
fn shapes_of_another_tree_are_refused() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[1i64; 5000]).expect("memory");
    let sum = typed(&SUM, &[("x", DType::I64)]);
    for (tile, span) in [(0, 1), (1, 0), (3, 1), (64, 1), (4, 6)] {
        let grid = Some(OperatorGrid { tile, span });
        let found = OperatorLaunches::new(&machine, &sum, &[x.view().untyped()], grid);
        let error = found.err().expect("it is refused").to_string();
        assert!(error.contains("powers of two"), "{error}");
    }
}
