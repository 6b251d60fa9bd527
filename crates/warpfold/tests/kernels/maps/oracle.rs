//! Maps of parts against the oracle of the contract, which shares no code with the library: sums, moments with ddof, norms and extremes of what plain Rust maps.

use warpfold::kernel::{MapGroups, MapParts};
use warpfold::partial::{Finish, Output};
use warpfold::{Nan, Op};

use crate::data::{Contents, Random, array};
use crate::machine;
use crate::oracle::expected;
use crate::sample::Sample;

/// Parts by the indices of their elements, and how a machine is told.
struct Cut {
    name: &'static str,
    members: Vec<Vec<usize>>,
    told: Told,
}

enum Told {
    Offsets(Vec<u32>),
    Axes(Vec<u64>, Vec<i64>),
    Keys(Vec<u8>),
}

fn segments(name: &'static str, lengths: &[u32]) -> Cut {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    let members = offsets.windows(2).map(|ends| (ends[0] as usize..ends[1] as usize).collect());
    Cut { name, members: members.collect(), told: Told::Offsets(offsets.clone()) }
}

/// The middle axis of three.
fn columns(name: &'static str, [batches, rows, width]: [usize; 3]) -> Cut {
    let at = |output: usize, row: usize| (output / width * rows + row) * width + output % width;
    let members = (0..batches * width).map(|k| (0..rows).map(|row| at(k, row)).collect()).collect();
    let shape = [batches, rows, width].map(|n| n as u64).to_vec();
    Cut { name, members, told: Told::Axes(shape, vec![1]) }
}

fn keys(n: usize, most: u64) -> Cut {
    let mut random = Random(89);
    let keys: Vec<u8> = (0..n).map(|_| (random.next() % most) as u8).collect();
    let of = |key: u8| (0..n).filter(|&k| keys[k] == key).collect();
    let members = (0..most as u8).map(of).filter(|part: &Vec<usize>| !part.is_empty()).collect();
    Cut { name: "keys", members, told: Told::Keys(keys) }
}

fn cuts() -> [Cut; 7] {
    [
        // Shares of warps begin and end anywhere, and one segment is many warps'.
        segments("short segments", &(0..260).map(|k| k * 7 % 13 + 4).collect::<Vec<_>>()),
        segments("a long segment", &[5, 9, 2600, 4, 17, 4, 30]),
        columns("columns of vectors", [1, 37, 8]),
        columns("columns that are no vectors", [2, 19, 7]),
        columns("wide columns", [1, 5, 300]),
        // Several runs of rows.
        columns("few columns", [1, 2300, 2]),
        keys(700, 11),
    ]
}

/// What one map gives, by the library and by plain Rust.
struct Mapped<'t, V> {
    text: &'t str,
    /// The value of each element, and what it is multiplied by where a product is not rounded.
    values: Vec<V>,
    others: Vec<V>,
    ops: &'t [(Op, u64)],
}

const ALL: &[(Op, u64)] = &[
    (Op::Sum, 0),
    (Op::Mean, 0),
    (Op::Var, 0),
    (Op::Var, 1),
    (Op::Std, 3),
    (Op::L1, 0),
    (Op::L2, 0),
    (Op::Sumsq, 0),
    (Op::Min, 0),
    (Op::Max, 0),
    (Op::Linf, 0),
];

fn check<T: Sample, V: Sample>(
    cut: &Cut,
    [x, y]: [&[T]; 2],
    mapped: &Mapped<'_, V>,
    kind: Contents,
) {
    let Some(machine) = machine(2, 3) else { return };
    let [on, other] = [x, y].map(|x| machine.upload(x).unwrap());
    let (offsets, groups);
    let parts = match &cut.told {
        Told::Offsets(ends) => {
            offsets = machine.upload(ends).unwrap();
            MapParts::segments((&offsets).into()).unwrap()
        }
        Told::Axes(shape, axes) => MapParts::axes(shape, axes).unwrap(),
        Told::Keys(keys) => {
            groups = MapGroups::by(&machine, &machine.upload(keys).unwrap()).unwrap();
            groups.parts()
        }
    };
    let of = |all: &[V], part: &[usize]| part.iter().map(|&k| all[k]).collect::<Vec<_>>();
    for &(op, ddof) in mapped.ops {
        let finish = Finish { ddof, ..Finish::default() };
        let map = machine.map(mapped.text, [("x", &on), ("y", &other)]).parts(parts.clone());
        let what =
            format!("{op} of `{}` of {} {kind:?} {}, ddof {ddof}", mapped.text, cut.name, T::DTYPE);
        let has_kernel = matches!(map.launch(op, ddof), Ok(Some(_)));
        assert!(has_kernel || !mapped.others.is_empty(), "{what} has no kernel");
        let found = map.columns(op, finish).unwrap_or_else(|error| panic!("{what}: {error}"));
        for (k, part) in cut.members.iter().enumerate() {
            let [values, others] = [&mapped.values, &mapped.others].map(|all| match all.len() {
                0 => Vec::new(),
                _ => of(all, part),
            });
            let op = if others.is_empty() { op } else { Op::Dot };
            expected(op, Nan::Propagate, &values, &others, finish)
                .check(&Ok(Output::One(found[0].1.get(k))))
                .unwrap_or_else(|why| panic!("{what}, part {k}: {why}"));
        }
    }
}

/// Each way to part an array has one of the kinds of numbers, in turn.
macro_rules! parts_of {
    ($T:ty, $V:ty, $wide:expr, $kinds:expr) => {
        for (number, cut) in cuts().into_iter().enumerate() {
            let n = cut.members.iter().map(Vec::len).sum();
            for kind in $kinds.into_iter().skip(number % $kinds.len()).take(1) {
                let mut random = Random(97);
                let [x, y]: [Vec<$T>; 2] = [0, 1].map(|_| array(kind, n, &mut random));
                let both = || x.iter().zip(&y).map(|(&x, &y)| ($wide(x), $wide(y)));
                let difference = both().map(|(x, y)| x - y).collect();
                let mapped: Mapped<'_, $V> =
                    Mapped { text: "x - y", values: difference, others: Vec::new(), ops: ALL };
                check(&cut, [&x, &y], &mapped, kind);
                let (values, others) = both().unzip();
                let product: Mapped<'_, $V> =
                    Mapped { text: "x * y", values, others, ops: &[(Op::Sum, 0)] };
                check(&cut, [&x, &y], &product, kind);
            }
        }
    };
}

#[test]
fn parts_of_f32_are_those_of_the_oracle() {
    parts_of!(f32, f32, |x: f32| x, [Contents::Plain, Contents::Specials, Contents::Wide]);
}

#[test]
fn parts_of_f64_are_those_of_the_oracle() {
    parts_of!(f64, f64, |x: f64| x, [Contents::Plain, Contents::Ties]);
}

#[test]
fn parts_of_narrow_floats_are_those_of_the_oracle() {
    parts_of!(warpfold::bf16, f32, warpfold::bf16::to_f32, [Contents::Plain]);
    parts_of!(warpfold::f16, f32, warpfold::f16::to_f32, [Contents::Zeros]);
}
