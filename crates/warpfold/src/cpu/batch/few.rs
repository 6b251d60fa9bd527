//! Columns of few rows: lanes stay in registers from the first row to the last, and hand on what they hold.
//!
//! The first columns make a rule, and those that it does not cover make one of their own.

use super::band::{ABREAST, Band, MISSED};
use super::lanes::{Kind, N};

/// Adds a band that has all rows to lanes, as many as its columns take; `false` where some columns have no rule.
#[inline(always)]
pub(super) fn add<K: Kind>(
    band: &Band<'_, K>,
    guess: &mut Option<(K::Rule, u64)>,
    lanes: &mut Vec<K::Lanes>,
) -> bool {
    let (kind, width, rows) = (band.kind, band.width, band.rows as u64);
    let own = |column: usize| kind.rule(band.survey(column..width.min(column + N)), rows);
    let guessed = guess.filter(|(_, room)| *room >= rows).map(|(rule, _)| rule);
    let Some(mut rule) = guessed.or_else(|| own(0)) else { return false };
    let (mut empty, mut missed) = (kind.lanes(rule), 0);
    let groups = width.div_ceil(N);
    if lanes.len() < groups {
        lanes.resize(groups, empty);
    }
    for first in (0..groups).step_by(ABREAST) {
        let lanes = &mut lanes[first..groups.min(first + ABREAST)];
        if (first + ABREAST) * N <= width
            && let Some(block) = lanes.first_chunk_mut()
        {
            let watches = band.add(first * N, [empty; ABREAST], block);
            let mut all = true;
            for watch in &watches {
                all &= kind.keeps(rule, watch);
            }
            if all {
                continue;
            }
        }
        for (lanes, group) in lanes.iter_mut().zip(first..) {
            let watch = band.add_one(group * N, empty, lanes);
            if kind.keeps(rule, &watch) {
                continue;
            }
            let Some(made) = own(group * N) else { return false };
            let own = kind.lanes(made);
            band.add_one(group * N, own, lanes);
            missed += 1;
            if missed * MISSED > group {
                (rule, empty) = (made, own);
            }
        }
    }
    *guess = Some((rule, rows));
    true
}

#[cfg(test)]
mod tests {
    use crate::{Layout, View, reduce, reduce_axes};

    /// Sums and places of the greatest, of columns whose elements a function makes of their index.
    fn agrees(rows: usize, columns: usize, make: fn(usize) -> f32) {
        // Columns lie behind the array's first element and before its last.
        let x: Vec<f32> = (0..rows * columns + 2).map(make).collect();
        let layout = Layout::c(&[rows as u64, columns as u64]).unwrap();
        let view = View::of(&x[1..=rows * columns], layout).unwrap();
        let many = reduce_axes(&view, &[0]).unwrap();
        let (sums, greatest) = (many.sum().unwrap().values, many.argmax().unwrap().values);
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
}
