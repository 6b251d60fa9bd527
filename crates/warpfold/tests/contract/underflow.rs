//! Products at the lowest place where f64 arithmetic still has their errors: below 2^-969 the last bits of a product lie under
//! the smallest subnormal, and a kernel that trusts its arithmetic one binade too far loses them.

use warpfold::{Complex, Nan, Op};

use crate::backend::{Ask, Backend};
use crate::bands::saved_sums;
use crate::oracle::Oracle;
use crate::sample::{Sample, Words};

on_every_backend!(
    dots_at_the_lowest_window,
    complex_dots_at_the_lowest_window,
    squares_at_the_lowest_window,
    products_down_to_nothing,
);

/// Past one block of each kernel and into the next, so that a window that moved is used again.
const N: usize = 17_000;

/// Holds the exact sums behind a result, to the last bit, against the oracle's.
fn check<T: Sample, B: Backend>(backend: &B, op: Op, x: &[T], y: &[T], what: &str) {
    let mut oracle = Oracle::new(op, Nan::Propagate);
    x.iter().enumerate().for_each(|(k, &x)| oracle.push(x, y.get(k).copied()));
    let ask = Ask::new(op);
    let partial = backend.partial(ask, x, y).expect("these have partials");
    let same = saved_sums::<T>(op, &partial.to_bytes()) == oracle.sums();
    assert!(same, "the exact sums of {op} of {} {}, {what}", x.len(), T::DTYPE);
    let expected = oracle.expected(ask.finish);
    let answer = backend.reduce(ask, x, y);
    expected.check(&answer).unwrap_or_else(|why| panic!("{op} of {}, {what}: {why}", T::DTYPE));
}

/// `±m · 2^exponent` with `1 <= m < 2` and an odd mantissa, so that a product has as many bits as it can have. Most mantissas
/// are close below 2, and their products of 106 bits.
fn odd(exponent: i32, words: &mut Words) -> f64 {
    let word = words.next();
    let high = if word & 7 == 0 { 0 } else { 0xf << 48 };
    let fraction = (word >> 12) | high | 1;
    let field = u64::try_from(exponent + 1023).expect("a normal number");
    f64::from_bits((word & 8) << 60 | field << 52 | fraction)
}

/// Factors whose exponents add up to `exponent`, neither far from half of it.
fn pair(exponent: i32, words: &mut Words) -> [f64; 2] {
    let one = exponent / 2 + words.index(21) as i32 - 10;
    [odd(one, words), odd(exponent - one, words)]
}

/// The exponents of an array's products: all about one, or a few of them under a crowd above, which decides the window.
#[derive(Debug, Clone, Copy)]
enum Spread {
    Together,
    /// One in so many; fewer than one in 32 keeps a kernel from giving its window up.
    Few(usize),
}

const SPREADS: [Spread; 3] = [Spread::Together, Spread::Few(50), Spread::Few(7)];

impl Spread {
    /// The exponent of the element at `k`, if `low` is the one under test.
    fn exponent(self, k: usize, low: i32, words: &mut Words) -> i32 {
        match self {
            Spread::Few(n) if !k.is_multiple_of(n) => low + 20 + words.index(8) as i32,
            _ => low,
        }
    }
}

fn dots_at_the_lowest_window<B: Backend>(backend: &B) {
    let mut words = Words(71);
    for low in -976..=-965 {
        for spread in SPREADS {
            let pairs = |k| pair(spread.exponent(k, low, &mut words), &mut words);
            let (x, y): (Vec<f64>, Vec<f64>) = (0..N).map(pairs).map(|[x, y]| (x, y)).unzip();
            check(backend, Op::Dot, &x, &y, &format!("products of 2^{low}, {spread:?}"));
        }
    }
}

fn complex_dots_at_the_lowest_window<B: Backend>(backend: &B) {
    let mut words = Words(72);
    for low in -974..=-966 {
        for spread in SPREADS {
            let pairs = |k| {
                let exponent = spread.exponent(k, low, &mut words);
                let one = exponent / 2;
                let [a, b] = [0; 2].map(|_| odd(one, &mut words));
                let [c, d] = [0; 2].map(|_| odd(exponent - one, &mut words));
                (Complex::new(a, b), Complex::new(c, d))
            };
            let (x, y): (Vec<Complex<f64>>, Vec<Complex<f64>>) = (0..N / 2).map(pairs).unzip();
            check(backend, Op::Dot, &x, &y, &format!("products of 2^{low}, {spread:?}"));
        }
    }
}

fn squares_at_the_lowest_window<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B, of: fn(f64, f64) -> T) {
        let mut words = Words(73);
        for low in -490..=-480 {
            for spread in SPREADS {
                let number = |k| {
                    let exponent = spread.exponent(k, low, &mut words);
                    of(odd(exponent, &mut words), odd(exponent, &mut words))
                };
                let x: Vec<T> = (0..N).map(number).collect();
                check(backend, Op::Var, &x, &[], &format!("numbers of 2^{low}, {spread:?}"));
            }
        }
    }
    body::<f64, B>(backend, |x, _| x);
    body::<Complex<f64>, B>(backend, Complex::new);
}

/// From where errors vanish to where products themselves do, and the last bits of all: 2^-2148.
fn products_down_to_nothing<B: Backend>(backend: &B) {
    let mut words = Words(74);
    for low in (-1090..=-980).step_by(5).chain([-1022, -1023, -1074, -1075]) {
        let (x, y): (Vec<f64>, Vec<f64>) =
            (0..4000).map(|_| pair(low, &mut words)).map(|[x, y]| (x, y)).unzip();
        check(backend, Op::Dot, &x, &y, &format!("products of 2^{low}"));
        let x: Vec<f64> = (0..4000).map(|_| odd(low / 2, &mut words)).collect();
        check(backend, Op::Var, &x, &[], &format!("squares of 2^{low}"));
    }
    let subnormals: Vec<f64> =
        (0..9000).map(|_| f64::from_bits(words.next() & 1 << 63 | words.next() >> 12)).collect();
    check(backend, Op::Dot, &subnormals, &subnormals, "subnormals");
    check(backend, Op::Var, &subnormals, &[], "subnormals");
    let least = vec![f64::from_bits(1); 9000];
    check(backend, Op::Dot, &least, &least, "the smallest subnormal");
    check(backend, Op::Var, &least, &[], "the smallest subnormal");
}
