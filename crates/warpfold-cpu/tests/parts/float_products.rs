//! Products of floats: those of the canonical tree, leaf by leaf.

use warpfold_exact::partial::{Complexes, Product, Reals, join_of};
use warpfold_exact::tree::Interval;
use warpfold_num::random::Words;
use warpfold_num::{Complex, Element, Nan, Op, Overflow, Policy, bf16, f16};

use crate::sources::sources;

/// An element that has a leaf.
trait Leaf: Element {
    fn is_ignored(self, nan: Nan) -> bool;
    fn product(x: &[Self], nan: Nan) -> Product<Self>;
}

macro_rules! reals {
    ($($ty:ty: $value:expr;)+) => {$(
        impl Leaf for $ty {
            fn is_ignored(self, nan: Nan) -> bool {
                nan == Nan::Ignore && self.is_nan()
            }

            fn product(x: &[Self], nan: Nan) -> Product<Self> {
                let (mut all, operator) = (Interval::new(0), Reals { join: join_of::<Self>() });
                x.iter().for_each(|x| all.leaf(operator, if x.is_ignored(nan) { 1.0 } else { $value(*x) }));
                Product::of_reals([all])
            }
        }
    )+};
}
reals! {
    f16: f16::to_f64;
    bf16: bf16::to_f64;
    f32: f64::from;
    f64: std::convert::identity;
}

macro_rules! complexes {
    ($($ty:ty),+) => {$(
        impl Leaf for Complex<$ty> {
            fn is_ignored(self, nan: Nan) -> bool {
                nan == Nan::Ignore && (self.re.is_nan() || self.im.is_nan())
            }

            fn product(x: &[Self], nan: Nan) -> Product<Self> {
                let (mut all, operator) = (Interval::new(0), Complexes { join: join_of::<Self>() });
                x.iter().for_each(|x| {
                    let leaf = [f64::from(x.re), f64::from(x.im)];
                    all.leaf(operator, if x.is_ignored(nan) { [1.0, 0.0] } else { leaf });
                });
                Product::of_complexes([all])
            }
        }
    )+};
}
complexes!(f32, f64);

/// Numbers about one; over many binades; with zeros; with NaNs and infinities; the smallest; of any bits.
fn number(words: &mut Words, data: usize) -> f64 {
    let bits = words.next();
    let mantissa = 1.0 + (bits >> 12) as f64 / (1u64 << 52) as f64;
    let mantissa = if bits & 1 == 0 { -mantissa } else { mantissa };
    match (data, words.next() % 600) {
        (0, _) => mantissa * 0.7,
        (1, power) => mantissa * 2f64.powi((power % 100) as i32 - 50),
        (2, 0..3) => 0.0,
        (3, 0) => f64::NAN,
        (3, 1) => f64::NEG_INFINITY,
        (3, 2) => 0.0,
        (4, 0..30) => mantissa * 5e-324,
        (4, 30..40) => mantissa * 1e-39,
        (4, 40..60) => mantissa * 1e-7,
        (5, _) => f64::from_bits(words.next()),
        _ => mantissa,
    }
}

fn agree<T: Leaf>(of: fn(&mut dyn FnMut() -> f64) -> T) {
    for data in 0..6 {
        let mut words = Words(17 + data as u64);
        for source in sources(&mut || of(&mut || number(&mut words, data))) {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let found = source.columns(Op::Prod, Policy { nan, ..Policy::default() });
                let found = &found.expect("floats do not overflow")[0].1;
                for (k, x) in source.inputs.iter().enumerate() {
                    let expected = T::product(x, nan).value(Overflow::Error).expect("all leaves");
                    let expected = warpfold_num::Column::of(vec![expected]);
                    // As text, in which a NaN is itself.
                    let (found, expected) = (found.get(k).to_string(), expected.get(0).to_string());
                    assert_eq!(
                        found,
                        expected,
                        "{} {data} {nan:?}: {}, output {k}",
                        T::DTYPE,
                        source.name
                    );
                }
            }
        }
    }
}

#[test]
fn products_are_those_of_the_tree() {
    agree(|part| f16::from_f64(part()));
    agree(|part| bf16::from_f64(part()));
    agree(|part| part() as f32);
    agree(|part| part());
    agree(|part| Complex::new(part() as f32, part() as f32));
    agree(|part| Complex::new(part(), part()));
}
