//! Every rung in the simulator, with every check on: right, free of races, and as costly as its formulas say.
//!
//! Short arrays are sampled; of long ones each rung folds each length once. `WARPFOLD_LADDER=all` runs the whole product, and
//! `WARPFOLD_SEED` another sample.

use warpfold::random::word;
use warpfold::{DType, Op};
use warpfold_ladder::verify::{Cell, every_cell, sample, verify};
use warpfold_ladder::{Simulator, rungs};
use warpfold_simt::Settings;

/// Lengths above are long.
const SHORT: u64 = 2 * 1024 + 1;

fn seed() -> u64 {
    let given = std::env::var("WARPFOLD_SEED").ok().and_then(|seed| seed.parse().ok());
    given.unwrap_or_else(|| {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        time.map_or(0, |time| time.as_secs())
    })
}

fn all_right(cells: &[Cell], seed: u64) {
    println!("{} cells; WARPFOLD_SEED={seed} repeats them", cells.len());
    let mut targets = [Simulator::new(Settings::default())];
    let verified = verify(&mut targets, cells, seed, |_| ()).expect("memory for a few megabytes");
    assert!(verified.wrong.is_empty(), "seed {seed}:\n{}", verified.wrong.join("\n"));
    assert!(verified.right > 0 && verified.right + verified.lacking == cells.len() as u64);
}

fn short(keep: impl Fn(&Cell) -> bool) {
    let seed = seed();
    let cells: Vec<Cell> =
        every_cell().into_iter().filter(|cell| cell.case.n <= SHORT && keep(cell)).collect();
    let count = if std::env::var_os("WARPFOLD_LADDER").is_some() { cells.len() } else { 2500 };
    all_right(&sample(cells, count, seed), seed);
}

#[test]
fn short_arrays_of_integers() {
    short(|cell| !cell.case.dtype.is_float());
}

#[test]
fn short_arrays_of_floats() {
    short(|cell| cell.case.dtype.is_float() && !cell.case.dtype.is_complex());
}

#[test]
fn short_arrays_of_complex_numbers() {
    short(|cell| cell.case.dtype.is_complex());
}

#[test]
fn long_arrays() {
    let seed = seed();
    let long: Vec<Cell> = every_cell().into_iter().filter(|cell| cell.case.n > SHORT).collect();
    if std::env::var_os("WARPFOLD_LADDER").is_some() {
        return all_right(&long, seed);
    }
    let mut cells = Vec::new();
    for (k, rung) in rungs().iter().enumerate() {
        for n in [65537, 1_000_003, 1 << 20] {
            let of: Vec<Cell> =
                long.iter().filter(|cell| cell.rung == rung && cell.case.n == n).copied().collect();
            cells.extend(sample(of, 1, word(seed, k as u64 ^ n)));
        }
    }
    all_right(&cells, seed);
}

/// What is counted is what the formulas say: exactly for whole blocks, and never a longer chain for any others.
#[test]
fn work_and_steps_are_those_of_the_formulas() {
    use warpfold_ladder::{Case, Options, Runs, climb, natural_data};
    let kernels: Vec<_> = rungs().iter().filter(|rung| rung.number().is_some()).collect();
    for (n, block, dtype) in [
        (1 << 14, 64, DType::F32),
        (1 << 14, 512, DType::I64),
        (1 << 14, 256, DType::Complex128),
        (10_007, 96, DType::F64),
        (33, 32, DType::I32),
        (1, 512, DType::F32),
    ] {
        let options = Options {
            rungs: kernels.clone(),
            data: natural_data(Op::Sum, dtype),
            runs: Runs::Exactly(1),
            ..Options::new(Case { op: Op::Sum, dtype, n, block })
        };
        let mut target = Simulator::default();
        let ladder = warpfold_ladder::with_number!(dtype, T => climb::<T, _>(&mut target, &options, &mut ()));
        for row in ladder.expect("memory").rungs {
            let what = format!("{} of {n} {dtype} in blocks of {block}: {row:?}", row.name);
            if row.obstacle.is_some() {
                assert_eq!((&*row.name, block), ("11_unrolled", 96), "{what}");
                continue;
            }
            assert_eq!(row.verified, Some(true), "{what}");
            let Some(found) = row.complexity.as_ref() else { continue };
            let Some((work, steps)) = found.work_counted.zip(found.steps_counted) else { continue };
            let (least, most) = (found.work.unwrap(), found.steps.unwrap());
            assert!(work as f64 >= least && steps as f64 <= most, "{what}");
            if n == 1 << 14 {
                assert_eq!(steps as f64, most, "{what}");
                // The compiler lets idle lanes of a warp fold along where that saves a branch, and shuffles let all.
                let along = row.name.as_str() >= "10";
                // A sum of complex numbers is two.
                let parts = if dtype.is_complex() { 2.0 } else { 1.0 };
                assert!(along || work as f64 == parts * least, "{what}");
            }
        }
    }
}
