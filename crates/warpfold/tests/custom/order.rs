//! The order of joining is that of the contract: beside a recursion that follows its words.

use proptest::prelude::*;
use warpfold::Policy;
use warpfold::Segments;
use warpfold::custom::{Operator, Piece, fold, fold_by_key, fold_dense, fold_segments, fold_with};

use crate::operators::{Rotations, Welford};

/// Writes down who was joined with whom, as far as a hash tells.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Written;

impl Operator for Written {
    type Element = u32;
    type State = u64;
    type Output = u64;

    fn lift(&self, x: u32, index: u64) -> u64 {
        mixed(u64::from(x) ^ index.rotate_left(32))
    }
    fn merge(&self, a: u64, b: u64) -> u64 {
        mixed(a.wrapping_mul(3).wrapping_add(b.rotate_left(17)))
    }
    fn push(&self, a: u64, x: u32, index: u64) -> u64 {
        mixed(a.wrapping_mul(5) ^ self.lift(x, index))
    }
    fn finish(&self, all: u64) -> u64 {
        all
    }
    // No law holds of it, which shows every difference of order.
    fn is_same(&self, _: &u64, _: &u64) -> bool {
        true
    }
}

fn mixed(x: u64) -> u64 {
    let x = (x ^ x >> 31).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    x ^ x >> 29
}

/// The state of the leaves of one span, from the definition.
fn defined<O: Operator>(operator: O, x: &[O::Element], start: u64, size: u64) -> Option<O::State> {
    let n = x.len() as u64;
    if start >= n {
        return None;
    }
    if size == 32 {
        let mut state = operator.lift(x[start as usize], start);
        for index in start + 1..n.min(start + 32) {
            state = operator.push(state, x[index as usize], index);
        }
        return Some(state);
    }
    let parts = if size == 1024 { 32 } else { 2 };
    (0..parts)
        .filter_map(|part| defined(operator, x, start + part * (size / parts), size / parts))
        .reduce(|left, right| operator.merge(left, right))
}

fn whole<O: Operator>(operator: O, x: &[O::Element]) -> Option<O::Output> {
    let size = (x.len() as u64).next_power_of_two().max(1024);
    defined(operator, x, 0, size).map(|state| operator.finish(state))
}

#[test]
fn every_short_length_and_some_long_ones_are_the_defined_tree() {
    let x: Vec<u32> = (0..400_000).map(|k: u32| k.wrapping_mul(2_654_435_761)).collect();
    for n in (0..2200).chain([65_535, 65_536, 65_537, 131_072, 300_001, 400_000]) {
        let expected = whole(Written, &x[..n]);
        for threads in [1, 2, 7] {
            let policy = Policy { threads: Some(threads), ..Policy::default() };
            assert_eq!(fold_with(&x[..n], Written, policy), expected, "{n} on {threads}");
        }
    }
}

#[test]
fn operators_that_round_have_the_same_bits() {
    let x: Vec<f64> = (0..200_000).map(|k| (k as f64 * 0.37).sin() * 1e3).collect();
    let q: Vec<[f64; 4]> =
        x.chunks(2).map(|x| [x[0].cos(), x[0].sin(), x[1] * 1e-4, 0.1]).collect();
    assert_eq!(fold(&x, Welford), whole(Welford, &x));
    let unit = |q: &[f64; 4]| q.map(|part| part / q.iter().map(|x| x * x).sum::<f64>().sqrt());
    let q: Vec<[f64; 4]> = q.iter().map(unit).collect();
    let (found, expected) = (fold(&q, Rotations), whole(Rotations, &q));
    assert_eq!(found.map(|q| q.map(f64::to_bits)), expected.map(|q| q.map(f64::to_bits)));
}

