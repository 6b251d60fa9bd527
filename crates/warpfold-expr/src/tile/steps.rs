//! From a program to steps: what is computed when, and in which register.

use super::{Register, Slice, TILE};
use crate::function::{Binary, Unary};
use crate::native_loop::{Native, Wanted};
use crate::program::{Const, Id, Node, Program, Type};
use crate::scalar;

/// Where a value lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// In a register.
    Register(usize),
    /// In an input, whose elements are of the type computed in.
    Input(usize),
    /// Nobody reads it.
    Nowhere,
}

/// What a step does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Action {
    /// Widens the elements of an input.
    Load(usize),
    Unary(Unary, Source),
    Binary(Binary, Source, Source),
    /// The magnitude of an arithmetic operation of floats: two nodes in one loop.
    AbsOf(Binary, Source, Source),
    Select(Source, Source, Source),
    Fma(Source, Source, Source),
}

/// A step: its operands' type, what it does, and where the result goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) id: Id,
    /// The type of the operands (of a selection: of the two values).
    pub(super) ty: Type,
    pub(super) action: Action,
    pub(super) to: usize,
}

/// A loop written in Rust: what it reads, what of its values is wanted, and where that goes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fill<'p> {
    pub(super) native: Native,
    pub(super) indices: &'p [u8],
    pub(super) id: Id,
    pub(super) wanted: Wanted,
    pub(super) to: usize,
}

/// What is run, and where its values lie.
#[derive(Debug)]
pub(super) struct Steps<'p> {
    /// Loops that come first.
    pub(super) fills: Vec<Fill<'p>>,
    pub(super) steps: Vec<Step>,
    /// Where each value of the program lies.
    pub(super) sources: Vec<Source>,
    /// The registers of constants.
    pub(super) constants: Vec<(usize, Const)>,
    /// How many registers there are.
    pub(super) registers: usize,
}

/// The values that loops written in Rust leave.
fn fills(program: &Program) -> Vec<Fill<'_>> {
    let mut fills: Vec<Fill<'_>> = Vec::new();
    for (expression, root) in program.roots().iter().enumerate() {
        let Some((native, indices)) = program.native(expression) else { continue };
        let factors = root.factors.map(|(a, b)| [(a, Wanted::Left), (b, Wanted::Right)]);
        let value = (root.value, Wanted::Value);
        // Where only the factors of a product are kept, its value is the first of them.
        for (id, wanted) in factors.into_iter().flatten().chain([value]) {
            let is_given = matches!(
                program.nodes()[usize::from(id)],
                Node::Input(input) if program.inputs()[usize::from(input)] == program.ty(id).dtype()
            );
            let is_constant = matches!(program.nodes()[usize::from(id)], Node::Const(_));
            if !is_given && !is_constant && fills.iter().all(|fill| fill.id != id) {
                fills.push(Fill { native, indices, id, wanted, to: 0 });
            }
        }
    }
    fills
}

/// The steps of a program.
pub(super) fn steps(program: &Program) -> Steps<'_> {
    let nodes = program.nodes();
    let mut fills = fills(program);
    // What nobody reads is not computed: 0, as no value is read by the first.
    let mut last_use = vec![0; nodes.len()];
    for root in program.roots() {
        let factors = root.factors.map(|(a, b)| [a, b]);
        for id in factors.into_iter().flatten().chain([root.value]) {
            last_use[usize::from(id)] = usize::MAX;
        }
    }
    for (id, node) in nodes.iter().enumerate().rev() {
        if last_use[id] == 0 || fills.iter().any(|fill| usize::from(fill.id) == id) {
            continue;
        }
        for operand in node.operands() {
            let last = &mut last_use[usize::from(operand)];
            *last = (*last).max(id);
        }
    }
    let (mut steps, mut sources, mut constants) = (Vec::new(), Vec::new(), Vec::new());
    let (mut free, mut count) = (Vec::new(), 0);
    for (id, node) in nodes.iter().enumerate() {
        let ty = program.ty(id as Id);
        if last_use[id] == 0 {
            sources.push(Source::Nowhere);
            continue;
        }
        // What is asked for has a register of its own, as it is held behind the values of earlier tiles.
        let is_root = last_use[id] == usize::MAX;
        let mut register = || {
            let known = if is_root { None } else { free.pop() };
            known.unwrap_or_else(|| {
                count += 1;
                count - 1
            })
        };
        if let Some(fill) = fills.iter_mut().find(|fill| usize::from(fill.id) == id) {
            fill.to = register();
            sources.push(Source::Register(fill.to));
            continue;
        }
        let at = |id: Id| -> Source { sources[usize::from(id)] };
        let (action, operand_type) = match *node {
            Node::Input(input) if program.inputs()[usize::from(input)] == ty.dtype() => {
                sources.push(Source::Input(usize::from(input)));
                continue;
            }
            Node::Const(constant) => {
                // Never free: it is filled once.
                let register = count;
                count += 1;
                constants.push((register, constant));
                sources.push(Source::Register(register));
                last_use[id] = usize::MAX;
                continue;
            }
            Node::Unary(Unary::Abs, a) if last_use[usize::from(a)] == id => {
                if let Some(step) = steps.last_mut()
                    && let Step { action: Action::Binary(op, x, y), .. } = *step
                    && step.id == a
                    && step.ty.is_float()
                    && matches!(op, Binary::Add | Binary::Sub | Binary::Mul | Binary::Div)
                {
                    if is_root {
                        free.push(step.to);
                        step.to = count;
                        count += 1;
                    }
                    step.action = Action::AbsOf(op, x, y);
                    sources.push(Source::Register(step.to));
                    continue;
                }
                (Action::Unary(Unary::Abs, at(a)), program.ty(a))
            }
            Node::Input(input) => (Action::Load(usize::from(input)), ty),
            Node::Unary(op, a) => (Action::Unary(op, at(a)), program.ty(a)),
            Node::Binary(op, a, b) => (Action::Binary(op, at(a), at(b)), program.ty(a)),
            Node::Select(c, a, b) => (Action::Select(at(c), at(a), at(b)), ty),
            Node::Fma(a, b, c) => (Action::Fma(at(a), at(b), at(c)), ty),
        };
        let to = register();
        steps.push(Step { id: id as Id, ty: operand_type, action, to });
        sources.push(Source::Register(to));
        // An operand's register is free after the step, not in it: a step never writes what it reads.
        let mut freed: Vec<usize> = node
            .operands()
            .filter(|&operand| last_use[usize::from(operand)] == id)
            .filter_map(|operand| match sources[usize::from(operand)] {
                Source::Register(register) => Some(register),
                Source::Input(_) | Source::Nowhere => None,
            })
            .collect();
        freed.sort_unstable();
        freed.dedup();
        free.extend(freed);
    }
    Steps { fills, steps, sources, constants, registers: count }
}

