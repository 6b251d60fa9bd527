//! [`Request`]: what is to be reduced, as a value without type parameters.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::sync::Arc;

use bytemuck::{CheckedBitPattern, cast_slice};
use warpfold_num::element::Element;
use warpfold_num::{At, Column, DType, Empty, Op, Policy};

use crate::group::{Numbered, nth_of_each};
use crate::plan::{Batch, BoundsKind, KeysKind, Partition, Problem};
use crate::segment::Bounds;
use crate::shape::{Folding, Form};

/// An array in the host's memory: its element type, and where its elements lie.
///
/// It is what a slice is where the element type is known at run time only.
#[derive(Clone, Copy)]
pub struct HostArray<'a> {
    dtype: DType,
    address: *const u8,
    len: usize,
    memory: PhantomData<&'a [u8]>,
}

// SAFETY: an array only lends shared access to its elements, which are plain numbers, as `&[T]` does.
unsafe impl Send for HostArray<'_> {}
// SAFETY: as above.
unsafe impl Sync for HostArray<'_> {}

impl<'a> HostArray<'a> {
    /// A slice with its type inside.
    pub fn of<T: Element>(x: &'a [T]) -> Self {
        let (address, len) = (x.as_ptr().cast(), x.len());
        HostArray { dtype: T::DTYPE, address, len, memory: PhantomData }
    }

    /// An array by its address.
    ///
    /// # Safety
    /// `address` must not be null, even of no elements; it must be aligned to the element type and that of `len` initialised elements, each of them a value of the type (a `bool`
    /// is 0 or 1), which nobody writes to or frees while `'a` lasts.
    pub unsafe fn from_raw(dtype: DType, address: *const u8, len: usize) -> Self {
        HostArray { dtype, address, len, memory: PhantomData }
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The slice, if its elements are of this type.
    pub fn slice<T: Element + CheckedBitPattern>(&self) -> Option<&'a [T]> {
        // SAFETY: the constructors' callers vouch for the elements' type, number, alignment and lifetime.
        (self.dtype == T::DTYPE)
            .then(|| unsafe { std::slice::from_raw_parts(self.address.cast(), self.len) })
    }

    /// Some of the elements, one after another.
    ///
    /// # Panics
    /// If the range goes past the end.
    pub fn part(&self, range: Range<usize>) -> HostArray<'a> {
        assert!(range.start <= range.end && range.end <= self.len, "{range:?} of {}", self.len);
        // In bounds of the bytes that the elements take.
        let address = self.bytes()[range.start * self.dtype.size()..].as_ptr();
        HostArray { dtype: self.dtype, address, len: range.len(), memory: PhantomData }
    }

    /// The elements' bytes.
    pub fn bytes(&self) -> &'a [u8] {
        let bytes = self.len * self.dtype.size();
        // SAFETY: the constructors' callers vouch for so many elements, whose types have no padding, and for their lifetime.
        unsafe { std::slice::from_raw_parts(self.address, bytes) }
    }
}

macro_rules! arrays {
    ($([$($generics:tt)*] $ty:ty;)+) => { $(
        impl<'a, T: Element, $($generics)*> From<$ty> for HostArray<'a> {
            fn from(x: $ty) -> Self {
                HostArray::of(x)
            }
        }
    )+ };
}
arrays! {
    [] &'a [T];
    [const N: usize] &'a [T; N];
    [] &'a Vec<T>;
}

impl fmt::Debug for HostArray<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} at {:p}", self.len, self.dtype, self.address)
    }
}

/// How an array is parted into the inputs of one reduction or of many.
#[derive(Debug)]
pub enum Parts<'a> {
    /// The whole array, as it lies in memory.
    Whole,
    /// Some axes of a layout are folded, the others kept.
    Axes(Form, Folding),
    /// Contiguous segments.
    Segments(Bounds<'a>, Names),
    /// Groups of elements, by the number of each element's group.
    Groups(Grouping<'a>, Names),
}

/// A group's number for each element of an array, all of them checked.
#[derive(Debug)]
pub struct Grouping<'a> {
    numbers: Box<dyn Numbered + 'a>,
    elements: u64,
    groups: u64,
    kind: KeysKind,
}

