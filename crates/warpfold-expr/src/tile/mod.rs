//! [`Tiles`]: a program run on a thousand elements at a time.

mod functions;
mod kept;
mod loops;
mod steps;

use bytemuck::cast_slice;
use warpfold_num::Error;
use warpfold_num::element::Element;

use crate::program::{Id, Node, Program, Type};
use crate::slice::Slice;
use steps::{Fill, Source, Step, Steps};

/// Elements at most that are mapped at once: their values stay in the processor's first cache.
pub const TILE: usize = 1024;

/// Values of a tile, as numbers of some type.
#[derive(Debug, Default)]
struct Register {
    words: Box<[u64]>,
    /// Where the tile's first value lies: behind those of earlier tiles, where values are held.
    at: usize,
}

/// An operation that has no value for an element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The element, counted from the tile's first.
    pub lane: usize,
    text: String,
    obstacle: String,
    ty: Type,
}

impl Fault {
    /// The same as an error, of a tile whose first element stands at an index.
    pub fn error(self, first: u64) -> Error {
        let Fault { lane, text, obstacle, ty } = self;
        let remedy = match ty {
            Type::U64 => "compute with i64(…) or f64(…), or leave the element out by a condition",
            _ => "compute with f64(…), or leave the element out by a condition",
        };
        Error::Map {
            requested: format!("`{text}` at index {}", first + lane as u64),
            obstacle,
            remedy: remedy.into(),
        }
    }
}

/// How the values of expressions are kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Buffering {
    /// Of how many elements at once.
    pub capacity: usize,
    /// Whether some elements are [left out](Tiles::leave_out), so that inputs that are expressions have to be held too.
    pub leaves_out: bool,
}

/// A program made ready to run: its steps, and the registers that they write.
///
/// The values of expressions but for the mask are held behind one another, so that many tiles' can be read as one array.
#[derive(Debug)]
pub struct Tiles<'p> {
    program: &'p Program,
    fills: Vec<Fill<'p>>,
    steps: Vec<Step>,
    registers: Vec<Register>,
    sources: Vec<Source>,
    mask: Option<Id>,
    /// The expressions whose values are held, each in a register of its own.
    buffered: Vec<(Id, usize)>,
    /// Those among them that are inputs: only what is left of these is held.
    copies: Vec<Id>,
}

impl<'p> Tiles<'p> {
    /// A program, one of whose expressions may be a condition that says which elements count: what the others
    /// compute of an element that does not count is no fault.
    ///
    /// # Panics
    /// If the mask is no condition, or not the first expression.
    pub fn new(program: &'p Program, has_mask: bool) -> Self {
        Self::holding(program, has_mask, Buffering { capacity: TILE, leaves_out: false })
    }

    /// The same that holds the values of more elements than one tile's.
    ///
    /// # Panics
    /// As [`new`](Self::new).
    pub fn holding(program: &'p Program, has_mask: bool, held: Buffering) -> Self {
        let mask = has_mask.then(|| program.roots()[0].value);
        assert!(mask.is_none_or(|mask| program.ty(mask) == Type::Bool), "a mask is a condition");
        let Steps { fills, steps, sources, constants, registers: count } = steps::steps(program);
        let mut ids: Vec<Id> = program.roots()[usize::from(has_mask)..]
            .iter()
            .flat_map(|root| {
                root.factors
                    .map_or([root.value; 2], |(a, b)| [a, b])
                    .into_iter()
                    .chain([root.value])
            })
            .collect();
        ids.sort_unstable();
        ids.dedup();
        let (mut all, mut copies): (Vec<(Id, usize)>, _) = (Vec::new(), Vec::new());
        for id in ids {
            match sources[usize::from(id)] {
                Source::Register(register) => all.push((id, register)),
                Source::Input(_) if held.leaves_out => {
                    all.push((id, count + copies.len()));
                    copies.push(id);
                }
                Source::Input(_) | Source::Nowhere => {}
            }
        }
        let mut registers: Vec<Register> = (0..count + copies.len())
            .map(|register| {
                // What is held has a register of its own, and so one type; others are as wide as the widest.
                let kept = all.iter().find(|&&(_, kept)| kept == register);
                let words = kept.map_or(TILE, |&(id, _)| {
                    (held.capacity.max(TILE) * program.ty(id).dtype().size())
                        .div_ceil(size_of::<u64>())
                });
                Register { words: vec![0; words].into(), at: 0 }
            })
            .collect();
        for (register, constant) in constants {
            loops::fill(&mut registers[register], constant);
        }
        Tiles { program, fills, steps, registers, sources, mask, buffered: all, copies }
    }

    /// Whether nothing is computed: expressions are inputs and constants.
    pub fn is_idle(&self) -> bool {
        self.steps.is_empty() && self.fills.is_empty()
    }

    /// How many expressions are held.
    pub fn buffered(&self) -> usize {
        self.buffered.len()
    }

    /// Holds the values of the next tile behind those of so many elements.
    pub fn move_to(&mut self, at: usize) {
        for &(_, register) in &self.buffered {
            self.registers[register].at = at;
        }
    }

