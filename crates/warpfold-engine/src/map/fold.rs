//! From arrays to what is left of them: tiles are mapped into a buffer of the second cache, and buffers are folded as any array.

use warpfold_exact::AnyPartial;
use warpfold_expr::{Slice, TILE, Tiles};
use warpfold_num::{DType, Nan, Op, Policy, Result, bf16, f16};
use warpfold_plan::{HostArray, Request};

use super::buffer::{Buffer, bad_weight, drop_nans};
use super::{Folded, Kind, Map, refused};
use crate::reduce;

/// Elements that a thread takes at once.
const GRAIN: usize = 1 << 18;
/// Elements that are mapped before they are folded: their values fit the second cache.
const CHUNK: usize = 32 << 10;

pub(super) fn fold(map: &Map, inputs: &[HostArray<'_>], start: u64) -> Result<Folded> {
    let n = length(map, inputs)?;
    let slices: Vec<Slice<'_>> = inputs.iter().map(slice).collect();
    let threads = map.policy.threads.unwrap_or(usize::MAX).min(crate::facts().threads);
    let grains = n.div_ceil(GRAIN);
    let one = |grain: usize| {
        let range = grain * GRAIN..n.min((grain + 1) * GRAIN);
        Grain::new(map, inputs, &slices, start).fold(range)
    };
    let mut all = map.empty();
    if grains <= 1 {
        return one(0);
    }
    for folded in warpfold_cpu::threads::map(threads, 0..grains, one) {
        all.merge(&folded?);
    }
    Ok(all)
}

/// The arrays' one length.
fn length(map: &Map, inputs: &[HostArray<'_>]) -> Result<usize> {
    let wanted = map.program.inputs();
    let dtypes: Vec<DType> = inputs.iter().map(HostArray::dtype).collect();
    if dtypes != wanted {
        return Err(refused(
            "map",
            format!("the arrays are of {dtypes:?}, and the map is for {wanted:?}"),
            "give the arrays that it was made for",
        ));
    }
    let n = inputs.first().map_or(0, HostArray::len);
    match inputs.iter().position(|input| input.len() != n) {
        None => Ok(n),
        Some(other) => {
            let obstacle = format!(
                "{} has {n} elements and {} has {}",
                map.names[0],
                map.names[other],
                inputs[other].len()
            );
            Err(refused("map", obstacle, "give arrays of one length"))
        }
    }
}

/// Some elements of an array.
fn part<'a>(array: &HostArray<'a>, range: std::ops::Range<usize>) -> HostArray<'a> {
    warpfold_num::with_element!(array.dtype(), T => {
        let elements: &'a [T] = array.slice().unwrap_or_else(|| unreachable!("an array has its type"));
        HostArray::of(&elements[range])
    })
}

fn slice<'a>(array: &HostArray<'a>) -> Slice<'a> {
    fn of<'a, T: warpfold_num::Element + bytemuck::CheckedBitPattern>(
        array: &HostArray<'a>,
    ) -> &'a [T] {
        array.slice().unwrap_or_else(|| unreachable!("an array has its type"))
    }
    match array.dtype() {
        DType::Bool => Slice::Bool(of(array)),
        DType::I8 => Slice::I8(of(array)),
        DType::I16 => Slice::I16(of(array)),
        DType::I32 => Slice::I32(of(array)),
        DType::I64 => Slice::I64(of(array)),
        DType::U8 => Slice::U8(of(array)),
        DType::U16 => Slice::U16(of(array)),
        DType::U32 => Slice::U32(of(array)),
        DType::U64 => Slice::U64(of(array)),
        DType::F16 => Slice::F16(of::<f16>(array)),
        DType::BF16 => Slice::BF16(of::<bf16>(array)),
        DType::F32 => Slice::F32(of(array)),
        DType::F64 => Slice::F64(of(array)),
        DType::Complex64 | DType::Complex128 => unreachable!("no program takes complex numbers"),
    }
}

/// What one thread works with.
struct Grain<'m> {
    map: &'m Map,
    arrays: &'m [HostArray<'m>],
    inputs: &'m [Slice<'m>],
    start: u64,
    tiles: Tiles<'m>,
    left: Buffer,
    /// The second factors of products.
    right: Option<Buffer>,
    /// Where the elements that were kept stand, if anybody asks.
    indices: Option<Vec<u64>>,
    /// The index of the buffer's first element, where all are kept.
    first: u64,
    folded: Folded,
}

