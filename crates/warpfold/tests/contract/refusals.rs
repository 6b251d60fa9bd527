//! Where there is no result: which error it is, and what exactly it says.

use warpfold::partial::{Finish, Output};
use warpfold::{Complex, DType, Nan, Op, Overflow, Policy, Stream, bf16, f16, reduce};

use crate::backend::{Ask, Backend};
use crate::oracle::expected;
use crate::sample::Sample;

on_every_backend!(nothing_at_all, every_ddof, complex_numbers_have_no_order, messages);

fn message<T: Sample, B: Backend>(backend: &B, ask: Ask, x: &[T]) -> String {
    backend.reduce(ask, x, &[]).expect_err("there is no result").to_string()
}

fn nothing_at_all<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for &op in backend.ops() {
            for nan in [Nan::Propagate, Nan::Ignore] {
                let mut ask = Ask::new(op);
                ask.policy.nan = nan;
                let expected = expected::<T>(op, nan, &[], &[], ask.finish);
                for cuts in [&[][..], &[0, 0, 0]] {
                    let answer = backend.stream::<T>(ask, &[], &[], cuts);
                    expected.check(&answer).unwrap_or_else(|why| panic!("{op}: {why}"));
                }
            }
        }
    }
    for_every_element!(body(backend));
}

fn every_ddof<B: Backend>(backend: &B) {
    fn body<T: Sample, B: Backend>(backend: &B) {
        for n in 0..6 {
            let x: Vec<T> = (0..n).map(|k| T::near(f64::from(k * k))).collect();
            for ddof in [0, 1, 2, 4, 5, 6, u64::MAX] {
                for op in [Op::Var, Op::Std] {
                    let ask = Ask { finish: Finish { ddof, ..Finish::default() }, ..Ask::new(op) };
                    let answer = backend.reduce(ask, &x, &[]);
                    let expected = expected(op, Nan::Propagate, &x, &[], ask.finish);
                    expected.check(&answer).unwrap_or_else(|why| panic!("{op}, {ddof}: {why}"));
                }
            }
        }
    }
    for_every_element!(body(backend));
}

fn complex_numbers_have_no_order<B: Backend>(backend: &B) {
    for op in [Op::Min, Op::Max, Op::MinMax, Op::ArgMin, Op::ArgMax] {
        let said = message(backend, Ask::new(op), &[Complex::new(1f32, 2.0)]);
        let why = "complex numbers have no order; take linf for the largest magnitude";
        assert_eq!(said, format!("{op} is not defined for complex64: {why}"));
    }
}

fn messages<B: Backend>(backend: &B) {
    let nan = [f64::NAN, f64::NAN];
    let ignoring =
        |op| Ask { policy: Policy { nan: Nan::Ignore, ..Policy::default() }, ..Ask::new(op) };
    assert_eq!(
        message::<f32, _>(backend, Ask::new(Op::Max), &[]),
        "max of an empty input has no value; give at least one element"
    );
    for op in [Op::Mean, Op::Var, Op::Std, Op::Min, Op::MinMax, Op::ArgMax] {
        assert_eq!(
            message(backend, ignoring(op), &nan),
            format!(
                "{op} of an empty input has no value; give at least one element that counts (all were ignored: NaN, null, masked out)"
            )
        );
    }
    let ask = Ask { finish: Finish { ddof: 3, ..Finish::default() }, ..Ask::new(Op::Std) };
    assert_eq!(
        message(backend, ask, &[1i8, 2]),
        "std with ddof = 3 needs more than 3 elements, and there are 2; lower ddof or give more data"
    );
    assert_eq!(
        message(backend, Ask::new(Op::Sum), &[u64::MAX, 1]),
        "sum of u64 is 18446744073709551616, which u64 cannot hold; sum_wide holds it in 128 bits, \
         sum_as::<f64> rounds it, Overflow::Wrap keeps the low 64 bits"
    );
    assert_eq!(
        message(backend, Ask::new(Op::Sum), &[i64::MIN, -1]),
        "sum of i64 is -9223372036854775809, which i64 cannot hold; sum_wide holds it in 128 bits, \
         sum_as::<f64> rounds it, Overflow::Wrap keeps the low 64 bits"
    );
    let dot = backend.reduce(Ask::new(Op::Dot), &[i64::MIN; 2], &[i64::MIN; 2]);
    assert_eq!(
        dot.unwrap_err().to_string(),
        "dot of i64 is 170141183460469231731687303715884105728, which i64 cannot hold; \
         dot_as::<f64> rounds the exact value, Overflow::Wrap keeps the low 64 bits"
    );
    let ask = Ask {
        finish: Finish { round_to: Some(DType::I32), ..Finish::default() },
        ..Ask::new(Op::Sum)
    };
    assert_eq!(
        message(backend, ask, &[f16::ONE]),
        "rounding to an integer type does not apply to sum of f16: results are rounded to f16, bf16, f32 or f64 only"
    );
}

/// The roots behind l1 of `Complex<f32>` are kept to 52 bits: enough for an f32, and too few for an f64.
#[test]
fn complex_norms_are_not_rounded_to_a_wider_type() {
    let narrow = [Complex::new(1f32, 1.0), Complex::new(2.0, 1.0)];
    assert_eq!(
        reduce(&narrow).l1_as::<f64>().unwrap_err().to_string(),
        "rounding to a wider float type does not apply to l1 of complex64: its roots are kept only as precise as the norm \
         in its own type needs them; convert the elements to complex128"
    );
    assert_eq!(reduce(&narrow).l1_as::<f32>(), Ok(reduce(&narrow).l1()));
    assert_eq!(reduce(&narrow).l1_as::<f16>(), Ok(f16::from_f64(2f64.sqrt() + 5f64.sqrt())));
    // All other types are exact, or as wide as can be.
    assert_eq!(reduce(&[0.1f32, -0.2]).l1_as::<f64>(), Ok(f64::from(0.1f32) + f64::from(0.2f32)));
    assert_eq!(reduce(&[Complex::new(3f64, 4.0)]).l1_as::<f64>(), Ok(5.0));
}

#[test]
fn pairs_of_different_length_are_refused() {
    let mut stream = Stream::<bf16>::new(Op::Dot, Policy::default()).unwrap();
    let error = stream.push_pair(&[bf16::ONE; 3], &[bf16::ONE; 2]).unwrap_err();
    let said =
        "dot needs two inputs of one length, and they have 3 and 2 elements; cut the longer one";
    assert_eq!(error.to_string(), said);
    // Nothing of the refused pieces was taken in.
    stream.push_pair(&[bf16::ONE; 2], &[bf16::ONE; 2]).unwrap();
    assert_eq!(stream.finish(Finish::default()), Ok(Output::One(2f32.into())));
}

#[test]
fn a_stream_refuses_what_its_reduction_does_not_take() {
    let mut dot = Stream::<f32>::new(Op::Dot, Policy::default()).unwrap();
    assert!(dot.push(&[1.0]).is_err());
    let mut sum = Stream::<f32>::new(Op::Sum, Policy::default()).unwrap();
    assert!(sum.push_pair(&[1.0], &[1.0]).is_err());
    assert!(Stream::<Complex<f64>>::new(Op::ArgMin, Policy::default()).is_err());
    let finish = Finish { overflow: Overflow::Wrap, ..Finish::default() };
    assert_eq!(sum.finish(finish), Ok(Output::One(0f32.into())));
}
