//! Runs of some tiles, as if each were alone.

/// Elements of a tile, and tiles of the longest run that is folded by tiles.
const TILE: usize = 4096;
const MOST_TILES: usize = 8;
use warpfold::{Segments, reduce, reduce_segments};

/// Sums, magnitudes and counts of runs of one length, in their bits, of elements that a function makes of their index.
fn agrees(length: usize, make: fn(usize) -> f32) {
    let x: Vec<f32> = (0..3 * length).map(make).collect();
    let batched = reduce_segments(&x, Segments::every(length as u64)).unwrap();
    let bits = |all: Vec<f32>| all.into_iter().map(f32::to_bits).collect::<Vec<_>>();
    let alone = |one: fn(&[f32]) -> f32| bits(x.chunks(length).map(one).collect());
    let sums = alone(|x| reduce(x).sum().unwrap());
    assert_eq!(bits(batched.sum().unwrap()), sums, "sums of {length}");
    assert_eq!(bits(batched.l1().unwrap()), alone(|x| reduce(x).l1()), "magnitudes of {length}");
    let counts: Vec<u64> = x.chunks(length).map(|x| reduce(x).count()).collect();
    assert_eq!(batched.count().unwrap(), counts, "nonzero of {length}");
}

#[test]
fn runs_of_some_tiles_are_as_if_alone() {
    let even = |at: usize| (at as f32 * 0.37).sin();
    // Tiles that have a rule each, but sums that no two f64 hold together.
    let apart = |at: usize| (at as f32 * 0.37).sin() * 2f32.powi(60 * (at / TILE % 3) as i32 - 60);
    let odd = |at: usize| if at % 50_021 == 4 { f32::INFINITY } else { -0.0 };
    for length in [TILE - 1, TILE, TILE + 1, 3 * TILE, MOST_TILES * TILE, MOST_TILES * TILE + 1] {
        for make in [even as fn(usize) -> f32, apart, odd] {
            agrees(length, make);
        }
    }
}
