//! [`Program`]: expressions whose inputs have types, as a list of operations without names.

mod build;
mod compiled;
mod evaluate;

use std::fmt;

use warpfold_num::{DType, Result};

use crate::function::{Binary, Unary};
use crate::native_loop::Native;
use crate::text::Expr;
pub(crate) use crate::types::{Const, Type};

/// A value of the program, by its place.
pub type Id = u16;

/// How a value is made; operands are earlier values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Node {
    /// An input, by its place among the program's.
    Input(u8),
    /// A constant.
    Const(Const),
    /// An operation of one operand.
    Unary(Unary, Id),
    /// An operation of two operands of one type.
    Binary(Binary, Id, Id),
    /// The second where the first holds, else the third.
    Select(Id, Id, Id),
    /// The first times the second and the third, rounded once.
    Fma(Id, Id, Id),
}

impl Node {
    /// The values that it is made of.
    pub fn operands(&self) -> impl Iterator<Item = Id> + use<> {
        let operands = match *self {
            Node::Input(_) | Node::Const(_) => [None; 3],
            Node::Unary(_, a) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(a, b, c) | Node::Fma(a, b, c) => [Some(a), Some(b), Some(c)],
        };
        operands.into_iter().flatten()
    }

    /// The same of operands that stand elsewhere.
    fn renumbered(self, at: impl Fn(Id) -> Id) -> Self {
        match self {
            Node::Input(_) | Node::Const(_) => self,
            Node::Unary(op, a) => Node::Unary(op, at(a)),
            Node::Binary(op, a, b) => Node::Binary(op, at(a), at(b)),
            Node::Select(a, b, c) => Node::Select(at(a), at(b), at(c)),
            Node::Fma(a, b, c) => Node::Fma(at(a), at(b), at(c)),
        }
    }
}

/// What an expression of a program is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Root {
    /// Its value, rounded; where only the factors of a product are kept, the first of them.
    pub value: Id,
    /// The two factors, where the expression is a product that nobody asked to be rounded.
    pub factors: Option<(Id, Id)>,
}

/// One or several expressions of the same inputs; what they have in common is computed once.
#[derive(Debug, Clone)]
pub struct Program {
    nodes: Vec<Node>,
    types: Vec<Type>,
    /// The texts that values come from, for errors.
    texts: Vec<String>,
    inputs: Vec<DType>,
    roots: Vec<Root>,
    /// The loop of each expression that has one, and the places of what it reads.
    natives: Vec<Option<(Native, Vec<u8>)>>,
    /// The input that says which elements are there.
    present: Option<Id>,
}

impl Program {
    /// The program of some expressions, for inputs of these names and types, which must be all that the expressions name.
    ///
    /// # Errors
    /// [`Error::Map`](warpfold_num::Error::Map), with the column of what does not suit the types.
    pub fn new(expressions: &[&Expr], inputs: &[(&str, DType)]) -> Result<Self> {
        build::program(expressions, inputs)
    }

    /// The same of inputs some of whose elements are not there: one input more, the last, of conditions, says which are. The first expression is a mask of
    /// those that are there and for which a condition holds, if there is one. What others hold where nothing is there is no fault, not even of the condition.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn of_present(
        keep: Option<&Expr>,
        expressions: &[&Expr],
        inputs: &[(&str, DType)],
    ) -> Result<Self> {
        build::of_present(keep, expressions, inputs)
    }

    /// The input that says which elements are there.
    pub(crate) fn present(&self) -> Option<Id> {
        self.present
    }

    /// The values, each after its operands.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// What a value computes in.
    pub fn ty(&self, id: Id) -> Type {
        self.types[usize::from(id)]
    }

    /// The text that a value comes from.
    pub fn text(&self, id: Id) -> &str {
        &self.texts[usize::from(id)]
    }

    /// The element types of the inputs.
    pub fn inputs(&self) -> &[DType] {
        &self.inputs
    }

    /// What each expression is.
    pub fn roots(&self) -> &[Root] {
        &self.roots
    }

    /// The loop of an expression, where that is better than its steps, and the places of the inputs that it reads.
    pub(crate) fn native(&self, expression: usize) -> Option<(Native, &[u8])> {
        let (native, indices) = self.natives[expression].as_ref()?;
        let Root { value, factors } = self.roots[expression];
        let mut ids = factors.into_iter().flat_map(|(a, b)| [a, b]).chain([value]);
        ids.all(|id| self.is_better_compiled(id)).then_some((*native, indices))
    }

    /// Computes an expression that is a product no further than to its factors, and says which they are.
    ///
    /// # Panics
    /// If there are not so many expressions.
    pub fn keep_factors(&mut self, expression: usize) -> Option<(Id, Id)> {
        let root = &mut self.roots[expression];
        root.factors.inspect(|&(left, _)| root.value = left)
    }

    /// The type of an expression's values.
    ///
    /// # Panics
    /// If there are not so many expressions.
    pub fn result(&self, expression: usize) -> Type {
        self.ty(self.roots[expression].value)
    }
}

/// The operations, one a line: `%2 = f32 abs %1`.
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (id, node) in self.nodes.iter().enumerate() {
            write!(f, "%{id} = {} ", self.types[id])?;
            match *node {
                Node::Input(form_index) => {
                    writeln!(
                        f,
                        "input {} of {}",
                        self.texts[id],
                        self.inputs[usize::from(form_index)]
                    )?;
                }
                Node::Const(constant) => writeln!(f, "{constant}")?,
                Node::Unary(Unary::Power(n), a) => writeln!(f, "%{a} ** {n}")?,
                Node::Unary(op, a) => writeln!(f, "{op} %{a}")?,
                Node::Binary(op, a, b) => writeln!(f, "%{a} {} %{b}", op.name())?,
                Node::Select(c, a, b) => writeln!(f, "select %{c}, %{a}, %{b}")?,
                Node::Fma(a, b, c) => writeln!(f, "fma %{a}, %{b}, %{c}")?,
            }
        }
        Ok(())
    }
}
