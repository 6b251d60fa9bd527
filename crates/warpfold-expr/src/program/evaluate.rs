//! A program of one element: where there are no thousand to map at once.

use warpfold_num::{Error, Result};

use super::{Const, Node, Program};
use crate::scalar;

impl Program {
    /// The values of all nodes, for inputs in the types that they compute in.
    ///
    /// # Errors
    /// [`Error::Map`]: an operation of integers that has no value.
    pub(crate) fn evaluate(&self, inputs: &[Const]) -> Result<Vec<Const>> {
        let mut values: Vec<Const> = Vec::with_capacity(self.nodes.len());
        for (id, node) in self.nodes.iter().enumerate() {
            let at = |id: super::Id| values[usize::from(id)];
            let value = match *node {
                Node::Input(input) => Some(inputs[usize::from(input)]),
                Node::Const(constant) => Some(constant),
                Node::Unary(op, a) => scalar::unary(op, at(a)),
                Node::Binary(op, a, b) => scalar::binary(op, at(a), at(b)),
                Node::Select(condition, a, b) => {
                    Some(if at(condition) == Const::Bool(true) { at(a) } else { at(b) })
                }
                Node::Fma(a, b, c) => scalar::fma(at(a), at(b), at(c)),
            };
            values.push(value.ok_or_else(|| {
                let operands: Vec<String> = node.operands().map(|id| at(id).to_string()).collect();
                Error::Map {
                    requested: format!("`{}`", self.texts[id]),
                    obstacle: format!(
                        "{} has no value of {}",
                        self.types[id],
                        operands.join(" and ")
                    ),
                    remedy: "compute with f64(…)".into(),
                }
            })?);
        }
        Ok(values)
    }
}
