//! Every reduction of every type by its name (`columns`), of segments and over axes of small arrays: the bits of the CPU, and its errors.

use warpfold::kernel::{DeviceSegments, Machine, ReduceBatched};
use warpfold::partial::{Finish, Output};
use warpfold::{
    Accuracy, Columns, DType, Element, Error, Layout, Nan, Op, OutputShape, Policy, Result,
    Segments, View, reduce_axes, reduce_segments, with_element,
};

use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;
use crate::on_device::own_of_16;

const KINDS: [Contents; 6] = [
    Contents::Plain,
    Contents::Specials,
    Contents::Wide,
    Contents::Zeros,
    Contents::Ties,
    Contents::AllNan,
];

fn compare(found: Result<Columns>, expected: Result<Columns>, what: &str) -> Result<(), String> {
    let (found, expected) = match (found, expected) {
        (Ok(found), Ok(expected)) => (found, expected),
        (
            Err(Error::Output { output: a, error: found }),
            Err(Error::Output { output: b, error: expected }),
        ) => {
            let overflow = |error: &Error| matches!(error, Error::Overflow { .. });
            let alike = found == expected || (overflow(&found) && overflow(&expected));
            return match a == b && alike {
                true => Ok(()),
                false => Err(format!("{what}: {a:?} {found:?}, cpu {b:?} {expected:?}")),
            };
        }
        (found, expected) => return Err(format!("{what}: {found:?}, cpu {expected:?}")),
    };
    let names =
        |columns: &Columns| columns.iter().map(|(name, c)| (*name, c.len())).collect::<Vec<_>>();
    if names(&found) != names(&expected) {
        return Err(format!("{what}: {:?}, cpu {:?}", names(&found), names(&expected)));
    }
    for ((name, found), (_, expected)) in found.iter().zip(&expected) {
        for at in 0..found.len() {
            let one = |column: &warpfold::Column| Ok(Output::One(column.get(at)));
            if !same(&one(found), &one(expected)) {
                let (found, expected) = (found.get(at), expected.get(at));
                return Err(format!("{what}: {name} {at}: {found:?}, cpu {expected:?}"));
            }
        }
    }
    Ok(())
}

/// What is asked of a type.
fn ops(dtype: DType) -> impl Iterator<Item = Op> {
    let ordered = |op| matches!(op, Op::Min | Op::Max | Op::MinMax | Op::ArgMin | Op::ArgMax);
    let requested = move |op: &Op| *op != Op::Dot && !(dtype.is_complex() && ordered(*op));
    Op::ALL.iter().copied().filter(requested)
}

/// Exact, with NaNs and without; and fast where that makes no difference.
fn policies(dtype: DType, kind: Contents) -> Vec<Policy> {
    let exact = Policy::default();
    let mut all = vec![exact];
    if dtype.is_float() {
        all.push(Policy { nan: Nan::Ignore, ..exact });
        if kind == Contents::Ties {
            all.push(Policy { accuracy: Accuracy::Fast, ..exact });
        }
    }
    all
}

