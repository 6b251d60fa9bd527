//! What stands for GPUs in a program built without them: an error that says so.

use std::convert::Infallible;

use warpfold::partial::{Finish, Output};
use warpfold::plan::Tuning;
use warpfold::{AnyPartial, DType, Error, Op, Policy, Result};

use super::Work;

/// No GPU.
#[derive(Clone)]
pub(crate) struct Gpu(Infallible);

impl Gpu {
    /// There is none to ask.
    pub(crate) fn absent(&self) -> ! {
        match self.0 {}
    }
}

fn absent() -> Error {
    Error::Device {
        requested: "use of an NVIDIA GPU".into(),
        obstacle: "this program was built without CUDA".into(),
        remedy: "build it with the feature `cuda`, or run on the CPU",
    }
}

/// There is none.
pub(crate) fn available() -> Result<()> {
    Err(absent())
}

/// There is none.
pub(crate) fn count() -> Result<usize> {
    Err(absent())
}

/// Says so.
pub(crate) fn remark() -> String {
    absent().to_string()
}

/// There is none.
pub(crate) fn open(_: usize, _: Option<&Tuning>) -> Result<Gpu> {
    Err(absent())
}

pub(crate) fn ordinal(gpu: &Gpu) -> usize {
    match gpu.0 {}
}

pub(crate) fn takes(gpu: &Gpu, _: Work) -> Result<()> {
    match gpu.0 {}
}

/// No stream.
pub(crate) struct Stream(Infallible);

impl Stream {
    pub(crate) fn new(gpu: &Gpu, _: Op, _: DType, _: Policy) -> Result<Self> {
        match gpu.0 {}
    }

    pub(crate) fn starting_at(self, _: u64) -> Self {
        match self.0 {}
    }

    pub(crate) fn plan(&self, _: u64) -> Result<&'static str> {
        match self.0 {}
    }

    pub(crate) fn piece(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn push(&mut self, _: &[u8]) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn push_pair(&mut self, _: &[u8], _: &[u8]) -> Result<()> {
        match self.0 {}
    }

    pub(crate) fn seen(&self) -> u64 {
        match self.0 {}
    }

    pub(crate) fn into_partial(self) -> Result<AnyPartial> {
        match self.0 {}
    }

    pub(crate) fn finish(self, _: Finish) -> Result<Output> {
        match self.0 {}
    }
}
