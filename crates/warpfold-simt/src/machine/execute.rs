//! One instruction of one path.

use super::block::Block;
use super::grid::Context;
use crate::alu::convert::value_of;
use crate::alu::{Lanes, bits, float, integer, low_bits, soft};
use crate::counters::{Step, Tally};
use crate::fault::{Fault, boxed};
use crate::program::op::{Condition, Op, Pc, Slot};
use crate::program::window;
use crate::ptx::Type;
use crate::race::world::World;
use crate::trace::{self, Observer, Touch};

/// Whether the path may go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flow {
    Continue,
    /// It waits, ended, or the warp's paths changed.
    Stop,
}

/// Runs blocks and counts what they cost.
pub(crate) struct Worker<'c, 'o> {
    pub(crate) context: &'c Context<'c>,
    pub(crate) world: World,
    pub(crate) tally: Tally,
    observer: Option<&'o mut dyn Observer>,
    /// What the instruction did in memory, where someone watches.
    pub(crate) touches: Vec<Touch>,
}

/// An instruction being executed: who, where.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Issue {
    /// The warp.
    pub(crate) w: usize,
    /// The path.
    pub(crate) p: usize,
    pub(crate) pc: Pc,
    /// Lanes whose guard holds.
    pub(crate) on: u32,
    pub(crate) step: Step,
}

impl<'c, 'o> Worker<'c, 'o> {
    pub(crate) fn new(
        context: &'c Context<'c>,
        tally: Tally,
        observer: Option<&'o mut dyn Observer>,
    ) -> Self {
        Worker { context, world: World::default(), tally, observer, touches: Vec::new() }
    }

    pub(crate) fn watched(&self) -> bool {
        self.observer.is_some()
    }

    /// Spends from the budget.
    pub(crate) fn charge(
        &self,
        block: &Block,
        w: usize,
        pc: Pc,
        instructions: u64,
    ) -> Result<(), Box<Fault>> {
        let budget = self.context.settings.budget;
        let spent =
            self.context.spent.fetch_add(instructions, std::sync::atomic::Ordering::Relaxed);
        if spent + instructions <= budget {
            return Ok(());
        }
        Err(boxed(Fault::Budget {
            site: self.context.kernel.site(pc).clone(),
            thread: block.thread(self.context, block.warps[w].first_thread),
            budget,
        }))
    }

    /// Executes the instruction that path `p` of warp `w` stands at.
    pub(crate) fn step(
        &mut self,
        block: &mut Block,
        w: usize,
        p: usize,
    ) -> Result<Flow, Box<Fault>> {
        let kernel = self.context.kernel;
        let warp = &mut block.warps[w];
        let path = &mut warp.paths[p];
        let pc = path.pc;
        if let Some(join) = path.join
            && warp.joins[join].pc == pc
        {
            warp.arrive(p);
            return Ok(Flow::Stop);
        }
        let instruction = &kernel.code[pc as usize];
        if let Some(number) = instruction.innermost
            && kernel.loops[number as usize].header == pc
        {
            let inside = kernel.loops[number as usize]
                .blocks
                .iter()
                .any(|&(first, last)| (first..=last).contains(&path.previous));
            let pass = &mut path.passes[number as usize];
            *pass = if inside { *pass + 1 } else { 0 };
        }
        let iteration = instruction.innermost.map(|number| (number, path.passes[number as usize]));
        path.previous = pc;
        let mask = path.mask;
        let on = match instruction.guard {
            None => mask,
            Some(guard) => mask & warp.holds(guard),
        };
        if on != mask && on != 0 && waits(&instruction.op) {
            // Who waits and who does not part here, and meet after.
            warp.split(p, &[(on, pc), (mask & !on, pc + 1)], pc + 1);
            return Ok(Flow::Stop);
        }
        warp.issued += 1;
        let step = Step { pc, phase: block.phase, iteration };
        self.tally.count(step, |counts| {
            counts.warp_instructions += 1;
            counts.active_lanes += u64::from(mask.count_ones());
            counts.predicated_on_lanes += u64::from(on.count_ones());
        });
        let issue = Issue { w, p, pc, on, step };
        let flow = match &instruction.op {
            op if on == 0 && !matches!(op, Op::Branch { .. }) => {
                warp.paths[p].pc += 1;
                Flow::Continue
            }
            Op::Branch { target, reconverge } => {
                self.branch(block, issue, mask, *target, *reconverge)
            }
            Op::Exit => {
                if on != mask {
                    warp.paths[p].pc += 1;
                }
                warp.exit(p, on);
                self.after_exit(block, w)?;
                Flow::Stop
            }
            op => self.operate(block, issue, op)?,
        };
        if self.observer.is_some() {
            self.report(block, issue, mask);
        }
        Ok(flow)
    }

