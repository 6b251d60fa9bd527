//! Columns of few rows, as if each were alone.

use warpfold::{Layout, View, reduce, reduce_axes};

/// Sums and places of the greatest, of columns whose elements a function makes of their index.
fn agrees(rows: usize, columns: usize, make: fn(usize) -> f32) {
    // Columns lie behind the array's first element and before its last.
    let x: Vec<f32> = (0..rows * columns + 2).map(make).collect();
    let layout = Layout::c(&[rows as u64, columns as u64]).unwrap();
    let view = View::of(&x[1..=rows * columns], layout).unwrap();
    let batched = reduce_axes(&view, &[0]).unwrap();
    let (sums, greatest) = (batched.sum().unwrap().values, batched.argmax().unwrap().values);
    for column in 0..columns {
        let alone: Vec<f32> = (0..rows).map(|k| x[1 + k * columns + column]).collect();
        let what = format!("column {column} of {rows} rows of {columns}");
        assert_eq!(sums[column].to_bits(), reduce(&alone).sum().unwrap().to_bits(), "{what}");
        assert_eq!(greatest[column], reduce(&alone).argmax().unwrap(), "{what}");
    }
}

#[test]
fn columns_of_few_rows_are_as_if_alone() {
    let even = |at: usize| (at as f32 * 0.37).sin();
    let wide = |at: usize| (at as f32 * 0.37).sin() * 2f32.powi((at * 7919 % 250) as i32 - 125);
    let odd = |at: usize| match at % 1511 {
        7 => f32::NAN,
        300 => f32::INFINITY,
        900 => f32::MAX,
        _ => -0.0,
    };
    for rows in [1, 2, 3, 5, 16, 17] {
        for columns in [1, 15, 257, 1024, 2047, 5000] {
            for make in [even as fn(usize) -> f32, wide, odd] {
                agrees(rows, columns, make);
            }
        }
    }
}
