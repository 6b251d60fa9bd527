//! Operators of one's own, as text, on a machine: the bits of the processor, which has its own oracles, in any shape of the launches; and the same errors.

use warpfold::kernel::operator::{OperatorGrid, OperatorLaunches, fold};
use warpfold::kernel::{AnyBuffer, AnyView};
use warpfold::map::HostArray;
use warpfold::{DType, Policy, Result, Value, bf16, f16};
use warpfold_engine::operator::{self as engine, Operator, TypedOperator, Written};

use crate::compare::bits;
use crate::data::{Contents, Random, array};
use crate::machine;

#[path = "operators/refused.rs"]
mod refused;
#[path = "operators/rows.rs"]
mod rows;
#[path = "operators/tree.rs"]
mod tree;

const WELFORD: Written<'_> = Written {
    finish: Some("mean, m2 / n"),
    identity: None,
    commutative: false,
    tolerance: 1e-6,
    state: "n: f64, mean: f64, m2: f64",
    lift: "1, f64(x), 0",
    merge: "a.n + b.n,
            a.mean + (b.mean - a.mean) * (b.n / (a.n + b.n)),
            a.m2 + b.m2 + (b.mean - a.mean) * (b.mean - a.mean) * (a.n * b.n / (a.n + b.n))",
};
const LOG_SUM_EXP: Written<'_> = Written {
    finish: Some("most + log(s)"),
    identity: Some("-inf, 0"),
    state: "most: f64, s: f64",
    lift: "x, 1",
    merge: "max(a.most, b.most), a.s * exp(a.most - max(a.most, b.most)) + b.s * exp(b.most - max(a.most, b.most))",
    ..WELFORD
};
/// The first of the largest, with its index and what stands beside it.
const ARGMAX: Written<'_> = Written {
    finish: None,
    state: "most: f32, at: u64, beside: i64",
    lift: "x, index, y",
    merge: "max(a.most, b.most), select(b.most > a.most, b.at, a.at), select(b.most > a.most, b.beside, a.beside)",
    ..WELFORD
};

/// Products of 2x2 matrices, of numbers as they are or where + is max and * is +.
fn matrices(cell: impl Fn(usize, usize) -> String) -> String {
    [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| cell(i, j)).join(", ")
}

const MATRIX: Written<'_> = Written {
    finish: None,
    identity: Some("1, 0, 0, 1"),
    state: "m00: f64, m01: f64, m10: f64, m11: f64",
    // Turns, and a little more: products neither grow nor vanish.
    lift: "cos(x), sin(x) + y * 1e-4, -sin(x), cos(x)",
    ..WELFORD
};

/// Rotations by quaternions, made of four arrays: eight fields, as many as there may be.
const QUATERNION: Written<'_> = Written {
    finish: Some("w, i, j, k, turns, w * w + i * i + j * j + k * k"),
    state: "w: f64, i: f64, j: f64, k: f64, turns: u64, least: f32, most: f32, first: i64",
    lift: "cos(x), sin(x) * cos(y), sin(x) * sin(y) * cos(z), sin(x) * sin(y) * sin(z), 1, f32(v), f32(y), i64(index)",
    merge: "a.w * b.w - a.i * b.i - a.j * b.j - a.k * b.k,
            a.w * b.i + a.i * b.w + a.j * b.k - a.k * b.j,
            a.w * b.j - a.i * b.k + a.j * b.w + a.k * b.i,
            a.w * b.k + a.i * b.j - a.j * b.i + a.k * b.w,
            a.turns + b.turns, min(a.least, b.least), max(a.most, b.most), a.first",
    ..WELFORD
};

/// Around the sizes of groups, runs, blocks, tiles and spans.
const SIZES: [usize; 18] =
    [0, 1, 2, 31, 32, 33, 64, 1023, 1024, 1025, 1056, 2048, 3105, 4096, 8191, 8193, 16_385, 20_011];

