//! Variances, deviations and norms of many inputs, by approximations that must not be seen: each as if its input were alone.

use warpfold::partial::Partial;
use warpfold::{Complex, Element, Nan, Op, Policy, Segments, UnderPolicy, View, bf16, f16};

/// The moments of one input in wide accumulators, which share no step with what is tested: `reduce(x).var(0)` would, of a few elements.
fn exact<T: Element>(x: &[T], nan: Nan) -> warpfold_exact::Moments<T> {
    match warpfold::reduce(x).nan(nan).partial(Op::Var) {
        Ok(Partial::Moments(moments)) => *moments,
        other => panic!("a variance leaves moments, not {other:?}"),
    }
}

/// Compares all moments of rows, columns, segments and groups with those of each input alone, by its exact partial.
fn agree<T: Element<Round: Into<f64>>>(what: &str, x: &[T])
where
    T::Round: std::fmt::Debug,
{
    for (rows, length) in [
        (x.len() / 3, 3),
        (x.len() / 16, 16),
        (x.len() / 40, 40),
        (x.len() / 600, 600),
        (1, x.len()),
    ] {
        let x = &x[..rows * length];
        for nan in [Nan::Propagate, Nan::Ignore] {
            let bits = |x: Result<T::Round, warpfold::Error>| x.ok().map(|x| x.into().to_bits());
            let all = |found: warpfold::Result<Vec<T::Round>>,
                       inputs: &[Vec<T>],
                       one: &dyn Fn(&[T]) -> Option<u64>,
                       source: &str| {
                let expected: Vec<_> = inputs.iter().map(|x| one(x)).collect();
                match found {
                    Ok(found) => {
                        let found: Vec<_> = found.into_iter().map(|x| bits(Ok(x))).collect();
                        for (k, (found, expected)) in found.iter().zip(&expected).enumerate() {
                            assert_eq!(
                                found, expected,
                                "{source} of {what}: {:?} of {rows} by {length}",
                                inputs[k]
                            );
                        }
                    }
                    Err(error) => assert!(expected.contains(&None), "{source} of {what}: {error}"),
                }
            };
            let of_rows: Vec<Vec<T>> = x.chunks_exact(length).map(<[T]>::to_vec).collect();
            let of_columns: Vec<Vec<T>> =
                (0..length).map(|k| x.iter().skip(k).step_by(length).copied().collect()).collect();
            let keys: Vec<u32> = (0..x.len()).map(|at| (at * at % 1009 % rows) as u32).collect();
            let mut of_keys = vec![Vec::new(); rows];
            keys.iter().zip(x).for_each(|(&key, &x)| of_keys[key as usize].push(x));
            let offsets: Vec<u64> = (0..=rows as u64).map(|row| row * length as u64).collect();
            let policy = Policy { threads: Some(2), ..Policy::default() };
            for ddof in [0, 1] {
                let var = |x: &[T]| bits(exact(x, nan).var(ddof));
                let std = |x: &[T]| bits(exact(x, nan).std(ddof));
                let l2 = |x: &[T]| bits(Ok(exact(x, nan).l2()));
                macro_rules! each {
                    ($source:literal, $batched:expr, $inputs:expr, $values:expr) => {
                        let batched = || $batched.nan(nan).threads(2);
                        all(
                            batched().var(ddof).map($values),
                            $inputs,
                            &var,
                            concat!($source, " var"),
                        );
                        all(
                            batched().std(ddof).map($values),
                            $inputs,
                            &std,
                            concat!($source, " std"),
                        );
                        all(batched().l2().map($values), $inputs, &l2, concat!($source, " l2"));
                    };
                }
                let view = || View::new(x, &[rows as u64, length as u64]).unwrap();
                each!("rows'", warpfold::reduce_axes(&view(), &[1]).unwrap(), &of_rows, |all| all
                    .values);
                each!(
                    "columns'",
                    warpfold::reduce_axes(&view(), &[0]).unwrap(),
                    &of_columns,
                    |all| all.values
                );
                each!(
                    "segments'",
                    policy.reduce_segments(x, Segments::offsets(&offsets)).unwrap(),
                    &of_rows,
                    |all| all
                );
                each!(
                    "groups'",
                    policy.group_dense(&keys, rows as u64, x).unwrap(),
                    &of_keys,
                    |all| all
                );
            }
        }
    }
}

/// Numbers that look random, and are the same in every run.
fn noise(at: usize) -> u64 {
    warpfold::random::word(0, at as u64) >> 11
}

fn unit(at: usize) -> f64 {
    noise(at) as f64 / 2f64.powi(53)
}

const COUNT: usize = 2400;

fn of<T>(make: impl Fn(usize) -> T) -> Vec<T> {
    (0..COUNT).map(make).collect()
}

#[test]
fn moments_of_even_numbers_and_ties() {
    agree("f32", &of(|at| unit(at) as f32));
    agree("f64", &of(unit));
    agree("bf16", &of(|at| bf16::from_f64(unit(at))));
    agree("complex64", &of(|at| Complex::new(unit(at) as f32, unit(at + COUNT) as f32)));
    agree("complex128", &of(|at| Complex::new(unit(at), unit(at + COUNT))));
    // Of few bits, so that many results lie halfway between two floats, or are floats.
    for bits in [1, 4, 11, 16] {
        let whole = |at: usize| (noise(at) >> (53 - bits)) as f64;
        agree("f16", &of(|at| f16::from_f64(whole(at) / 16.0)));
        agree("whole f32", &of(|at| whole(at) as f32));
        agree("whole f64", &of(|at| whole(at) * 3.0));
    }
}

