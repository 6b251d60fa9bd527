//! Axes on a machine: rows, columns, wide and narrow, middle axes, runs of rows, every alignment.

use warpfold::kernel::Machine as _;
use warpfold::partial::{Finish, Output};
use warpfold::{
    Accuracy, DType, Element, Error, Layout, Op, Policy, Value, View, reduce_axes, with_element,
};

use crate::compare::{near, same};
use crate::data::{Kind, Random, array};
use crate::{SCALE, machine};

const OPS: [Op; 6] = [Op::Sum, Op::Mean, Op::Min, Op::Max, Op::Count, Op::L1];

/// Shapes, and the axis that is folded: of few columns and many, of few rows and many, with and without whole packs.
const CASES: &[(&[u64], i64)] = &[
    (&[40, 70], 1),
    (&[70, 40], 0),
    (&[3, 1001], 0),
    (&[700, 4], 0),
    (&[2000, 3], 0),
    (&[300, 1], 0),
    (&[5, 96, 37], 1),
    (&[4, 3, 256], 1),
    (&[2, 600, 5], 1),
    (&[1, 128], 0),
    // Rows of a lane, of some lanes, of a warp, with and without whole packs, with a last tile that is not.
    (&[4101, 1], 1),
    (&[2049, 2], 1),
    (&[1030, 3], 1),
    (&[999, 4], 1),
    (&[555, 12], 1),
    (&[700, 16], 1),
    (&[333, 31], 1),
    (&[260, 32], 1),
    (&[700, 33], 1),
    (&[301, 70], 1),
    (&[67, 200], 1),
    (&[71, 341], 1),
    // Few rows of many columns, and no more than one lane's.
    (&[3, 2000], 0),
    (&[2, 5, 130], 1),
];

/// More of them, for machines that are fast enough.
const LARGE: &[(&[u64], i64)] = &[
    (&[3000, 5000], 1),
    (&[5000, 3000], 0),
    (&[1_000_003, 4], 0),
    (&[1_000_003, 3], 0),
    (&[3, 1_000_003], 0),
    (&[64, 3, 20_001], 1),
    (&[50, 700, 341], 1),
];

fn check<T: Element>(exact: bool) {
    let mut random = Random(T::DTYPE as u64 + 31);
    let large = if SCALE > 1 { LARGE } else { &[] };
    for (case, &(shape, axis)) in CASES.iter().chain(large).enumerate() {
        let n = shape.iter().product::<u64>() as usize;
        let from = [0, 1, 4, 16][case % 4];
        let folded = shape[axis as usize];
        let kind = match exact {
            true => [Kind::Plain, Kind::Wide, Kind::Specials][case % 3],
            false => [Kind::Plain, Kind::Ties, Kind::Specials][case % 3],
        };
        let memory = array::<T>(kind, n + from, &mut random);
        let Some(device) = machine(2, random.next()) else { return };
        let buffer = device.upload(&memory).unwrap();
        let layout = Layout::c(shape).unwrap();
        let view = View::new(&memory[from..], shape).unwrap();
        for &op in if exact { &OPS[..1] } else { &OPS[..] } {
            let accuracy = if exact { Accuracy::Exact } else { Accuracy::Fast };
            let policy = Policy { accuracy, ..Policy::default() };
            let reduce =
                device.reduce_axes(buffer.slice(from..), &layout, &[axis]).unwrap().policy(policy);
            let plan = match reduce.plan(op) {
                Err(Error::Unsupported { .. }) => {
                    assert!(T::DTYPE.size() < 4, "{op} of {} {shape:?}", T::DTYPE);
                    continue;
                }
                plan => plan.unwrap(),
            };
            let found: Result<Vec<Value>, Error> = with_element!(plan.output(), R => {
                let values = reduce.on_device::<R>(op).and_then(|values| values.download());
                values.map(|values| R::as_parts(&values).iter().map(|&part| part.into()).collect())
            });
            let outputs = reduce_axes(&view, &[axis]).unwrap().columns(op, Finish::default());
            let (found, expected) = match (found, outputs) {
                (Ok(found), Ok(columns)) => (found, columns.into_iter().next().unwrap().1),
                // Integers of their whole range overflow.
                (
                    Err(Error::Output { output: found, .. }),
                    Err(Error::Output { output, error }),
                ) => {
                    assert_eq!(found, output, "{plan}");
                    assert!(matches!(*error, Error::Overflow { .. }), "{plan}: {error}");
                    continue;
                }
                (found, outputs) => panic!("{plan}: kernel {found:?}, cpu {outputs:?}"),
            };
            assert_eq!(found.len(), expected.len());
            for (at, found) in found.into_iter().enumerate() {
                let expected = expected.get(at);
                let (found, expected) = (Ok(Output::One(found)), Ok(Output::One(expected)));
                let rounds =
                    T::DTYPE.is_float() && matches!(op, Op::Sum | Op::Mean | Op::L1) && !exact;
                let agree = match rounds {
                    true => near(&found, &expected, folded.max(2000) as f64 * 2f64.powi(-21)),
                    false => same(&found, &expected),
                };
                assert!(
                    agree,
                    "{plan}: {shape:?}, output {at}, {kind:?}: kernel {found:?}, cpu {expected:?}"
                );
            }
        }
    }
}

macro_rules! for_each_type {
    ($($name:ident: $dtype:ident;)+) => {$(
        #[test]
        fn $name() {
            with_element!(DType::$dtype, T => check::<T>(false));
        }
    )+};
}
for_each_type! {
    i8_: I8;
    i32_: I32;
    u32_: U32;
    i64_: I64;
    f16_: F16;
    bf16_: BF16;
    f32_: F32;
    f64_: F64;
}

#[test]
fn exact_f32() {
    check::<f32>(true);
}

#[test]
fn exact_f64() {
    check::<f64>(true);
}
