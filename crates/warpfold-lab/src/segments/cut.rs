//! [`Cut`]: how an array is parted, and the results of its parts as the library gives them.

use warpfold::UnderPolicy;
use warpfold::partial::Finish;
use warpfold::{
    Column, Element, Error, Layout, Op, OutputArray, Policy, Segments, View, reduce_axes,
};

/// How an array is parted.
#[derive(Debug, Clone)]
pub enum Cut {
    /// Segments of one length; what is left over is in none.
    Every(u64),
    /// Segments by offsets.
    Offsets(Vec<u32>),
    /// All elements along an axis of the array's first elements.
    Axis {
        /// Shape and strides.
        layout: Layout,
        /// Which.
        axis: usize,
    },
    /// Groups of equal keys.
    Groups {
        /// A key for each element.
        keys: Vec<u32>,
        /// Keys are below.
        groups: u64,
        /// What the library is told of them.
        known_as: Keys,
    },
}

/// What is known of keys beforehand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keys {
    /// That they number the groups.
    Dense,
    /// Nothing.
    Any,
}

/// Runs an expression with the builder of a cut's reductions, whatever its type; under the policy from the start.
macro_rules! with_many {
    ($cut:expr, $x:expr, $policy:expr, $many:ident => $body:expr) => {{
        let x = &$x[..$cut.elements($x.len() as u64) as usize];
        match $cut {
            Cut::Every(length) => {
                let $many = $policy.reduce_segments(x, Segments::every(*length))?;
                $body
            }
            Cut::Offsets(offsets) => {
                let $many = $policy.reduce_segments(x, Segments::offsets(offsets))?;
                $body
            }
            Cut::Axis { layout, axis } => {
                let view = View::of(x, layout.clone())?;
                let $many = reduce_axes(&view, &[*axis as i64])?.policy($policy);
                $body
            }
            Cut::Groups { keys, groups, known_as: Keys::Dense } => {
                let $many = $policy.group_dense(keys, *groups, x)?;
                $body
            }
            Cut::Groups { keys, known_as: Keys::Any, .. } => {
                let $many = $policy.group_by(keys, x)?;
                $body
            }
        }
    }};
}

impl Cut {
    /// How many elements of an array of `n` are in some part.
    pub fn elements(&self, n: u64) -> u64 {
        match self {
            Cut::Every(length) => n / length * length,
            Cut::Offsets(offsets) => offsets.last().map_or(0, |end| u64::from(*end)),
            Cut::Axis { layout, .. } => layout.elements(),
            Cut::Groups { keys, .. } => keys.len() as u64,
        }
    }

    /// Bytes that say which element belongs where.
    pub fn label_bytes(&self) -> u64 {
        match self {
            Cut::Every(_) | Cut::Axis { .. } => 0,
            Cut::Offsets(labels) | Cut::Groups { keys: labels, .. } => 4 * labels.len() as u64,
        }
    }

    /// The results of all parts by the library, by name; any value for parts that have none.
    ///
    /// # Errors
    /// The library's.
    pub fn columns<T: Element>(
        &self,
        op: Op,
        x: &[T],
        policy: Policy,
    ) -> warpfold::Result<Vec<(&'static str, Column)>> {
        with_many!(self, x, policy, many => many.or_none().columns(op, Finish::default()))
    }

    /// The same of a reduction that has one number for each part, into memory that is there.
    ///
    /// # Errors
    /// The library's.
    pub fn column_into<T: Element>(
        &self,
        op: Op,
        x: &[T],
        policy: Policy,
        out: &mut OutputArray<'_>,
    ) -> warpfold::Result<()> {
        let finish = Finish::default();
        with_many!(self, x, policy, many => many.or_none().column_into(op, finish, out).map(|_| ()))
    }

    /// How the library runs it.
    ///
    /// # Errors
    /// The library's.
    pub fn plan<T: Element>(&self, op: Op, x: &[T], policy: Policy) -> Result<String, Error> {
        Ok(with_many!(self, x, policy, many => many.plan(op).to_string()))
    }

    /// Calls with the part and the place of every element of an array of `n`, by a walk that knows nothing of the library's. Of keys of any kind, too, parts are
    /// called by their keys.
    pub(super) fn each(&self, n: usize, mut add: impl FnMut(usize, usize)) {
        match self {
            Cut::Every(length) => {
                let length = *length as usize;
                (0..n / length * length).for_each(|at| add(at / length, at));
            }
            Cut::Offsets(offsets) => {
                for (part, pair) in offsets.windows(2).enumerate() {
                    (pair[0]..pair[1]).for_each(|at| add(part, at as usize));
                }
            }
            Cut::Axis { layout, axis } => {
                let axes = layout.axes();
                let mut indices = vec![0u64; axes.len()];
                for _ in 0..layout.elements() {
                    let at = axes.iter().zip(&indices).map(|(axis, i)| axis.stride * *i as i64);
                    let kept = (0..axes.len()).filter(|k| k != axis);
                    let part = kept.fold(0, |part, k| part * axes[k].length + indices[k]);
                    add(part as usize, at.sum::<i64>() as usize);
                    for (index, axis) in indices.iter_mut().zip(axes).rev() {
                        *index += 1;
                        if *index < axis.length {
                            break;
                        }
                        *index = 0;
                    }
                }
            }
            Cut::Groups { keys, .. } => {
                keys.iter().enumerate().for_each(|(at, key)| add(*key as usize, at));
            }
        }
    }

    /// How many parts [`each`](Self::each) of an array of `n` elements may name.
    pub(super) fn parts(&self, n: usize) -> usize {
        match self {
            Cut::Every(length) => n / *length as usize,
            Cut::Offsets(offsets) => offsets.len() - 1,
            Cut::Axis { layout, axis } => {
                let axes = layout.axes().iter().enumerate().filter(|(k, _)| k != axis);
                axes.map(|(_, axis)| axis.length as usize).product()
            }
            Cut::Groups { groups, .. } => *groups as usize,
        }
    }
}
