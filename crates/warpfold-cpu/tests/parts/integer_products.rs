//! Products of integers: the mathematical ones, or the first output that has none in the type of the result.

use num_bigint::BigInt;
use warpfold_num::random::Words;
use warpfold_num::{Element, Error, Op, Overflow, Policy};

use crate::sources::sources;

fn product<T: Into<i128> + Copy>(x: &[T]) -> BigInt {
    x.iter().fold(BigInt::from(1), |all, &x| all * BigInt::from(x.into()))
}

/// Of elements made of random words, the products in the type of results.
fn agree<T: Element + Into<i128>>(what: &str, least: BigInt, most: BigInt, of: impl Fn(u64) -> T) {
    let mut words = Words(5);
    for source in sources(&mut || of(words.next())) {
        let name = format!("{what} of {}: {}", T::DTYPE, source.name);
        let expected: Vec<BigInt> = source.inputs.iter().map(|x| product(x)).collect();
        let fits = |x: &BigInt| *x >= least && *x <= most;
        match (source.columns(Op::Prod, Policy::default()), expected.iter().position(|x| !fits(x)))
        {
            (Ok(found), None) => {
                let found: Vec<String> =
                    (0..expected.len()).map(|k| found[0].1.get(k).to_string()).collect();
                assert_eq!(
                    found,
                    expected.iter().map(ToString::to_string).collect::<Vec<_>>(),
                    "{name}"
                );
            }
            (Err(Error::Output { output, error }), Some(first)) => {
                let expected = source.parts.name(first as u64);
                assert_eq!(output.to_string(), expected.to_string(), "{name}");
                assert!(matches!(*error, Error::Overflow { .. }), "{name}: {error}");
            }
            (found, first) => panic!("{name}: {found:?}, where {first:?} is too large"),
        }
        let wrapped =
            source.columns(Op::Prod, Policy { overflow: Overflow::Wrap, ..Policy::default() });
        let wrapped = &wrapped.expect("what wraps does not fail")[0].1;
        let modulus = BigInt::from(1) << 64;
        for (k, expected) in expected.iter().enumerate() {
            let found: BigInt = wrapped.get(k).to_string().parse().expect("an integer");
            assert!(((found - expected) % &modulus) == BigInt::ZERO, "{name}, output {k} wraps");
        }
    }
}

macro_rules! types {
    ($($ty:ty as $sum:ty, one turned over $turned:expr;)+) => {$({
        let (least, most) = (BigInt::from(<$sum>::MIN), BigInt::from(<$sum>::MAX));
        let agree = |what, of: fn(u64) -> $ty| agree(what, least.clone(), most.clone(), of);
        // One of some is larger than one, so that few products are too large, or none; and zeros among what is.
        agree("ones", |word| if word % 2 == 0 { 1 } else { $turned });
        agree("few above one", |word| if word % 97 == 0 { (word >> 32) as $ty } else { 1 });
        agree("of any bits", |word| (word >> 32) as $ty);
        agree("with zeros", |word| if word % 7 == 0 { 0 } else { (word >> 40) as $ty });
        agree("the least", |word| if word % 3 == 0 { <$ty>::MIN } else { 1 });
        agree("small", |word| (word % 5) as $ty + 1);
    })+};
}

#[test]
fn products_are_exact_or_too_large() {
    types! {
        i8 as i64, one turned over -1;
        i16 as i64, one turned over -1;
        i32 as i64, one turned over -1;
        i64 as i64, one turned over -1;
        u8 as u64, one turned over 1;
        u16 as u64, one turned over 1;
        u32 as u64, one turned over 1;
        u64 as u64, one turned over 1;
    }
    let (least, most) = (BigInt::from(0), BigInt::from(u64::MAX));
    agree::<bool>("truths", least, most, |word| word % 40 != 0);
}