/// Shapes of launches, of one block a tile up to two tiles of eight a span.
const GRIDS: [OperatorGrid; 4] = [
    OperatorGrid { tile: 1, span: 1 },
    OperatorGrid { tile: 2, span: 4 },
    OperatorGrid { tile: 8, span: 1 },
    OperatorGrid { tile: 4, span: 2 },
];

fn typed(written: &Written<'_>, inputs: &[(&str, DType)]) -> TypedOperator {
    let operator = Operator::parse(written).unwrap_or_else(|error| panic!("{error}"));
    operator.typed(inputs).unwrap_or_else(|error| panic!("{error}"))
}

fn of_arrays(written: &Written<'_>, arrays: &[HostArray<'_>]) -> TypedOperator {
    let names = ["x", "y", "z", "v"].into_iter().zip(arrays.iter().map(HostArray::dtype));
    typed(written, &names.collect::<Vec<_>>())
}

fn shown(found: &Result<Vec<Value>>) -> String {
    match found {
        Ok(values) => {
            let all = values.iter().map(|value| format!("{value:?} {:x?}", bits(value)));
            all.collect::<Vec<_>>().join(", ")
        }
        Err(error) => error.to_string(),
    }
}

/// Compares results of arrays, a part of which is left out at the front of each, with the processor's.
fn compare(written: &Written<'_>, arrays: &[HostArray<'_>], n: usize, skip: usize) {
    let Some(machine) = machine(2, 3) else { return };
    let n = skip..skip + n;
    let operator = of_arrays(written, arrays);
    let parts: Vec<HostArray<'_>> = arrays.iter().map(|array| array.part(n.clone())).collect();
    let wanted = shown(&engine::fold(&operator, &parts, Policy::default()));
    let upload = |array: &HostArray<'_>| {
        AnyBuffer::upload(&machine, array.dtype(), array.part(0..n.end).bytes()).expect("memory")
    };
    let there: Vec<AnyBuffer> = arrays.iter().map(upload).collect();
    let views: Vec<AnyView<'_>> = there.iter().map(|x| x.view().slice(n.clone())).collect();
    let of = |grid| OperatorLaunches::new(&machine, &operator, &views, grid)?.run(&machine);
    for grid in [None].into_iter().chain(GRIDS.map(Some)) {
        assert_eq!(shown(&of(grid)), wanted, "{} of {n:?} in {grid:?}", written.lift);
    }
}

/// At every size, and where arrays do not begin at a vector.
fn everywhere(written: &Written<'_>, arrays: &[HostArray<'_>]) {
    for n in SIZES {
        compare(written, arrays, n, 0);
    }
    for (n, skip) in [(1025, 1), (2111, 3), (33, 2)] {
        compare(written, arrays, n, skip);
    }
}

const MOST: usize = 20_100;

fn doubles(seed: u64) -> Vec<f64> {
    array(Contents::Plain, MOST, &mut Random(seed))
}

#[test]
fn moments_by_welford_are_those_of_the_processor() {
    let x = doubles(1);
    everywhere(&WELFORD, &[HostArray::of(&x)]);
    let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    everywhere(&WELFORD, &[HostArray::of(&narrow)]);
}

#[test]
fn running_log_sum_exp_is_that_of_the_processor() {
    everywhere(&LOG_SUM_EXP, &[HostArray::of(&doubles(2))]);
}

#[test]
fn matrices_and_max_plus_are_those_of_the_processor() {
    let (x, y) = (doubles(3), doubles(4));
    let plain = matrices(|i, j| format!("a.m{i}0 * b.m0{j} + a.m{i}1 * b.m1{j}"));
    everywhere(&Written { merge: &plain, ..MATRIX }, &[HostArray::of(&x), HostArray::of(&y)]);
    let most = matrices(|i, j| format!("max(a.m{i}0 + b.m0{j}, a.m{i}1 + b.m1{j})"));
    let identity = Some("0, -inf, -inf, 0");
    let max_plus = Written { merge: &most, identity, lift: "x, y, y, x", ..MATRIX };
    everywhere(&max_plus, &[HostArray::of(&x), HostArray::of(&y)]);
}

