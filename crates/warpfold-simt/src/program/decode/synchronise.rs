//! Barriers, warp exchanges, fences, mbarriers, bulk copies.

use super::super::DecodeError;
use super::super::op::{
    Address, Alignment, AtomicFunction, BarrierKind, Combines, MbarrierOp, Op, Shuffle, Vote,
    VoteResult, WarpOp,
};
use super::Builder;
use super::arithmetic::Decoded;
use super::words::Words;
use crate::class::Class;
use crate::ptx::{Mnemonic, Operand, Type};

impl Builder<'_> {
    /// `bar` and `barrier`.
    pub(super) fn barrier(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        if words.take("warp") {
            words.take("sync");
            words.finish()?;
            self.arity(&Words::new(i), &[1])?;
            let mask = self.source(&i.operands[0], Type::B32, i.line)?;
            return Ok((Op::Warp { op: WarpOp::Barrier, mask }, Class::WarpBarrier, Combines::No));
        }
        if words.take("cluster") {
            // A cluster of one block: its barrier is the block's own.
            let arrive = words.take("arrive");
            words.take("wait");
            words.take("aligned");
            words.take_any(&["release", "acquire", "relaxed"]);
            words.finish()?;
            if arrive {
                return Ok((Op::Nothing, Class::BlockBarrier, Combines::No));
            }
            let id = self.immediate(0);
            let (kind, alignment) = (BarrierKind::Cluster, Alignment::Aligned);
            let op = Op::Barrier { kind, alignment, id, count: None };
            return Ok((op, Class::BlockBarrier, Combines::No));
        }
        words.take("cta");
        let aligned = words.take("aligned") || i.mnemonic == Mnemonic::Bar;
        let alignment = if aligned { Alignment::Aligned } else { Alignment::Free };
        let kind = words.take_any(&["sync", "arrive", "red"]);
        if kind == Some("red") {
            return self.barrier_reduction(words, alignment);
        }
        words.finish()?;
        self.arity(&Words::new(i), &[1, 2])?;
        let id = self.source(&i.operands[0], Type::U32, i.line)?;
        let count = match i.operands.get(1) {
            Some(operand) => Some(self.source(operand, Type::U32, i.line)?),
            None => None,
        };
        let kind = match kind {
            Some("sync") => BarrierKind::Sync,
            Some(_) if count.is_some() => BarrierKind::Arrive,
            _ => return Words::new(i).unsupported(),
        };
        Ok((Op::Barrier { kind, alignment, id, count }, Class::BlockBarrier, Combines::No))
    }

    fn barrier_reduction(&mut self, mut words: Words<'_>, alignment: Alignment) -> Decoded {
        let i = words.instruction;
        let function = words.take_any(&["popc", "and", "or"]);
        words.ty()?;
        words.finish()?;
        self.arity(&Words::new(i), &[3, 4])?;
        let id = self.source(&i.operands[1], Type::U32, i.line)?;
        let count = match i.operands.len() {
            4 => Some(self.source(&i.operands[2], Type::U32, i.line)?),
            _ => None,
        };
        let condition = self.condition(&i.operands[i.operands.len() - 1], i.line)?;
        let kind = if function == Some("popc") {
            BarrierKind::Count { to: self.destination(&i.operands[0], i.line)?.slot, condition }
        } else {
            let to = match self.predicate_destination(&i.operands[0], i.line)? {
                Some(to) => to,
                None => self.new_predicate(),
            };
            match function {
                Some("and") => BarrierKind::All { to, condition },
                Some(_) => BarrierKind::Any { to, condition },
                None => return Words::new(i).unsupported(),
            }
        };
        Ok((Op::Barrier { kind, alignment, id, count }, Class::BlockBarrier, Combines::No))
    }

    /// A register and, after `|`, a predicate.
    fn with_predicate(operand: &Operand) -> (&Operand, Option<&Operand>) {
        match operand {
            Operand::Pair(register, predicate) => (register, Some(predicate)),
            one => (one, None),
        }
    }

    /// `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `elect.sync`, `activemask`.
    pub(super) fn warp_exchange(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        if i.mnemonic == Mnemonic::Activemask {
            words.ty()?;
            words.finish()?;
            self.arity(&Words::new(i), &[1])?;
            let to = self.destination(&i.operands[0], i.line)?.slot;
            return Ok((Op::ActiveMask { to }, Class::WarpExchange, Combines::No));
        }
        if !words.take("sync") {
            return words.error("without `.sync` is undefined since Volta: use the `_sync` form");
        }
        let arity = match i.mnemonic {
            Mnemonic::Shfl => 5,
            Mnemonic::Elect => 2,
            _ => 3,
        };
        self.arity(&words, &[arity])?;
        let (first, second) = Self::with_predicate(&i.operands[0]);
        let predicate = match second {
            Some(operand) => self.predicate_destination(operand, i.line)?,
            None => None,
        };
        let mut combines = Combines::No;
        let op = match i.mnemonic {
            Mnemonic::Shfl => {
                let mode = match words.take_any(&["up", "down", "bfly", "idx"]) {
                    Some("up") => Shuffle::Up,
                    Some("down") => Shuffle::Down,
                    Some("bfly") => Shuffle::Butterfly,
                    Some(_) => Shuffle::Index,
                    None => return words.unsupported(),
                };
                words.ty()?;
                let to = self.destination(first, i.line)?.slot;
                let value = self.source(&i.operands[1], Type::B32, i.line)?;
                let by = self.source(&i.operands[2], Type::B32, i.line)?;
                let clamp = self.source(&i.operands[3], Type::B32, i.line)?;
                WarpOp::Shuffle { mode, to, valid: predicate, value, by, clamp }
            }
            Mnemonic::Vote => {
                let mode = match words.take_any(&["all", "any", "uni", "ballot"]) {
                    Some("all") => Vote::All,
                    Some("any") => Vote::Any,
                    Some("uni") => Vote::Uniform,
                    Some(_) => Vote::Ballot,
                    None => return words.unsupported(),
                };
                words.ty()?;
                let to = if mode == Vote::Ballot {
                    VoteResult::Register(self.destination(first, i.line)?.slot)
                } else {
                    match self.predicate_destination(first, i.line)? {
                        Some(to) => VoteResult::Predicate(to),
                        None => VoteResult::Predicate(self.new_predicate()),
                    }
                };
                let condition = self.constant_or_condition(&i.operands[1], i.line)?;
                WarpOp::Vote { mode, to, condition }
            }
            Mnemonic::Match => {
                let any = words.take("any");
                words.take("all");
                let bits = words.ty()?.bits();
                let to = self.destination(first, i.line)?.slot;
                let value = self.source(
                    &i.operands[1],
                    if bits == 64 { Type::B64 } else { Type::B32 },
                    i.line,
                )?;
                if any {
                    WarpOp::MatchAny { to, value, bits }
                } else {
                    WarpOp::MatchAll { to, all: predicate, value, bits }
                }
            }
            Mnemonic::Redux => {
                let function = match words.take_any(&["add", "min", "max", "and", "or", "xor"]) {
                    Some("add") => AtomicFunction::Add,
                    Some("min") => AtomicFunction::Min,
                    Some("max") => AtomicFunction::Max,
                    Some("and") => AtomicFunction::And,
                    Some("or") => AtomicFunction::Or,
                    Some(_) => AtomicFunction::Xor,
                    None => return words.unsupported(),
                };
                let ty = words.ty()?;
                if ty.bits() != 32 || ty.is_float() {
                    return words.unsupported();
                }
                combines = Combines::Yes;
                let to = self.destination(first, i.line)?.slot;
                let value = self.source(&i.operands[1], ty, i.line)?;
                WarpOp::Reduce { function, ty, to, value }
            }
            _ => {
                let to = match first {
                    Operand::Name(name) if name == "_" => None,
                    register => Some(self.destination(register, i.line)?.slot),
                };
                let leader = match predicate {
                    Some(leader) => leader,
                    None => self.new_predicate(),
                };
                WarpOp::Elect { to, leader }
            }
        };
        words.finish()?;
        let mask = self.source(&i.operands[arity - 1], Type::B32, i.line)?;
        Ok((Op::Warp { op, mask }, Class::WarpExchange, combines))
    }

    /// A predicate, or a constant one, which becomes a register of its own set where it stands.
    fn constant_or_condition(
        &mut self,
        operand: &Operand,
        line: crate::ptx::Line,
    ) -> Result<super::Condition, DecodeError> {
        let Operand::Integer(value) = operand else { return self.condition(operand, line) };
        let slot = self.new_predicate();
        let op = Op::PredicateSet { to: slot, value: if *value == 0 { 0 } else { u32::MAX } };
        self.push(
            op,
            None,
            Class::Predicate,
            Combines::No,
            line,
            format!("mov.pred _, {operand};"),
        )?;
        Ok(super::Condition { slot, sense: crate::ptx::Sense::Plain })
    }

    /// `membar`, `fence`.
    pub(super) fn fence(&mut self, mut words: Words<'_>) -> Decoded {
        if words.take("proxy") {
            // The simulator has one proxy to memory, so a proxy fence orders nothing more.
            words.take_any(&["async", "alias", "async::generic"]);
            words.take_any(&["async.global", "global", "shared::cta", "shared::cluster"]);
            words.finish()?;
            return Ok((Op::Nothing, Class::Fence, Combines::No));
        }
        if words.take("mbarrier_init") {
            words.take("release");
            words.scope();
            words.finish()?;
            return Ok((Op::Nothing, Class::Fence, Combines::No));
        }
        words.take_any(&["sc", "acq_rel"]);
        let scope = words.scope();
        words.finish()?;
        Ok((Op::Fence { scope }, Class::Fence, Combines::No))
    }

    /// `mbarrier.*`.
    pub(super) fn mbarrier(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        words.space();
        words.take_any(&["release", "acquire", "relaxed"]);
        words.scope();
        words.take("b64");
        let operands = &i.operands;
        let first = |count: usize| match operands.get(count) {
            Some(operand) => Ok(operand),
            None => Words::new(i).error("has too few operands"),
        };
        let parity = words.take("parity");
        let expect = words.take("expect_tx");
        let kinds =
            ["init", "inval", "arrive", "arrive_drop", "complete_tx", "test_wait", "try_wait"];
        let kind = words.take_any(&kinds);
        let no_complete = words.take("noComplete");
        if no_complete {
            return words.unsupported();
        }
        words.finish()?;
        let (op, address) = match kind {
            Some("init") => {
                (MbarrierOp::Init { count: self.source(first(1)?, Type::U32, i.line)? }, first(0)?)
            }
            Some("inval") => (MbarrierOp::Invalidate, first(0)?),
            Some("complete_tx") => (
                MbarrierOp::CompleteBytes { bytes: self.source(first(1)?, Type::U32, i.line)? },
                first(0)?,
            ),
            Some(word @ ("arrive" | "arrive_drop")) => {
                // The state may be left out, or sunk in `_`.
                let with_state = !matches!(first(0)?, Operand::Memory(..));
                let at = usize::from(with_state);
                let state = match first(0)? {
                    Operand::Name(name) if name != "_" => {
                        Some(self.destination(first(0)?, i.line)?.slot)
                    }
                    _ => None,
                };
                let argument = match operands.get(at + 1) {
                    Some(operand) => Some(self.source(operand, Type::U32, i.line)?),
                    None => None,
                };
                let (count, expect) = if expect { (None, argument) } else { (argument, None) };
                (
                    MbarrierOp::Arrive { state, count, expect, drop: word == "arrive_drop" },
                    first(at)?,
                )
            }
            Some("test_wait" | "try_wait") => {
                let done = match self.predicate_destination(first(0)?, i.line)? {
                    Some(done) => done,
                    None => self.new_predicate(),
                };
                if parity {
                    let parity = self.source(first(2)?, Type::U32, i.line)?;
                    (MbarrierOp::WaitParity { done, parity }, first(1)?)
                } else {
                    let state = self.source(first(2)?, Type::B64, i.line)?;
                    (MbarrierOp::WaitState { done, state }, first(1)?)
                }
            }
            None if expect => (
                MbarrierOp::ExpectBytes { bytes: self.source(first(1)?, Type::U32, i.line)? },
                first(0)?,
            ),
            _ => return Words::new(i).unsupported(),
        };
        let (address, _) = self.address(address, i.line)?;
        Ok((Op::Mbarrier { op, address }, Class::Mbarrier, Combines::No))
    }

    /// `cp.async.bulk`.
    pub(super) fn bulk_copy(&mut self, mut words: Words<'_>) -> Decoded {
        let i = words.instruction;
        if !words.take("async") || !words.take("bulk") {
            return words.unsupported();
        }
        if words.take_any(&["commit_group", "wait_group"]).is_some() {
            words.take("read");
            words.finish()?;
            return Ok((Op::Nothing, Class::BulkCopy, Combines::No));
        }
        if words.take("tensor") || words.take("prefetch") {
            return words.unsupported();
        }
        let load = i.modifiers.iter().position(|w| w.starts_with("shared"))
            < i.modifiers.iter().position(|w| w == "global");
        words.space();
        words.space();
        let on_mbarrier = words.take("mbarrier::complete_tx::bytes");
        words.take("bulk_group");
        let hint = words.take("L2::cache_hint");
        words.finish()?;
        let operands =
            &i.operands[..i.operands.len() - usize::from(hint && !i.operands.is_empty())];
        let both = |b: &mut Self,
                    to: &Operand,
                    from: &Operand|
         -> Result<(Address, Address), DecodeError> {
            Ok((b.address(to, i.line)?.0, b.address(from, i.line)?.0))
        };
        let op = match operands {
            [to, from, bytes, mbarrier] if on_mbarrier && load => {
                let (to, from) = both(self, to, from)?;
                let bytes = self.source(bytes, Type::U32, i.line)?;
                let (mbarrier, _) = self.address(mbarrier, i.line)?;
                Op::BulkLoad { to, from, bytes, mbarrier }
            }
            [to, from, bytes] if !on_mbarrier && !load => {
                let (to, from) = both(self, to, from)?;
                let bytes = self.source(bytes, Type::U32, i.line)?;
                Op::BulkStore { to, from, bytes }
            }
            _ => return Words::new(i).unsupported(),
        };
        Ok((op, Class::BulkCopy, Combines::No))
    }
}