/// One operand of a step.
fn operand(
    source: Source,
    ty: Type,
    registers: &[Register],
    inputs: &[Slice<'_>],
    index: usize,
    lane: usize,
) -> Const {
    match source {
        Source::Register(register) => {
            debug_assert!(lane < TILE);
            let Register { words, at } = &registers[register];
            let at = at + lane;
            match ty {
                Type::Bool => Const::Bool(bytemuck::cast_slice::<u64, u8>(words)[at] != 0),
                Type::I64 => Const::I64(words[at] as i64),
                Type::U64 => Const::U64(words[at]),
                Type::F32 => Const::F32(bytemuck::cast_slice::<u64, u32>(words)[at]),
                Type::F64 => Const::F64(words[at]),
            }
        }
        Source::Input(input) => match inputs[input] {
            Slice::Bool(x) => Const::Bool(x[index]),
            Slice::I64(x) => Const::I64(x[index]),
            Slice::U64(x) => Const::U64(x[index]),
            Slice::F32(x) => Const::F32(x[index].to_bits()),
            Slice::F64(x) => Const::F64(x[index].to_bits()),
            other => unreachable!("elements of {} are loaded into a register", other.dtype()),
        },
        Source::Nowhere => unreachable!("operands are computed"),
    }
}

/// The value of a step that may have none, for one element.
pub(super) fn value(
    step: &Step,
    registers: &[Register],
    inputs: &[Slice<'_>],
    index: usize,
    lane: usize,
) -> Option<Const> {
    let at = |source| operand(source, step.ty, registers, inputs, index, lane);
    match step.action {
        Action::Unary(op, a) => scalar::unary(op, at(a)),
        Action::Binary(op, a, b) => scalar::binary(op, at(a), at(b)),
        _ => Some(Const::Bool(true)),
    }
}

/// Why a step has no value for an element.
pub(super) fn obstacle(
    step: &Step,
    registers: &[Register],
    inputs: &[Slice<'_>],
    index: usize,
    lane: usize,
) -> String {
    let at = |source| operand(source, step.ty, registers, inputs, index, lane);
    let wide = |constant| match constant {
        Const::I64(value) => i128::from(value),
        Const::U64(value) => i128::from(value),
        _ => 0,
    };
    let ty = step.ty;
    match step.action {
        Action::Binary(Binary::FloorDiv | Binary::Rem, _, b) if wide(at(b)) == 0 => {
            "the divisor is 0".into()
        }
        Action::Binary(op, a, b) => {
            let (a, b) = (wide(at(a)), wide(at(b)));
            let value = match (op, u128::try_from(a), u128::try_from(b)) {
                (Binary::Add, ..) => (a + b).to_string(),
                (Binary::Sub, ..) => (a - b).to_string(),
                (Binary::FloorDiv, ..) => (-a).to_string(),
                // Products of 64 bits fit 128, of two without a sign all of them.
                (_, Ok(a), Ok(b)) => (a * b).to_string(),
                _ => (a * b).to_string(),
            };
            format!("{ty} does not hold {value}")
        }
        Action::Unary(Unary::I64, a) => format!("i64 does not hold {}", wide(at(a))),
        Action::Unary(Unary::U64, a) => format!("u64 does not hold {}", wide(at(a))),
        Action::Unary(_, a) => format!("{ty} does not hold {}", -wide(at(a))),
        _ => format!("{ty} does not hold it"),
    }
}
