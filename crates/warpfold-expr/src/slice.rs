//! [`Slice`]: an input, with its type inside.

use bytemuck::cast_slice;
use warpfold_num::{DType, Element, bf16, f16};

/// An input: a slice with its type inside.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the variants are the types' own names")]
pub enum Slice<'a> {
    Bool(&'a [bool]),
    I8(&'a [i8]),
    I16(&'a [i16]),
    I32(&'a [i32]),
    I64(&'a [i64]),
    U8(&'a [u8]),
    U16(&'a [u16]),
    U32(&'a [u32]),
    U64(&'a [u64]),
    F16(&'a [f16]),
    BF16(&'a [bf16]),
    F32(&'a [f32]),
    F64(&'a [f64]),
}

macro_rules! each_slice {
    ($slice:expr, $x:ident => $body:expr) => {
        match $slice {
            Slice::Bool($x) => $body,
            Slice::I8($x) => $body,
            Slice::I16($x) => $body,
            Slice::I32($x) => $body,
            Slice::I64($x) => $body,
            Slice::U8($x) => $body,
            Slice::U16($x) => $body,
            Slice::U32($x) => $body,
            Slice::U64($x) => $body,
            Slice::F16($x) => $body,
            Slice::BF16($x) => $body,
            Slice::F32($x) => $body,
            Slice::F64($x) => $body,
        }
    };
}

macro_rules! each_part {
    ($slice:expr, $range:expr, $($variant:ident)+) => {
        match $slice {
            $(Slice::$variant(x) => Slice::$variant(&x[$range]),)+
        }
    };
}

impl<'a> Slice<'a> {
    /// The bytes.
    pub fn bytes(&self) -> &'a [u8] {
        each_slice!(*self, x => cast_slice(x))
    }

    /// The element type.
    pub fn dtype(&self) -> DType {
        fn of<T: Element>(_: &[T]) -> DType {
            T::DTYPE
        }
        each_slice!(self, x => of(x))
    }

    /// Some of its elements.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn part(&self, range: std::ops::Range<usize>) -> Self {
        each_part!(*self, range, Bool I8 I16 I32 I64 U8 U16 U32 U64 F16 BF16 F32 F64)
    }

    /// Elements.
    pub fn len(&self) -> usize {
        each_slice!(self, x => x.len())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
