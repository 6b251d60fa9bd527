//! The form of an array of complex numbers as one of the real numbers that they consist of: one more loop, innermost, of two steps.

use super::Form;
use super::form::{Loop, walks_on};

/// What becomes of the loop over a complex number's parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PartLoop {
    /// Each part has an output of its own, neighbours.
    Kept,
    /// Both are folded into one output.
    Folded,
}

impl Form {
    /// The form of the parts.
    pub fn of_parts(&self, which: PartLoop) -> Form {
        let mut form = self.clone();
        form.start *= 2;
        for one in form.kept.iter_mut().chain(&mut form.folded) {
            one.stride *= 2;
        }
        let (loops, first, count) = match which {
            PartLoop::Kept => (&mut form.kept, &mut form.first_output, &mut form.outputs),
            PartLoop::Folded => (&mut form.folded, &mut form.first_index, &mut form.inputs),
        };
        *first *= 2;
        *count *= 2;
        for one in loops.iter_mut() {
            one.position *= 2;
        }
        // Of forms without elements nothing is walked.
        if self.outputs > 0 && self.inputs > 0 {
            let parts = Loop { length: 2, stride: 1, position: 1 };
            match loops.last_mut().filter(|outer| walks_on(outer, &parts)) {
                Some(outer) => *outer = Loop { length: 2 * outer.length, ..parts },
                None => loops.push(parts),
            }
        }
        form
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::{Folding, Layout};

    fn form(shape: &[u64], axes: &[i64]) -> Form {
        Folding::of(Layout::c(shape).unwrap(), axes).unwrap().form().unwrap()
    }

    #[test]
    fn parts_are_one_more_axis() {
        for (shape, axes) in
            [(&[4, 5, 6][..], &[1][..]), (&[4, 5], &[0]), (&[7], &[0]), (&[3, 2], &[1])]
        {
            let complex = form(shape, axes);
            let real = [shape, &[2]].concat();
            let both = [axes, &[shape.len() as i64]].concat();
            assert_eq!(complex.of_parts(PartLoop::Kept), form(&real, axes), "{shape:?}");
            assert_eq!(complex.of_parts(PartLoop::Folded), form(&real, &both), "{shape:?}");
        }
    }

    #[test]
    fn nothing_has_no_parts() {
        assert_eq!(form(&[3, 0], &[1]).of_parts(PartLoop::Kept), form(&[3, 0, 2], &[1]));
    }
}
