//! Outputs without a value on a machine: gaps, where they may be.

use warpfold::kernel::{DeviceSegments, Machine as _};
use warpfold::partial::Finish;
use warpfold::{Column, Error, Layout, Nan, Op};

use crate::machine;

/// Two segments of nothing, one of one element, one of NaN alone, and one of three elements.
const OFFSETS: [u64; 6] = [0, 0, 1, 1, 2, 5];
const X: [f64; 5] = [4.0, f64::NAN, 2.0, 3.0, 7.0];

#[test]
fn an_output_without_a_value_is_none() {
    let Some(machine) = machine(2, 1) else { return };
    let (x, offsets) = (machine.upload(&X).unwrap(), machine.upload(&OFFSETS).unwrap());
    let batched = || machine.reduce_segments(&x, &offsets);
    assert!(matches!(batched().min(), Err(Error::Output { .. })));

    let all = batched().nan(Nan::Ignore).or_none();
    assert_eq!(all.min().unwrap(), [None, Some(4.0), None, None, Some(2.0)]);
    assert_eq!(all.argmax().unwrap(), [None, Some(0), None, None, Some(2)]);
    assert_eq!(all.mean().unwrap(), [None, Some(4.0), None, None, Some(4.0)]);
    assert_eq!(all.var(0).unwrap(), [None, Some(0.0), None, None, Some(14.0 / 3.0)]);
    // One element has no variance over n - 1.
    assert_eq!(all.var(1).unwrap(), [None, None, None, None, Some(7.0)]);
    assert_eq!(all.std(1).unwrap()[4], Some(7f64.sqrt()));
    // What nothing has a value of is no gap.
    assert_eq!(all.sum().unwrap(), [Some(0.0), Some(4.0), Some(0.0), Some(0.0), Some(12.0)]);
    assert_eq!(all.prod().unwrap()[0], Some(1.0));

    // Where NaN is an element, its segment has a value.
    let all = batched().or_none();
    assert!(all.max().unwrap()[3].is_some_and(f64::is_nan));
    assert_eq!(all.argmin().unwrap(), [None, Some(0), None, Some(0), Some(0)]);
}

#[test]
fn every_column_of_stats_has_its_own() {
    let Some(machine) = machine(2, 2) else { return };
    let x = machine.upload(&[1i8, 3]).unwrap();
    let offsets = machine.upload(&[0u32, 0, 1, 2]).unwrap();
    let finish = Finish { ddof: 1, ..Finish::default() };
    let batched = machine.reduce_segments(&x, &offsets);
    let (columns, gaps) = batched.columns_and_gaps(Op::Stats, finish).unwrap();
    assert_eq!(columns.len(), gaps.len());
    for ((name, column), gaps) in columns.iter().zip(gaps) {
        let expected: &[u64] = match *name {
            "count" | "nan_count" | "sum" | "l1" | "l2" => &[],
            "var" | "std" => &[0, 1, 2],
            _ => &[0],
        };
        assert_eq!((gaps.as_slice(), column.len()), (expected, 3), "{name}");
    }
    assert_eq!(columns[0].1, Column::U64(vec![0, 1, 1]));
    let (columns, gaps) = batched.columns_and_gaps(Op::MinMax, finish).unwrap();
    assert_eq!((columns.len(), gaps), (2, vec![vec![0]; 2]));
}

#[test]
fn axes_have_them_all_or_none() {
    let Some(machine) = machine(2, 3) else { return };
    let x = machine.upload(&[5u16, 9, 8, 6]).unwrap();
    let rows = |shape: [u64; 2]| {
        let layout = Layout::c(&shape).unwrap();
        machine.reduce_axes(&x, &layout, &[1]).unwrap().or_none()
    };
    assert_eq!(rows([2, 2]).max().unwrap(), [Some(9), Some(8)]);
    assert_eq!(rows([2, 2]).var(2).unwrap(), [None; 2]);
    assert_eq!(rows([3, 0]).max().unwrap(), [None; 3]);
    assert_eq!(rows([3, 0]).sum().unwrap(), [Some(0); 3]);
    let every = machine.reduce_segments(&x, DeviceSegments::Every(1)).or_none();
    assert_eq!(every.std(0).unwrap(), [Some(0.0); 4]);
    assert_eq!(every.std(1).unwrap(), [None; 4]);
}
