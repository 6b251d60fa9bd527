//! Climbs the ladder in the simulator and prints a line a rung: `cargo run --release --example ladder [n] [type] [op] [block] [rung]`.

use std::time::Instant;

use warpfold::{DType, Op};
use warpfold_lab::ladder::{self, Case, Options, Runs, Simulator};
use warpfold_lab::with_number;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let word = |k: usize, default: &str| words.get(k).cloned().unwrap_or(default.to_owned());
    let dtype: DType = word(1, "f32").parse().unwrap();
    let op = Op::ALL.iter().copied().find(|op| op.name() == word(2, "sum")).unwrap();
    let case = Case {
        op,
        dtype,
        n: word(0, "65536").parse().unwrap(),
        block: word(3, "256").parse().unwrap(),
    };
    let options = Options {
        case,
        rungs: match words.get(4) {
            Some(name) => vec![ladder::find(name).unwrap()],
            None => ladder::rungs().iter().collect(),
        },
        data: ladder::natural_data(op, dtype),
        seed: 1,
        runs: Runs::Exactly(3),
        temperature: warpfold_lab::cuda::report::Temperature::Cold,
        copies: 1,
        peak: None,
        method: None,
        peers: Vec::new(),
        revision: None,
    };
    struct Watch(Instant);
    impl ladder::Observer for Watch {
        fn row(&mut self, row: &ladder::Row) {
            let c = row.complexity.as_ref();
            println!(
                "{:22} {:?} {:8.3} s {} | {:?} {:?} {:?} | W {:?} {:?} S {:?} {:?}",
                row.name,
                row.verified,
                self.0.elapsed().as_secs_f64(),
                row.obstacle.clone().unwrap_or_default(),
                row.value,
                row.error,
                row.bound,
                c.and_then(|c| c.work),
                c.and_then(|c| c.work_counted),
                c.and_then(|c| c.steps),
                c.and_then(|c| c.steps_counted),
            );
            self.0 = Instant::now();
        }
    }
    with_number!(dtype, T => ladder::climb::<T, _>(&mut Simulator::default(), &options, &mut Watch(Instant::now())).unwrap());
}
