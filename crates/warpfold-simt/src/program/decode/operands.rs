//! Operands to slots, conditions and addresses.

use super::super::layout::error;
use super::super::op::{Address, Condition, PredicateSlot, Slot};
use super::super::{DecodeError, Special};
use super::Builder;
use super::scope::Binding;
use super::words::Words;
use crate::ptx::{Base, Instruction, Line, Operand, Sense, Space, Type};

/// A register that is written, and its width; `None` for the sink `_`.
pub(super) struct Destination {
    pub(super) slot: Slot,
    pub(super) bits: u32,
}

impl Builder<'_> {
    /// Checks how many operands there are.
    pub(super) fn arity(&self, words: &Words<'_>, counts: &[usize]) -> Result<(), DecodeError> {
        let count = words.instruction.operands.len();
        if counts.contains(&count) {
            return Ok(());
        }
        words.error(&format!("has {count} operands, not {}", counts[0]))
    }

    /// A slot that holds `value` in every lane.
    pub(super) fn immediate(&mut self, value: u64) -> Slot {
        if let Some(&slot) = self.immediates.get(&value) {
            return slot;
        }
        let slot = self.new_register();
        self.immediates.insert(value, slot);
        slot
    }

    /// A slot that holds a special register.
    pub(super) fn special(&mut self, special: Special) -> Slot {
        if let Some(&slot) = self.specials.get(&special) {
            return slot;
        }
        let slot = self.new_register();
        self.specials.insert(special, slot);
        slot
    }

    pub(super) fn destination(
        &mut self,
        operand: &Operand,
        line: Line,
    ) -> Result<Destination, DecodeError> {
        match operand {
            // The sink: a register nothing reads.
            Operand::Name(name) if name == "_" => {
                Ok(Destination { slot: self.new_register(), bits: 64 })
            }
            Operand::Name(name) => match self.lookup(name) {
                Some(Binding::Register { slot, bits }) => Ok(Destination { slot, bits }),
                _ => error(line, format!("`{name}` is not a register that a result may go to")),
            },
            other => error(line, format!("`{other}` is not a register that a result may go to")),
        }
    }

    pub(super) fn predicate_named(
        &mut self,
        name: &str,
        line: Line,
    ) -> Result<PredicateSlot, DecodeError> {
        match self.lookup(name) {
            Some(Binding::Predicate(slot)) => Ok(slot),
            _ => error(line, format!("`{name}` is not a predicate register")),
        }
    }

    pub(super) fn predicate_destination(
        &mut self,
        operand: &Operand,
        line: Line,
    ) -> Result<Option<PredicateSlot>, DecodeError> {
        match operand {
            Operand::Name(name) if name == "_" => Ok(None),
            Operand::Name(name) => self.predicate_named(name, line).map(Some),
            other => error(line, format!("`{other}` is not a predicate register")),
        }
    }

    pub(super) fn condition(
        &mut self,
        operand: &Operand,
        line: Line,
    ) -> Result<Condition, DecodeError> {
        match operand {
            Operand::Name(name) => {
                Ok(Condition { slot: self.predicate_named(name, line)?, sense: Sense::Plain })
            }
            Operand::Not(name) => {
                Ok(Condition { slot: self.predicate_named(name, line)?, sense: Sense::Negated })
            }
            other => error(line, format!("`{other}` is not a predicate")),
        }
    }

    /// A slot that holds the operand, read as `ty`.
    pub(super) fn source(
        &mut self,
        operand: &Operand,
        ty: Type,
        line: Line,
    ) -> Result<Slot, DecodeError> {
        let narrow = |value: u64| value & crate::alu::low_bits(ty.bits().max(8));
        match operand {
            Operand::Integer(value) => Ok(self.immediate(narrow(*value))),
            Operand::Single(bits) if ty == Type::F64 => {
                Ok(self.immediate(f64::from(f32::from_bits(*bits)).to_bits()))
            }
            Operand::Single(bits) => Ok(self.immediate(u64::from(*bits))),
            Operand::Double(bits) if ty == Type::F32 => {
                Ok(self.immediate(u64::from((f64::from_bits(*bits) as f32).to_bits())))
            }
            Operand::Double(bits) => Ok(self.immediate(*bits)),
            Operand::Component(name, axis) => match special_register(name, Some(axis)) {
                Some(special) => Ok(self.special(special)),
                None => error(line, format!("`{operand}` is no special register of the subset")),
            },
            Operand::Name(name) => match self.lookup(name) {
                Some(Binding::Register { slot, bits }) => {
                    if bits < ty.bits() {
                        return error(
                            line,
                            format!(
                                "`{name}` has {bits} bits, the instruction reads {}",
                                ty.bits()
                            ),
                        );
                    }
                    Ok(slot)
                }
                Some(_) => self.variable_address(name, 0, line),
                None => match special_register(name, None) {
                    Some(special) => Ok(self.special(special)),
                    None => error(line, format!("`{name}` is not declared")),
                },
            },
            Operand::Offset(name, offset) => self.variable_address(name, *offset, line),
            other => error(line, format!("`{other}` cannot be read here")),
        }
    }

    /// A slot that holds the address of a variable.
    fn variable_address(
        &mut self,
        name: &str,
        offset: i64,
        line: Line,
    ) -> Result<Slot, DecodeError> {
        match self.lookup(name) {
            Some(Binding::Variable { address, .. }) => {
                Ok(self.immediate(address.wrapping_add_signed(offset)))
            }
            Some(Binding::Dynamic) => {
                let slot = self.new_register();
                self.dynamic.push((slot, offset as u64));
                Ok(slot)
            }
            _ => error(line, format!("`{name}` has no address")),
        }
    }

    /// `[a+8]`, and the space that a parameter named in it really lies in.
    pub(super) fn address(
        &mut self,
        operand: &Operand,
        line: Line,
    ) -> Result<(Address, Option<Space>), DecodeError> {
        let Operand::Memory(base, offset) = operand else {
            return error(line, format!("`{operand}` is not an address"));
        };
        match base {
            Base::Absolute(address) => {
                let base = self.immediate(*address);
                Ok((Address { base, offset: *offset }, None))
            }
            Base::Name(name) => match self.lookup(name) {
                // A 32-bit register addresses shared memory; its upper bits are zero.
                Some(Binding::Register { slot, .. }) => {
                    Ok((Address { base: slot, offset: *offset }, None))
                }
                Some(Binding::Variable { space, address }) => {
                    let base = self.immediate(address);
                    Ok((Address { base, offset: *offset }, Some(space)))
                }
                Some(Binding::Dynamic) => {
                    let base = self.variable_address(name, 0, line)?;
                    Ok((Address { base, offset: *offset }, Some(Space::Shared)))
                }
                _ => error(line, format!("`{name}` is not an address")),
            },
        }
    }

    /// Operands `1..` as sources of one type.
    pub(super) fn sources<const N: usize>(
        &mut self,
        instruction: &Instruction,
        ty: Type,
    ) -> Result<[Slot; N], DecodeError> {
        let mut slots = [0; N];
        for (slot, operand) in slots.iter_mut().zip(&instruction.operands[1..]) {
            *slot = self.source(operand, ty, instruction.line)?;
        }
        Ok(slots)
    }
}