#[test]
fn moments_of_integers() {
    agree("bool", &of(|at| noise(at) & 1 == 1));
    agree("i8", &of(|at| noise(at) as i8));
    agree("u16", &of(|at| noise(at) as u16));
    agree("i32", &of(|at| noise(at) as i32));
    agree("u32", &of(|at| if at % 3 == 0 { u32::MAX } else { noise(at) as u32 }));
    agree("i64", &of(|at| if at % 7 == 0 { i64::MIN } else { (noise(at) << 11) as i64 }));
    agree("u64", &of(|at| if at % 5 == 0 { u64::MAX } else { noise(at) }));
}

#[test]
fn moments_that_cancel_or_leave_the_range() {
    agree("f32 far from zero", &of(|at| 1e6 + unit(at) as f32));
    agree("f32 of two means", &of(|at| if at % 2 == 0 { 1e6 } else { -1e-6 } + unit(at) as f32));
    agree("f64 far from zero", &of(|at| 1.7e9 + unit(at)));
    agree("f64 rows far from each other", &of(|at| (at / 40) as f64 * 1e15 + unit(at)));
    agree("constant f32", &of(|_| 0.1f32));
    agree("constant f64", &of(|_| 0.1f64));
    agree("zeros", &of(|at| if at % 2 == 0 { 0.0f64 } else { -0.0 }));
    agree("subnormal f32", &of(|at| f32::from_bits(noise(at) as u32 & 0x7f_ffff)));
    agree("subnormal f64", &of(|at| f64::from_bits(noise(at) & 0xf_ffff)));
    agree("small f64", &of(|at| unit(at) * 1e-160));
    agree("large f64", &of(|at| unit(at) * 1e160));
    agree("largest f64", &of(|at| if at % 2 == 0 { f64::MAX } else { -f64::MAX }));
    agree("largest f32", &of(|at| if at % 2 == 0 { f32::MAX } else { -f32::MAX }));
    agree("log-uniform f64", &of(|at| 2f64.powf(unit(at) * 2000.0 - 1000.0)));
    agree("log-uniform f32", &of(|at| 2f64.powf(unit(at) * 250.0 - 125.0) as f32));
    agree("one large", &of(|at| if at % 16 == 3 { 1e200 } else { unit(at) }));
}

#[test]
fn moments_of_specials() {
    for odd in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        for every in [2, 17, 700] {
            agree("odd f64", &of(|at| if at % every == 1 { odd } else { unit(at) }));
            agree("odd f32", &of(|at| if at % every == 1 { odd as f32 } else { unit(at) as f32 }));
            let half = |at: usize| if at % every == 1 { odd } else { unit(at) };
            agree("odd f16", &of(|at| f16::from_f64(half(at))));
            agree("odd complex", &of(|at| Complex::new(unit(at) as f32, half(at) as f32)));
        }
    }
}

#[test]
fn moments_of_long_segments_among_short_ones() {
    let x: Vec<f64> = (0..250_000).map(|at| 1.7e9 + unit(at)).collect();
    let offsets = [0u64, 3, 100_003, 100_003, 100_010, 249_000, 249_600, 250_000];
    let inputs: Vec<&[f64]> =
        offsets.windows(2).map(|pair| &x[pair[0] as usize..pair[1] as usize]).collect();
    for threads in [1, 2, 3] {
        let policy = Policy { threads: Some(threads), ..Policy::default() };
        let batched = policy.reduce_segments(&x, Segments::offsets(&offsets)).unwrap();
        let alone = |x: &[f64]| exact(x, Nan::Propagate);
        let norms = inputs.iter().map(|x| alone(x).l2()).collect::<Vec<_>>();
        assert_eq!(batched.l2().unwrap(), norms);
        // The third has no variance.
        assert!(batched.var(0).is_err());
        let kept = [&offsets[..3], &offsets[4..]].concat();
        let batched = policy.reduce_segments(&x, Segments::offsets(&kept)).unwrap();
        let inputs = kept.windows(2).map(|pair| &x[pair[0] as usize..pair[1] as usize]);
        let variances: Vec<f64> = inputs.map(|x| alone(x).var(0).unwrap()).collect();
        assert_eq!(batched.var(0).unwrap(), variances);
    }
}

#[test]
fn corrections_may_be_fractional_and_negative() {
    // The squared distances from the mean, 1.75, add up to 8.75.
    let moments = exact(&[0.0f64, 1.0, 2.0, 4.0], Nan::Propagate);
    for (correction, variance) in [(0.0, 2.1875), (0.5, 2.5), (-1.0, 1.75), (-4.0, 1.09375)] {
        assert_eq!(moments.var_corrected::<f64>(correction), Ok(variance));
        assert_eq!(moments.std_corrected::<f64>(correction), Ok(variance.sqrt()));
    }
    // Four less that is 2^-51.
    assert_eq!(moments.var_corrected(4.0f64.next_down()), Ok(8.75 * 2f64.powi(51)));
    for correction in [4.0, 4.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
        let few = moments.var_corrected::<f64>(correction);
        assert!(matches!(few, Err(warpfold::Error::TooFew { n: 4, .. })), "{correction}: {few:?}");
    }
}
