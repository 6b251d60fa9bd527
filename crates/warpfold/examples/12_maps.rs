//! Maps: what is reduced is an expression of several arrays, written in Rust or as text.
//!
//! `cargo run --example 12_maps`

use warpfold::{Result, map, reduce_map};

/// How far a model's predictions lie from what was measured.
pub fn main() -> Result<()> {
    let measured = [20.0f32, 21.5, 25.0, 22.0, 19.5, f32::NAN];
    let predicted = [20.5f32, 21.0, 24.0, 22.0, 22.5, 20.0];
    let arrays = [("measured", &measured), ("predicted", &predicted)];

    // Rust's compiler makes a loop of the body; no array of differences is ever written.
    let error = map!(|measured: f32, predicted: f32| abs(measured - predicted));
    let error = reduce_map(error, arrays).where_(map!(|measured: f32| !isnan(measured)));
    println!("the mean error is {:?}", error.mean()?);
    assert_eq!(error.mean()?, 1.0f32.into());
    assert_eq!((error.max()?, error.argmax()?), (3.0f32.into(), 4));

    // Huber's loss: squares of small errors, magnitudes of large ones.
    let loss = map!(|measured: f32, predicted: f32| select(
        abs(measured - predicted) <= 1,
        (measured - predicted) * (measured - predicted) * 0.5,
        abs(measured - predicted) - 0.5
    ))?;
    // The same expression is text as well: for a GPU's `map`, the program, Python.
    println!("{}", loss.text());
    let of_body = reduce_map(&loss, arrays).nan(warpfold::Nan::Ignore).sum()?;
    let of_text = reduce_map(loss.text(), arrays).nan(warpfold::Nan::Ignore).sum()?;
    assert_eq!((of_body, of_text), (3.25f32.into(), 3.25f32.into()));
    Ok(())
}
