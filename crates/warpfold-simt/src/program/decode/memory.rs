//! Loads, stores, atomics, address conversions.

use super::super::Communication;
use super::super::op::{Access, AtomicFunction, Combines, Op, Strength};
use super::Builder;
use super::arithmetic::Decoded;
use super::words::Words;
use crate::class::Class;
use crate::ptx::{Mnemonic, Operand, Space, Type};

impl Builder<'_> {
    /// Notes that blocks may speak through this access.
    fn note_communication(&mut self, space: Space) {
        if matches!(space, Space::Global | Space::Generic) {
            self.communication = Communication::Possible;
        }
    }

    /// A cache policy is the last operand where `.L2::cache_hint` stands; it changes no result.
    fn operands_without_policy<'a>(words: &mut Words<'a>) -> &'a [Operand] {
        let operands = &words.instruction.operands;
        if words.take("L2::cache_hint") {
            &operands[..operands.len().saturating_sub(1)]
        } else {
            operands
        }
    }

    /// `ld`, `ldu`, `st`.
    pub(super) fn load_or_store(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let operands = Self::operands_without_policy(&mut words);
        let [first, second] = operands else { return words.error("takes two operands") };
        words.hints();
        let strength = words.strength(Strength::Weak);
        let scope = words.scope();
        let space = words.space();
        let count = words.count();
        let ty = words.ty()?;
        words.take("unified");
        words.finish()?;
        if matches!(ty, Type::Pred | Type::B128) {
            return Words::new(i).unsupported();
        }
        let load = i.mnemonic != Mnemonic::St;
        let (address, data) = if load { (second, first) } else { (first, second) };
        let (address, lies_in) = self.address(address, i.line)?;
        let space = match (space, lies_in) {
            // A call's parameter is the thread's own memory.
            (Space::Param, Some(real)) => real,
            (space, _) => space,
        };
        let parts: &[Operand] = match data {
            Operand::Vector(parts) => parts,
            one => std::slice::from_ref(one),
        };
        if parts.len() != count as usize {
            return Words::new(i).error(&format!("moves {count} values and names {}", parts.len()));
        }
        if strength != Strength::Weak {
            self.note_communication(space);
        }
        let mut access = Access { space, ty, count, address, strength, scope, register_bits: 64 };
        let class = match (space, load) {
            (Space::Shared, true) => Class::SharedLoad,
            (Space::Shared, false) => Class::SharedStore,
            (Space::Local, _) => Class::Local,
            (Space::Param, _) => Class::Parameter,
            (Space::Const, _) => Class::Constant,
            (_, true) => Class::GlobalLoad,
            (_, false) => Class::GlobalStore,
        };
        if load {
            let mut to = [None; 4];
            for (slot, part) in to.iter_mut().zip(parts) {
                if matches!(part, Operand::Name(name) if name == "_") {
                    continue;
                }
                let destination = self.destination(part, i.line)?;
                access.register_bits = access.register_bits.min(destination.bits);
                *slot = Some(destination.slot);
            }
            return Ok((Op::Load { access, to }, class, Combines::No));
        }
        if matches!(space, Space::Const | Space::Param) {
            return Words::new(i).error("writes to read-only memory");
        }
        let mut from = [0; 4];
        for (slot, part) in from.iter_mut().zip(parts) {
            *slot = self.source(part, ty, i.line)?;
        }
        Ok((Op::Store { access, from }, class, Combines::No))
    }

    /// `atom` and `red`.
    pub(super) fn atomic(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let operands = Self::operands_without_policy(&mut words);
        words.take("noftz");
        let strength = words.strength(Strength::Relaxed);
        let scope = words.scope();
        let space = words.space();
        let functions = ["add", "min", "max", "and", "or", "xor", "inc", "dec", "exch", "cas"];
        let function = match words.take_any(&functions) {
            Some("add") => AtomicFunction::Add,
            Some("min") => AtomicFunction::Min,
            Some("max") => AtomicFunction::Max,
            Some("and") => AtomicFunction::And,
            Some("or") => AtomicFunction::Or,
            Some("xor") => AtomicFunction::Xor,
            Some("inc") => AtomicFunction::Increment,
            Some("dec") => AtomicFunction::Decrement,
            Some("exch") => AtomicFunction::Exchange,
            Some("cas") => AtomicFunction::CompareAndSwap,
            _ => return words.unsupported(),
        };
        let ty = words.ty()?;
        let supported = match (function, ty) {
            (AtomicFunction::Add, ty) => !matches!(ty, Type::Pred | Type::B128) && ty.bytes() > 1,
            (AtomicFunction::CompareAndSwap, ty) => matches!(ty, Type::B16 | Type::B32 | Type::B64),
            (AtomicFunction::Increment | AtomicFunction::Decrement, ty) => ty == Type::U32,
            (_, ty) => matches!(ty.bits(), 32 | 64) && !ty.is_float(),
        };
        if !supported {
            return words.unsupported();
        }
        words.finish()?;
        let (to, rest) = if i.mnemonic == Mnemonic::Atom {
            let Some((first, rest)) = operands.split_first() else {
                return Words::new(i).error("has no operands");
            };
            (Some(self.destination(first, i.line)?.slot), rest)
        } else {
            (None, operands)
        };
        let (address, b, c) = match rest {
            [address, b] if function != AtomicFunction::CompareAndSwap => (address, b, b),
            [address, b, c] if function == AtomicFunction::CompareAndSwap => (address, b, c),
            _ => return Words::new(i).error("has the wrong number of operands"),
        };
        let (address, _) = self.address(address, i.line)?;
        let b = self.source(b, ty, i.line)?;
        let c = self.source(c, ty, i.line)?;
        self.note_communication(space);
        let access = Access { space, ty, count: 1, address, strength, scope, register_bits: 64 };
        Ok((Op::Atomic { function, access, to, b, c }, Class::Atomic, Combines::Yes))
    }

    /// `cvta`, `isspacep`, `mapa`.
    pub(super) fn address_conversion(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        let moved = |op| Ok((op, Class::Move, Combines::No));
        if i.mnemonic == Mnemonic::Isspacep {
            self.arity(&words, &[2])?;
            let space = words.space();
            words.finish()?;
            let Some(to) = self.predicate_destination(&i.operands[0], i.line)? else {
                return moved(Op::Nothing);
            };
            let a = self.source(&i.operands[1], Type::U64, i.line)?;
            return moved(Op::IsSpace { space, to, a });
        }
        let back = words.take("to");
        let space = words.space();
        let ty = words.ty()?;
        words.finish()?;
        self.arity(&Words::new(i), &[2])?;
        let to = self.destination(&i.operands[0], i.line)?.slot;
        let a = self.source(&i.operands[1], ty, i.line)?;
        moved(if back { Op::FromGeneric { space, to, a } } else { Op::ToGeneric { space, to, a } })
    }
}