#[test]
fn segments_and_views_count_from_their_first_element() {
    let x: Vec<u32> = (0..100_000).map(|k: u32| k.wrapping_mul(40_503)).collect();
    let offsets = [0u32, 0, 1, 33, 5000, 5000, 99_000, 100_000];
    let found = fold_segments(&x, Segments::offsets(&offsets), Written).expect("they are segments");
    for (found, ends) in found.iter().zip(offsets.windows(2)) {
        assert_eq!(*found, whole(Written, &x[ends[0] as usize..ends[1] as usize]), "{ends:?}");
    }
    let rows = fold_segments(&x, Segments::every(100), Written).expect("it divides");
    for (row, found) in x.chunks(100).zip(rows) {
        assert_eq!(found, whole(Written, row));
    }
    assert!(fold_segments(&x, Segments::every(99), Written).is_err());
    let odd = warpfold::View::strided(&x, &[50_000], &[2], 1).expect("it lies inside");
    let expected: Vec<u32> = x.iter().copied().skip(1).step_by(2).collect();
    assert_eq!(warpfold::reduce(&odd).fold(Written), whole(Written, &expected));
    assert_eq!(warpfold::reduce(&x).threads(3).fold(Written), whole(Written, &x));
}

#[test]
fn keys_fold_their_elements_in_order() {
    for (n, count) in [(0, 1), (1, 1), (5000, 3), (70_000, 1), (70_000, 9000), (300_000, 2)] {
        let x: Vec<u32> = (0..n).map(|k: u32| k.wrapping_mul(2_654_435_761)).collect();
        let keys: Vec<i32> =
            x.iter().map(|x| (mixed(u64::from(*x)) % count) as i32 * 3 - 40).collect();
        let mut expected = std::collections::BTreeMap::<i32, Vec<u32>>::new();
        for (&key, &x) in keys.iter().zip(&x) {
            expected.entry(key).or_default().push(x);
        }
        let found = fold_by_key(&keys, &x, Written).unwrap();
        assert!(found.keys.iter().eq(expected.keys()), "{n} {count}");
        for ((key, x), &value) in expected.iter().zip(&found.values) {
            assert_eq!(Some(value), whole(Written, x), "{n} {count} {key}");
        }
        // As numbers, of which some have no elements.
        let numbers: Vec<u64> = keys.iter().map(|&key| (key + 40) as u64).collect();
        let found = fold_dense(&numbers, 3 * count + 1, &x, Written).unwrap();
        for (number, found) in found.iter().enumerate() {
            let x = expected.get(&(number as i32 - 40)).map_or(&[][..], Vec::as_slice);
            assert_eq!(*found, whole(Written, x), "{n} {count} {number}");
        }
    }
    assert!(fold_by_key(&[1u8], &[1, 2], Written).is_err());
    assert!(fold_dense(&[1u8, 2], 2, &[1, 2], Written).is_err());
}

#[test]
fn gaps_and_overlaps_are_errors() {
    let x = [1u32, 2, 3, 4, 5];
    let mut piece = Piece::new(&x[3..], 3, Written);
    assert!(piece.finish().unwrap_err().to_string().contains("elements 0 to 3"));
    piece.merge(&Piece::new(&x[..3], 0, Written));
    assert_eq!(piece.finish(), Ok(whole(Written, &x)));
    piece.merge(&Piece::new(&x[..1], 0, Written));
    assert!(piece.finish().unwrap_err().to_string().contains("more than one"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn pieces_in_any_order_are_the_whole(
        n in 1usize..150_000,
        mut cuts in prop::collection::vec(0usize..150_000, 0..6),
        seed in any::<u64>(),
    ) {
        let x: Vec<u32> = (0..n as u32).map(|k| k ^ seed as u32).collect();
        cuts.iter_mut().for_each(|cut| *cut = (*cut).min(n));
        cuts.extend([0, n]);
        cuts.sort_unstable();
        let mut pieces: Vec<Piece<Written>> = cuts
            .windows(2)
            .map(|cut| Piece::new(&x[cut[0]..cut[1]], cut[0] as u64, Written))
            .collect();
        let mut all = Piece::new(&[], 0, Written);
        let mut state = seed | 1;
        while !pieces.is_empty() {
            state = mixed(state);
            let piece = pieces.swap_remove((state % pieces.len() as u64) as usize);
            all.merge(&piece);
        }
        prop_assert_eq!(all.finish(), Ok(whole(Written, &x)));
    }
}
