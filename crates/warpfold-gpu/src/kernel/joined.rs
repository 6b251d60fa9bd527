//! Outcomes of the pieces of an array, joined into that of the whole.

use super::fast::{FastMoments, FastSum};
use super::record::Outcome;
use crate::exact::Exact;
#[cfg(any(feature = "cuda", feature = "simt"))]
use crate::partial::{Finish, Output};
use crate::{AnyPartial, DType};
#[cfg(any(feature = "cuda", feature = "simt"))]
use crate::{Error, Op, Result};

/// Bytes of a piece of each array that comes from the host: an upload of 300 µs on a fast link, beside which a launch is nothing.
pub const PIECE_BYTES: usize = 16 << 20;

/// What the pieces joined so far come to.
///
/// Exact partials merge as they do everywhere. Rounded sums are added exactly, so that the joining rounds only once more; rounded
/// moments are combined in the order of the pieces. So the same pieces give the same bits.
#[derive(Debug, Clone, Default)]
pub struct Joined(State);

#[derive(Debug, Clone, Default)]
#[allow(clippy::large_enum_variant, reason = "there is one for an array")]
enum State {
    #[default]
    Nothing,
    Exact(AnyPartial),
    Sum {
        parts: Box<[Exact<f64>; 2]>,
        count: u64,
        dtype: DType,
    },
    Moments(FastMoments),
}

impl Joined {
    /// Takes in the outcome of the next piece, whose first element has the index `first`.
    ///
    /// # Panics
    /// If the outcome is that of another kind of reduction.
    pub fn push(&mut self, outcome: Outcome, first: u64) {
        match (&mut self.0, from_index(outcome, first)) {
            (state @ State::Nothing, Outcome::Exact(partial)) => *state = State::Exact(partial),
            (State::Exact(all), Outcome::Exact(partial)) => all.merge(&partial),
            (state @ State::Nothing, Outcome::Sum(sum)) => {
                let (parts, dtype) = (Box::new(sum.parts.map(exact)), sum.dtype);
                *state = State::Sum { parts, count: sum.count, dtype };
            }
            (State::Sum { parts, count, .. }, Outcome::Sum(sum)) => {
                for (all, &part) in parts.iter_mut().zip(&sum.parts) {
                    all.add(part);
                }
                *count += sum.count;
            }
            (state @ State::Nothing, Outcome::Moments(moments)) => *state = State::Moments(moments),
            (State::Moments(all), Outcome::Moments(moments)) => combine(all, &moments),
            (state, outcome) => unreachable!("{outcome:?} does not join {state:?}"),
        }
    }

    /// The outcome of all pieces; `None` before the first.
    pub fn outcome(self) -> Option<Outcome> {
        Some(match self.0 {
            State::Nothing => return None,
            State::Exact(partial) => Outcome::Exact(partial),
            State::Sum { parts, count, dtype } => {
                let parts = parts.map(|part| part.round());
                Outcome::Sum(FastSum { parts, count, dtype })
            }
            State::Moments(moments) => Outcome::Moments(moments),
        })
    }
}

impl Joined {
    /// The exact partial of all pieces, the first of which was empty if none came.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(crate) fn partial(self, op: Op, dtype: DType) -> Result<AnyPartial> {
        let outcome = self.outcome().expect("a piece was folded, if an empty one");
        outcome.exact().ok_or(Error::Unsupported {
            option: "a partial of fast accuracy",
            op,
            dtype,
            why: "it is rounded on the way; take exact accuracy",
        })
    }

    /// The result of `op` over all pieces, of so many elements, the first of which was empty if none came.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(crate) fn finish(self, op: Op, finish: Finish, seen: u64) -> Result<Output> {
        let outcome = self.outcome().expect("a piece was folded, if an empty one");
        outcome.finish(op, finish).map_err(|error| match error {
            Error::Empty { .. } => Error::Empty { op, ignored: seen > 0 },
            other => other,
        })
    }
}

/// Refuses a piece of one array where the reduction is of two, of two where it is of one, and one that is longer than the other.
///
/// # Panics
/// If bytes are no whole elements.
#[cfg(any(feature = "cuda", feature = "simt"))]
pub(crate) fn check_piece(op: Op, dtype: DType, arrays: &[&[u8]]) -> Result<()> {
    let size = dtype.size();
    for array in arrays {
        assert!(array.len().is_multiple_of(size), "{} bytes of {dtype}", array.len());
    }
    match arrays {
        [x, y] if x.len() != y.len() => Err(Error::LengthMismatch {
            left: (x.len() / size) as u64,
            right: (y.len() / size) as u64,
        }),
        [_, _] if op != Op::Dot => {
            Err(Error::Undefined { op, dtype, why: "only dot takes two arrays" })
        }
        [_] if op == Op::Dot => {
            Err(Error::Undefined { op, dtype, why: "dot takes pieces of two arrays" })
        }
        _ => Ok(()),
    }
}

