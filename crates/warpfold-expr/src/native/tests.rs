//! Every operator and function of every type: the loop that Rust compiles has the bits of the text.

#![allow(clippy::nonminimal_bool, clippy::bool_comparison, reason = "every operator is tried")]

use half::{bf16, f16};

use super::Wanted;
use crate::map;
use crate::program::{Program, Type};
use crate::slice::Slice;
use crate::text::Expr;
use crate::tile::{TILE, Tiles};

/// More than a tile, and no whole vectors.
const N: usize = TILE + 77;

fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(0x9e37_79b9_7f4a_7c15);
        state ^ state >> 29
    }
}

/// Floats of all kinds: any bits, some near 1, specials.
fn floats<T: Copy>(seed: u64, of: fn(f64) -> T, bits: fn(u64) -> T) -> Vec<T> {
    const SPECIAL: [f64; 12] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-310,
        1e-42,
        3e38,
        709.5,
    ];
    let mut next = random(seed);
    let any = |k: usize| match k % 4 {
        0 => bits(next()),
        1 => of(SPECIAL[next() as usize % SPECIAL.len()]),
        2 => of((next() >> 11) as f64 / (1u64 << 50) as f64 - 4.0),
        _ => of(((next() % 400) as f64 - 200.0) / 8.0),
    };
    (0..N).map(any).collect()
}

fn bytes(ty: Type, bytes: &[u8]) -> Vec<u64> {
    // All NaNs are one.
    let one = |bits: u64, is_nan: bool| if is_nan { u64::MAX } else { bits };
    match ty {
        Type::Bool => bytes.iter().map(|&b| u64::from(b)).collect(),
        Type::F32 => {
            let of = |&x: &f32| one(x.to_bits().into(), x.is_nan());
            bytemuck::cast_slice::<u8, f32>(bytes).iter().map(of).collect()
        }
        Type::F64 => {
            let of = |&x: &f64| one(x.to_bits(), x.is_nan());
            bytemuck::cast_slice::<u8, f64>(bytes).iter().map(of).collect()
        }
        Type::I64 | Type::U64 => bytemuck::cast_slice(bytes).to_vec(),
    }
}

