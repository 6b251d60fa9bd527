//! Columns of few rows: lanes stay in registers from the first row to the last, and hand on what they hold.
//!
//! Nothing is kept from some columns to the next, so that each block of them, all of whose elements are in the nearest cache, has a rule of its own.

use super::columns::CHUNK;
use super::lanes::{Kind, N, Places};
use super::stripes::At;
use crate::cpu::memory::prefetch_at;

/// A stripe all of whose rows lie `stride` apart.
pub(super) struct Few<'x, K: Kind> {
    pub(super) kind: K,
    pub(super) x: &'x [K::Element],
    pub(super) at: At,
    pub(super) stride: usize,
    pub(super) rows: usize,
    /// The place of the first row, and from one to the next.
    pub(super) first: u64,
    pub(super) place: i64,
}

impl<K: Kind> Few<'_, K> {
    /// What each column's elements make; `false` where some columns have no rule.
    #[inline(always)]
    pub(super) fn read(self, smalls: &mut Vec<K::Small>) -> bool {
        let Few { kind, rows, at: At { width, .. }, .. } = self;
        let step = CHUNK / rows / N * N;
        for column in (0..width).step_by(step) {
            let end = width.min(column + step);
            let mut range = kind.survey(self.row(0, column, end));
            for k in 1..rows {
                range = K::join(range, kind.survey(self.row(k, column, end)));
            }
            let Some(rule) = kind.rule(range, rows as u64) else { return false };
            let empty = kind.lanes(rule);
            for group in (column..end).step_by(N) {
                let mut lanes = empty;
                for k in 0..rows {
                    let first = self.first.wrapping_add_signed(self.place.wrapping_mul(k as i64));
                    let row = self.row(k, group, end);
                    if let Some(group) = row.first_chunk::<N>() {
                        // The next columns, while these are added.
                        prefetch_at(group, step * size_of::<K::Element>());
                    }
                    let elements = kind.group(row);
                    kind.add(&mut lanes, &elements, Places { first, step: 0 });
                }
                smalls.extend(kind.all(&lanes));
            }
            smalls.truncate(end);
        }
        true
    }

    /// Some columns of a row, or of what lies behind it; none where memory ends.
    #[inline(always)]
    fn row(&self, k: usize, column: usize, end: usize) -> &[K::Element] {
        let start = self.at.start + k * self.stride;
        self.x.get(start + column..start + end).unwrap_or_default()
    }
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
