//! Outcomes of the pieces of an array, joined into that of the whole.

use super::fast::{FastMoments, FastSum};
use super::record::Outcome;
use crate::element::{Element, Ordered, Parts};
use crate::exact::Exact;
use crate::partial::{Extremes, Partial};

/// Bytes of a piece of each array that comes from the host: an upload of 300 µs on a fast link, beside which a launch is nothing.
pub const PIECE_BYTES: usize = 16 << 20;

/// What the pieces joined so far come to.
///
/// Exact partials merge as they do everywhere. Rounded sums are added exactly, so that the joining rounds only once more; rounded
/// moments are combined in the order of the pieces. So the same pieces give the same bits.
#[derive(Debug, Clone)]
pub struct Joined<T: Element>(State<T>);

#[derive(Debug, Clone)]
enum State<T: Element> {
    Nothing,
    Exact(Partial<T>),
    Sum { parts: T::Parts<Exact<f64>>, count: u64 },
    Moments(FastMoments<T>),
}

impl<T: Element> Default for Joined<T> {
    fn default() -> Self {
        Joined(State::Nothing)
    }
}

impl<T: Element> Joined<T> {
    /// Takes in the outcome of the next piece, whose first element has the index `first`.
    ///
    /// # Panics
    /// If the outcome is that of another kind of reduction.
    pub fn push(&mut self, outcome: Outcome<T>, first: u64) {
        match (&mut self.0, outcome) {
            (state @ State::Nothing, Outcome::Exact(partial)) => {
                *state = State::Exact(from_index(partial, first));
            }
            (State::Exact(all), Outcome::Exact(partial)) => all.merge(&from_index(partial, first)),
            (state @ State::Nothing, Outcome::Sum(sum)) => {
                let parts = T::Parts::from_fn(|k| exact(sum.parts.as_ref()[k]));
                *state = State::Sum { parts, count: sum.count };
            }
            (State::Sum { parts, count }, Outcome::Sum(sum)) => {
                for (all, &part) in parts.as_mut().iter_mut().zip(sum.parts.as_ref()) {
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
    pub fn outcome(self) -> Option<Outcome<T>> {
        Some(match self.0 {
            State::Nothing => return None,
            State::Exact(partial) => Outcome::Exact(partial),
            State::Sum { parts, count } => {
                let parts = T::Parts::from_fn(|k| parts.as_ref()[k].round());
                Outcome::Sum(FastSum { parts, count })
            }
            State::Moments(moments) => Outcome::Moments(moments),
        })
    }
}

fn exact(x: f64) -> Exact<f64> {
    let mut one = Exact::new();
    one.add(x);
    one
}

/// The partial of a piece, with indices that count from the start of the whole array.
fn from_index<T: Element>(partial: Partial<T>, first: u64) -> Partial<T> {
    let mut partial = partial;
    match &mut partial {
        Partial::Extremes(extremes) => move_by(extremes, first),
        Partial::Stats(stats) => move_by(&mut stats.extremes, first),
        _ => {}
    }
    partial
}

fn move_by<T: Ordered>(extremes: &mut Extremes<T>, first: u64) {
    let places = [&mut extremes.min, &mut extremes.max].into_iter().flatten();
    // Kernels of extremes alone leave no index but the greatest.
    places.for_each(|place| place.index = place.index.saturating_add(first));
    extremes.first_nan = extremes.first_nan.map(|index| index + first);
}

/// Chan, Golub and LeVeque (1979): the moments of two pieces together.
fn combine<T: Element>(all: &mut FastMoments<T>, more: &FastMoments<T>) {
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
    for (mean, other) in all.mean.as_mut().iter_mut().zip(more.mean.as_ref()) {
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
    use crate::Op;
    use crate::partial::{Finish, Output};

    fn joined<T: Element>(op: Op, pieces: Vec<Outcome<T>>, each: u64) -> Output {
        let mut joined = Joined::default();
        for (k, piece) in pieces.into_iter().enumerate() {
            joined.push(piece, k as u64 * each);
        }
        joined.outcome().unwrap().finish(op, Finish::default()).unwrap()
    }

    fn extremes(x: &[f32]) -> Outcome<f32> {
        let mut extremes = Extremes::new();
        x.iter().enumerate().for_each(|(i, &x)| extremes.add(x, i as u64));
        Outcome::Exact(Partial::Extremes(extremes))
    }

    #[test]
    fn indices_count_from_the_start_of_the_array() {
        let pieces = || vec![extremes(&[1.0, 2.0]), extremes(&[0.5, 2.0])];
        assert_eq!(joined(Op::ArgMin, pieces(), 2), Output::One(2u64.into()));
        assert_eq!(joined(Op::ArgMax, pieces(), 2), Output::One(1u64.into()));
        let stats = |x: &'static [f32]| {
            let request = Request::new(Op::Stats, HostArray::of(x));
            let partial = warpfold_engine::reduce(&request).expect("stats are of any floats");
            Outcome::Exact(partial.typed::<f32>().expect("of the array's type"))
        };
        let pieces = vec![stats(&[1.0, 2.0]), stats(&[0.5, 2.0])];
        let Output::Summary(all) = joined(Op::Stats, pieces, 2) else { panic!() };
        assert_eq!((all.argmin, all.argmax, all.count), (Some(2), Some(1), 4));
        let pieces = vec![extremes(&[1.0, 2.0]), extremes(&[0.5, f32::NAN])];
        assert_eq!(joined(Op::ArgMax, pieces, 2), Output::One(3u64.into()));
    }

    #[test]
    fn rounded_sums_are_joined_without_rounding_on_the_way() {
        let piece = |x: f64| Outcome::<f64>::Sum(FastSum { parts: [x], count: 1 });
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
            Outcome::<f64>::Moments(FastMoments { mean: [mean], squares, count: x.len() as u64 })
        };
        let pieces = vec![moments(&[]), moments(&[1.0, 2.0]), moments(&[]), moments(&[6.0])];
        let Output::One(crate::Value::F64(var)) = joined(Op::Var, pieces, 0) else { panic!() };
        assert!((var - 14.0 / 3.0).abs() < 1e-14, "{var}");
    }
}
