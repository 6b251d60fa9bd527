//! Columns some of whose elements miss the rule of the others.

use warpfold::{Layout, Nan, Policy, View, reduce, reduce_axes};

/// Sums, means, magnitudes and counts of columns, in their bits, of elements that a function makes of row and column.
fn agrees(rows: usize, columns: usize, nan: Nan, make: fn(usize, usize) -> f64) {
    let x: Vec<f64> = (0..rows * columns).map(|at| make(at / columns, at % columns)).collect();
    let short: Vec<f32> = x.iter().map(|&x| x as f32).collect();
    let layout = Layout::c(&[rows as u64, columns as u64]).unwrap();
    macro_rules! agrees {
        ($x:expr) => {
            let view = View::of($x, layout.clone()).unwrap();
            for threads in [1, 3] {
                let policy = Policy { threads: Some(threads), nan, ..Policy::default() };
                let batched = reduce_axes(&view, &[0]).unwrap().policy(policy);
                let (sums, sizes) = (batched.sum().unwrap().values, batched.l1().unwrap().values);
                let (means, counts) = (batched.mean(), batched.count().unwrap().values);
                let means = means.map(|means| means.values);
                for column in 0..columns {
                    let alone: Vec<_> = (0..rows).map(|k| $x[k * columns + column]).collect();
                    let alone = reduce(&alone).nan(nan);
                    let what = format!("column {column} of {rows} rows of {columns}, {nan:?}");
                    assert_eq!(sums[column].to_bits(), alone.sum().unwrap().to_bits(), "{what}");
                    assert_eq!(sizes[column].to_bits(), alone.l1().to_bits(), "{what}");
                    assert_eq!(counts[column], alone.count(), "{what}");
                    if let (Ok(means), Ok(mean)) = (&means, alone.mean()) {
                        assert_eq!(means[column].to_bits(), mean.to_bits(), "{what}");
                    }
                }
            }
        };
    }
    agrees!(&x);
    agrees!(&short);
}

#[test]
fn what_misses_the_rule_is_not_lost() {
    let makes: [fn(usize, usize) -> f64; 5] = [
        |row, column| ((row * 31 + column) as f64 * 0.37).sin(),
        // A few that the first rows' rule does not cover.
        |row, column| match (row * 7919 + column * 31) % 1511 {
            5 => 2f64.powi(-100),
            77 => 2f64.powi(90),
            _ => ((row * 31 + column) as f64 * 0.37).sin(),
        },
        // Columns, and then rows, of different sizes.
        |row, column| ((row * 31) as f64 * 0.37).cos() * 2f64.powi((column * 5 % 240) as i32 - 120),
        |row, column| {
            ((row + column) as f64 * 0.37).sin() * 2f64.powi((row / 16 % 250) as i32 - 125)
        },
        |row, column| match (row * 7919 + column) % 4099 {
            11 => f64::NAN,
            12 => f64::INFINITY,
            13 => -0.0,
            _ => 0.0,
        },
    ];
    for make in makes {
        for (rows, columns) in [(18, 33), (100, 1040), (700, 20), (3100, 540)] {
            agrees(rows, columns, Nan::Propagate, make);
            agrees(rows, columns, Nan::Ignore, make);
        }
    }
}
