//! For a profiler to watch: reduces random arrays on a GPU one after the other, those of `warpfold explain` with the same number of elements.
//!
//! Each line of standard input is a reduction, an element type, an accuracy and a length, as in `sum f32 exact 1000`; the file that is the only
//! argument gets one line for each: nothing where the GPU reduced it, in one launch, else why it did not.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _, stdin};

use warpfold::cuda::Gpu;
use warpfold::kernel::{AnyBuffer, AnyReduce};
use warpfold::partial::Finish;
use warpfold::{Accuracy, DType, Op, Overflow, Policy};
use warpfold_io::{Distribution, Produce as _, Random};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("the file for what was done has to be named")?;
    let (gpu, mut done) = (Gpu::open(0)?, BufWriter::new(File::create(file)?));
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [op, dtype, accuracy, n] = words[..] else { Err("four words a line")? };
        let (op, dtype, n): (Op, DType, u64) = (op.parse()?, dtype.parse()?, n.parse()?);
        let accuracy = if accuracy == "fast" { Accuracy::Fast } else { Accuracy::Exact };
        let why = reduce(&gpu, (op, dtype, accuracy), n);
        writeln!(done, "{}", why.err().map(|why| why.to_string()).unwrap_or_default())?;
    }
    Ok(done.flush()?)
}

fn reduce(
    gpu: &Gpu,
    (op, dtype, accuracy): (Op, DType, Accuracy),
    n: u64,
) -> Result<(), Box<dyn Error>> {
    let array = |k| -> Result<_, Box<dyn Error>> {
        let mut bytes = vec![0; usize::try_from(n)? * dtype.size()];
        Random::new(dtype, n, Distribution::Uniform, 0, k)?.fill(&mut bytes)?;
        Ok(AnyBuffer::upload(gpu, dtype, &bytes)?)
    };
    let (x, y) = (array(0)?, array(1)?);
    let reduce = match op {
        Op::Dot => AnyReduce::pair(gpu, x.view(), y.view())?,
        _ => AnyReduce::new(gpu, x.view()),
    };
    let policy = Policy { accuracy, overflow: Overflow::Wrap, ..Policy::default() };
    reduce.policy(policy).output(op, Finish::default())?;
    Ok(())
}
