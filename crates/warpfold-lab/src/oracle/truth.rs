//! What an array's reductions are made of, read in one pass.

use rayon::prelude::*;
use warpfold::{DType, Element};

use super::product::{Double, Product};
use super::{Bins, Exact, ProductBins, Split};
use crate::array::Data;

/// Elements that one task reads.
const CHUNK: usize = 1 << 18;

/// Everything about one array from which the checks are made. Arrays hold finite numbers only.
#[derive(Debug, Clone)]
pub struct Truth<T: Element> {
    /// Elements.
    pub n: u64,
    /// Elements that are not zero.
    pub nonzero: u64,
    /// The exact sum, each part's own.
    pub sum: Vec<Exact>,
    /// The exact sum of the magnitudes of all parts (the l1 norm of a real array).
    pub magnitudes: Exact,
    /// The exact sum of the squares of all parts.
    pub squares: Exact,
    /// The sum of the moduli, which for complex elements is irrational, to about 2^-52.
    pub moduli: f64,
    /// The largest |z|², exactly.
    pub largest: Exact,
    /// The smallest part and its first index.
    pub min: Option<(T::Component, u64)>,
    /// The largest part and its first index.
    pub max: Option<(T::Component, u64)>,
    /// The product to about 2^-70, of data of which it is bounded.
    pub product: Option<Product>,
}

impl<T: Element<Component: Split>> Truth<T> {
    /// Reads an array.
    pub fn of(x: &[T], data: Data) -> Self {
        let chunks = x.par_chunks(CHUNK).enumerate();
        let sums = chunks
            .fold(Sums::default, |mut sums, (k, chunk)| {
                sums.read(chunk, (k * CHUNK) as u64);
                sums
            })
            .reduce(Sums::default, Sums::merged);
        let [re, im] = &sums.parts;
        Truth {
            n: x.len() as u64,
            nonzero: sums.nonzero,
            sum: [re, im][..T::PARTS].iter().map(|bins| bins.value()).collect(),
            magnitudes: sums.magnitudes.value(),
            squares: sums.squares.value(),
            moduli: sums.moduli.high,
            largest: match (sums.min, sums.max) {
                // A real array's largest magnitude is one of its extremes.
                (Some((min, _)), Some((max, _))) => {
                    Exact::of(min).squared().max(Exact::of(max).squared())
                }
                _ => largest(x, sums.largest),
            },
            min: sums.min,
            max: sums.max,
            product: has_product(data, T::DTYPE).then(|| product_of(x)),
        }
    }
}

/// Whether products of any elements of such data neither vanish nor overflow.
fn has_product(data: Data, dtype: DType) -> bool {
    data == Data::Reciprocal || (data == Data::Factors && dtype.is_float())
}

/// The exact dot product of real arrays, or `[re, im]` of complex ones, without conjugation.
pub fn dot<T: Element<Component: Split>>(x: &[T], y: &[T]) -> Vec<Exact> {
    let pairs = x.par_chunks(CHUNK).zip(y.par_chunks(CHUNK));
    let empty = || [ProductBins::default(), ProductBins::default()];
    let bins = pairs
        .fold(empty, |[mut re, mut im], (x, y)| {
            let x = T::as_parts(x).chunks_exact(T::PARTS);
            for (x, y) in x.zip(T::as_parts(y).chunks_exact(T::PARTS)) {
                match (x, y) {
                    ([a], [b]) => re.add(a.split(), b.split()),
                    ([a, b], [c, d]) => {
                        let (a, (mantissa, exponent)) = (a.split(), b.split());
                        re.add(a, c.split());
                        re.add((-mantissa, exponent), d.split());
                        im.add(a, d.split());
                        im.add((mantissa, exponent), c.split());
                    }
                    _ => unreachable!("an element has one part or two"),
                }
            }
            [re, im]
        })
        .reduce(empty, |mut all, more| {
            all.iter_mut().zip(&more).for_each(|(all, more)| all.merge(more));
            all
        });
    bins[..T::PARTS].iter().map(ProductBins::value).collect()
}

