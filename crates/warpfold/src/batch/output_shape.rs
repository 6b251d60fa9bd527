//! What the outputs of many reductions are arranged as.

use std::marker::PhantomData;
use std::sync::Arc;

use warpfold_engine::Parts;

use crate::group::{Groups, Key};
use crate::shape::{Array, Folding};

/// How outputs are handed back: an [`Array`] for axes, a vector for segments, [`Groups`] for keys.
pub trait OutputShape: sealed::Sealed {
    /// The outputs, arranged.
    type Of<R>;

    /// Arranges outputs, which are in their order; those with these numbers have no value.
    #[doc(hidden)]
    fn output_shape<R>(&self, values: Vec<R>, gaps: &[u64]) -> Self::Of<R>;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::ByAxes {}
    impl Sealed for super::BySegments {}
    impl<K> Sealed for super::ByGroups<K> {}
    impl Sealed for super::ByNumbers {}
    impl<A: super::OutputShape> Sealed for super::OrNone<A> {}
}

/// One output for each element of the axes that are kept.
#[derive(Debug, Clone)]
pub struct ByAxes {
    /// Lengths of the axes that are kept.
    kept: Vec<u64>,
    /// The same with folded axes of length 1.
    whole: Vec<u64>,
    keepdims: bool,
}

impl ByAxes {
    pub(super) fn new(folding: &Folding) -> Self {
        ByAxes { kept: folding.shape(), whole: folding.shape_kept(), keepdims: false }
    }

    pub(super) fn keepdims(&mut self) {
        self.keepdims = true;
    }

    /// The shape of the result.
    pub fn shape(&self) -> &[u64] {
        if self.keepdims { &self.whole } else { &self.kept }
    }
}

impl OutputShape for ByAxes {
    type Of<R> = Array<R>;

    fn output_shape<R>(&self, values: Vec<R>, _: &[u64]) -> Array<R> {
        Array { shape: self.shape().to_vec(), values }
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

impl OutputShape for BySegments {
    type Of<R> = Vec<R>;

    fn output_shape<R>(&self, values: Vec<R>, _: &[u64]) -> Vec<R> {
        values
    }
}

/// One output for each group, beside its key.
#[derive(Debug, Clone)]
pub struct ByGroups<K> {
    parts: Arc<Parts<'static>>,
    keys: PhantomData<K>,
}

impl<K: Key> ByGroups<K> {
    pub(super) fn new(parts: Arc<Parts<'static>>) -> Self {
        ByGroups { parts, keys: PhantomData }
    }

    pub(super) fn keys(&self) -> &[K] {
        let keys = self.parts.keys().and_then(K::slice);
        keys.unwrap_or_else(|| unreachable!("groups have the keys that they were made of"))
    }
}

impl<K: Key> OutputShape for ByGroups<K> {
    type Of<R> = Groups<K, R>;

    fn output_shape<R>(&self, values: Vec<R>, _: &[u64]) -> Groups<K, R> {
        Groups { keys: self.keys().to_vec(), values }
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

impl OutputShape for ByNumbers {
    type Of<R> = Vec<R>;

    fn output_shape<R>(&self, values: Vec<R>, _: &[u64]) -> Vec<R> {
        values
    }
}

/// The same, each output `None` that has no value.
#[derive(Debug, Clone)]
pub struct OrNone<A>(pub(super) A);

impl<A: OutputShape> OutputShape for OrNone<A> {
    type Of<R> = A::Of<Option<R>>;

    fn output_shape<R>(&self, values: Vec<R>, gaps: &[u64]) -> A::Of<Option<R>> {
        let mut values: Vec<Option<R>> = values.into_iter().map(Some).collect();
        gaps.iter().for_each(|&gap| values[gap as usize] = None);
        self.0.output_shape(values, &[])
    }
}
