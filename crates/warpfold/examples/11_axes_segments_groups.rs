//! Many reductions at once: over axes of an array, of its segments, of groups of equal keys.
//!
//! `cargo run --example 11_axes_segments_groups`

use warpfold::{Result, Segments, View, group_by, reduce_axes, reduce_segments};

/// Reads one table of measurements in three ways.
pub fn main() -> Result<()> {
    // Three days of four measurements, the last of them broken.
    let x = [20.0f32, 21.0, 25.0, 22.0, 19.0, 20.0, 24.0, 21.0, 18.0, 17.0, 16.0, f32::NAN];
    let days = View::new(&x, &[3, 4])?;

    // Axes are counted from 0, or from the last as -1; what is not folded is kept.
    let least = reduce_axes(&days, &[1])?.nan(warpfold::Nan::Ignore).min()?;
    println!("the least of each day: {:?}", least.values);
    assert_eq!((least.shape, least.values), (vec![3], vec![20.0, 19.0, 16.0]));
    let hours = reduce_axes(&days, &[0])?.keepdims().mean()?;
    assert_eq!(
        (hours.shape, &hours.values[..3]),
        (vec![1, 4], &[19.0, 58.0 / 3.0, 65.0 / 3.0][..])
    );
    assert!(hours.values[3].is_nan(), "a NaN is in its own column alone");

    // A transposed view is the same memory, read the other way at the same speed.
    assert_eq!(reduce_axes(&days.transposed(), &[0])?.max()?.values[..2], [25.0, 24.0]);

    // Segments are stated by offsets, lengths, or one length; they may be empty.
    let sums = reduce_segments(&x, Segments::offsets(&[0u32, 2, 2, 11]))?.sum()?;
    assert_eq!(sums, [41.0, 0.0, 182.0]);

    // Groups: each sum is exact, and so the same bits in any order of the elements.
    let shops = [7u16, 3, 7, 3, 7];
    let prices = [1e8f32, 0.5, 1.0, 0.25, -1e8];
    let by_shop = group_by(&shops, &prices)?.sum()?;
    println!("by shop: {:?} {:?}", by_shop.keys, by_shop.values);
    assert_eq!((by_shop.keys, by_shop.values), (vec![3, 7], vec![0.75, 1.0]));

    // How it would run is a plain value, as for one reduction.
    println!("{}", group_by(&shops, &prices)?.plan(warpfold::Op::Sum));
    Ok(())
}
