//! Which decoder each operation has; branches, calls and returns.

use super::super::DecodeError;
use super::super::layout::error;
use super::super::op::{Combines, Condition, EXIT, Op};
use super::arithmetic::Decoded;
use super::scope::{Binding, Scope};
use super::words::Words;
use super::{Builder, branch};
use crate::class::Class;
use crate::ptx::{Instruction, Mnemonic, Operand, Space, Type, Variable};

impl<'m> Builder<'m> {
    /// One instruction to its operation.
    pub(super) fn operation(&mut self, instruction: &'m Instruction) -> Decoded {
        use Mnemonic::*;
        let mut words = Words::new(instruction);
        match instruction.mnemonic {
            Add | Addc | Sub | Subc | Mul | Mul24 | Div | Rem | Min | Max => {
                self.two_operands(words)
            }
            Mad | Madc | Mad24 | Fma | Sad => self.three_operands(words),
            Neg | Abs | Not | Cnot | Sqrt | Rcp | Rsqrt | Ex2 | Lg2 | Sin | Cos | Tanh | Popc
            | Clz | Brev | Bfind => self.one_operand(words),
            And | Or | Xor | Shl | Shr => self.bitwise(words),
            Bfe | Bfi | Shf | Prmt | Lop3 | Dp4a | Dp2a | Copysign => self.bit_fields(words),
            Setp | Set | Testp => self.comparison(words),
            Selp | Slct => self.select(words),
            Mov => self.copy(words),
            Cvt => self.convert(words),
            Ld | Ldu | St => self.load_or_store(words),
            Atom | Red => self.atomic(words),
            Cvta | Isspacep => self.address_conversion(words),
            Bar | Barrier => self.barrier(words),
            Shfl | Vote | Match | Redux | Elect | Activemask => self.warp_exchange(words),
            Membar | Fence => self.fence(words),
            Mbarrier => self.mbarrier(words),
            Cp => self.bulk_copy(words),
            Bra | Brx => self.branch(words),
            Ret => {
                words.take("uni");
                words.finish()?;
                match self.calls.last() {
                    // A kernel's own return ends its threads.
                    Some(_) if self.calls.len() == 1 => {
                        Ok((Op::Exit, Class::Control, Combines::No))
                    }
                    Some(&(_, label)) => Ok((branch(label), Class::Control, Combines::No)),
                    None => words_outside(instruction),
                }
            }
            Exit => {
                words.finish()?;
                Ok((Op::Exit, Class::Control, Combines::No))
            }
            Trap | Brkpt => {
                words.finish()?;
                Ok((Op::Trap, Class::Control, Combines::No))
            }
            // Hints: they change when, never what.
            Nanosleep | Prefetch | Prefetchu | Discard | Griddepcontrol => {
                Ok((Op::Nothing, Class::Control, Combines::No))
            }
            Bmsk | Fns | Mapa | Szext | Call => words.unsupported(),
        }
    }

    fn branch(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        words.take("uni");
        let table = words.take("idx");
        words.finish()?;
        if table {
            return self.table(i);
        }
        self.arity(&Words::new(i), &[1])?;
        let label = match &i.operands[0] {
            Operand::Name(name) => self.lookup(name),
            _ => None,
        };
        match label {
            Some(Binding::Label(label)) => Ok((branch(label), Class::Control, Combines::No)),
            _ => error(i.line, format!("`{}` is not a label of this function", i.operands[0])),
        }
    }

    fn table(&mut self, i: &Instruction) -> Decoded {
        self.arity(&Words::new(i), &[2])?;
        let index = self.source(&i.operands[0], Type::U32, i.line)?;
        let names = match &i.operands[1] {
            Operand::Name(name) => self.lookup(name),
            _ => None,
        };
        let Some(Binding::Table(names)) = names else {
            return error(i.line, format!("`{}` is no list of branch targets", i.operands[1]));
        };
        let mut targets = Vec::new();
        for name in names {
            match self.lookup(&name) {
                Some(Binding::Label(label)) => targets.push(label),
                _ => return error(i.line, format!("`{name}` is not a label of this function")),
            }
        }
        Ok((Op::Table { index, targets, reconverge: EXIT }, Class::Control, Combines::No))
    }

    /// Inlines a call: the callee's parameters are the caller's own variables.
    pub(super) fn call(
        &mut self,
        i: &'m Instruction,
        guard: Option<Condition>,
    ) -> Result<(), DecodeError> {
        let mut names: Vec<&Operand> = i.operands.iter().collect();
        let returns: &[Operand] = match names.first() {
            Some(Operand::List(list)) => {
                names.remove(0);
                list
            }
            _ => &[],
        };
        let (callee, arguments) = match names.as_slice() {
            [Operand::Name(name)] => (name, &[][..]),
            [Operand::Name(name), Operand::List(list)] => (name, list.as_slice()),
            _ => return error(i.line, "only direct calls are inside the subset"),
        };
        let Some(&function) = self.functions.get(callee.as_str()) else {
            return error(
                i.line,
                format!(
                    "`{callee}` is not a function of this module: an indirect call is outside the subset"
                ),
            );
        };
        if arguments.len() != function.parameters.len() || returns.len() != function.returns.len() {
            return error(
                i.line,
                format!("`{callee}` is called with the wrong number of arguments"),
            );
        }
        let mut scope = Scope::default();
        self.alias(&mut scope, &function.parameters, arguments, i)?;
        self.alias(&mut scope, &function.returns, returns, i)?;
        // A guarded call is a branch around it.
        let after = self.new_label();
        if let Some(mut guard) = guard {
            guard.sense = match guard.sense {
                crate::ptx::Sense::Plain => crate::ptx::Sense::Negated,
                crate::ptx::Sense::Negated => crate::ptx::Sense::Plain,
            };
            self.push(
                branch(after),
                Some(guard),
                Class::Control,
                Combines::No,
                i.line,
                i.to_string(),
            )?;
        }
        let outer = std::mem::replace(&mut self.visible_from, self.scopes.len());
        let location = self.location.clone();
        self.scopes.push(scope);
        self.body(function)?;
        self.scopes.pop();
        self.visible_from = outer;
        self.location = location;
        self.labels[after as usize] = Some(self.code.len() as u32);
        Ok(())
    }

    fn alias(
        &mut self,
        scope: &mut Scope,
        formal: &[Variable],
        actual: &[Operand],
        i: &Instruction,
    ) -> Result<(), DecodeError> {
        for (formal, actual) in formal.iter().zip(actual) {
            let binding = match actual {
                Operand::Name(name) => self.lookup(name),
                _ => None,
            };
            match binding {
                Some(binding @ Binding::Variable { space: Space::Local, .. }) => {
                    scope.bind(&formal.name, binding)
                }
                _ => {
                    return error(
                        i.line,
                        format!(
                            "`{actual}` is not a .param variable: calls through registers are outside the subset"
                        ),
                    );
                }
            }
        }
        Ok(())
    }
}

fn words_outside<T>(instruction: &Instruction) -> Result<T, DecodeError> {
    Words::new(instruction).unsupported()
}
