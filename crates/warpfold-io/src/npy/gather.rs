//! Fortran order read in C order: a transposition, done piece by piece.
//!
//! In an array of shape `(rows, …)` the C index of an element is `row * columns + column`, where `columns` is the product of the
//! other axes; in Fortran order it lies at `row + rows * f(column)`, where `f` turns the C index of the other axes into their
//! Fortran index. So a piece in C order is a few rectangles of rows and columns.

/// The geometry of an array in Fortran order.
#[derive(Debug, Clone)]
pub(super) struct Transposed {
    rows: u64,
    columns: u64,
    /// The axes after the first.
    inner: Vec<u64>,
}

/// Columns copied side by side: so many streams of memory are read at once, and runs of so many elements written.
const SIDE_BY_SIDE: usize = 32;

impl Transposed {
    /// The geometry of a shape with at least one axis and no axis of size 0.
    pub(super) fn new(shape: &[u64]) -> Transposed {
        let (&rows, inner) = shape.split_first().expect("a transposed array has axes");
        Transposed { rows, columns: inner.iter().product(), inner: inner.to_vec() }
    }

    /// Copies the elements from C index `start` on, as many as `out` holds, from `data` in Fortran order.
    pub(super) fn copy(&self, size: usize, data: &[u8], start: u64, out: &mut [u8]) {
        match size {
            1 => self.gather::<1>(data, start, out),
            2 => self.gather::<2>(data, start, out),
            4 => self.gather::<4>(data, start, out),
            8 => self.gather::<8>(data, start, out),
            16 => self.gather::<16>(data, start, out),
            _ => unreachable!("no element has {size} bytes"),
        }
    }

    fn gather<const SIZE: usize>(&self, data: &[u8], start: u64, out: &mut [u8]) {
        let data = data.as_chunks::<SIZE>().0;
        let out = out.as_chunks_mut::<SIZE>().0;
        let mut done = 0;
        while done < out.len() {
            let left = (out.len() - done) as u64;
            let index = start + done as u64;
            let (row, column) = (index / self.columns, index % self.columns);
            let whole_rows = left / self.columns;
            let (rows, columns) = match (column, whole_rows) {
                (0, 1..) => (whole_rows, self.columns),
                _ => (1, left.min(self.columns - column)),
            };
            let piece = &mut out[done..done + (rows * columns) as usize];
            self.rectangle(data, row, column, columns as usize, piece);
            done += piece.len();
        }
    }

    /// Copies the columns `column..column + columns` of the rows from `row` on, row after row.
    fn rectangle<E: Copy>(&self, data: &[E], row: u64, column: u64, columns: usize, out: &mut [E]) {
        let mut starts = [0usize; SIDE_BY_SIDE];
        for left in (0..columns).step_by(SIDE_BY_SIDE) {
            let starts = &mut starts[..SIDE_BY_SIDE.min(columns - left)];
            for (k, start) in starts.iter_mut().enumerate() {
                let f = self.fortran_index(column + (left + k) as u64);
                *start = (row + self.rows * f) as usize;
            }
            for (r, out) in out.chunks_exact_mut(columns).enumerate() {
                for (out, start) in out[left..].iter_mut().zip(&*starts) {
                    *out = data[start + r];
                }
            }
        }
    }

    /// The Fortran index, over the axes after the first, of a C index over them.
    fn fortran_index(&self, c_index: u64) -> u64 {
        if let [_] = self.inner[..] {
            return c_index;
        }
        let (mut rest, mut stride, mut index) = (c_index, self.columns, 0);
        for &axis in self.inner.iter().rev() {
            stride /= axis;
            index += rest % axis * stride;
            rest /= axis;
        }
        index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Index by index, as the definition of the two orders has it.
    fn by_definition(shape: &[u64], data: &[u16]) -> Vec<u16> {
        let n: u64 = shape.iter().product();
        let place = |mut c: u64| {
            let mut indices = vec![0; shape.len()];
            for (index, &axis) in indices.iter_mut().zip(shape).rev() {
                *index = c % axis;
                c /= axis;
            }
            let mut stride = 1;
            let mut at = 0;
            for (index, &axis) in indices.iter().zip(shape) {
                at += index * stride;
                stride *= axis;
            }
            at
        };
        (0..n).map(|c| data[place(c) as usize]).collect()
    }

    #[test]
    fn agrees_with_the_definition_whatever_the_pieces() {
        for shape in
            [&[3, 5][..], &[70, 41], &[2, 3, 4], &[1, 7, 2], &[5, 1, 6, 3], &[129, 2], &[2, 129]]
        {
            let n = shape.iter().product::<u64>() as u16;
            let data: Vec<u16> = (0..n).collect();
            let bytes: &[u8] = bytemuck::cast_slice(&data);
            let expected = by_definition(shape, &data);
            for piece in [1, 2, 3, 7, 40, 41, 42, 100, usize::from(n)] {
                let mut found = vec![0u16; usize::from(n)];
                for (k, out) in found.chunks_mut(piece).enumerate() {
                    let out = bytemuck::cast_slice_mut(out);
                    Transposed::new(shape).copy(2, bytes, (k * piece) as u64, out);
                }
                assert_eq!(found, expected, "{shape:?} in pieces of {piece}");
            }
        }
    }
}
