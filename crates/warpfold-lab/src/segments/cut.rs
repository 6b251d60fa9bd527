//! [`Cut`]: how an array is parted, and the sums of its parts as the library gives them.

use warpfold::UnderPolicy;
use warpfold::partial::Finish;
use warpfold::{Column, Error, Layout, Op, Policy, Segments, View, reduce_axes};

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

    /// The sums of all parts by the library.
    ///
    /// # Errors
    /// The library's.
    pub fn sums(&self, x: &[f32], policy: Policy) -> warpfold::Result<Vec<f32>> {
        let columns =
            with_many!(self, x, policy, many => many.columns(Op::Sum, Finish::default())?);
        match columns.into_iter().next() {
            Some((_, Column::F32(sums))) => Ok(sums),
            other => unreachable!("sums of f32 are f32, not {other:?}"),
        }
    }

    /// How the library runs it.
    ///
    /// # Errors
    /// The library's.
    pub fn plan(&self, x: &[f32], policy: Policy) -> Result<String, Error> {
        Ok(with_many!(self, x, policy, many => many.plan(Op::Sum).to_string()))
    }
}
