//! What can be reduced: slices, vectors, arrays, views with any strides.

use std::fmt;
use std::sync::Arc;

use warpfold_engine::{self as engine, HostArray, Parts, Request};
use warpfold_exact::AnyPartial;

use crate::element::Element;
use crate::shape::{Folding, View};
use crate::{Op, Policy, Result};

/// An array that [`reduce`](fn@crate::reduce) and its like take: a slice, a vector, an array, a [`View`] with any strides; with the feature
/// `ndarray` arrays and views of that crate.
pub trait Input<'a>: sealed::Sealed + Sized {
    /// The type of its elements.
    type Element: Element;

    /// Where its elements are.
    #[doc(hidden)]
    fn source(self) -> Source<'a, Self::Element>;

    /// It as a view.
    #[doc(hidden)]
    fn view(self) -> Result<View<'a, Self::Element>> {
        self.source().into_view()
    }
}

pub(crate) mod sealed {
    pub trait Sealed {}
    impl<T> Sealed for &[T] {}
    impl<T, const N: usize> Sealed for &[T; N] {}
    impl<T> Sealed for &Vec<T> {}
    impl<T> Sealed for &Box<[T]> {}
    impl<T> Sealed for super::View<'_, T> {}
    impl<T> Sealed for &super::View<'_, T> {}
}

/// Where the elements of an input are.
#[doc(hidden)]
#[derive(Debug, Clone)]
pub enum Source<'a, T> {
    /// Side by side.
    Slice(&'a [T]),
    /// By a layout, all axes of which are folded.
    View(View<'a, T>, Arc<Parts<'a>>),
    /// Between elements that are none of its own.
    Blocks(Blocks<'a, T>),
}

/// Fills a buffer with the next elements; leaves it empty after the last.
pub(crate) type Fill<'a, T> = Box<dyn FnMut(&mut Vec<T>) + 'a>;

/// Elements that are copied, a block at a time, before they are reduced.
#[doc(hidden)]
#[derive(Clone)]
pub struct Blocks<'a, T> {
    len: u64,
    start: Arc<dyn Fn() -> Fill<'a, T> + 'a>,
}

impl<T> fmt::Debug for Blocks<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} elements, in blocks", self.len)
    }
}

/// Elements of a block: few enough for a near cache.
const BLOCK: usize = 1 << 13;

impl<'a, T: Element> Blocks<'a, T> {
    /// Of what iterators yield, each of which starts anew.
    pub(crate) fn of<I: Iterator<Item = T> + 'a>(len: u64, elements: impl Fn() -> I + 'a) -> Self {
        let start = Arc::new(move || {
            let mut elements = elements();
            let fill = move |buffer: &mut Vec<T>| {
                buffer.clear();
                buffer.extend(elements.by_ref().take(BLOCK));
            };
            Box::new(fill) as Fill<'a, T>
        });
        Blocks { len, start }
    }

    fn refused(&self) -> crate::Error {
        crate::Error::Shape {
            requested: format!("the axes of an array of {} elements", self.len),
            obstacle: "its elements lie between others that are not its own".into(),
            remedy: "copy it into an array of its own (to_owned) first",
        }
    }
}