#[test]
fn the_first_of_the_largest_brings_what_stands_beside_it() {
    let x: Vec<f32> = doubles(5).iter().map(|x| (x * 50.0).round() as f32).collect();
    let beside: Vec<i16> = (0..x.len()).map(|k| (k % 3000) as i16 - 70).collect();
    everywhere(&ARGMAX, &[HostArray::of(&x), HostArray::of(&beside)]);
}

#[test]
fn quaternions_with_eight_fields_are_those_of_the_processor() {
    let all = [6, 7, 8, 9].map(doubles);
    everywhere(&QUATERNION, &all.each_ref().map(|x| HostArray::of(x)));
}

#[test]
fn what_is_no_plain_number_is_folded_as_by_the_processor() {
    let specials = [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 5e-324, -f64::NAN, f64::MAX];
    let most = Written { finish: None, ..LOG_SUM_EXP };
    for (k, &special) in specials.iter().enumerate() {
        for at in [0, 31, 32, 1024, 2047 + k] {
            let mut x = doubles(10);
            x[at] = special;
            compare(&WELFORD, &[HostArray::of(&x)], 2100, 0);
            compare(&most, &[HostArray::of(&x)], 2100, 0);
        }
        compare(&most, &[HostArray::of(&vec![special; 1100])], 1100, 0);
    }
    let zeros: Vec<f32> = (0..3000).map(|k| if k % 7 == 3 { 0.0 } else { -0.0 }).collect();
    let beside: Vec<i16> = (0..3000).collect();
    compare(&ARGMAX, &[HostArray::of(&zeros), HostArray::of(&beside)], 3000, 0);
}

#[test]
fn every_element_type_is_read_as_by_the_processor() {
    let n = 2111;
    let last = Written {
        finish: None,
        identity: Some("0, 0"),
        state: "all: f64, last: f64",
        lift: "f64(x) * 0.5, f64(x)",
        merge: "a.all + b.all, b.last",
        ..WELFORD
    };
    macro_rules! of {
        ($($element:ty),*) => {$(
            let x: Vec<$element> = array(Contents::Plain, n, &mut Random(11));
            for skip in [0, 1, 2] {
                compare(&last, &[HostArray::of(&x)], n - 2, skip);
            }
        )*};
    }
    of!(bool, i8, i16, i32, i64, u8, u16, u32, u64, f16, bf16, f32, f64);
}

/// One operator, of arrays with elements of every size beside each other.
#[test]
fn arrays_of_several_types_are_read_beside_each_other() {
    let mixed = Written {
        finish: None,
        identity: None,
        state: "all: i64, most: f64, last: f32, set: u64",
        lift: "x, y, z, u64(v)",
        merge: "a.all + b.all, max(a.most, b.most), b.last, a.set + b.set",
        ..WELFORD
    };
    let mut random = Random(12);
    let x: Vec<i32> = array(Contents::Plain, 5000, &mut random);
    let y: Vec<f64> = array(Contents::Plain, 5000, &mut random);
    let z: Vec<bf16> = array(Contents::Plain, 5000, &mut random);
    let v: Vec<bool> = array(Contents::Plain, 5000, &mut random);
    let arrays = [HostArray::of(&x), HostArray::of(&y), HostArray::of(&z), HostArray::of(&v)];
    for (n, skip) in [(4097, 0), (1023, 1), (3000, 16)] {
        compare(&mixed, &arrays, n, skip);
    }
}

#[test]
fn what_the_planner_chooses_has_the_same_bits() {
    let Some(machine) = machine(1, 5) else { return };
    let x: Vec<f32> = array(Contents::Plain, 70_001, &mut Random(13));
    let operator = of_arrays(&WELFORD, &[HostArray::of(&x)]);
    let on = machine.upload(&x).expect("memory");
    let found = fold(&machine, &operator, &[on.view().untyped()]);
    let wanted = engine::fold(&operator, &[HostArray::of(&x)], Policy::default());
    assert_eq!(shown(&found), shown(&wanted));
}
