//! One rank with a GPU: tensors in its memory summed over ranks, compared with the processor's sums, then timed. As many ranks as GPUs:
//!
//! ```sh
//! export WARPFOLD_TOKEN=secret WARPFOLD_WORLD_SIZE=2 WARPFOLD_ADDRESS=127.0.0.1:29400
//! for rank in 0 1; do WARPFOLD_RANK=$rank gpu_tensors & done; wait
//! ```
//!
//! `WARPFOLD_NCCL` names NCCL's file where the system does not find it. Rank 0 prints a line of JSON for each length; microseconds are those of the host, with
//! the exchange in which ranks agree on type and length.

use std::time::Instant;

use bytemuck::Pod;
use warpfold_dist::nccl::OnGpu;
use warpfold_dist::{Comm, Nccl, Tcp, all_reduce};
use warpfold_gpu::cuda::Gpu;
use warpfold_num::random::Words;
use warpfold_num::{Complex, Element, Scalar, bf16, f16};

type Outcome<T = ()> = Result<T, Box<dyn std::error::Error>>;

fn main() -> Outcome {
    let tcp = Tcp::from_env()?;
    let nccl = Nccl::load(tcp.rank(), &tcp)?;
    let gpu = Gpu::open(tcp.rank())?;
    let mut on_gpu = OnGpu::new(&nccl, &gpu)?;
    let half = |bits: u64| f16::from_bits(bits as u16);
    let brain = |bits: u64| bf16::from_bits(bits as u16);
    let single = |bits: u64| f32::from_bits(bits as u32);
    for n in [0, 1, 5, 1000, 100_003, (1 << 20) + 7] {
        check(&tcp, &gpu, &mut on_gpu, n, half)?;
        check(&tcp, &gpu, &mut on_gpu, n, brain)?;
        check(&tcp, &gpu, &mut on_gpu, n, single)?;
        check(&tcp, &gpu, &mut on_gpu, n, f64::from_bits)?;
        check(&tcp, &gpu, &mut on_gpu, n, |bits| Complex::new(single(bits), single(bits >> 32)))?;
        check(&tcp, &gpu, &mut on_gpu, n, |bits| (bits >> 12) as f64 / 1e9)?;
    }
    eprintln!("rank {}: bits are right by {}", tcp.rank(), nccl.description());
    for log in (10..=28).step_by(2) {
        let n = 1usize << log;
        let mut x = gpu.upload(&vec![0.1f32; n])?;
        let mut taken = Vec::new();
        for _ in 0..15 {
            tcp.sum_u64(&mut [0])?;
            let begun = Instant::now();
            on_gpu.all_reduce(&mut x)?;
            taken.push(begun.elapsed().as_secs_f64() * 1e6);
        }
        taken.sort_by(f64::total_cmp);
        if tcp.rank() == 0 {
            let (ranks, median) = (tcp.size(), taken[taken.len() / 2]);
            let bus = (4 * n) as f64 * 2.0 * (ranks - 1) as f64 / ranks as f64 / median / 1e3;
            println!(
                "{{\"ranks\": {ranks}, \"dtype\": \"f32\", \"log2\": {log}, \"all_reduce_us\": {median:.1}, \"bus_GB_s\": {bus:.1}}}"
            );
        }
    }
    Ok(())
}

/// A tensor of random bits on the GPU, summed there and on the host.
fn check<T: Element + Scalar + Pod>(
    tcp: &Tcp,
    gpu: &Gpu,
    on_gpu: &mut OnGpu<'_>,
    n: usize,
    of: impl Fn(u64) -> T,
) -> Outcome {
    let mut words = Words(tcp.rank() as u64 * 31 + 7);
    let mut x: Vec<T> = (0..n).map(|_| of(words.next())).collect();
    let mut there = gpu.upload(&x)?;
    on_gpu.all_reduce(&mut there)?;
    all_reduce(tcp, &mut x, 4)?;
    let found = there.download()?;
    let differs = (0..n).find(|&k| bytemuck::bytes_of(&found[k]) != bytemuck::bytes_of(&x[k]));
    match differs {
        None => Ok(()),
        Some(k) => {
            Err(format!("{} {k} of {n}: {:?}, and not {:?}", T::DTYPE, found[k], x[k]).into())
        }
    }
}
