//! Whether a loop that Rust's compiler made of an expression is run in place of the program's steps.

use super::{Id, Node, Program, Type};
use crate::function::Unary;

impl Program {
    /// Whether a loop of a program's root is faster than its steps, and tells of as many faults: not where integers are checked, and not of functions whose
    /// steps are two loops, one for the elements that few need.
    pub(super) fn is_better_compiled(&self, root: Id) -> bool {
        let nodes = self.nodes();
        let mut reached = vec![false; nodes.len()];
        reached[usize::from(root)] = true;
        for id in (0..nodes.len()).rev() {
            if !reached[id] {
                continue;
            }
            let operand = |k: Id| self.ty(k);
            let is_slow = match nodes[id] {
                Node::Unary(Unary::Sin | Unary::Cos | Unary::Power(_), _) => true,
                Node::Unary(Unary::Log | Unary::Log1p, a) => operand(a) == Type::F32,
                Node::Unary(Unary::Neg | Unary::Abs, a) => !operand(a).is_float(),
                Node::Unary(Unary::I64, a) => operand(a) == Type::U64,
                Node::Unary(Unary::U64, a) => operand(a) == Type::I64,
                Node::Binary(op, a, _) => !operand(a).is_float() && op.is_checked(),
                _ => false,
            };
            if is_slow {
                return false;
            }
            nodes[id].operands().for_each(|operand| reached[usize::from(operand)] = true);
        }
        true
    }
}
