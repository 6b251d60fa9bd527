//! What must hold of any sums of digits given to `from_digits`.

use warpfold::partial::Finish;
use warpfold::partial::bytes::digits::MOST;
use warpfold::{AnyPartial, DType, Op};

/// Reads the bytes as a reduction, an element type, a number of partials and the sums of their digits, or `None` if they are too short.
fn parse(bytes: &[u8]) -> Option<(Op, DType, u64, Vec<u64>)> {
    let (&[op, dtype, low, middle, high], rest) = bytes.split_first_chunk()?;
    let op = Op::ALL[usize::from(op) % Op::ALL.len()];
    let dtype = DType::ALL[usize::from(dtype) % DType::ALL.len()];
    let world = u64::from(u32::from_le_bytes([low, middle, high, 0])) & MOST;
    Some((
        op,
        dtype,
        world,
        rest.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect(),
    ))
}

/// The bytes that [`check`] reads as these digits.
#[allow(dead_code, reason = "seeds are written with it, and fuzzing reads them")]
pub fn bytes(op: Op, dtype: DType, world: u64, digits: &[u64]) -> Vec<u8> {
    let place = |at: Option<usize>| at.expect("all have it") as u8;
    let (op, dtype) =
        (Op::ALL.iter().position(|o| *o == op), DType::ALL.iter().position(|d| *d == dtype));
    let mut bytes = vec![place(op), place(dtype)];
    bytes.extend_from_slice(&world.to_le_bytes()[..3]);
    bytes.extend(digits.iter().flat_map(|digit| digit.to_le_bytes()));
    bytes
}

/// Reads sums of digits; what is accepted must have digits of its own that are read as the same partial, be saved and read, merge and finish. Returns
/// whether they were accepted.
pub fn check(bytes: &[u8]) -> bool {
    let Some((op, dtype, world, digits)) = parse(bytes) else { return false };
    let Ok(mut partial) = AnyPartial::from_digits(op, dtype, &digits, world) else { return false };
    let own = partial.to_digits().expect("it was made of digits");
    let again = AnyPartial::from_digits(op, dtype, &own, 1);
    assert_eq!(again.as_ref(), Ok(&partial), "its own digits are the partial");
    assert_eq!(own.len(), digits.len(), "their number is the reduction's and the type's");
    let saved = AnyPartial::from_bytes(&partial.to_bytes());
    assert_eq!(saved.as_ref(), Ok(&partial), "it is saved as itself");
    partial.merge(&partial.clone());
    // A refusal is fine (nothing to take the mean of, an integer too large); a panic is not.
    let _ = partial.finish(op, Finish { ddof: 1, ..Finish::default() });
    true
}
