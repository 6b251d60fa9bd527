//! What the outputs of many reductions are arranged as.

use crate::error::At;
use crate::group::{Groups, Key};
use crate::shape::{Array, Folding};

/// How outputs are handed back: an [`Array`] for axes, a vector for segments, [`Groups`] for keys.
pub trait Arrange: sealed::Sealed {
    /// The outputs, arranged.
    type Of<R>;

    /// Arranges outputs, which are in their order.
    #[doc(hidden)]
    fn arrange<R>(&self, values: Vec<R>) -> Self::Of<R>;

    /// What an output is called.
    #[doc(hidden)]
    fn at(&self, output: u64) -> At;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ByAxes {}
    impl Sealed for super::BySegments {}
    impl<K> Sealed for super::ByGroups<K> {}
    impl Sealed for super::ByNumbers {}
    impl Sealed for super::Plain<'_> {}
}

/// One output for each element of the axes that are kept.
#[derive(Debug, Clone)]
pub struct ByAxes {
    folding: Folding,
    shape: Vec<u64>,
}

impl ByAxes {
    pub(super) fn new(folding: Folding) -> Self {
        ByAxes { shape: folding.shape(), folding }
    }

    pub(super) fn keepdims(&mut self) {
        self.shape = self.folding.shape_kept();
    }

    pub(super) fn folding(&self) -> &Folding {
        &self.folding
    }
}

impl Arrange for ByAxes {
    type Of<R> = Array<R>;

    fn arrange<R>(&self, values: Vec<R>) -> Array<R> {
        Array { shape: self.shape.clone(), values }
    }

    fn at(&self, output: u64) -> At {
        let mut rest = output;
        let digit = |length: &u64| {
            let digit = rest % length.max(&1);
            rest /= length.max(&1);
            digit
        };
        let mut indices: Vec<_> = self.folding.shape().iter().rev().map(digit).collect();
        indices.reverse();
        At::Indices(indices)
    }
}

/// One output for each segment.
#[derive(Debug, Clone, Copy)]
pub struct BySegments(());

impl BySegments {
    pub(super) fn new() -> Self {
        BySegments(())
    }
}

impl Arrange for BySegments {
    type Of<R> = Vec<R>;

    fn arrange<R>(&self, values: Vec<R>) -> Vec<R> {
        values
    }

    fn at(&self, output: u64) -> At {
        At::Segment(output)
    }
}

/// One output for each group, beside its key.
#[derive(Debug, Clone)]
pub struct ByGroups<K> {
    keys: Vec<K>,
}

impl<K> ByGroups<K> {
    pub(super) fn new(keys: Vec<K>) -> Self {
        ByGroups { keys }
    }
}

impl<K: Key> Arrange for ByGroups<K> {
    type Of<R> = Groups<K, R>;

    fn arrange<R>(&self, values: Vec<R>) -> Groups<K, R> {
        Groups { keys: self.keys.clone(), values }
    }

    fn at(&self, output: u64) -> At {
        At::Group(self.keys[output as usize].to_string())
    }
}

/// One output for each number of a group.
#[derive(Debug, Clone, Copy)]
pub struct ByNumbers(());

impl ByNumbers {
    pub(super) fn new() -> Self {
        ByNumbers(())
    }
}

impl Arrange for ByNumbers {
    type Of<R> = Vec<R>;

    fn arrange<R>(&self, values: Vec<R>) -> Vec<R> {
        values
    }

    fn at(&self, output: u64) -> At {
        At::Group(output.to_string())
    }
}

/// Outputs as they are, called what another arrangement calls them.
#[derive(Clone, Copy)]
pub struct Plain<'a>(pub(super) &'a dyn Fn(u64) -> At);

impl Arrange for Plain<'_> {
    type Of<R> = Vec<R>;

    fn arrange<R>(&self, values: Vec<R>) -> Vec<R> {
        values
    }

    fn at(&self, output: u64) -> At {
        self.0(output)
    }
}