    fn report(&mut self, block: &Block, issue: Issue, mask: u32) {
        let first_thread = block.thread(self.context, block.warps[issue.w].first_thread);
        if let Some(observer) = &mut self.observer {
            observer.step(&trace::Step {
                first_thread,
                warp: issue.w as u32,
                index: issue.pc,
                site: self.context.kernel.site(issue.pc),
                active: mask,
                on: issue.on,
                phase: issue.step.phase,
                iteration: issue.step.iteration,
                touches: &self.touches,
            });
        }
        self.touches.clear();
    }

    fn branch(&mut self, block: &mut Block, issue: Issue, mask: u32, target: Pc, meet: Pc) -> Flow {
        let warp = &mut block.warps[issue.w];
        let taken = issue.on;
        if taken == mask {
            warp.paths[issue.p].pc = target;
            return Flow::Continue;
        }
        if taken == 0 {
            warp.paths[issue.p].pc += 1;
            return Flow::Continue;
        }
        self.tally.count(issue.step, |counts| counts.divergent_branches += 1);
        let mut groups = [(taken, target), (mask & !taken, issue.pc + 1)];
        if block.dice.below(2) == 1 {
            groups.swap(0, 1);
        }
        warp.split(issue.p, &groups, meet);
        Flow::Stop
    }

    fn table(
        &mut self,
        block: &mut Block,
        issue: Issue,
        index: Slot,
        targets: &[Pc],
        meet: Pc,
    ) -> Result<Flow, Box<Fault>> {
        let indices = block.warps[issue.w].registers[index as usize];
        let mut groups: Vec<(u32, Pc)> = Vec::new();
        for lane in (0..32).filter(|lane| issue.on >> lane & 1 == 1) {
            let index = indices[lane] & 0xffff_ffff;
            let Some(&target) = targets.get(index as usize) else {
                return Err(boxed(Fault::Jump {
                    site: self.context.kernel.site(issue.pc).clone(),
                    thread: block
                        .thread(self.context, block.warps[issue.w].first_thread + lane as u32),
                    index,
                    targets: targets.len(),
                }));
            };
            match groups.iter_mut().find(|(_, pc)| *pc == target) {
                Some((mask, _)) => *mask |= 1 << lane,
                None => groups.push((1 << lane, target)),
            }
        }
        let warp = &mut block.warps[issue.w];
        if let [(_, target)] = groups[..]
            && warp.paths[issue.p].mask == issue.on
        {
            warp.paths[issue.p].pc = target;
            return Ok(Flow::Continue);
        }
        let rest = warp.paths[issue.p].mask & !issue.on;
        if rest != 0 {
            groups.push((rest, issue.pc + 1));
        }
        self.tally.count(issue.step, |counts| counts.divergent_branches += 1);
        warp.split(issue.p, &groups, meet);
        Ok(Flow::Stop)
    }

    /// Everything but plain branches and exits.
    fn operate(&mut self, block: &mut Block, issue: Issue, op: &Op) -> Result<Flow, Box<Fault>> {
        match op {
            Op::Table { index, targets, reconverge } => {
                return self.table(block, issue, *index, targets, *reconverge);
            }
            Op::Trap => {
                let warp = &block.warps[issue.w];
                return Err(boxed(Fault::Trap {
                    site: self.context.kernel.site(issue.pc).clone(),
                    thread: block
                        .thread(self.context, warp.first_thread + issue.on.trailing_zeros()),
                }));
            }
            Op::Warp { op, mask } => return self.exchange(block, issue, op, *mask),
            Op::Barrier { kind, alignment, id, count } => {
                return self.barrier(block, issue, kind, *alignment, *id, *count);
            }
            Op::Load { access, to } => self.load(block, issue, access, to)?,
            Op::Store { access, from } => self.store(block, issue, access, from)?,
            Op::Atomic { function, access, to, b, c } => {
                self.atomic(block, issue, *function, access, *to, *b, *c)?;
            }
            Op::Fence { scope } => self.fence(block, issue, *scope),
            Op::Mbarrier { op, address } => self.mbarrier(block, issue, op, *address)?,
            Op::BulkLoad { to, from, bytes, mbarrier } => {
                self.bulk_load(block, issue, [*to, *from, *mbarrier], *bytes)?;
            }
            Op::BulkStore { to, from, bytes } => {
                self.bulk_store(block, issue, *to, *from, *bytes)?
            }
            _ => {
                if self.follows_chains() {
                    self.follow(block, issue, op);
                }
                compute(block, issue, op);
            }
        }
        block.warps[issue.w].paths[issue.p].pc += 1;
        Ok(Flow::Continue)
    }
}