/// What a chunk adds.
struct Sums<P> {
    parts: [Bins; 2],
    magnitudes: Bins,
    squares: ProductBins,
    moduli: Double,
    largest: f64,
    nonzero: u64,
    min: Option<(P, u64)>,
    max: Option<(P, u64)>,
}

impl<P> Default for Sums<P> {
    fn default() -> Self {
        Sums {
            parts: Default::default(),
            magnitudes: Bins::default(),
            squares: ProductBins::default(),
            moduli: Double::ZERO,
            largest: 0.0,
            nonzero: 0,
            min: None,
            max: None,
        }
    }
}

impl<P: Split> Sums<P> {
    fn read<T: Element<Component = P>>(&mut self, x: &[T], first: u64) {
        for (index, parts) in (first..).zip(T::as_parts(x).chunks_exact(T::PARTS)) {
            let mut nonzero = false;
            for (sum, part) in self.parts.iter_mut().zip(parts) {
                let (mantissa, exponent) = part.split();
                sum.add(mantissa, exponent);
                self.magnitudes.add(mantissa.abs(), exponent);
                self.squares.add((mantissa, exponent), (mantissa, exponent));
                nonzero |= mantissa != 0;
            }
            self.nonzero += u64::from(nonzero);
            match parts {
                [x] => {
                    if self.min.is_none_or(|(least, _)| *x < least) {
                        self.min = Some((*x, index));
                    }
                    if self.max.is_none_or(|(greatest, _)| *x > greatest) {
                        self.max = Some((*x, index));
                    }
                }
                _ => {
                    let modulus = parts[0].approximate().hypot(parts[1].approximate());
                    self.moduli = self.moduli + Double::new(modulus);
                    self.largest = self.largest.max(modulus);
                }
            }
        }
    }

    fn merged(mut self, other: Self) -> Self {
        self.parts.iter_mut().zip(&other.parts).for_each(|(mine, theirs)| mine.merge(theirs));
        self.magnitudes.merge(&other.magnitudes);
        self.squares.merge(&other.squares);
        self.moduli = self.moduli + other.moduli;
        self.largest = self.largest.max(other.largest);
        self.nonzero += other.nonzero;
        let before = |a: (P, u64), b: (P, u64), better: bool| {
            if better || a.0 == b.0 && a.1 < b.1 { a } else { b }
        };
        self.min = match (self.min, other.min) {
            (Some(a), Some(b)) => Some(before(a, b, a.0 < b.0)),
            (a, b) => a.or(b),
        };
        self.max = match (self.max, other.max) {
            (Some(a), Some(b)) => Some(before(a, b, a.0 > b.0)),
            (a, b) => a.or(b),
        };
        self
    }
}

/// The largest |z|², looked for among the elements whose rounded modulus is within a hair of the largest one.
fn largest<T: Element<Component: Split>>(x: &[T], rounded: f64) -> Exact {
    let near = T::as_parts(x)
        .par_chunks(2)
        .filter(|z| z[0].approximate().hypot(z[1].approximate()) >= rounded * (1.0 - 1e-9));
    let squares = near.map(|z| Exact::of(z[0]).squared() + Exact::of(z[1]).squared());
    squares.max().unwrap_or_else(|| Exact::of(0.0))
}

/// The product of all elements to about 2^-70, whatever its size.
pub fn product_of<T: Element<Component: Split>>(x: &[T]) -> Product {
    let double = |part: Option<&T::Component>| {
        part.map_or(Double::ZERO, |part| Double::new(part.approximate()))
    };
    let chunks = T::as_parts(x).par_chunks(CHUNK * T::PARTS).map(|chunk| {
        let elements = chunk.chunks_exact(T::PARTS);
        let products = elements.map(|z| Product::of([double(z.first()), double(z.get(1))]));
        products.fold(Product::ONE, Product::times)
    });
    chunks.reduce(|| Product::ONE, Product::times)
}
