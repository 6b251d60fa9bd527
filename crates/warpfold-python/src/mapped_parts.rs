//! Segments and groups of expressions of arrays in the host's memory.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use warpfold_engine::map::{Expressions, Map, Operand};
use warpfold_engine::{Columns, Indices, Parts};
use warpfold_num::{DType, Empty};

use crate::convert::Wanted;
use crate::errors::raised;
use crate::reduce::Call;
use crate::run::run;
use crate::take::{Block, Home, Input, Views, one_axis};

/// An expression of arrays of one axis and one length.
pub(crate) struct Elements {
    expressions: Expressions,
    inputs: Vec<(String, Input)>,
}

impl Elements {
    pub(crate) fn new(
        (expressions, inputs): (Expressions, Vec<(String, Input)>),
    ) -> PyResult<Self> {
        let (of, n) = (&inputs[0].0, inputs[0].1.len());
        for (name, input) in &inputs {
            if one_axis(name, input)?.len() as u64 != n {
                return Err(PyValueError::new_err(format!(
                    "{of} has {n} elements, and {name} {}; in segments and groups each has one for each element",
                    input.len()
                )));
            }
        }
        Ok(Elements { expressions, inputs })
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.inputs[0].1.len() as usize
    }

    /// Where results go.
    pub(crate) fn home(&self) -> Home {
        self.inputs[0].1.home
    }

    /// Bytes of the arrays.
    pub(crate) fn bytes(&self) -> u64 {
        self.inputs.iter().map(|(_, input)| input.bytes()).sum()
    }

    /// The result of each part; of one that does not exist NaN, where its type has one.
    pub(crate) fn columns(
        &self,
        py: Python<'_>,
        call: &Call<'_, '_>,
        parts: &Parts<'_>,
    ) -> PyResult<(Columns, Wanted)> {
        let inputs = self.inputs.iter().map(|(name, input)| (name.as_str(), input.dtype));
        let inputs: Vec<(&str, DType)> = inputs.collect();
        let map = Map::new(call.op, &self.expressions, &inputs, call.policy);
        let map = map.map_err(|error| raised(&error))?;
        let wanted = call.wanted(map.dtype(), self.home())?;
        if wanted.is_corrected() {
            return Err(PyTypeError::new_err(
                "segments and groups of an expression take a whole number as correction; compute the array, and reduce that for others",
            ));
        }
        let bools = self.inputs.iter().map(|(name, input)| bools(name, input));
        let bools = bools.collect::<PyResult<Vec<_>>>()?;
        let mut operands: Vec<Operand<'_>> = Vec::with_capacity(bools.len());
        for ((name, input), bools) in self.inputs.iter().zip(&bools) {
            operands.push(match bools {
                Some(bools) => bools.array().into(),
                None => one_axis(name, input)?.into(),
            });
        }
        let all = run(py, self.bytes(), || {
            map.columns_and_gaps(&operands, parts, Indices::OfInput, Empty::Nan, wanted.finish)
        });
        let all = all.map_err(|error| raised(&error))?.into_iter();
        let typed = |(name, column)| (name, wanted.typed(column));
        let columns = all.flat_map(|of| of.columns).map(typed).collect();
        Ok((columns, wanted))
    }
}

/// A copy of bools, whose bytes may be others than 0 and 1 where they lie; `None` of other elements.
fn bools(name: &str, input: &Input) -> PyResult<Option<Block>> {
    if input.dtype != DType::Bool {
        return Ok(None);
    }
    let views = Views::new(&input.shape, &[true], &[(name, input)])?;
    let mut blocks = views.blocks_of(views.inputs());
    views.append(&mut blocks, 0, 0, views.inputs());
    Ok(blocks.pop())
}
