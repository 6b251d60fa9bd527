//! What must hold of any bytes given to a partial's `from_bytes`.

use warpfold::partial::{Finish, Partial};
use warpfold::{DType, Element, Op, with_element};

/// Reads the bytes as partials of every element type; what is accepted must be saved as the same bytes, merge and finish.
/// Returns whether any type accepted them.
pub fn check(bytes: &[u8]) -> bool {
    let accept = |dtype: &DType| with_element!(*dtype, T => check_as::<T>(bytes));
    DType::ALL.iter().filter(|dtype| accept(dtype)).count() > 0
}

fn check_as<T: Element>(bytes: &[u8]) -> bool {
    let Ok(mut partial) = Partial::<T>::from_bytes(bytes) else {
        return false;
    };
    let (words, compact) = (partial.to_bytes(), partial.to_compact());
    let same = if bytes[0] == words[0] { &words } else { &compact };
    assert_eq!(same, bytes, "what was read is saved as it was");
    for form in [words, compact] {
        assert_eq!(Partial::from_bytes(&form).as_ref(), Ok(&partial), "either form is the partial");
    }
    let twice = partial.clone();
    // By itself first: products of floats say of elements that are there twice only that they are.
    for _ in 0..2 {
        for &op in reads(&partial) {
            // A refusal is fine (nothing to take the mean of, an integer too large); a panic is not.
            let _ = partial.finish(op, Finish { ddof: 1, ..Finish::default() });
            let _ = partial.finish(op, Finish { round_to: Some(DType::F32), ..Finish::default() });
        }
        partial.merge(&twice);
    }
    true
}

/// The reductions that a partial answers.
fn reads<T: Element>(partial: &Partial<T>) -> &'static [Op] {
    match partial {
        Partial::Sum(_) => &[Op::Sum, Op::Mean],
        Partial::Moments(_) => &[Op::Var, Op::Std, Op::L2],
        Partial::Dot(_) => &[Op::Dot],
        Partial::Extremes(_) => &[Op::Min, Op::Max, Op::MinMax, Op::ArgMin, Op::ArgMax],
        Partial::Product(_) => &[Op::Prod],
        Partial::Count(_) => &[Op::Any, Op::All, Op::Count],
        Partial::Norm1(_) => &[Op::L1],
        Partial::Magnitude(_) => &[Op::Linf],
        Partial::Stats(_) => &[Op::Stats],
    }
}