impl<'a, T: Element> Source<'a, T> {
    /// It as a view.
    pub(crate) fn into_view(self) -> Result<View<'a, T>> {
        match self {
            Source::Slice(x) => Ok(View::from(x)),
            Source::View(view, _) => Ok(view),
            Source::Blocks(blocks) => Err(blocks.refused()),
        }
    }

    /// Elements.
    pub(crate) fn len(&self) -> u64 {
        match self {
            Source::Slice(x) => x.len() as u64,
            Source::View(view, _) => view.layout().elements(),
            Source::Blocks(blocks) => blocks.len,
        }
    }

    /// A reduction of it by the engine; `None` where it comes in blocks.
    pub(crate) fn request(&self, op: Op, policy: Policy) -> Option<Request<'a>> {
        let request = match self {
            Source::Slice(x) => Request::new(op, HostArray::of(x)),
            Source::View(view, parts) => {
                Request::new(op, HostArray::of(view.memory())).parts(Arc::clone(parts))
            }
            Source::Blocks(_) => return None,
        };
        Some(request.policy(policy))
    }

    /// Its elements, a block at a time.
    pub(crate) fn fill(&self) -> Fill<'a, T> {
        match self {
            Source::Slice(x) => {
                let x = *x;
                (Blocks::of(x.len() as u64, move || x.iter().copied()).start)()
            }
            Source::View(view, _) => {
                let view = view.clone();
                (Blocks::of(view.layout().elements(), move || view.iter()).start)()
            }
            Source::Blocks(blocks) => (blocks.start)(),
        }
    }

    /// The partial of a reduction of one array.
    pub(crate) fn partial(&self, op: Op, policy: Policy) -> Result<AnyPartial> {
        if let Some(request) = self.request(op, policy) {
            return engine::reduce(&request);
        }
        let (mut fill, mut block) = (self.fill(), Vec::with_capacity(BLOCK));
        let mut stream = engine::Stream::new(op, T::DTYPE, policy)?;
        loop {
            fill(&mut block);
            if block.is_empty() {
                return Ok(left(&stream, op, T::DTYPE));
            }
            stream.push(HostArray::of(&block))?;
        }
    }

    /// The partial of a reduction of two arrays of one length.
    pub(crate) fn partial_of_pair(&self, y: &Self, op: Op, policy: Policy) -> Result<AnyPartial> {
        if let (Source::Slice(x), Source::Slice(y)) = (self, y) {
            let request = Request::new(op, HostArray::of(x)).pair(HostArray::of(y));
            return engine::reduce(&request.policy(policy));
        }
        if self.len() != y.len() {
            return Err(crate::Error::LengthMismatch { left: self.len(), right: y.len() });
        }
        let (mut fill_x, mut fill_y) = (self.fill(), y.fill());
        let (mut xs, mut ys) = (Vec::with_capacity(BLOCK), Vec::with_capacity(BLOCK));
        let mut stream = engine::Stream::new(op, T::DTYPE, policy)?;
        loop {
            fill_x(&mut xs);
            fill_y(&mut ys);
            if xs.is_empty() {
                return Ok(left(&stream, op, T::DTYPE));
            }
            stream.push_pair(HostArray::of(&xs), HostArray::of(&ys))?;
        }
    }
}

/// What a stream holds.
fn left(stream: &engine::Stream, op: Op, dtype: crate::DType) -> AnyPartial {
    stream.partial().cloned().unwrap_or_else(|| AnyPartial::empty(op, dtype))
}

macro_rules! slices {
    ($([$($generics:tt)*] $ty:ty;)+) => {$(
        impl<'a, T: Element, $($generics)*> Input<'a> for $ty {
            type Element = T;

            fn source(self) -> Source<'a, T> {
                Source::Slice(self)
            }
        }
    )+};
}
slices! {
    [] &'a [T];
    [const N: usize] &'a [T; N];
    [] &'a Vec<T>;
    [] &'a Box<[T]>;
}

impl<'a, T: Element> Input<'a> for View<'a, T> {
    type Element = T;

    fn source(self) -> Source<'a, T> {
        if let Some(run) = self.layout().run() {
            return Source::Slice(&self.memory()[run.start as usize..run.end as usize]);
        }
        let all: Vec<i64> = (0..self.layout().axes().len() as i64).collect();
        let folding = Folding::of(self.layout().clone(), &all);
        match folding.and_then(|folding| Ok((folding.form()?, folding))) {
            Ok((form, folding)) => Source::View(self, Arc::new(Parts::Axes(form, folding))),
            // More elements than can be counted, of axes that repeat: they come one after another.
            Err(_) => Source::Blocks(Blocks::of(self.layout().elements(), move || self.iter())),
        }
    }

    fn view(self) -> Result<View<'a, T>> {
        Ok(self)
    }
}

impl<'a, T: Element> Input<'a> for &View<'a, T> {
    type Element = T;

    fn source(self) -> Source<'a, T> {
        self.clone().source()
    }

    fn view(self) -> Result<View<'a, T>> {
        Ok(self.clone())
    }
}
