//! Element types as the tests see them: made from random bits, taken apart by the oracle.

use warpfold::{Complex, Element, bf16, f16};

pub use warpfold::random::Words;

use crate::oracle::{BF16, F16, F32, F64, Format, Number};

/// What the result types of an element are made of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Class {
    /// Sums are `i64`.
    Signed,
    /// Sums are `u64`.
    Unsigned,
    /// Sums are of this format.
    Float(Format),
}

/// An element type under test.
pub trait Sample: Element {
    const CLASS: Class;
    /// The format of means, variances and norms.
    const ROUND: Format;
    /// The exponent of the lowest bit.
    const UNIT: i64;

    /// The real numbers it is made of: one, or two if complex.
    fn numbers(self) -> Vec<Number>;

    /// The element's own bits, one word a number.
    fn words(self) -> Vec<u64>;

    /// The element of these bits, as far as the type has room for them; a complex number is made of both words.
    fn from_words(words: [u64; 2]) -> Self;

    /// The bits at which something changes: zeros, subnormals, extremes, infinities, NaNs of several payloads.
    fn edges() -> Vec<u64>;

    /// Any bit pattern.
    fn any(words: &mut Words) -> Self {
        Self::from_words([words.next(), words.next()])
    }

    /// The nearest element to an f64 (integers: cut to their range).
    fn near(x: f64) -> Self;

    /// The lowest bit of the exponent field of a float.
    fn lowest_exponent_bit() -> u64;

    /// Any finite bit pattern.
    fn finite(words: &mut Words) -> Self {
        let finite = |x: &Self| x.numbers().iter().all(|number| number.is_finite());
        std::iter::repeat_with(|| Self::any(words)).find(finite).expect("most patterns are finite")
    }

    /// A number of everyday size: at most 64 in magnitude, with a fraction where the type has one.
    fn tame(words: &mut Words) -> Self {
        Self::near((words.next() as i64 >> 40) as f64 / f64::from(1 << 17))
    }
}

macro_rules! integers {
    ($($class:ident: $($ty:ty),+;)+) => {$($(
        impl Sample for $ty {
            const CLASS: Class = Class::$class;
            const ROUND: Format = F64;
            const UNIT: i64 = 0;

            fn numbers(self) -> Vec<Number> {
                vec![Number::integer(self as i128)]
            }

            fn words(self) -> Vec<u64> {
                vec![self as u64]
            }

            fn from_words([word, _]: [u64; 2]) -> Self {
                word as $ty
            }

            fn lowest_exponent_bit() -> u64 {
                0
            }

            fn edges() -> Vec<u64> {
                vec![0, 1, u64::MAX, <$ty>::MAX as u64, <$ty>::MIN as u64]
            }

            fn near(x: f64) -> Self {
                x as $ty
            }
        }
    )+)+};
}
integers! {
    Signed: i8, i16, i32, i64;
    Unsigned: u8, u16, u32, u64;
}

impl Sample for bool {
    const CLASS: Class = Class::Unsigned;
    const ROUND: Format = F64;
    const UNIT: i64 = 0;

    fn numbers(self) -> Vec<Number> {
        vec![Number::integer(i128::from(self))]
    }

    fn words(self) -> Vec<u64> {
        vec![u64::from(self)]
    }

    fn from_words([word, _]: [u64; 2]) -> Self {
        word & 1 == 1
    }

    fn lowest_exponent_bit() -> u64 {
        0
    }

    fn edges() -> Vec<u64> {
        vec![0, 1]
    }

    fn near(x: f64) -> Self {
        x >= 0.5
    }
}

macro_rules! floats {
    ($($ty:ty: $format:ident, $round:ident, $from_f64:expr;)+) => {$(
        impl Sample for $ty {
            const CLASS: Class = Class::Float($round);
            const ROUND: Format = $round;
            const UNIT: i64 = 2 - (1 << ($format.exponent_bits - 1)) - $format.fraction_bits as i64;

            fn numbers(self) -> Vec<Number> {
                vec![$format.number(self.to_bits().into())]
            }

            fn words(self) -> Vec<u64> {
                vec![self.to_bits().into()]
            }

            fn from_words([word, _]: [u64; 2]) -> Self {
                Self::from_bits(word as _)
            }

            fn lowest_exponent_bit() -> u64 {
                1 << $format.fraction_bits
            }

            fn edges() -> Vec<u64> {
                let format = $format;
                let normal = 1 << format.fraction_bits;
                let one = (format.infinity() >> 1) & !(normal - 1);
                let inf = format.infinity();
                let magnitudes =
                    [0, 1, normal - 1, normal, one - 1, one, one + 1, inf - 1, inf, inf + 1, format.nan(), inf | (normal - 1)];
                magnitudes.into_iter().flat_map(|bits| [bits, bits | format.sign()]).collect()
            }

            fn near(x: f64) -> Self {
                $from_f64(x)
            }
        }
    )+};
}
floats! {
    f16: F16, F32, f16::from_f64;
    bf16: BF16, F32, bf16::from_f64;
    f32: F32, F32, |x| x as f32;
    f64: F64, F64, |x| x;
}

impl<R: Sample> Sample for Complex<R>
where
    Complex<R>: Element,
{
    const CLASS: Class = R::CLASS;
    const ROUND: Format = R::ROUND;
    const UNIT: i64 = R::UNIT;

    fn numbers(self) -> Vec<Number> {
        [self.re.numbers(), self.im.numbers()].concat()
    }

    fn words(self) -> Vec<u64> {
        [self.re.words(), self.im.words()].concat()
    }

    fn from_words([re, im]: [u64; 2]) -> Self {
        Complex { re: R::from_words([re, 0]), im: R::from_words([im, 0]) }
    }

    fn lowest_exponent_bit() -> u64 {
        R::lowest_exponent_bit()
    }

    fn edges() -> Vec<u64> {
        R::edges()
    }

    fn near(x: f64) -> Self {
        Complex { re: R::near(x), im: R::near(-x / 3.0) }
    }

    fn tame(words: &mut Words) -> Self {
        Complex { re: R::tame(words), im: R::tame(words) }
    }
}

/// Runs a generic function for every element type.
macro_rules! for_every_element {
    ($function:ident($($argument:expr),*)) => {{
        for_real_elements!($function($($argument),*));
        $function::<warpfold::Complex<f32>, _>($($argument),*);
        $function::<warpfold::Complex<f64>, _>($($argument),*);
    }};
}

/// Runs a generic function for every element type but the complex ones.
macro_rules! for_real_elements {
    ($function:ident($($argument:expr),*)) => {{
        for_integers!($function($($argument),*));
        $function::<warpfold::f16, _>($($argument),*);
        $function::<warpfold::bf16, _>($($argument),*);
        $function::<f32, _>($($argument),*);
        $function::<f64, _>($($argument),*);
    }};
}

/// Runs a generic function for `bool` and every integer type.
macro_rules! for_integers {
    ($function:ident($($argument:expr),*)) => {{
        $function::<bool, _>($($argument),*);
        $function::<i8, _>($($argument),*);
        $function::<i16, _>($($argument),*);
        $function::<i32, _>($($argument),*);
        $function::<i64, _>($($argument),*);
        $function::<u8, _>($($argument),*);
        $function::<u16, _>($($argument),*);
        $function::<u32, _>($($argument),*);
        $function::<u64, _>($($argument),*);
    }};
}
