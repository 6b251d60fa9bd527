//! Many runs at once: a tile holds one element of each, so that loops over tiles fold hundreds of runs side by side.

use bytemuck::{cast_slice, cast_slice_mut};
use warpfold_num::Result;

use super::typed::{State, TypedOperator, Values, bits};
use super::{MOST_FIELDS, Piece};
use crate::slice::Slice;
use crate::tile::{Fault, TILE, Tiles};
use crate::types::Type;

/// Runs at most that are folded side by side.
pub const MOST_RUNS: usize = 256;

/// The values of a field: words, each of the field's own size.
#[derive(Debug, Clone)]
struct Lanes {
    words: Vec<u64>,
    ty: Type,
}

impl Lanes {
    fn new(ty: Type, count: usize) -> Self {
        Lanes { words: vec![0; count], ty }
    }

    fn slice(&self, first: usize, count: usize) -> Slice<'_> {
        let range = first..first + count;
        match self.ty {
            Type::F64 => Slice::F64(&cast_slice(&self.words)[range]),
            Type::F32 => Slice::F32(&cast_slice(&self.words)[range]),
            Type::I64 => Slice::I64(&cast_slice(&self.words)[range]),
            Type::U64 | Type::Bool => Slice::U64(&self.words[range]),
        }
    }

    fn set(&mut self, at: impl Iterator<Item = usize>, from: &[u8]) {
        if self.ty == Type::F32 {
            let to: &mut [u32] = cast_slice_mut(&mut self.words);
            at.zip(cast_slice::<u8, u32>(from)).for_each(|(at, word)| to[at] = *word);
        } else {
            at.zip(cast_slice::<u8, u64>(from)).for_each(|(at, word)| self.words[at] = *word);
        }
    }

    fn bits(&self, lane: usize) -> u64 {
        if self.ty == Type::F32 {
            u64::from(cast_slice::<u64, u32>(&self.words)[lane])
        } else {
            self.words[lane]
        }
    }
}

/// The values of a tile that ran, put where they belong.
fn keep(
    values: &Values,
    tiles: &Tiles<'_>,
    (inputs, first, n): (&[Slice<'_>], usize, usize),
    to: &mut [Lanes],
    at: impl Fn(usize) -> usize,
) {
    for ((to, constant), root) in to.iter_mut().zip(&values.constants).zip(values.program.roots()) {
        match constant {
            Some(constant) => {
                let word = bits(*constant);
                let words = vec![word; n];
                match to.ty {
                    Type::F32 => {
                        let words: Vec<u32> = words.iter().map(|&word| word as u32).collect();
                        to.set((0..n).map(&at), cast_slice(&words));
                    }
                    _ => to.set((0..n).map(&at), cast_slice(&words)),
                }
            }
            None => to.set((0..n).map(&at), tiles.bytes(root.value, inputs, first, n)),
        }
    }
}

impl TypedOperator {
    /// The states of up to [`MOST_RUNS`] neighbouring runs of so many elements, from a position: in each, elements in order.
    ///
    /// # Errors
    /// [`Error::Map`](warpfold_num::Error::Map): an operation of integers that has no value.
    ///
    /// # Panics
    /// If there are fewer elements, or more runs.
    pub fn runs(
        &self,
        piece: Piece<'_>,
        first: usize,
        length: usize,
        runs: usize,
    ) -> Result<Vec<State>> {
        assert!(runs <= MOST_RUNS, "there are {MOST_RUNS} runs at most");
        match self.side_by_side(piece, first, length, runs) {
            Ok(states) => Ok(states),
            // One by one, which tells of the first fault.
            Err(_) => (0..runs).map(|run| self.run(piece, first + run * length, length)).collect(),
        }
    }

    /// The state of neighbouring elements in order.
    ///
    /// # Errors
    /// As [`runs`](Self::runs).
    pub fn run(&self, piece: Piece<'_>, first: usize, length: usize) -> Result<State> {
        let mut state = self.lift(piece, first)?;
        for position in first + 1..first + length {
            state = self.merge(&state, &self.lift(piece, position)?)?;
        }
        Ok(state)
    }

    fn side_by_side(
        &self,
        piece: Piece<'_>,
        first: usize,
        length: usize,
        runs: usize,
    ) -> Result<Vec<State>, Fault> {
        let types = || self.fields.iter().map(|(_, ty)| *ty);
        // Element k of every run, then element k + 1 of every run.
        let mut lifted: Vec<Lanes> = types().map(|ty| Lanes::new(ty, runs * length)).collect();
        let mut tiles = Tiles::new(&self.lift.program, false);
        let positions = first..first + runs * length;
        let indices: Vec<u64> = positions.clone().map(|position| piece.index(position)).collect();
        let mut given: Vec<Slice<'_>> =
            piece.inputs.iter().map(|input| input.part(positions.clone())).collect();
        given.push(Slice::U64(&indices));
        for from in (0..runs * length).step_by(TILE) {
            let n = TILE.min(runs * length - from);
            tiles.run(&given, from, n)?;
            let at = |k: usize| (from + k) % length * runs + (from + k) / length;
            keep(&self.lift, &tiles, (&given, from, n), &mut lifted, at);
        }
        let mut tiles = Tiles::new(&self.merge.program, false);
        let mut states: Vec<Lanes> = types().map(|ty| Lanes::new(ty, runs)).collect();
        for (states, lifted) in states.iter_mut().zip(&lifted) {
            (0..runs).for_each(|run| match lifted.ty {
                Type::F32 => {
                    let word = lifted.bits(run) as u32;
                    cast_slice_mut::<u64, u32>(&mut states.words)[run] = word;
                }
                _ => states.words[run] = lifted.words[run],
            });
        }
        for k in 1..length {
            let before = states.clone();
            let both: Vec<Slice<'_>> = before
                .iter()
                .map(|field| field.slice(0, runs))
                .chain(lifted.iter().map(|field| field.slice(k * runs, runs)))
                .collect();
            tiles.run(&both, 0, runs)?;
            keep(&self.merge, &tiles, (&both, 0, runs), &mut states, |lane| lane);
        }
        let state = |run: usize| {
            let mut state = [0; MOST_FIELDS];
            states.iter().zip(&mut state).for_each(|(field, word)| *word = field.bits(run));
            state
        };
        Ok((0..runs).map(state).collect())
    }
}