/// The special register of that name; the clocks are read by an operation of their own.
fn special_register(name: &str, axis: Option<&str>) -> Option<Special> {
    let axis = match axis {
        None => None,
        Some("x") => Some(0),
        Some("y") => Some(1),
        Some("z") => Some(2),
        Some(_) => return None,
    };
    Some(match (name, axis) {
        ("%tid", Some(axis)) => Special::Thread(axis),
        ("%ntid", Some(axis)) => Special::BlockSize(axis),
        ("%ctaid" | "%clusterid", Some(axis)) => Special::Block(axis),
        ("%nctaid" | "%nclusterid", Some(axis)) => Special::GridSize(axis),
        ("%cluster_ctaid", Some(_)) => Special::Fixed(0),
        ("%cluster_nctaid", Some(_)) => Special::Fixed(1),
        ("%cluster_ctarank", None) => Special::Fixed(0),
        ("%cluster_nctarank", None) => Special::Fixed(1),
        ("%laneid", None) => Special::Lane,
        ("%warpid", None) => Special::Warp,
        ("%nwarpid", None) => Special::Warps,
        ("%smid", None) => Special::Fixed(0),
        ("%nsmid", None) => Special::Fixed(1),
        ("%gridid", None) => Special::Fixed(1),
        ("%lanemask_eq", None) => Special::LaneMaskEqual,
        ("%lanemask_lt", None) => Special::LaneMaskLess,
        ("%lanemask_le", None) => Special::LaneMaskLessEqual,
        ("%lanemask_gt", None) => Special::LaneMaskGreater,
        ("%lanemask_ge", None) => Special::LaneMaskGreaterEqual,
        ("%dynamic_smem_size", None) => Special::DynamicShared,
        ("%total_smem_size", None) => Special::TotalShared,
        ("WARP_SZ", None) => Special::Fixed(32),
        _ => return None,
    })
}
