//! Many threads, each with reductions of its own, on one GPU.

use std::time::{Duration, Instant};

use crate::data::{Contents, Random, array};

/// `WARPFOLD_SOAK` gives the seconds; one otherwise.
#[test]
fn sixteen_threads_of_mixed_reductions() {
    let Some(gpu) = crate::gpu() else { return };
    let seconds = std::env::var("WARPFOLD_SOAK").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let end = Instant::now() + Duration::from_secs(seconds);
    let total: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..16)
            .map(|seed| {
                let gpu = gpu.clone();
                scope.spawn(move || {
                    let mut random = Random(seed);
                    let n = 1 + random.below(1 << 20) as usize;
                    let x = array::<i32>(Contents::Plain, n, &mut random);
                    let y = array::<f32>(Contents::Plain, n, &mut random);
                    let (on_x, on_y) = (gpu.upload(&x).unwrap(), gpu.upload(&y).unwrap());
                    let sum = warpfold::reduce(&x).sum();
                    let argmin = warpfold::reduce(&y).argmin();
                    let max = warpfold::reduce(&y).max();
                    let mut runs = 0;
                    while Instant::now() < end {
                        assert_eq!(gpu.reduce(&on_x).sum(), sum);
                        assert_eq!(gpu.reduce(&on_y).argmin(), argmin);
                        assert_eq!(gpu.reduce(&on_y).max(), max);
                        runs += 3;
                    }
                    runs
                })
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    eprintln!("{total} reductions, every result right");
}