/// Every reduction under every policy of what two builders begin, the kernels' and the CPU's.
fn check<'a, M: Machine + 'a, T: Element, A: OutputShape + Clone>(
    found: &dyn Fn() -> ReduceBatched<'a, M, T>,
    expected: &warpfold::ReduceBatched<'_, T, A>,
    kind: Contents,
    ddof: u64,
    what: &str,
) {
    let mut wrong = Vec::new();
    for policy in policies(T::DTYPE, kind) {
        // Stats is a dozen of the others.
        for op in ops(T::DTYPE).filter(|&op| op != Op::Stats || ddof == 1) {
            // Means of fast sums are rounded to f32 first.
            let own = own_of_16::<T>(op)
                .filter(|_| policy.accuracy == Accuracy::Exact && ddof <= u16::MAX.into());
            for round_to in [None].into_iter().chain(own.map(Some)) {
                let finish = Finish { ddof, round_to, ..Finish::default() };
                let what = format!("{op} of {} {kind:?}, {what}{policy}, {finish:?}", T::DTYPE);
                let exact = Policy { accuracy: Accuracy::Exact, ..policy };
                let expected = expected.clone().policy(exact).columns(op, finish);
                let found = found().policy(policy).columns(op, finish);
                wrong.extend(compare(found, expected, &what).err());
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn segments_of<T: Element>() {
    let cuts: [&[u64]; 4] =
        [&[0, 1, 3, 4, 40, 41, 73, 140, 142], &[3, 3, 5, 9, 9, 40], &[2, 70, 71, 139], &[7]];
    let mut random = Random(T::DTYPE as u64 + 3000);
    for (case, cut) in cuts.into_iter().enumerate() {
        // The first cut has segments of every length, and is met by numbers of one size and by others.
        let kinds = [KINDS[case], KINDS[case + 2]];
        for &kind in if case == 0 { &kinds[..] } else { &kinds[..1] } {
            let x = array::<T>(kind, 145, &mut random);
            let Some(device) = machine(2, random.next()) else { return };
            let buffer = device.upload(&x).unwrap();
            let offsets = device.upload(cut).unwrap();
            let found = || device.reduce_segments(&buffer, &offsets);
            let cpu = reduce_segments(&x, Segments::offsets(cut)).unwrap();
            check(&found, &cpu, kind, case as u64 % 2, &format!("{cut:?}"));
        }
    }
    let x = array::<T>(Contents::Specials, 144, &mut random);
    let Some(device) = machine(2, random.next()) else { return };
    let buffer = device.upload(&x).unwrap();
    let found = || device.reduce_segments(&buffer, DeviceSegments::Every(36));
    let cpu = reduce_segments(&x, Segments::every(36)).unwrap();
    check(&found, &cpu, Contents::Specials, 0, "every 36");
}

fn axes_of<T: Element>() {
    let c = |shape: &[u64]| Layout::c(shape).unwrap();
    let cases = [
        (c(&[5, 12]), &[1][..]),
        (c(&[40, 3]), &[0]),
        (c(&[3, 7, 5]), &[1]),
        (c(&[4, 3, 5, 2]).permuted(&[2, 0, 3, 1]).unwrap(), &[0, 2]),
        (Layout::strided(&[6, 9], &[-20, 2], 101).unwrap(), &[1]),
        (c(&[70]), &[0]),
        (c(&[2, 3]), &[]),
        (c(&[3, 0]), &[1]),
        // Columns that are walked from the last row, whose indices count all the same.
        (Layout::strided(&[9, 6], &[-6, 1], 48).unwrap(), &[0]),
        (Layout::strided(&[21, 5], &[-5, 1], 100).unwrap(), &[0]),
    ];
    let mut random = Random(T::DTYPE as u64 + 4000);
    for (case, (layout, axes)) in cases.into_iter().enumerate() {
        let kind = KINDS[case % 6];
        let from = case % 3;
        let memory = array::<T>(kind, 130 + from, &mut random);
        let Some(device) = machine(2, random.next()) else { return };
        let buffer = device.upload(&memory).unwrap();
        let view = View::of(&memory[from..], layout.clone()).unwrap();
        let found = || device.reduce_axes(buffer.slice(from..), &layout, axes).unwrap();
        let cpu = reduce_axes(&view, axes).unwrap();
        let what = format!("axes {axes:?} of {:?}", layout.shape());
        check(&found, &cpu, kind, case as u64 % 2, &what);
    }
}

#[test]
fn ddof_may_exceed_any_length() {
    let mut random = Random(5000);
    let x = array::<i32>(Contents::Specials, 24, &mut random);
    let Some(device) = machine(2, random.next()) else { return };
    let buffer = device.upload(&x).unwrap();
    let found = || device.reduce_segments(&buffer, DeviceSegments::Every(8));
    let cpu = reduce_segments(&x, Segments::every(8)).unwrap();
    check(&found, &cpu, Contents::Specials, 1 << 40, "every 8");
}

macro_rules! for_each_type {
    ($($segments:ident $axes:ident: $dtype:ident;)+) => {$(
        #[test]
        fn $segments() {
            with_element!(DType::$dtype, T => segments_of::<T>());
        }

        #[test]
        fn $axes() {
            with_element!(DType::$dtype, T => axes_of::<T>());
        }
    )+};
}
for_each_type! {
    segments_bool axes_bool: Bool;
    segments_i8 axes_i8: I8;
    segments_i16 axes_i16: I16;
    segments_i32 axes_i32: I32;
    segments_i64 axes_i64: I64;
    segments_u8 axes_u8: U8;
    segments_u16 axes_u16: U16;
    segments_u32 axes_u32: U32;
    segments_u64 axes_u64: U64;
    segments_f16 axes_f16: F16;
    segments_bf16 axes_bf16: BF16;
    segments_f32 axes_f32: F32;
    segments_f64 axes_f64: F64;
    segments_complex64 axes_complex64: Complex64;
    segments_complex128 axes_complex128: Complex128;
}