/// Whether an instruction may have to wait for lanes of other paths.
fn waits(op: &Op) -> bool {
    matches!(op, Op::Warp { .. } | Op::Barrier { .. })
}

fn map1(a: &Lanes, f: impl Fn(u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane]))
}

fn map2(a: &Lanes, b: &Lanes, f: impl Fn(u64, u64) -> u64) -> Lanes {
    std::array::from_fn(|lane| f(a[lane], b[lane]))
}

/// Operations on registers alone.
fn compute(block: &mut Block, issue: Issue, op: &Op) {
    let clock = block.clock;
    let warp = &mut block.warps[issue.w];
    let on = issue.on;
    let mut out: Lanes = [0; 32];
    let r = |slot: &Slot| &warp.registers[*slot as usize];
    let to = match op {
        Op::Nothing => return,
        Op::Copy { to, from } => {
            out = *r(from);
            to
        }
        Op::Unary { f, to, a } => {
            f(r(a), &mut out);
            to
        }
        Op::Binary { f, to, a, b } => {
            f(r(a), r(b), &mut out);
            to
        }
        Op::Ternary { f, to, a, b, c } => {
            f(r(a), r(b), r(c), &mut out);
            to
        }
        Op::MultiplyAdd { multiply, add, to, a, b, c } => {
            let mut product = [0; 32];
            multiply(r(a), r(b), &mut product);
            add(&product, r(c), &mut out);
            to
        }
        Op::Flushed { f, saturate, to, a, b } => {
            let format = soft::Format::F32;
            let flush = |lanes: &Lanes| map1(lanes, |bits| format.flushed(bits));
            f(&flush(r(a)), &flush(r(b)), &mut out);
            out = flush(&out);
            if *saturate {
                out = map1(&out, |bits| format.saturated(bits));
            }
            to
        }
        Op::Soft { operation, manner, packed, to, operands } => {
            let [a, b, c] = operands.each_ref().map(r);
            for lane in (0..32).filter(|lane| on >> lane & 1 == 1) {
                let x = [a[lane], b[lane], c[lane]];
                out[lane] = if *packed {
                    let low = soft::compute(*operation, *manner, x.map(|v| v & 0xffff));
                    let high = soft::compute(*operation, *manner, x.map(|v| v >> 16 & 0xffff));
                    low | high << 16
                } else {
                    soft::compute(*operation, *manner, x)
                };
            }
            to
        }
        Op::HalfExtreme { greatest, rule, ty, flush, to, a, b } => {
            let format = match ty {
                Type::F16 | Type::F16x2 => soft::Format::F16,
                _ => soft::Format::BF16,
            };
            let one = |x: u64, y: u64| {
                let ready = |v: u64| if *flush { format.flushed(v & 0xffff) } else { v & 0xffff };
                float::extreme(ready(x), ready(y), format, *greatest, *rule)
            };
            let packed = matches!(ty, Type::F16x2 | Type::Bf16x2);
            out = map2(r(a), r(b), |x, y| {
                one(x, y) | if packed { one(x >> 16, y >> 16) << 16 } else { 0 }
            });
            to
        }
        Op::Extended { kind, ty, takes_carry, writes_carry, to, operands } => {
            let carry_in = if *takes_carry { warp.carry } else { 0 };
            let operands = operands.each_ref().map(r);
            let carry = integer::extended(*kind, *ty, operands, carry_in, &mut out);
            if *writes_carry {
                warp.carry = warp.carry & !on | carry & on;
            }
            to
        }
        Op::Insert { bits, to, operands } => {
            let [a, b, c, d] = operands.each_ref().map(r);
            out = std::array::from_fn(|i| bits::insert(a[i], b[i], c[i], d[i], *bits));
            to
        }
        Op::Logic3 { table, to, operands } => {
            let [a, b, c] = operands.each_ref().map(r);
            out = std::array::from_fn(|i| bits::logic3(a[i], b[i], c[i], *table));
            to
        }
        Op::Convert { conversion, to, a } => {
            out = map1(r(a), |bits| conversion.apply(bits));
            to
        }
        Op::ConvertPair { conversion, to, upper, lower } => {
            out = map2(r(upper), r(lower), |u, l| {
                (conversion.apply(u) & 0xffff) << 16 | conversion.apply(l) & 0xffff
            });
            to
        }
        Op::Set { f, with, truth, to, a, b } => {
            let mut holds = f(r(a), r(b));
            if let Some((logic, condition)) = with {
                holds = logic.apply(holds, warp.holds(*condition));
            }
            out = std::array::from_fn(|lane| if holds >> lane & 1 == 1 { *truth } else { 0 });
            to
        }
        Op::Select { to, a, b, condition } => {
            let chosen = warp.holds(*condition);
            let (a, b) = (r(a), r(b));
            out =
                std::array::from_fn(|lane| if chosen >> lane & 1 == 1 { a[lane] } else { b[lane] });
            to
        }
        Op::SelectBySign { to, a, b, c, float } => {
            let (a, b, c) = (r(a), r(b), r(c));
            out = std::array::from_fn(|lane| {
                let first = if *float {
                    value_of(c[lane], soft::Format::F32) >= 0.0
                } else {
                    c[lane] as i32 >= 0
                };
                if first { a[lane] } else { b[lane] }
            });
            to
        }
        Op::Pack { to, parts, part_bits } => {
            for (i, part) in parts.iter().enumerate() {
                let part = r(part);
                for lane in 0..32 {
                    out[lane] |= (part[lane] & low_bits(*part_bits)) << (i as u32 * part_bits);
                }
            }
            to
        }
        Op::Clock { to } => {
            out = [clock; 32];
            to
        }
        Op::ActiveMask { to } => {
            out = [u64::from(on); 32];
            to
        }
        Op::ToGeneric { space, to, a } => {
            out = map1(r(a), |address| address + window::base(*space));
            to
        }
        Op::FromGeneric { space, to, a } => {
            out = map1(r(a), |address| address.wrapping_sub(window::base(*space)));
            to
        }
        Op::Unpack { to, from, part_bits } => {
            let from = *r(from);
            for (i, to) in to.iter().enumerate() {
                if let Some(to) = to {
                    let part = map1(&from, |v| v >> (i as u32 * part_bits) & low_bits(*part_bits));
                    warp.write(*to, &part, on);
                }
            }
            return;
        }
        _ => return compute_predicate(block, issue, op),
    };
    warp.write(*to, &out, on);
}

