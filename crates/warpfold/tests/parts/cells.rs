//! Groups with an accumulator each, as if each were alone.

use warpfold::UnderPolicy;
use warpfold::{Nan, Policy, Result};

/// Sums, magnitudes, counts and means by groups, in their bits, of elements that a function makes of their index.
fn agrees(n: usize, groups: u64, make: impl Fn(usize) -> f64) {
    let keys: Vec<u32> = (0..n as u64).map(|at| (at * at % 1_000_003 % groups) as u32).collect();
    let x: Vec<f64> = (0..n).map(make).collect();
    let mut apart = vec![Vec::new(); groups as usize];
    keys.iter().zip(&x).for_each(|(&key, &x)| apart[key as usize].push(x));
    for (threads, nan) in [(1, Nan::Propagate), (2, Nan::Ignore), (3, Nan::Propagate)] {
        let policy = Policy { threads: Some(threads), ..Policy::default() };
        let batched = policy.group_dense(&keys, groups, &x).unwrap().nan(nan);
        let bits = |all: Vec<f64>| all.into_iter().map(f64::to_bits).collect::<Vec<_>>();
        let alone = |one: fn(warpfold::Reduce<'_, f64>) -> Result<f64>| -> Result<Vec<f64>> {
            apart.iter().map(|x| one(warpfold::reduce(x).nan(nan))).collect()
        };
        let what = format!("{n} in {groups} groups");
        assert_eq!(bits(batched.sum().unwrap()), bits(alone(|x| x.sum()).unwrap()), "{what}");
        assert_eq!(bits(batched.l1().unwrap()), bits(alone(|x| Ok(x.l1())).unwrap()), "{what}");
        match (batched.mean(), alone(|x| x.mean())) {
            (Ok(found), Ok(expected)) => assert_eq!(bits(found), bits(expected), "{what}"),
            (found, expected) => assert_eq!(found.is_ok(), expected.is_ok(), "{what}"),
        }
        let nonzero = alone(|x| Ok(x.count() as f64)).unwrap();
        let found = batched.count().unwrap().into_iter().map(|count| count as f64);
        assert_eq!(bits(found.collect()), bits(nonzero), "{what}");
    }
}

#[test]
fn cells_hold_what_partials_do() {
    let even = |at: usize| (at as f64 * 0.37).sin();
    for (n, groups) in [(1000, 7), (300_000, 1), (300_000, 1000), (70_000, 70_000)] {
        agrees(n, groups, even);
    }
    // Some that find no room, in some of the groups and in all.
    for every in [50_001, 777] {
        for odd in [f64::NAN, f64::INFINITY, -f64::MAX, 1e300, 1e-300, f64::from_bits(1)] {
            agrees(200_000, 300, |at| if at % every == every - 1 { odd } else { even(at) });
        }
    }
    // So many that the table is given up.
    agrees(200_000, 300, |at| even(at) * 2f64.powi((at * 7919 % 2000) as i32 - 1000));
    agrees(200_000, 300, |at| if at % 3 == 0 { f64::NAN } else { even(at) });
}
