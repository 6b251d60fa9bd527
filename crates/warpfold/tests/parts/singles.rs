//! Inputs of one element each.

use warpfold::UnderPolicy;
use warpfold::partial::Finish;
use warpfold::plan::Way;
use warpfold::{
    Column, Complex, Element, Error, Nan, Op, Policy, Segments, View, bf16, f16, reduce_axes,
    reduce_segments,
};

const OPS: [Op; 17] = [
    Op::Sum,
    Op::Mean,
    Op::Var,
    Op::Std,
    Op::L1,
    Op::L2,
    Op::Sumsq,
    Op::Linf,
    Op::Prod,
    Op::Min,
    Op::Max,
    Op::MinMax,
    Op::ArgMin,
    Op::ArgMax,
    Op::Any,
    Op::All,
    Op::Count,
];

/// The bits of a result, or what it says.
fn bits(columns: warpfold::Result<Vec<(&'static str, Column)>>) -> String {
    let values = |column: Column| match column {
        Column::F32(x) => format!("{:x?}", x.into_iter().map(f32::to_bits).collect::<Vec<_>>()),
        Column::F64(x) => format!("{:x?}", x.into_iter().map(f64::to_bits).collect::<Vec<_>>()),
        other => format!("{other:?}"),
    };
    match columns {
        Ok(columns) => columns.into_iter().map(|(_, column)| values(column)).collect(),
        Err(Error::Output { error, .. }) => error.to_string(),
        Err(error) => error.to_string(),
    }
}

/// Holds each element of an array, as an input of its own, to what is said of a segment by offsets, which lanes and kernels fold.
fn agrees<T: Element>(x: &[T]) {
    for (op, nan) in OPS.into_iter().flat_map(|op| [(op, Nan::Propagate), (op, Nan::Ignore)]) {
        for round_to in [None, Some(warpfold::DType::F32), Some(warpfold::DType::F64)] {
            let finish = Finish { round_to, ..Finish::default() };
            for (k, one) in x.chunks(1).enumerate() {
                let (policy, what) = (Policy::default(), format!("{op} of {one:?}, {nan:?}"));
                let lone = policy.reduce_segments(one, Segments::every(1)).unwrap().nan(nan);
                assert_eq!(lone.plan(op).way, Way::Singles);
                let offsets = [k as u64, k as u64 + 1];
                let by_offsets =
                    policy.reduce_segments(x, Segments::offsets(&offsets)).unwrap().nan(nan);
                assert_eq!(by_offsets.plan(op).way, Way::Runs);
                let expected = bits(by_offsets.columns(op, finish));
                assert_eq!(bits(lone.columns(op, finish)), expected, "{what}");
            }
        }
    }
}

#[test]
fn one_element_is_as_it_is_by_offsets() {
    macro_rules! integers {
        ($($ty:ty),+) => {$(
            agrees(&[<$ty>::MIN, <$ty>::MAX, <$ty>::MAX - 1, <$ty>::MAX / 3, 0, 1, 7]);
        )+};
    }
    integers!(i8, u8, i16, u16, i32, u32, i64, u64);
    // Halfway between floats of 32 bits, but for a bit that one of 64 has no room for.
    agrees(&[(1i64 << 61) + (1 << 37) + 1, (1 << 61) + (3 << 37) - 1]);
    agrees(&[false, true]);
    let odd = |bits: u64| f64::from_bits(bits);
    let wide = [
        odd(0xfff8_0000_0000_0003),
        odd(0x7ff0_0000_0000_0001),
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::MAX,
        f64::MIN,
        odd(1),
        -odd(1),
        f64::MIN_POSITIVE,
        f64::from(f32::MAX) * (1.0 + 2f64.powi(-25)),
        1.0 + 2f64.powi(-24),
        0.0,
        -0.0,
        -1.5,
    ];
    agrees(&wide);
    let narrow: Vec<f32> =
        wide.iter().map(|&x| x as f32).chain([f32::from_bits(1), f32::MAX]).collect();
    agrees(&narrow);
    agrees(&narrow.iter().map(|&x| f16::from_f32(x)).collect::<Vec<_>>());
    agrees(&narrow.iter().map(|&x| bf16::from_f32(x)).collect::<Vec<_>>());
    let zeros = [(0.0, f64::NAN), (f64::NAN, -0.0), (-0.0, 0.0), (f64::INFINITY, 0.0)];
    agrees(&zeros.map(|(re, im)| Complex { re, im }));
    for turned in [1, 5] {
        let pairs = |k: usize| (wide[k], wide[(k + turned) % wide.len()]);
        let complex = (0..wide.len()).map(pairs).map(|(re, im)| Complex { re, im });
        agrees(&complex.collect::<Vec<_>>());
        let complex = (0..wide.len()).map(pairs);
        let complex = complex.map(|(re, im)| Complex { re: re as f32, im: im as f32 });
        agrees(&complex.collect::<Vec<_>>());
    }
}

#[test]
fn each_element_is_finished_once_and_in_its_place() {
    let some = Policy::default().reduce_segments(&[0f32; 2], Segments::every(1)).unwrap();
    let grain = some.plan(Op::Sum).grain as usize;
    for n in [0, 1, 2, 15, 16, 17, 1000, grain - 1, grain, grain + 1, 9 * grain + 5] {
        let all: Vec<f32> = (0..n + 3)
            .map(|k| match k % 1013 {
                9 => -0.0,
                77 => f32::from_bits(0xffc0_0001),
                500 => f32::NEG_INFINITY,
                _ => k as f32 - 300.0,
            })
            .collect();
        // Not where memory is aligned, and not to its end.
        let x = &all[1..=n];
        let expected: Vec<u32> =
            x.iter().map(|x| if x.is_nan() { f32::NAN } else { x + 0.0 }.to_bits()).collect();
        for threads in [1, 2, 3] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            let found = policy.reduce_segments(x, Segments::every(1)).unwrap().sum().unwrap();
            assert!(found.into_iter().map(f32::to_bits).eq(expected.iter().copied()), "{n}");
            let batched = policy.reduce_segments(x, Segments::every(1)).unwrap();
            let kept = batched.nan(Nan::Ignore).sum().unwrap();
            let zeros = x.iter().map(|x| if x.is_nan() { 0.0 } else { x + 0.0 });
            assert!(kept.into_iter().map(f32::to_bits).eq(zeros.map(f32::to_bits)), "{n}");
        }
        let view = View::new(&all, &[n as u64 + 3, 1]).unwrap();
        let rows = reduce_axes(&view, &[1]).unwrap();
        assert_eq!(rows.plan(Op::Max).way, Way::Singles);
        let greatest = rows.max().unwrap().values;
        assert!(all.iter().zip(&greatest).all(|(a, b)| a == b || a.is_nan() && b.is_nan()));
    }
    let empty = Policy::default().reduce_segments(&[f32::NAN, 1.0], Segments::every(1));
    let error = empty.unwrap().nan(Nan::Ignore).mean().unwrap_err();
    assert!(matches!(error, Error::Output { .. }), "{error}");
}

#[test]
fn one_element_has_no_variance_over_none() {
    let x: Vec<f64> = (0..3000).map(|k| if k % 7 == 3 { f64::NAN } else { k as f64 }).collect();
    let every = || reduce_segments(&x, Segments::every(1)).unwrap();
    assert!(every().or_none().var(1).unwrap().iter().all(Option::is_none));
    let canonical = |x: &f64| x.to_bits() == 0x7ff8_0000_0000_0000;
    assert!(every().or_nan().std(1).unwrap().iter().all(canonical));
    assert!(matches!(every().var(1).unwrap_err(), Error::Output { .. }));
}