impl<'m> Grain<'m> {
    fn new(map: &'m Map, arrays: &'m [HostArray<'m>], inputs: &'m [Slice<'m>], start: u64) -> Self {
        let capacity = CHUNK.min(inputs.first().map_or(0, Slice::len)) + TILE;
        let buffer = |id| Buffer::new(map.program.ty(id), capacity);
        let is_placed = matches!(map.op, Op::ArgMin | Op::ArgMax | Op::Stats);
        Grain {
            map,
            arrays,
            inputs,
            start,
            tiles: Tiles::new(&map.program, map.has_keep),
            left: buffer(map.left),
            right: (map.kind != Kind::Values).then(|| buffer(map.right)),
            indices: (map.has_keep && is_placed).then(Vec::new),
            first: 0,
            folded: map.empty(),
        }
    }

    fn fold(mut self, range: std::ops::Range<usize>) -> Result<Folded> {
        self.first = self.start + range.start as u64;
        if !matches!(self.map.kind, Kind::Weighted | Kind::Spread)
            && !self.map.has_keep
            && let (Some(left), Some(right)) =
                (self.tiles.input(self.map.left), self.tiles.input(self.map.right))
        {
            // Nothing is computed: the inputs are folded where they lie.
            let [left, right] = [left, right].map(|input| part(&self.arrays[input], range.clone()));
            let right = (self.map.kind == Kind::Products).then_some(right);
            let value = self.reduced(left, right)?;
            return Ok(Folded { value, weights: None, spread: None });
        }
        let mut at = range.start;
        while at < range.end {
            let n = TILE.min(range.end - at);
            self.tile(at, n)?;
            at += n;
            if self.left.len() + TILE > CHUNK {
                self.flush()?;
                self.first = self.start + at as u64;
            }
        }
        self.flush()?;
        Ok(self.folded)
    }

    fn tile(&mut self, at: usize, n: usize) -> Result<()> {
        let Map { program, policy, kind, .. } = self.map;
        let first = self.start + at as u64;
        self.tiles.run(self.inputs, at, n).map_err(|fault| fault.error(first))?;
        let bytes = |id| self.tiles.bytes(id, self.inputs, at, n);
        let (left, right) = (bytes(self.map.left), bytes(self.map.right));
        let mut mask = [1; TILE];
        let is_weighted = matches!(kind, Kind::Weighted | Kind::Spread);
        let is_masked = self.map.has_keep || (is_weighted && policy.nan == Nan::Ignore);
        if self.map.has_keep {
            mask[..n].copy_from_slice(&bytes(program.roots()[0].value)[..n]);
        }
        if is_weighted {
            drop_nans(program.ty(self.map.right), right, policy.nan, &mut mask[..n]);
            drop_nans(program.ty(self.map.left), left, policy.nan, &mut mask[..n]);
        }
        if self.map.op == Op::Prod && is_masked && program.ty(self.map.left).is_float() {
            self.left.push_factors(left, n, &mask[..n]);
            return Ok(());
        }
        let kept = is_masked.then_some(&mask[..n]);
        if is_weighted
            && let Some((lane, weight)) = bad_weight(program.ty(self.map.left), left, n, kept)
        {
            let asked = format!("the weight at index {}", first + lane as u64);
            return Err(refused(
                &asked,
                format!("it is {weight}"),
                format!("weights of a {} are finite and not negative", self.map.op),
            ));
        }
        self.left.push(left, n, kept);
        if let Some(buffer) = &mut self.right {
            buffer.push(right, n, kept);
        }
        if let (Some(indices), Some(kept)) = (&mut self.indices, kept) {
            indices.extend(
                (first..).zip(kept).filter(|(_, kept)| **kept != 0).map(|(index, _)| index),
            );
        }
        Ok(())
    }

    /// The policy of a fold that is a thread's own.
    fn policy(&self) -> Policy {
        Policy { threads: Some(1), ..self.map.policy }
    }

    /// The partial of values, or of their products with others.
    fn reduced(&self, array: HostArray<'_>, right: Option<HostArray<'_>>) -> Result<AnyPartial> {
        if let Some(right) = right {
            return reduce(&Request::new(Op::Dot, array).pair(right).policy(self.policy()));
        }
        let request = Request::new(self.map.op, array).policy(self.policy());
        match &self.indices {
            Some(indices) => Ok(reduce(&request)?.reindexed(&|kept| indices[kept as usize])),
            None => reduce(&request.starting_at(self.first)),
        }
    }

    /// Folds what the buffers hold.
    fn flush(&mut self) -> Result<()> {
        if self.left.len() == 0 {
            return Ok(());
        }
        let array = self.left.array();
        if let (Some(spread), Some(right)) = (&mut self.folded.spread, &self.right) {
            let policy = Policy { threads: Some(1), ..self.map.policy };
            spread.add(&array, &right.array(), policy)?;
            self.clear();
            return Ok(());
        }
        let value = self.reduced(array, self.right.as_ref().map(Buffer::array))?;
        let weights: Option<AnyPartial> = match self.map.kind {
            Kind::Weighted => Some(reduce(&Request::new(Op::Sum, array).policy(self.policy()))?),
            Kind::Values | Kind::Products | Kind::Spread => None,
        };
        self.folded.merge(&Folded { value, weights, spread: None });
        self.clear();
        Ok(())
    }

    /// Empties the buffers.
    fn clear(&mut self) {
        self.left.clear();
        if let Some(right) = &mut self.right {
            right.clear();
        }
        if let Some(indices) = &mut self.indices {
            indices.clear();
        }
    }
}
