//! Sixteen threads with sixty-four queues each: `WARPFOLD_SOAK` gives the seconds (60 otherwise). Ignored unless asked for.

use std::time::{Duration, Instant};

use warpfold::Op;
use warpfold::cuda::Gpu;

use crate::data::{Contents, Random, array};

const THREADS: u64 = 16;
const QUEUES: usize = 64;

/// What a queue was given, and the two words that it must leave.
type Expected = (Op, [u64; 2]);

#[test]
#[ignore = "a minute of full load; bench/cuda/run.sh soak runs it"]
fn soak_mixed_reductions_on_a_thousand_queues() {
    let Some(gpu) = crate::gpu() else { return };
    let seconds = std::env::var("WARPFOLD_SOAK").ok().and_then(|s| s.parse().ok()).unwrap_or(60);
    let end = Instant::now() + Duration::from_secs(seconds);
    let total: u64 = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..THREADS)
            .map(|seed| {
                let gpu = gpu.clone();
                scope.spawn(move || worker(&gpu, seed, end))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    eprintln!(
        "{total} reductions by {THREADS} threads on {QUEUES} queues each in {seconds} s, every result right"
    );
}

fn worker(gpu: &Gpu, seed: u64, end: Instant) -> u64 {
    let mut random = Random(seed);
    let n = 100_000 + random.below(1 << 20) as usize;
    let x = array::<i32>(Contents::Plain, n, &mut random);
    let y = array::<f32>(Contents::Specials, n, &mut random);
    let (on_x, on_y) = (gpu.upload(&x).unwrap(), gpu.upload(&y).unwrap());
    let results = gpu.alloc::<u64>(2 * QUEUES).unwrap();
    let mut queues: Vec<_> = (0..QUEUES).map(|_| gpu.queue().unwrap()).collect();
    let mut done = 0;
    while Instant::now() < end {
        let mut expected: Vec<Expected> = Vec::new();
        for (k, queue) in queues.iter_mut().enumerate() {
            let first = random.below(1000) as usize;
            let last = n - random.below(n as u64 - 1000) as usize;
            let value = results.address() + 16 * k as u64;
            let (ints, floats) = (&x[first..last], &y[first..last]);
            let on_x = gpu.reduce(on_x.slice(first..last));
            let on_y = gpu.reduce(on_y.slice(first..last));
            let one = |word: u64| [word, 0];
            // SAFETY: arrays and results outlive the queues' work, which is waited for below; each queue has its own result.
            unsafe {
                match random.below(4) {
                    0 => {
                        queue.start(&on_x, Op::Sum, value).unwrap();
                        let sum = warpfold::reduce(ints).sum_wide().unwrap();
                        expected.push((Op::Sum, [sum as u64, (sum >> 64) as u64]));
                    }
                    1 => {
                        queue.start(&on_y, Op::ArgMax, value).unwrap();
                        let index = warpfold::reduce(floats).argmax().unwrap();
                        expected.push((Op::ArgMax, one(index)));
                    }
                    2 => {
                        queue.start(&on_y, Op::Count, value).unwrap();
                        expected.push((Op::Count, one(warpfold::reduce(floats).count())));
                    }
                    _ => {
                        queue.start(&on_x, Op::ArgMin, value).unwrap();
                        let index = warpfold::reduce(ints).argmin().unwrap();
                        expected.push((Op::ArgMin, one(index)));
                    }
                }
            }
        }
        queues.iter().for_each(|queue| queue.synchronize().unwrap());
        let found = results.download().unwrap();
        for (k, (op, words)) in expected.iter().enumerate() {
            let here = &found[2 * k..2 * k + 2];
            // Only sums have a second word; another's may be there still.
            let right = here[0] == words[0] && (*op != Op::Sum || here[1] == words[1]);
            assert!(right, "thread {seed}, queue {k}: {op} left {here:?}, not {words:?}");
        }
        done += QUEUES as u64;
    }
    done
}
