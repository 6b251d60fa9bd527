//! What laws of operators are tried on: whoever writes an operator, as text or in Rust, is asked the same.

use crate::random::Words;

/// Triples of states that are tried.
const TRIPLES: usize = 24;
/// Elements of a state at most.
const LONGEST: usize = 4;

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
        let reach = 3 * LONGEST + 1;
        let mut index = words.index(if n > reach { n - reach } else { n });
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

/// Whether two numbers are no farther apart than a part of a scale. What is infinite or no number says nothing: an infinity less itself is NaN in one order of
/// joining and not in another.
pub fn is_close(one: f64, other: f64, scale: f64, part: f64) -> bool {
    let apart = one - other;
    one == other || !apart.is_finite() || apart.abs() <= part * scale.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_one_behind_the_other_within_the_elements() {
        for n in [14, 15, 40, 1000] {
            for (k, Neighbours { states, next }) in triples(n).enumerate() {
                let all: Vec<usize> = states.concat();
                assert!(all.windows(2).all(|pair| pair[1] == pair[0] + 1), "{n}: {all:?}");
                assert!(next == all[all.len() - 1] + 1 && next < n, "{n}: {all:?}, {next}");
                assert!(states.iter().all(|state| (1..=4).contains(&state.len())));
                assert!(k >= 12 || all.len() == 3);
            }
            assert!(triples(n).any(|of| of.states.iter().any(|state| state.len() > 1)));
        }
    }

    #[test]
    fn where_there_are_few_the_first_comes_again() {
        assert!(triples(1).all(|of| of.states.concat().iter().all(|&index| index == 0)));
        assert!(triples(5).all(|of| of.states.concat().into_iter().all(|index| index < 5)));
    }

    #[test]
    fn what_is_no_plain_number_says_nothing() {
        assert!(is_close(1.0, 1.0 + 1e-12, 1.0, 1e-9) && !is_close(1.0, 1.1, 1.0, 1e-9));
        assert!(is_close(f64::NAN, 1.0, 1.0, 0.0) && is_close(f64::INFINITY, 1.0, 1.0, 0.0));
        assert!(is_close(0.0, -0.0, 0.0, 0.0));
    }
}