/// Compares the loop with the steps of the text, value and factors.
fn check(expr: warpfold_num::Result<Expr>, inputs: &[(&str, Slice<'_>)]) {
    let expr = expr.unwrap_or_else(|error| panic!("{error}"));
    let text = Expr::parse(expr.text()).expect("it was read before");
    let types: Vec<_> = inputs.iter().map(|(name, slice)| (*name, slice.dtype())).collect();
    let slices: Vec<_> = inputs.iter().map(|(_, slice)| *slice).collect();
    let program = Program::new(&[&text], &types).expect("it suits the types");
    let native = expr.native.expect("it was written in Rust");
    let indices: Vec<u8> = native
        .names
        .iter()
        .map(|name| types.iter().position(|(known, _)| known == name).expect("it is there") as u8)
        .collect();
    let root = program.roots()[0];
    let factors = root.factors.map(|(a, b)| [(a, Wanted::Left), (b, Wanted::Right)]);
    let mut tiles = Tiles::new(&program, false);
    for first in (0..N).step_by(TILE) {
        let n = TILE.min(N - first);
        tiles.run(&slices, first, n).unwrap_or_else(|fault| panic!("{}", fault.error(0)));
        let wanted = factors.into_iter().flatten().chain([(root.value, Wanted::Value)]);
        for (id, wanted) in wanted {
            let ty = program.ty(id);
            let mut out = vec![0u64; N];
            let out = &mut bytemuck::cast_slice_mut(&mut out)[..n * ty.dtype().size()];
            native.run(&slices, &indices, first..first + n, wanted, out);
            let expected = &tiles.bytes(id, &slices, first, n)[..out.len()];
            let (found, expected) = (bytes(ty, out), bytes(ty, expected));
            for (lane, (found, expected)) in found.iter().zip(&expected).enumerate() {
                assert_eq!(found, expected, "{} at {}, {wanted:?}", expr.text(), first + lane);
            }
        }
    }
}

/// Bodies of two inputs.
macro_rules! bodies {
    ($inputs:expr; |$x:ident: $tx:ty, $y:ident: $ty:ty| $($body:expr;)+) => { $(
        check(map!(|$x: $tx, $y: $ty| $body), &$inputs);
    )+ };
}

macro_rules! of_floats {
    ($ty:ty, $slice:ident, $of:expr, $bits:expr) => {{
        let (x, y) = (floats::<$ty>(1, $of, $bits), floats::<$ty>(2, $of, $bits));
        let inputs = [("y", Slice::$slice(&y)), ("x", Slice::$slice(&x))];
        bodies! { inputs; |x: $ty, y: $ty|
            x + y; x - y; x * y; x / y; -x * y; -(x * y); rounded(x * y); (x * y) * 3;
            x * 2.5 + y; 2.5 * x - y; 1 - x * y; 3 / x + y; x / 7 - y; 0.1 + x * 0.1 - 0.3 * y;
            abs(x - y); abs(x + y); abs(x * y); abs(x) / abs(y);
            sqrt(x) + y; sqrt(abs(x)) - y; exp(x) + y; exp2(x) - y; expm1(x) * y; log(x) + y; log2(abs(x)) + y;
            log1p(x) + y; tanh(x) * sigmoid(y); sin(x) + cos(y); cos(x) * sin(y);
            pow(x, 3) + y; pow(x, 2) - pow(y, -3); pow(x, 1) * pow(y, 0);
            floor(x) + y; ceil(x) - y; trunc(x) * y; round(x) + round(y);
            fma(x, y, x); fma(x, 2, y); fma(x, y, -0.5); fma(0.1, x, y);
            min(x, y); max(x, y); min(x, 0) + max(y, 0.5); max(-0.25, x) * y;
            x < y; x <= y; x > y; x >= y; x == y; x != y; (x > 0.25) & (y < 3); (x == 0) | (y != 0); (x > 0) ^ (y > 0);
            !(x > y) & (x < 1); !(x > y) == (y > 0); x > 0 && y > 0 || x < -1; !isnan(x) && !isinf(y); isfinite(x) | isnan(y);
            select(x > y, x, y); select((x > 0) & (y > 0), x * y, 0); select(x < y, 1, x) * y; select(isnan(x), y, 0.1);
            select(x > y, x > 0, y > 0); select(x > y, 1.0, 0.0); select(x > y, 1, 0);
            f32(x) + f32(y); f64(x) - f64(y); i64(x) < i64(y); u64(x) <= u64(y); bool(x) & bool(y); f64(x > y); i64(x) | i64(y);
            sqrt(select(y > 0, select(abs(x - y) < 1, (x - y) * (x - y) * 0.5, abs(x - y) - 0.5), 0)) * 2;
        }
    }};
}

#[test]
fn loops_of_floats_have_the_bits_of_the_text() {
    of_floats!(f32, F32, |x| x as f32, |bits| f32::from_bits(bits as u32));
    of_floats!(f64, F64, |x| x, f64::from_bits);
    // They compute in f32.
    let (x, y) = (
        floats(1, f16::from_f64, |bits| f16::from_bits(bits as u16)),
        floats(2, bf16::from_f64, |bits| bf16::from_bits(bits as u16)),
    );
    let inputs = [("y", Slice::BF16(&y)), ("x", Slice::F16(&x))];
    bodies! { inputs; |x: f16, y: bf16| x * y; sqrt(abs(x - y)) + 0.1; max(x, y) > 0.3; f64(x) * f64(y); }
}

macro_rules! of_integers {
    ($ty:ty, $slice:ident, |$x:ident, $y:ident| $($more:tt)*) => {{
        let mut next = random(3);
        // Small enough that no operation is without a result.
        let x: Vec<$ty> = (0..N).map(|_| ((next() >> 30) % 1000) as $ty).collect();
        let y: Vec<$ty> = (0..N).map(|_| ((next() >> 30) % 99 + 1) as $ty).collect();
        let inputs = [("x", Slice::$slice(&x)), ("y", Slice::$slice(&y))];
        bodies! { inputs; |$x: $ty, $y: $ty|
            $x + $y; $x * $y; $x * 3 + $y; 2 * $x + $y; floor_div($x, $y); $x % $y; ($x + 7) % 5 + $y; 100 + $y - $x % 9;
            $x & $y; $x | $y; $x ^ $y; !$x & 255 ^ $y; min($x, $y); max($x, 3) + $y; abs($x) + abs($y);
            $x < $y; $x <= $y; $x > $y; $x >= $y; $x == $y; ($x != 5) & ($y > 2); !($x == $y) | ($x > 1); pow($x, 2) + pow($y, 3);
            floor($x) + ceil($y) + trunc($x) + round($y); select($x > $y, $x, $y); select($x > $y, $x, 0) + $y; rounded($x * $y);
            f32($x) + f32($y); f64($x) / f64($y); i64($x) - i64($y); bool($x) ^ bool($y); i64($x > $y) + i64($x < $y); u64($x == $y) + u64($y > 3);
            f32($x > $y) - f32($y > 3); f64($x) * 0.5 - f64($y);
            $($more)*
        }
    }};
}

#[test]
fn loops_of_integers_have_the_bits_of_the_text() {
    of_integers!(i8, I8, |x, y| x - y; -x + y; floor_div(-x, y); -x % y;);
    of_integers!(i16, I16, |x, y| x - y; -x - y; floor_div(-x, 7) + y;);
    of_integers!(i32, I32, |x, y| x - y; -x * y; abs(x - y); -x % 7 + y;);
    of_integers!(i64, I64, |x, y| x - y; -x - 5 * y; abs(-x) - y; floor_div(x - y, y); (x - y) % y;);
    of_integers!(u8, U8, |x, y| u64(x) * 2 + u64(y););
    of_integers!(u16, U16, |x, y| floor_div(x, 7) + y;);
    of_integers!(u32, U32, |x, y| x * 7 % y;);
    of_integers!(u64, U64, |x, y| i64(x) - i64(y););
}

#[test]
fn loops_of_conditions_and_of_several_types_have_the_bits_of_the_text() {
    let mut next = random(4);
    let p: Vec<bool> = (0..N).map(|_| next() & 4 == 4).collect();
    let q: Vec<bool> = (0..N).map(|_| next() & 8 == 8).collect();
    let inputs = [("p", Slice::Bool(&p)), ("q", Slice::Bool(&q))];
    bodies! { inputs; |p: bool, q: bool|
        p & q; p | q; p ^ q; p == q; p != q; p < q; p <= q; !p & q; !p == q; p && !q || q; select(p, q, !q); select(p, 1.5, 2.5) + f64(q);
        select(p, 1, 2) + i64(q); f32(p) * f32(q); u64(p) | u64(q); bool(p) ^ q;
    }
    let x = floats::<f32>(5, |x| x as f32, |bits| f32::from_bits(bits as u32));
    let k: Vec<i32> = (0..N).map(|_| (next() % 2001) as i32 - 1000).collect();
    let inputs = [("p", Slice::Bool(&p)), ("k", Slice::I32(&k)), ("x", Slice::F32(&x))];
    check(map!(|x: f32, k: i32, p: bool| select(p & (k > 3), x, f32(k) * 0.1)), &inputs);
    check(map!(|p: bool, x: f32, k: i32| (f64(x) + f64(p)) * f64(k)), &inputs);
    check(map!(|x: f32| x * 0.1), &inputs);
    check(map!(|x: f32| x), &inputs);
    check(map!(|x: f32| pow(x, 2)), &inputs);
}

#[test]
fn what_is_no_expression_of_the_language_is_refused() {
    fn refused(expr: warpfold_num::Result<Expr>, part: &str) {
        let error = expr.expect_err(part).to_string();
        assert!(error.contains(part), "{error}");
    }
    const LIMIT: f32 = 3.0;
    refused(map!(|x: f32| x * LIMIT), "`LIMIT` is none of its inputs");
    refused(
        map!(|x: f32, y: f32| {
            let _ = y;
            x * 2.0
        }),
        "has no meaning",
    );
    refused(map!(|x: f32, _y: f32| x * 2.0), "does not read `_y`");
    refused(map!(|x: f64| x * (1.0 / 3.0)), "constants are computed");
    refused(map!(|x: i64| x + 7 % 4), "constants are computed");
    let expr = map!(|x: f32| x * 0.1).expect("it is one");
    let error =
        Program::new(&[&expr], &[("x", warpfold_num::DType::F64)]).expect_err("another type");
    assert!(error.to_string().contains("`x` is f64, and the body takes f32"), "{error}");
}
