//! Queries timed in alternation, in processor time, and figures as JSON with the machine that gave them.

use std::fs;
use std::time::Instant;

use datafusion::arrow::array::RecordBatch;
use datafusion::error::Result;
use datafusion::prelude::SessionContext;
use serde_json::{Value, json};

/// Seconds of a run: by the clock, and of all processors.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seconds {
    pub(crate) wall: f64,
    pub(crate) cpu: f64,
}

/// Runs queries one after another, round after round; of each, all its seconds.
pub(crate) async fn alternate(
    context: &SessionContext,
    queries: &[&str],
    rounds: usize,
) -> Result<Vec<Vec<Seconds>>> {
    let mut seconds = vec![Vec::new(); queries.len()];
    for round in 0..=rounds {
        for (all, query) in seconds.iter_mut().zip(queries) {
            let (begun, used) = (Instant::now(), cpu());
            run(context, query).await?;
            // The first round warms up.
            if round > 0 {
                all.push(Seconds { wall: begun.elapsed().as_secs_f64(), cpu: cpu() - used });
            }
        }
    }
    Ok(seconds)
}

/// All batches of a query.
pub(crate) async fn run(context: &SessionContext, query: &str) -> Result<Vec<RecordBatch>> {
    context.sql(query).await?.collect().await
}

/// Seconds that all threads of this process have run: exact to a hundredth, so runs are summed before they are compared.
fn cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let after_name = stat.rsplit(')').next().unwrap_or_default();
    let ticks = after_name.split_whitespace().skip(11).take(2);
    ticks.filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// The times of a query beside those of another one: medians by the clock, sums of processor time.
pub(crate) fn beside(one: &[Seconds], other: &[Seconds]) -> Value {
    let median = |all: &[Seconds]| {
        let mut all: Vec<f64> = all.iter().map(|seconds| seconds.wall).collect();
        all.sort_by(f64::total_cmp);
        all[all.len() / 2]
    };
    let used = |all: &[Seconds]| all.iter().map(|seconds| seconds.cpu).sum::<f64>();
    json!({
        "wall_seconds": [median(one), median(other)],
        "cpu_seconds": [used(one), used(other)],
        "wall_ratio": median(one) / median(other),
        "cpu_ratio": used(one) / used(other),
        "rounds": one.len(),
    })
}

/// Where and when figures were taken.
pub(crate) fn circumstances() -> Value {
    let read = |path: &str| fs::read_to_string(path).unwrap_or_default();
    let cpuinfo = read("/proc/cpuinfo");
    let model = cpuinfo.lines().find(|line| line.starts_with("model name"));
    let model = model.and_then(|line| line.split(": ").nth(1)).unwrap_or("unknown").to_string();
    let threads = std::thread::available_parallelism().map_or(0, usize::from);
    let load = read("/proc/loadavg").split_whitespace().next().unwrap_or_default().to_string();
    let unix = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    json!({
        "unix_time": unix.map_or(0, |since| since.as_secs()),
        "processor": model,
        "threads": threads,
        "load_at_the_end": load,
        "build": if cfg!(debug_assertions) { "dev: hot crates optimised, others not" } else { "release" },
        "command": std::env::args().collect::<Vec<_>>().join(" "),
    })
}
