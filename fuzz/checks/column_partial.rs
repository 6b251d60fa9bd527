//! What must hold of any bytes given to the `merge_bytes` of columns.

use warpfold_arrow::{ColumnReducer, DataType, Dot};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy};

/// Reductions and columns, one of which the first byte chooses; the last is a product of two columns.
const CHOICES: usize = 7;

fn column(choice: usize) -> Option<(Op, DataType)> {
    Some(match choice {
        0 => (Op::Sum, DataType::Float64),
        1 => (Op::Stats, DataType::Float32),
        2 => (Op::ArgMax, DataType::Int32),
        3 => (Op::Mean, DataType::Date32),
        4 => (Op::Stats, DataType::Decimal128(38, 4)),
        5 => (Op::Prod, DataType::Float64),
        _ => return None,
    })
}

/// What is accepted merges twice, is saved as bytes that are accepted, and finishes; a refusal is fine, a panic is not. Returns whether it was accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((&first, bytes)) = bytes.split_first() else { return false };
    let Some((op, dtype)) = column(usize::from(first) % CHOICES) else { return check_dot(bytes) };
    let nothing = || ColumnReducer::new(op, &dtype, Policy::default()).expect("it is there");
    let mut reducer = nothing();
    if reducer.merge_bytes(bytes).is_err() {
        return false;
    }
    let mut again = nothing();
    again.merge_bytes(&reducer.to_bytes()).expect("what was saved is read");
    let _ = reducer.clone().finish(Finish::default());
    if reducer.merge_bytes(bytes).is_ok() {
        let _ = reducer.finish(Finish::default());
    }
    true
}

fn check_dot(bytes: &[u8]) -> bool {
    let nothing = || Dot::new(&DataType::Float64, &DataType::Int32, Policy::default());
    let mut dot = nothing().expect("both are numbers");
    if dot.merge_bytes(bytes).is_err() {
        return false;
    }
    let mut again = nothing().expect("both are numbers");
    again.merge_bytes(&dot.to_bytes()).expect("what was saved is read");
    let _ = dot.finish(Finish::default());
    true
}
