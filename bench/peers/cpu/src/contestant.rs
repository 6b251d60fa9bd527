//! Someone who reduces the array: a library in this process, or one behind the Python program.

use std::hint::black_box;
use std::time::{Duration, Instant};

use warpfold_lab::sampler::Timing;

/// What a call gave.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// A float and the time.
    Float(f64),
    /// An integer.
    Integer(i128),
}

impl std::fmt::Display for Outcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Outcome::Float(value) => write!(f, "{value:?}"),
            Outcome::Integer(value) => write!(f, "{value}"),
        }
    }
}

/// One call: its time and its result, or why there is none.
pub type Called = Result<(Duration, Outcome), String>;

/// A library that has the reduction.
pub struct Contestant<'a> {
    /// Library and version.
    pub library: String,
    /// What is called.
    pub call: String,
    /// Calls it once.
    pub run: Box<dyn FnMut() -> Called + 'a>,
}

impl<'a> Contestant<'a> {
    /// A library of this process.
    pub fn here(library: &str, call: &str, mut reduce: impl FnMut() -> Outcome + 'a) -> Self {
        let run = move || {
            let start = Instant::now();
            let outcome = black_box(reduce());
            Ok((start.elapsed(), outcome))
        };
        Contestant { library: library.into(), call: call.into(), run: Box::new(run) }
    }
}

/// What a contestant has done so far.
struct Record {
    outcome: Outcome,
    seconds: Vec<f64>,
    spent: Duration,
}

/// Time that each contestant may spend; one call is taken from whoever needs longer.
const BUDGET: Duration = Duration::from_secs(1);
/// Calls at most.
const CALLS: usize = 25;

/// Lets all contestants call in turn until each has spent its budget. A first call each is a warm-up, unless it spends the
/// budget alone. Gives an outcome and times, or why there are none.
pub fn contest(contestants: &mut [Contestant<'_>]) -> Vec<Result<(Outcome, Timing), String>> {
    let mut records: Vec<Result<Record, String>> = contestants
        .iter_mut()
        .map(|contestant| {
            let (time, outcome) = (contestant.run)()?;
            let seconds = if time > BUDGET { vec![time.as_secs_f64()] } else { Vec::new() };
            let spent = if time > BUDGET { time } else { Duration::ZERO };
            Ok(Record { outcome, seconds, spent })
        })
        .collect();
    loop {
        let mut called = false;
        for (contestant, record) in contestants.iter_mut().zip(&mut records) {
            let Ok(Record { seconds, spent, .. }) = record else { continue };
            if *spent >= BUDGET || seconds.len() >= CALLS {
                continue;
            }
            match (contestant.run)() {
                Ok((time, _)) => {
                    seconds.push(time.as_secs_f64());
                    *spent += time;
                    called = true;
                }
                Err(error) => *record = Err(error),
            }
        }
        if !called {
            break;
        }
    }
    let timing = |record: Record| (record.outcome, Timing::of(record.seconds, 1));
    records.into_iter().map(|record| record.map(timing)).collect()
}
