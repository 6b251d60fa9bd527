//! For a profiler to watch: reduces random arrays on a GPU one after the other, those of `warpfold explain` with the same number of elements.
//!
//! Each line of standard input is a reduction, an element type, an accuracy and a length, as in `sum f32 exact 1000`; the file that is the only
//! argument gets one line for each: nothing where the GPU reduced it, in one launch, else why it did not.

use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _, stdin};

use warpfold::cuda::Gpu;
use warpfold::partial::Finish;
use warpfold::{Accuracy, DType, Element, Op, Overflow, with_element};
use warpfold_cli::input::{Distribution, Produce as _, Random, elements};

fn main() -> Result<(), Box<dyn Error>> {
    let file = std::env::args().nth(1).ok_or("the file for what was done has to be named")?;
    let (gpu, mut done) = (Gpu::open(0)?, BufWriter::new(File::create(file)?));
    for line in stdin().lines() {
        let line = line?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let [op, dtype, accuracy, n] = words[..] else { Err("four words a line")? };
        let (op, dtype, n): (Op, DType, u64) = (op.parse()?, dtype.parse()?, n.parse()?);
        let accuracy = if accuracy == "fast" { Accuracy::Fast } else { Accuracy::Exact };
        let why = with_element!(dtype, T => reduce::<T>(&gpu, op, accuracy, n));
        writeln!(done, "{}", why.err().map(|why| why.to_string()).unwrap_or_default())?;
    }
    Ok(done.flush()?)
}

fn reduce<T: Element>(gpu: &Gpu, op: Op, accuracy: Accuracy, n: u64) -> Result<(), Box<dyn Error>> {
    let array = |k| -> Result<_, Box<dyn Error>> {
        let bytes = usize::try_from(n)? * size_of::<T>();
        let mut aligned = vec![0u128; bytes.div_ceil(size_of::<u128>())];
        let bytes = &mut bytemuck::cast_slice_mut(&mut aligned)[..bytes];
        Random::new(T::DTYPE, n, Distribution::Uniform, 0, k)?.fill(bytes)?;
        Ok(gpu.upload(elements::<T>(bytes, 0)?)?)
    };
    let (x, y) = (array(0)?, array(1)?);
    let reduce = match op {
        Op::Dot => gpu.reduce_two(x.view(), y.view())?,
        _ => gpu.reduce(x.view()),
    };
    reduce.accuracy(accuracy).overflow(Overflow::Wrap).output(op, Finish::default())?;
    Ok(())
}
