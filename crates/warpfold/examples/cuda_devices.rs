//! Times reductions of arrays that lie on 1, 2, … GPUs of one computer, results on the host: a line of JSON a row.
//!
//! `cuda_devices [operations] [exponents] [same]`, such as `sum,var 16,20,28,30`. Arrays of f32; every result is compared with one GPU's, and up to
//! 2^28 elements with the processor's, before it is timed. `same` takes the first GPU twice, on computers with one.

use std::time::Instant;

use warpfold::Op;
use warpfold::cuda::{Gpu, Gpus};
use warpfold::kernel::Shards;
use warpfold::partial::Finish;

/// Microseconds of a call by the host's clock: median, and the middle half's ends, of 41 samples.
fn time(mut call: impl FnMut()) -> [f64; 3] {
    let mut sample = || {
        let start = Instant::now();
        call();
        start.elapsed().as_secs_f64() * 1e6
    };
    for _ in 0..10 {
        sample();
    }
    let mut samples: Vec<f64> = (0..41).map(|_| sample()).collect();
    samples.sort_by(f64::total_cmp);
    [samples[20], samples[10], samples[30]]
}

fn main() -> Result<(), warpfold::Error> {
    let mut arguments = std::env::args().skip(1);
    let ops = arguments.next().unwrap_or("sum,max,var,count".into());
    let exponents = arguments.next().unwrap_or("10,16,20,24,28,30".into());
    let all = match arguments.next().as_deref() {
        Some("same") => Gpus::new([(); 2].map(|()| Gpu::open(0).expect("a GPU"))),
        _ => Gpus::all()?,
    };
    for exponent in exponents.split(',') {
        let n = 1usize << exponent.parse::<u32>().expect("an exponent");
        let host: Vec<f32> = (0..n as u64)
            .map(|at| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 2f32.powi(23) - 1.0)
            .collect();
        let mut alone = Vec::new();
        for count in 1..=all.machines().len() {
            let gpus = Gpus::new(all.machines()[..count].iter().cloned());
            let x: Shards<Gpu, f32> = gpus.upload(&host)?;
            for (k, op) in ops.split(',').enumerate() {
                let op: Op = op.parse().expect("a reduction");
                let result = || gpus.reduce(&x).output(op, Finish::default());
                let found = format!("{:?}", result()?);
                let [us, low, high] = time(|| {
                    let _ = result();
                });
                if count == 1 {
                    alone.push((us, found.clone()));
                }
                let cpu = (n <= 1 << 28).then(|| {
                    let partial = warpfold::reduce(&host).partial(op);
                    format!("{:?}", partial.and_then(|p| p.finish(op, Finish::default())).unwrap())
                });
                let right = found == alone[k].1 && cpu.is_none_or(|cpu| cpu == found);
                println!(
                    r#"{{"op": "{op}", "dtype": "f32", "log2_n": {exponent}, "gpus": {count}, "right": {right}, "us": {us:.2}, "quartiles": [{low:.2}, {high:.2}], "gb_per_s": {:.1}, "of_ideal": {:.4}, "gpu": "{}"}}"#,
                    (n * 4) as f64 / us / 1e3,
                    alone[k].0 / (us * count as f64),
                    gpus.machines()[0].description().name,
                );
            }
        }
    }
    Ok(())
}
