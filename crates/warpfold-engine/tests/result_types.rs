//! What `Op` says of each reduction, beside what comes out of one.

use warpfold_engine::{HostArray, Request, output, reduce};
use warpfold_exact::partial::{Finish, Output};
use warpfold_num::{Column, DType, Element, Error, Op, ResultKind, Value, with_element};

const ROUND_TO: [Option<DType>; 5] =
    [None, Some(DType::F16), Some(DType::BF16), Some(DType::F32), Some(DType::F64)];

fn request<'a, T: Element>(op: Op, x: &'a [T]) -> Request<'a> {
    let request = Request::new(op, HostArray::of(x));
    if op == Op::Dot { request.pair(HostArray::of(x)) } else { request }
}

#[test]
fn results_are_of_the_type_that_the_table_of_reductions_says() {
    let mut seen = 0;
    for (&op, &dtype, &round_to) in cases() {
        let said = op.result_dtype(dtype, round_to);
        let found = with_element!(dtype, T => {
            output(&request::<T>(op, &[<T as bytemuck::Zeroable>::zeroed(); 3]), Finish { round_to, ..Finish::default() })
        });
        let of = |value: &Value| Column::of_values(vec![*value]).dtype();
        match found {
            Ok(Output::One(value)) => assert_eq!(of(&value), said, "{op} of {dtype}, {round_to:?}"),
            Ok(Output::Pair(least, greatest)) => {
                assert_eq!(op.result(), ResultKind::Pair);
                assert_eq!([of(&least), of(&greatest)], [said; 2], "{op} of {dtype}");
            }
            Ok(Output::Summary(_)) => assert_eq!(said, None, "{op} of {dtype}"),
            Err(Error::Undefined { .. }) => assert!(op.is_ordered() && dtype.is_complex()),
            // Roundings that a reduction refuses.
            Err(Error::Unsupported { .. }) => assert!(round_to.is_some(), "{op} of {dtype}"),
            other => panic!("{op} of {dtype}, {round_to:?}: {other:?}"),
        }
        seen += 1;
    }
    assert_eq!(seen, Op::ALL.len() * DType::ALL.len() * ROUND_TO.len());
}

#[test]
fn elements_are_folded_to_the_partial_that_the_table_of_reductions_says() {
    for (&op, &dtype) in Op::ALL.iter().flat_map(|op| DType::ALL.iter().map(move |d| (op, d))) {
        with_element!(dtype, T => {
            let Ok(partial) = reduce(&request::<T>(op, &[<T as bytemuck::Zeroable>::zeroed(); 3])) else {
                assert!(op.is_ordered() && dtype.is_complex());
                continue;
            };
            for &other in Op::ALL {
                assert_eq!(partial.serves(other), other.partial() == op.partial(), "{op}, {other}");
            }
        });
    }
}

fn cases() -> impl Iterator<Item = (&'static Op, &'static DType, &'static Option<DType>)> {
    let types = |op| DType::ALL.iter().map(move |dtype| (op, dtype));
    Op::ALL
        .iter()
        .flat_map(types)
        .flat_map(|(op, dtype)| ROUND_TO.iter().map(move |to| (op, dtype, to)))
}
