//! Element types that are known only at run time, as in a file's header.
//!
//! `cargo run --example 10_dtype_at_run_time`

use std::error::Error;

use warpfold::partial::{Finish, Output};
use warpfold::{DType, Op, Policy, Stream, Value, with_element};

/// Reduces raw little-endian bytes of a named type by a named reduction.
fn reduce_bytes(op: Op, dtype: DType, bytes: &[u8]) -> warpfold::Result<Output> {
    with_element!(dtype, T => {
        let x: Vec<T> = bytes.chunks_exact(size_of::<T>()).map(|b| {
            bytemuck::checked::pod_read_unaligned(b)
        }).collect();
        let mut stream = Stream::<T>::new(op, Policy::default())?;
        stream.push(&x)?;
        stream.finish(Finish::default())
    })
}

/// One buffer under three names.
pub fn main() -> Result<(), Box<dyn Error>> {
    let bytes: Vec<u8> = [1.5f32, 2.25, -8.0].iter().flat_map(|x| x.to_le_bytes()).collect();
    for (op, dtype, expected) in [
        ("sum", "f32", Value::F32(-4.25)),
        ("max", "f32", Value::F32(2.25)),
        ("count", "u8", Value::U64(5)),
        ("argmin", "i32", Value::U64(2)),
    ] {
        let answer = reduce_bytes(op.parse()?, dtype.parse()?, &bytes)?;
        println!("{op} as {dtype}: {answer:?}");
        assert_eq!(answer, Output::One(expected));
    }
    // What makes no sense is an error, not a panic.
    let error = reduce_bytes(Op::Max, DType::Complex64, &bytes[..8]).expect_err("no order");
    println!("{error}");
    Ok(())
}
