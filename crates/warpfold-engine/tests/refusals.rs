//! Requests that no executor may run as if part of them were not there.

use std::sync::Arc;

use warpfold_engine::{HostArray, Request, columns, group_dense, partials, reduce, segments};
use warpfold_exact::partial::Finish;
use warpfold_num::{Error, Op, Policy};
use warpfold_plan::segment::Segments;

const X: [f32; 6] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0];

fn in_halves(op: Op) -> Request<'static> {
    let parts = segments(Segments::every(3), 6, Policy::default()).expect("three divide six");
    Request::new(op, HostArray::of(&X)).parts(Arc::new(parts))
}

#[test]
fn parts_are_not_folded_as_a_whole_nor_a_whole_as_parts() {
    assert!(matches!(reduce(&in_halves(Op::Sum)), Err(Error::Shape { .. })));
    let whole = Request::new(Op::Sum, HostArray::of(&X));
    assert!(matches!(columns(&whole, Finish::default()), Err(Error::Shape { .. })));
}

#[test]
fn parts_have_one_array_and_no_start() {
    let pair = in_halves(Op::Sum).pair(HostArray::of(&X));
    assert!(matches!(columns(&pair, Finish::default()), Err(Error::Undefined { .. })));
    assert!(matches!(partials(&in_halves(Op::Dot)), Err(Error::Undefined { .. })));
    let late = in_halves(Op::ArgMax).starting_at(7);
    assert!(matches!(columns(&late, Finish::default()), Err(Error::Unsupported { .. })));
}

#[test]
fn groups_of_another_array_are_refused() {
    let parts = group_dense(&[0u8, 1, 0], 2, 3, Policy::default()).expect("keys are below two");
    let request = Request::new(Op::Sum, HostArray::of(&X)).parts(Arc::new(parts));
    assert!(matches!(columns(&request, Finish::default()), Err(Error::Keys { .. })));
}

#[test]
fn pairs_are_of_one_type_and_length() {
    let pair = |y| Request::new(Op::Dot, HostArray::of(&X)).pair(y);
    assert!(matches!(reduce(&pair(HostArray::of(&[1.0f64; 6]))), Err(Error::Undefined { .. })));
    let short = pair(HostArray::of(&X[1..]));
    assert!(matches!(reduce(&short), Err(Error::LengthMismatch { left: 6, right: 5 })));
}