impl<'a> Grouping<'a> {
    /// Numbers that are known to be those of groups.
    ///
    /// # Safety
    /// For each of so many elements, the numbers are below `groups` and the same whenever they are asked for: executors write what is sorted
    /// by them without another look.
    pub unsafe fn new(
        numbers: Box<dyn Numbered + 'a>,
        elements: u64,
        groups: u64,
        kind: KeysKind,
    ) -> Self {
        Grouping { numbers, elements, groups, kind }
    }

    /// The numbers.
    pub fn numbers(&self) -> &(dyn Numbered + 'a) {
        &*self.numbers
    }

    /// How many elements have one.
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// How many groups there are.
    pub fn groups(&self) -> u64 {
        self.groups
    }
}

/// What the outputs of segments and groups are called in errors.
#[derive(Debug)]
pub enum Names {
    /// Segments, by their numbers.
    Segments,
    /// Groups, by their numbers.
    Groups,
    /// Groups, by their keys.
    Keys(Column),
}

impl Names {
    fn name(&self, output: u64) -> At {
        match self {
            Names::Segments => At::Segment(output),
            Names::Groups => At::Group(output.to_string()),
            Names::Keys(keys) => At::Group(keys.get(output as usize).to_string()),
        }
    }
}

impl Parts<'_> {
    /// The same as data for a plan, for an array of `n` elements; `None` for the whole array.
    pub fn partition(&self, n: usize) -> Option<Partition> {
        Some(match self {
            Parts::Whole => return None,
            Parts::Axes(form, _) => Partition::Axes(form.clone()),
            Parts::Segments(bounds, _) => Partition::Segments {
                elements: bounds.elements(),
                segments: bounds.count(),
                bounds: match bounds {
                    Bounds::Every { length, .. } => BoundsKind::Every(*length),
                    Bounds::Offsets32(_) => BoundsKind::Offsets32,
                    Bounds::Offsets64(_) => BoundsKind::Offsets64,
                },
            },
            Parts::Groups(Grouping { groups, kind, .. }, _) => {
                Partition::Groups { elements: n as u64, groups: *groups, keys: *kind }
            }
        })
    }

    /// The keys of the groups, where they have some.
    pub fn keys(&self) -> Option<&Column> {
        match self {
            Parts::Segments(_, Names::Keys(keys)) => Some(keys),
            Parts::Groups(_, Names::Keys(keys)) => Some(keys),
            _ => None,
        }
    }

    /// What an output is called.
    pub fn name(&self, output: u64) -> At {
        match self {
            Parts::Whole => At::Indices(Vec::new()),
            Parts::Axes(_, folding) => At::Indices(indices(output, &folding.shape())),
            Parts::Segments(_, names) | Parts::Groups(_, names) => names.name(output),
        }
    }

    /// Indices in the whole array of `n` elements, from those of elements among their outputs' inputs.
    pub fn flat(&self, n: usize, mut indices: Vec<u64>) -> Vec<u64> {
        match self {
            Parts::Whole => {}
            Parts::Axes(_, folding) => {
                for (output, index) in (0u64..).zip(&mut indices) {
                    *index = folding.flat(output, *index);
                }
            }
            Parts::Segments(bounds, _) => {
                for (segment, index) in indices.iter_mut().enumerate() {
                    *index += bounds.range(segment).start as u64;
                }
            }
            Parts::Groups(grouping, _) => return nth_of_each(grouping.numbers(), n, &indices),
        }
        indices
    }
}

/// The indices of an output in C order.
fn indices(mut output: u64, shape: &[u64]) -> Vec<u64> {
    let mut indices = vec![0; shape.len()];
    for (index, &length) in indices.iter_mut().zip(shape).rev() {
        *index = output % length.max(1);
        output /= length.max(1);
    }
    indices
}

/// From where indices (argmin, argmax) count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Indices {
    /// From the start of each input.
    #[default]
    OfInput,
    /// From the start of the array.
    OfArray,
}

