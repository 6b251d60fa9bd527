//! [`Source`]: the memory of many reductions, and which of its elements belong to which output.

use crate::group::Numbered;
use crate::segment::Bounds;
use crate::shape::{Form, Loop};

/// What many reductions read.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Source<'a, T> {
    /// Loops over memory.
    Loops(&'a [T], &'a Form),
    /// Contiguous segments.
    Segments(&'a [T], &'a Bounds<'a>),
    /// A group's number for each element, below a number of groups.
    Groups(&'a [T], &'a dyn Numbered, u64),
}

impl<'a, T: Copy> Source<'a, T> {
    /// The elements of an output in logical order; copied where they lie apart.
    pub(super) fn input<'s>(&self, output: usize, copy: &'s mut Vec<T>) -> &'s [T]
    where
        'a: 's,
    {
        match *self {
            Source::Segments(x, bounds) => &x[bounds.range(output)],
            Source::Groups(..) => unreachable!("groups are sorted into segments first"),
            Source::Loops(x, form) => {
                copy.clear();
                let start = form.locate(output as u64);
                let mut places = Vec::with_capacity(form.inputs as usize);
                visit(&form.folded, start, form.first_place, &mut |at, place| {
                    places.push((place, at));
                });
                if form.inputs > 0 {
                    places.sort_unstable();
                    copy.extend(places.into_iter().map(|(_, at)| x[at as usize]));
                }
                copy
            }
        }
    }
}

/// Calls with every index of memory and its place.
fn visit(loops: &[Loop], at: u64, place: u64, each: &mut impl FnMut(u64, u64)) {
    let Some((outer, inner)) = loops.split_first() else {
        return each(at, place);
    };
    for k in 0..outer.length {
        let place = place.wrapping_add_signed(outer.place.wrapping_mul(k as i64));
        visit(inner, at + k * outer.stride, place, each);
    }
}
