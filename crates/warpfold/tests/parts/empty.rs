//! Outputs without a value: errors, NaNs or gaps.

use warpfold::{
    Column, Empty, Error, Nan, Op, Segments, View, group_dense, map::HostArray, partial::Finish,
    reduce_axes, reduce_segments,
};
use warpfold_engine::{Request, columns_and_gaps, segments};

/// Two segments of nothing, one of one element, one of NaN alone, and one of three elements.
const OFFSETS: [usize; 6] = [0, 0, 1, 1, 2, 5];
const X: [f64; 5] = [4.0, f64::NAN, 2.0, 3.0, 7.0];

#[test]
fn an_output_without_a_value_fails_all_unless_it_may_be_none() {
    let batched = || reduce_segments(&X, Segments::offsets(&OFFSETS)).expect("these are segments");
    let error = batched().min().unwrap_err();
    assert!(matches!(&error, Error::Output { .. }) && error.to_string().contains('0'), "{error}");

    let all = batched().nan(Nan::Ignore).or_none();
    assert_eq!(all.min().unwrap(), [None, Some(4.0), None, None, Some(2.0)]);
    assert_eq!(all.argmax().unwrap(), [None, Some(0), None, None, Some(2)]);
    assert_eq!(all.minmax().unwrap()[4], Some((2.0, 7.0)));
    assert_eq!(all.mean().unwrap(), [None, Some(4.0), None, None, Some(4.0)]);
    assert_eq!(all.var(0).unwrap(), [None, Some(0.0), None, None, Some(14.0 / 3.0)]);
    // One element has no variance over n - 1.
    assert_eq!(all.var(1).unwrap(), [None, None, None, None, Some(7.0)]);
    assert_eq!(all.std_as::<f32>(1).unwrap()[4], Some(7f32.sqrt()));
    // What nothing has a value of is no gap.
    assert_eq!(all.sum().unwrap(), [Some(0.0), Some(4.0), Some(0.0), Some(0.0), Some(12.0)]);
    assert_eq!(all.prod().unwrap()[0], Some(1.0));
}

#[test]
fn nan_stands_for_no_value_where_the_type_has_one() {
    let batched = reduce_segments(&X, Segments::offsets(&OFFSETS)).unwrap().or_nan();
    let is_nan = |x: Vec<f64>| x.into_iter().map(f64::is_nan).collect::<Vec<_>>();
    for found in [batched.min(), batched.max(), batched.mean(), batched.var(0)] {
        assert_eq!(is_nan(found.unwrap()), [true, false, true, true, false]);
    }
    assert_eq!(batched.var_as::<f32>(1).unwrap()[4], 7.0);
    // An index is never NaN, and neither is an integer.
    assert!(batched.argmin().is_err());
    let integers = group_dense(&[1u8, 1], 2, &[5i32, 6]).unwrap().or_nan();
    assert!(integers.max().is_err());
    assert!(integers.mean().unwrap()[0].is_nan());
    assert_eq!(integers.mean().unwrap()[1], 5.5);
}

#[test]
fn axes_without_elements_have_no_values() {
    let none: [u16; 0] = [];
    let rows = View::new(&none, &[3, 0]).unwrap();
    assert_eq!(reduce_axes(&rows, &[1]).unwrap().or_none().max().unwrap().values, [None; 3]);
    assert_eq!(reduce_axes(&rows, &[1]).unwrap().or_none().sum().unwrap().values, [Some(0); 3]);
}

#[test]
fn every_column_of_stats_has_gaps_of_its_own() {
    let x = [1i8, 3];
    let parts = segments(Segments::offsets(&[0u32, 0, 1, 2]), 2, Default::default()).unwrap();
    let request = Request::new(Op::Stats, HostArray::of(&x)).parts(parts.into()).empty(Empty::None);
    let finish = Finish { ddof: 1, ..Finish::default() };
    let (columns, gaps) = columns_and_gaps(&request, finish).unwrap();
    for ((name, column), gaps) in columns.iter().zip(gaps) {
        let expected: &[u64] = match *name {
            "count" | "nan_count" | "sum" | "l1" | "l2" => &[],
            "var" | "std" => &[0, 1, 2],
            _ => &[0],
        };
        assert_eq!(gaps, expected, "{name}");
        assert_eq!(column.len(), 3, "{name}");
    }
    assert_eq!(columns[0].1, Column::U64(vec![0, 1, 1]));
}
