//! What names mean, scope by scope.

use std::collections::HashMap;

use super::super::DecodeError;
use super::super::layout::{LaidOut, Sizing, error};
use super::super::op::{PredicateSlot, Slot};
use super::{Builder, Label};
use crate::ptx::{Line, Space, Type};

/// Most registers a kernel may have: a guard against hostile files.
const MOST_REGISTERS: u32 = 1 << 16;

/// What a name stands for.
#[derive(Clone, Debug)]
pub(super) enum Binding {
    Register {
        slot: Slot,
        bits: u32,
    },
    Predicate(PredicateSlot),
    Variable {
        space: Space,
        address: u64,
    },
    /// A dynamically sized shared array.
    Dynamic,
    Label(Label),
    /// The labels of a `.branchtargets`.
    Table(Vec<String>),
}

/// One pair of braces.
#[derive(Debug, Default)]
pub(super) struct Scope {
    names: HashMap<String, Binding>,
    /// Families `%r<7>`: prefix, type, count, and the first slot. Slots are handed out on first use.
    families: Vec<(String, Type, u32)>,
}

impl Scope {
    pub(super) fn bind(&mut self, name: &str, binding: Binding) {
        self.names.insert(name.to_owned(), binding);
    }
}

impl Builder<'_> {
    pub(super) fn declare_registers(
        &mut self,
        ty: Type,
        names: &[(String, Option<u32>)],
        line: Line,
    ) -> Result<(), DecodeError> {
        if ty == Type::B128 {
            return error(line, "128-bit registers are outside the subset");
        }
        for (name, count) in names {
            match count {
                Some(count) => {
                    if let Some(scope) = self.scopes.last_mut() {
                        scope.families.push((name.clone(), ty, *count));
                    }
                }
                None => {
                    let binding = self.register_of(ty, line)?;
                    self.bind(name, binding);
                }
            }
        }
        Ok(())
    }

    fn register_of(&mut self, ty: Type, line: Line) -> Result<Binding, DecodeError> {
        if self.registers + self.predicates >= MOST_REGISTERS {
            return error(line, format!("a kernel with more than {MOST_REGISTERS} registers"));
        }
        Ok(match ty {
            Type::Pred => Binding::Predicate(self.new_predicate()),
            _ => Binding::Register { slot: self.new_register(), bits: ty.bits() },
        })
    }

    /// What `name` means here; a register of a family gets its slot when first named.
    pub(super) fn lookup(&mut self, name: &str) -> Option<Binding> {
        for index in (self.visible_from..self.scopes.len()).rev() {
            if let Some(binding) = self.scopes[index].names.get(name) {
                return Some(binding.clone());
            }
            let member = self.scopes[index].families.iter().find(|(prefix, _, count)| {
                name.strip_prefix(prefix.as_str())
                    .filter(|digits| *digits == "0" || !digits.starts_with('0'))
                    .and_then(|digits| digits.parse::<u32>().ok())
                    .is_some_and(|number| number < *count)
            });
            if let Some(&(_, ty, _)) = member {
                let binding = self.register_of(ty, Line(0)).ok()?;
                self.scopes[index].bind(name, binding.clone());
                return Some(binding);
            }
        }
        self.layout.names.get(name).map(|&LaidOut { space, address, sizing }| match sizing {
            Sizing::Static => Binding::Variable { space, address },
            Sizing::Dynamic => Binding::Dynamic,
        })
    }
}
