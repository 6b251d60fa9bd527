//! Every reduction and every choice, through one builder.
//!
//! `cargo run --example 02_builder`

use warpfold::{Nan, Op, Result, reduce};

/// Reads one array in several ways.
pub fn main() -> Result<()> {
    let temperatures = [21.5f32, 19.0, f32::NAN, 24.5, 18.0];

    // A NaN propagates unless told otherwise.
    assert!(reduce(&temperatures).mean()?.is_nan());

    let measured = reduce(&temperatures).nan(Nan::Ignore).threads(2);
    let (mean, std, (low, high)) = (measured.mean()?, measured.std(1)?, measured.minmax()?);
    println!("mean {mean}, standard deviation {std}, from {low} to {high}");
    assert_eq!(mean, 20.75);
    assert_eq!((low, high), (18.0, 24.5));
    assert_eq!(std, 2.9011493);

    // How it would run is a plain value that prints itself.
    let plan = measured.plan(Op::Mean).to_string();
    println!("{plan}");
    assert!(plan.starts_with("mean of 5 f32 (20 bytes), NaN ignored on cpu: 1 thread"));
    Ok(())
}