    /// Of the values of the last tile, which began at `first`, holds those alone for which a mask is not 0; how many.
    pub fn leave_out(&mut self, inputs: &[Slice<'_>], first: usize, mask: &[u8]) -> usize {
        fn keep<W: kept::Word + bytemuck::Pod>(
            register: &mut Register,
            from: Option<&[u8]>,
            mask: &[u8],
        ) -> usize {
            let to = &mut bytemuck::cast_slice_mut::<u64, W>(&mut register.words)[register.at..];
            let from =
                from.map_or(kept::Source::Here, |bytes| kept::Source::There(cast_slice(bytes)));
            kept::keep(from, to, mask)
        }
        let mut count = None;
        for &(id, register) in &self.buffered {
            if matches!(self.program.nodes()[usize::from(id)], Node::Const(_)) {
                continue;
            }
            let size = self.program.ty(id).dtype().size();
            let source = &self.sources[usize::from(id)];
            let from = matches!(source, Source::Input(_))
                .then(|| loops::bytes(source, size, &[], inputs, first, mask.len()));
            let register = &mut self.registers[register];
            count = Some(match self.program.ty(id) {
                Type::Bool => keep::<u8>(register, from, mask),
                Type::F32 => keep::<u32>(register, from, mask),
                Type::I64 | Type::U64 | Type::F64 => keep::<u64>(register, from, mask),
            });
        }
        count.unwrap_or_else(|| mask.iter().map(|&kept| usize::from(kept != 0)).sum())
    }

    /// Where the values of an expression are when elements were left out, if any are.
    fn source_of(&self, id: Id) -> Source {
        match self.copies.contains(&id) {
            true => {
                let held = self.buffered.iter().find(|(held, _)| *held == id);
                held.map_or(Source::Nowhere, |&(_, register)| Source::Register(register))
            }
            false => self.sources[usize::from(id)],
        }
    }

    /// The values of an expression that are held of the tile that ran last, as bytes of numbers of its type.
    pub fn buffered_bytes<'s>(
        &'s self,
        id: Id,
        inputs: &[Slice<'s>],
        first: usize,
        n: usize,
    ) -> &'s [u8] {
        let size = self.program.ty(id).dtype().size();
        loops::bytes(&self.source_of(id), size, &self.registers, inputs, first, n)
    }

    /// All values that are held of an expression, as bytes of numbers of its type; the first so many count. `None` of an input.
    pub fn all_bytes(&self, id: Id) -> Option<&[u8]> {
        match self.source_of(id) {
            Source::Register(register) => Some(cast_slice(&self.registers[register].words)),
            Source::Input(_) | Source::Nowhere => None,
        }
    }

    /// The input that an expression is, where that is one whose elements are of the type computed in, and are held nowhere else.
    pub fn input(&self, id: Id) -> Option<usize> {
        match self.source_of(id) {
            Source::Input(input) => Some(input),
            Source::Register(_) | Source::Nowhere => None,
        }
    }

    /// Maps the elements from `first` on, `n` of them.
    ///
    /// # Errors
    /// The first element, of those that count, for which an operation has no value.
    ///
    /// # Panics
    /// If an input is of another type than the program's, or too short, or `n` above [`TILE`].
    pub fn run(&mut self, inputs: &[Slice<'_>], first: usize, n: usize) -> Result<(), Fault> {
        assert!(n <= TILE, "a tile has {TILE} elements at most");
        assert!(
            inputs.iter().map(Slice::dtype).eq(self.program.inputs().iter().copied()),
            "inputs are of the program's types"
        );
        let mut found: Option<Fault> = None;
        let mut registers = std::mem::take(&mut self.registers);
        for &Fill { native, indices, id, wanted, to } in &self.fills {
            let size = self.program.ty(id).dtype().size();
            let register = &mut registers[to];
            let out = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut register.words)
                [register.at * size..][..n * size];
            native.run(inputs, indices, first..first + n, wanted, out);
        }
        loops::run(&self.steps, &mut registers, inputs, first, n, &mut |step, registers| {
            let Some(lane) = self.faulty(step, registers, inputs, first, n) else { return };
            if found.as_ref().is_none_or(|known| lane < known.lane) {
                found = Some(self.fault(step, registers, inputs, first, lane));
            }
        });
        self.registers = registers;
        found.map_or(Ok(()), Err)
    }

    /// The first element that counts for which a step has no value.
    fn faulty(
        &self,
        step: &Step,
        registers: &[Register],
        inputs: &[Slice<'_>],
        first: usize,
        n: usize,
    ) -> Option<usize> {
        // What the mask itself is made of has no mask yet, but for the elements that are there.
        let mask = self.mask.filter(|&mask| step.id > mask).or(self.program.present());
        let mask = mask.map(|mask| {
            loops::bytes(&self.sources[usize::from(mask)], 1, registers, inputs, first, n)
        });
        (0..n)
            .filter(|&lane| mask.is_none_or(|mask| mask[lane] != 0))
            .find(|&lane| steps::value(step, registers, inputs, first + lane, lane).is_none())
    }

    fn fault(
        &self,
        step: &Step,
        registers: &[Register],
        inputs: &[Slice<'_>],
        first: usize,
        lane: usize,
    ) -> Fault {
        let obstacle = steps::obstacle(step, registers, inputs, first + lane, lane);
        Fault { lane, text: self.program.text(step.id).into(), obstacle, ty: step.ty }
    }

    /// The values of an expression, of the tile that ran last, as bytes of numbers of its type; conditions are 0 and 1.
    pub fn bytes<'s>(&'s self, id: Id, inputs: &[Slice<'s>], first: usize, n: usize) -> &'s [u8] {
        let size = self.program.ty(id).dtype().size();
        loops::bytes(&self.sources[usize::from(id)], size, &self.registers, inputs, first, n)
    }

    /// The values of an expression, of the tile that ran last.
    ///
    /// # Panics
    /// If they are of another type.
    pub fn values<'s, T: bytemuck::AnyBitPattern + Element>(
        &'s self,
        id: Id,
        inputs: &[Slice<'s>],
        first: usize,
        n: usize,
    ) -> &'s [T] {
        assert_eq!(self.program.ty(id).dtype(), T::DTYPE, "the values are of another type");
        cast_slice(self.bytes(id, inputs, first, n))
    }
}