/// Operations whose results are predicates.
fn compute_predicate(block: &mut Block, issue: Issue, op: &Op) {
    let warp = &mut block.warps[issue.w];
    let on = issue.on;
    match op {
        Op::Compare { f, with, to, opposite, a, b } => {
            let holds = f(&warp.registers[*a as usize], &warp.registers[*b as usize]);
            let (mut first, mut second) = (holds, !holds);
            if let Some((logic, condition)) = with {
                let condition: Condition = *condition;
                let other = warp.holds(condition);
                first = logic.apply(holds, other);
                second = logic.apply(!holds, other);
            }
            if let Some(to) = to {
                warp.write_predicate(*to, first, on);
            }
            if let Some(opposite) = opposite {
                warp.write_predicate(*opposite, second, on);
            }
        }
        Op::PredicateLogic { logic, to, a, b } => {
            let value = logic.apply(warp.holds(*a), warp.holds(*b));
            warp.write_predicate(*to, value, on);
        }
        Op::PredicateCopy { to, from } => {
            let value = warp.holds(*from);
            warp.write_predicate(*to, value, on);
        }
        Op::PredicateSet { to, value } => warp.write_predicate(*to, *value, on),
        Op::IsSpace { space, to, a } => {
            let addresses = warp.registers[*a as usize];
            let value = (0..32).fold(0, |mask, lane| {
                let (found, _) = window::split(addresses[lane]);
                mask | u32::from(found == *space) << lane
            });
            warp.write_predicate(*to, value, on);
        }
        _ => {}
    }
}