/// A reduction to be done: of one array or a pair, whole or in parts, under a policy.
///
/// Every front builds one, and every executor runs it. More can be asked for later (maps, masks, weights, initial values) without a change for
/// those who do not.
#[derive(Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The reduction.
    pub op: Op,
    /// The array.
    pub x: HostArray<'a>,
    /// The second array of one length, for dot.
    pub y: Option<HostArray<'a>>,
    /// How the array is parted.
    pub parts: Arc<Parts<'a>>,
    /// The caller's choices.
    pub policy: Policy,
    /// Where the array's first element stands in the whole that indices count in.
    pub start: u64,
    /// From where indices of parts count.
    pub indices: Indices,
    /// What a part does that has no result.
    pub empty: Empty,
}

impl<'a> Request<'a> {
    /// A reduction of a whole array under the contract's policy.
    pub fn new(op: Op, x: HostArray<'a>) -> Self {
        Request {
            op,
            x,
            y: None,
            parts: Arc::new(Parts::Whole),
            policy: Policy::default(),
            start: 0,
            indices: Indices::OfInput,
            empty: Empty::Error,
        }
    }

    /// With a second array.
    pub fn pair(mut self, y: HostArray<'a>) -> Self {
        self.y = Some(y);
        self
    }

    /// In parts.
    pub fn parts(mut self, parts: Arc<Parts<'a>>) -> Self {
        self.parts = parts;
        self
    }

    /// Under another policy.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Of a piece of an array that begins at an index of the whole.
    pub fn starting_at(mut self, index: u64) -> Self {
        self.start = index;
        self
    }

    /// With indices that count from another start.
    pub fn indices(mut self, indices: Indices) -> Self {
        self.indices = indices;
        self
    }

    /// With another answer to parts that have no result.
    pub fn empty(mut self, empty: Empty) -> Self {
        self.empty = empty;
        self
    }

    /// Whether nothing that is read for the results lies at these addresses, so that they may be written there as they are found: neither elements nor offsets.
    /// Where the numbers of groups lie is not known.
    pub fn is_apart_from(&self, addresses: Range<usize>) -> bool {
        let is_apart = |bytes: &[u8]| {
            let Range { start, end } = bytes.as_ptr_range();
            bytes.is_empty() || end.addr() <= addresses.start || addresses.end <= start.addr()
        };
        is_apart(self.x.bytes())
            && match &*self.parts {
                Parts::Segments(Bounds::Offsets32(offsets), _) => is_apart(cast_slice(offsets)),
                Parts::Segments(Bounds::Offsets64(offsets), _) => is_apart(cast_slice(offsets)),
                Parts::Segments(Bounds::Every { .. }, _) | Parts::Axes(..) | Parts::Whole => true,
                Parts::Groups(..) => false,
            }
    }

    /// The reduction of the whole array as data for a plan.
    pub fn problem(&self) -> Problem {
        let Request { op, x, policy, .. } = *self;
        Problem { op, dtype: x.dtype(), n: x.len() as u64, policy }
    }

    /// The reductions of the parts as data for a plan; `None` for the whole array.
    pub fn batch(&self) -> Option<Batch> {
        let partition = self.parts.partition(self.x.len())?;
        Some(Batch { op: self.op, dtype: self.x.dtype(), partition, policy: self.policy })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_read_is_known_by_its_addresses() {
        let (x, offsets) = ([1.0f64; 4], [0u64, 2, 4]);
        let bounds = Bounds::Offsets64((&offsets[..]).into());
        let request = Request::new(Op::Sum, HostArray::of(&x));
        let parts = Arc::new(Parts::Segments(bounds, Names::Segments));
        let (alone, parted) = (request, Request::new(Op::Sum, HostArray::of(&x)).parts(parts));
        let addresses = |bytes: &[u8]| {
            let Range { start, end } = bytes.as_ptr_range();
            start.addr()..end.addr()
        };
        let (of_x, of_offsets) = (addresses(cast_slice(&x)), addresses(cast_slice(&offsets)));
        for request in [&alone, &parted] {
            assert!(!request.is_apart_from(of_x.start + 8..of_x.start + 9));
            assert!(!request.is_apart_from(of_x.start - 8..of_x.start + 1));
            assert!(request.is_apart_from(0..1));
        }
        assert!(!parted.is_apart_from(of_offsets.end - 8..of_offsets.end + 8));
        let empty = Request::new(Op::Sum, HostArray::of::<f64>(&[]));
        assert!(empty.is_apart_from(of_x));
    }
}