fn exact(x: f64) -> Exact<f64> {
    let mut one = Exact::new();
    one.add(x);
    one
}

/// The outcome of a piece, with indices that count from the start of the whole array.
pub(super) fn from_index(outcome: Outcome, first: u64) -> Outcome {
    match outcome {
        // Kernels of extremes alone leave no index but the greatest.
        Outcome::Exact(partial) if first > 0 => {
            Outcome::Exact(partial.reindexed(&|index| index.saturating_add(first)))
        }
        other => other,
    }
}

/// Chan, Golub and LeVeque (1979): the moments of two pieces together.
fn combine(all: &mut FastMoments, more: &FastMoments) {
    if more.count == 0 {
        return;
    }
    if all.count == 0 {
        *all = more.clone();
        return;
    }
    let (a, b) = (all.count as f64, more.count as f64);
    let weight = b / (a + b);
    all.squares += more.squares;
    for (mean, other) in all.mean.iter_mut().zip(&more.mean) {
        let distance = other - *mean;
        *mean += distance * weight;
        all.squares += distance * distance * a * weight;
    }
    all.count += more.count;
}

#[cfg(test)]
mod tests {
    use warpfold_engine::{HostArray, Request};

    use super::*;
    use crate::partial::{Extremes, Finish, Output, Partial};
    use crate::{Op, Value};

    fn joined(op: Op, pieces: Vec<Outcome>, each: u64) -> Output {
        let mut joined = Joined::default();
        for (k, piece) in pieces.into_iter().enumerate() {
            joined.push(piece, k as u64 * each);
        }
        joined.outcome().unwrap().finish(op, Finish::default()).unwrap()
    }

    fn extremes(x: &[f32]) -> Outcome {
        let mut extremes = Extremes::new();
        x.iter().enumerate().for_each(|(i, &x)| extremes.add(x, i as u64));
        Outcome::Exact(Partial::<f32>::Extremes(extremes).into())
    }

    #[test]
    fn indices_count_from_the_start_of_the_array() {
        let pieces = || vec![extremes(&[1.0, 2.0]), extremes(&[0.5, 2.0])];
        assert_eq!(joined(Op::ArgMin, pieces(), 2), Output::One(2u64.into()));
        assert_eq!(joined(Op::ArgMax, pieces(), 2), Output::One(1u64.into()));
        let stats = |x: &'static [f32]| {
            let request = Request::new(Op::Stats, HostArray::of(x));
            let partial = warpfold_engine::reduce(&request).expect("stats are of any floats");
            Outcome::Exact(partial)
        };
        let pieces = vec![stats(&[1.0, 2.0]), stats(&[0.5, 2.0])];
        let Output::Summary(all) = joined(Op::Stats, pieces, 2) else { panic!() };
        assert_eq!((all.argmin, all.argmax, all.count), (Some(2), Some(1), 4));
        let pieces = vec![extremes(&[1.0, 2.0]), extremes(&[0.5, f32::NAN])];
        assert_eq!(joined(Op::ArgMax, pieces, 2), Output::One(3u64.into()));
    }

    #[test]
    fn rounded_sums_are_joined_without_rounding_on_the_way() {
        let piece = |x: f64| Outcome::Sum(FastSum { parts: [x, 0.0], count: 1, dtype: DType::F64 });
        let pieces = vec![piece(1e300), piece(1.0), piece(-1e300)];
        assert_eq!(joined(Op::Sum, pieces, 1), Output::One(1.0f64.into()));
        let pieces = vec![piece(1.0), piece(2.0)];
        assert_eq!(joined(Op::Mean, pieces, 1), Output::One(1.5f64.into()));
        let pieces = vec![piece(f64::INFINITY), piece(1.0)];
        assert_eq!(joined(Op::Sum, pieces, 1), Output::One(f64::INFINITY.into()));
    }

    #[test]
    fn moments_of_pieces_are_those_of_the_whole_and_empty_ones_change_nothing() {
        let moments = |x: &[f64]| {
            let count = x.len().max(1) as f64;
            let mean = x.iter().sum::<f64>() / count;
            let squares = x.iter().map(|x| (x - mean) * (x - mean)).sum();
            let (mean, count) = ([mean, 0.0], x.len() as u64);
            Outcome::Moments(FastMoments { mean, squares, count, dtype: DType::F64 })
        };
        let pieces = vec![moments(&[]), moments(&[1.0, 2.0]), moments(&[]), moments(&[6.0])];
        let Output::One(Value::F64(var)) = joined(Op::Var, pieces, 0) else { panic!() };
        assert!((var - 14.0 / 3.0).abs() < 1e-14, "{var}");
    }
}
