//! What laws of operators are tried on: whoever writes an operator, as text or in Rust, is asked the same.

use crate::random::Words;

/// Triples of states that are tried.
const TRIPLES: usize = 24;
/// Elements of a state at most.
const LONGEST: usize = 4;
/// Elements of which no triple takes the first again.
pub const ENOUGH: usize = 3 * LONGEST + 1;

/// The elements of three states that stand one behind the other, as in a fold, and the one that comes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Neighbours {
    /// The indices of each state's elements: one, or up to four.
    pub states: [Vec<usize>; 3],
    /// The index of the next element.
    pub next: usize,
}

/// Triples of neighbouring states of so many elements, the first half of them of one element each. Nothing reaches beyond the last element, so that no law is
/// tried on what a fold never joins; where there are too few, the first comes again. Of nothing there are none.
///
/// ```
/// use warpfold_num::laws::triples;
/// let all: Vec<_> = triples(100).collect();
/// assert_eq!(all.len(), 24);
/// let [a, b, c] = &all[0].states;
/// assert_eq!((b[0], c[0], all[0].next), (a[0] + 1, a[0] + 2, a[0] + 3));
/// assert_eq!(triples(0).count(), 0);
/// ```
pub fn triples(n: usize) -> impl Iterator<Item = Neighbours> {
    let mut words = Words(1);
    let all = if n == 0 { 0 } else { TRIPLES };
    (0..all).map(move |triple| {
        let mut index = words.index(if n < ENOUGH { n } else { n - ENOUGH + 1 });
        let mut take = || {
            index += 1;
            (index - 1) % n
        };
        let states = [0; 3].map(|_| {
            let more = if triple < TRIPLES / 2 { 0 } else { words.index(LONGEST) };
            (0..=more).map(|_| take()).collect()
        });
        Neighbours { states, next: take() }
    })
}

/// Whether two numbers are no farther apart than a part of a scale; equal infinities are, and NaNs.
pub fn is_close(one: f64, other: f64, scale: f64, part: f64) -> bool {
    // The difference of two halves is finite.
    let is_near = || (one / 2.0 - other / 2.0).abs() <= part * (scale.abs() / 2.0);
    one == other || (one.is_nan() && other.is_nan()) || is_near()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_one_behind_the_other_within_the_elements() {
        for n in [13, 14, 15, 40, 1000] {
            for (k, Neighbours { states, next }) in triples(n).enumerate() {
                let all: Vec<usize> = states.concat();
                assert!(all.windows(2).all(|pair| pair[1] == pair[0] + 1), "{n}: {all:?}");
                assert!(next == all[all.len() - 1] + 1 && next < n, "{n}: {all:?}, {next}");
                assert!(states.iter().all(|state| (1..=4).contains(&state.len())));
                assert!(k >= 12 || all.len() == 3);
            }
            assert!(triples(n).any(|of| of.states.iter().any(|state| state.len() > 1)));
            assert!(n > ENOUGH + 2 || triples(n).any(|of| of.states[0][0] == n - ENOUGH));
        }
    }

    #[test]
    fn where_there_are_few_the_first_comes_again() {
        assert!(triples(1).all(|of| of.states.concat().iter().all(|&index| index == 0)));
        assert!(triples(5).all(|of| of.states.concat().into_iter().all(|index| index < 5)));
    }

    #[test]
    fn what_is_no_plain_number_is_like_itself_alone() {
        assert!(is_close(1.0, 1.0 + 1e-12, 1.0, 1e-9) && !is_close(1.0, 1.1, 1.0, 1e-9));
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        assert!(is_close(nan, nan, 1.0, 0.0) && is_close(infinity, infinity, 1.0, 0.0));
        assert!(!is_close(nan, 1.0, 1.0, 1e-9) && !is_close(infinity, 3.0, 3.0, 1e-9));
        assert!(!is_close(f64::MAX, -f64::MAX, f64::MAX, 1e-9));
        assert!(is_close(0.0, -0.0, 0.0, 0.0));
    }
}
