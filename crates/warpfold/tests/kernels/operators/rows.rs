//! Rows of arrays by an operator of one's own: each as an array of its own.

use warpfold::kernel::operator::columns;
use warpfold::kernel::{AnyBuffer, AnyView};
use warpfold::map::HostArray;
use warpfold::shape::{Folding, Layout};
use warpfold::{Column, DType, Policy, Result};
use warpfold_engine::Parts;
use warpfold_engine::operator::{self as engine, Written};

use super::{ARGMAX, LOG_SUM_EXP, MOST, QUATERNION, WELFORD, doubles, of_arrays, typed};
use crate::machine;

fn axes(shape: &[u64], axes: &[i64]) -> Parts<'static> {
    let folding = Folding::of(Layout::c(shape).expect("a shape"), axes).expect("axes of it");
    Parts::Axes(folding.form().expect("few elements"), folding)
}

fn shown(found: &Result<Vec<Column>>) -> String {
    match found {
        Ok(columns) => columns.iter().map(|column| format!("{column:?}\n")).collect(),
        Err(error) => error.to_string(),
    }
}

/// Rows of a shape, of the first elements of arrays, or of those behind some.
fn compare(written: &Written<'_>, arrays: &[HostArray<'_>], shape: &[u64], skip: usize) {
    let Some(machine) = machine(1, 3) else { return };
    let n = skip..skip + shape.iter().product::<u64>() as usize;
    let operator = of_arrays(written, arrays);
    let parts = axes(shape, &[-1]);
    let here: Vec<HostArray<'_>> = arrays.iter().map(|array| array.part(n.clone())).collect();
    let wanted = shown(&engine::columns(&operator, &here, &parts, Policy::default()));
    let upload = |array: &HostArray<'_>| {
        AnyBuffer::upload(&machine, array.dtype(), array.part(0..n.end).bytes()).expect("memory")
    };
    let there: Vec<AnyBuffer> = arrays.iter().map(upload).collect();
    let views: Vec<AnyView<'_>> = there.iter().map(|x| x.view().slice(n.clone())).collect();
    let found = shown(&columns(&machine, &operator, &views, &parts));
    assert_eq!(found, wanted, "{} of {shape:?} from {skip}", written.lift);
}

/// Around the sizes of runs, blocks and tiles.
const SHAPES: [&[u64]; 14] = [
    &[0, 5],
    &[3, 0],
    &[70, 1],
    &[200, 3],
    &[5, 31],
    &[100, 32],
    &[3, 33],
    &[20, 100],
    &[5, 1023],
    &[4, 1024],
    &[3, 1025],
    &[2, 3, 1100],
    &[2, 8193],
    &[1, 20_011],
];

#[test]
fn rows_of_every_length_are_those_of_the_processor() {
    let x = doubles(30);
    let narrow: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let beside: Vec<i16> = (0..MOST).map(|k| (k % 3000) as i16 - 70).collect();
    for shape in SHAPES {
        compare(&WELFORD, &[HostArray::of(&x)], shape, 0);
        compare(&LOG_SUM_EXP, &[HostArray::of(&x)], shape, 1);
        compare(&ARGMAX, &[HostArray::of(&narrow), HostArray::of(&beside)], shape, 0);
    }
}

#[test]
fn states_of_eight_fields_have_room() {
    let all = [31, 32, 33, 34].map(doubles);
    for shape in [&[40, 64][..], &[3, 5000]] {
        compare(&QUATERNION, &all.each_ref().map(|x| HostArray::of(x)), shape, 0);
    }
}

#[test]
fn a_row_without_a_result_is_named_as_by_the_processor() {
    let sum = Written { finish: None, state: "s: i64", lift: "x", merge: "a.s + b.s", ..WELFORD };
    let mut x = vec![1i64; 6000];
    (x[4500], x[4501]) = (i64::MAX, 1);
    compare(&sum, &[HostArray::of(&x)], &[60, 100], 0);
    compare(&sum, &[HostArray::of(&x)], &[3, 2000], 0);
    let finish = Written { finish: Some("1000 // (s - 100)"), ..sum };
    compare(&finish, &[HostArray::of(&x)], &[6, 100], 0);
}

#[test]
fn parts_that_are_no_rows_are_refused_by_name() {
    let Some(machine) = machine(1, 3) else { return };
    let x = machine.upload(&doubles(35)[..6000]).expect("memory");
    let operator = typed(&WELFORD, &[("x", DType::F64)]);
    for (shape, folded) in [(&[60, 100][..], &[0][..]), (&[6, 10, 100], &[0, 2])] {
        let found = columns(&machine, &operator, &[x.view().untyped()], &axes(shape, folded));
        let said = found.expect_err("it is refused").to_string();
        assert!(said.contains("the parts are no rows") && said.contains("on the processor"));
    }
}
