//! Counters at the end of their range: they stop there, whatever holds them, and never start again from zero.

use warpfold::{Complex, Element, Error, Exact, Op, Overflow, Partial, bf16, reduce};

use crate::backend::{Ask, Backend, Cpu};
use crate::sample::Sample;

const CPU: Cpu = Cpu(warpfold::plan::Isa::Avx512);

/// The bytes of a partial with words (from 0, the header) put to other values.
fn with(mut bytes: Vec<u8>, words: &[(usize, u64)]) -> Vec<u8> {
    for &(word, value) in words {
        bytes[8 * word..8 * word + 8].copy_from_slice(&value.to_le_bytes());
    }
    bytes
}

fn word(bytes: &[u8], word: usize) -> u64 {
    u64::from_le_bytes(bytes[8 * word..8 * word + 8].try_into().expect("eight bytes"))
}

/// A partial of a few elements that says it held 2^64 - 2.
fn nearly_full<T: Element>(op: Op, x: &[T]) -> Partial<T> {
    let y = if op == Op::Dot { x } else { &[] };
    let bytes = CPU.partial(Ask::new(op), x, y).unwrap().to_bytes();
    Partial::from_bytes(&with(bytes, &[(1, u64::MAX - 1)])).unwrap()
}

#[test]
fn every_counter_stops_at_the_top() {
    fn body<T: Sample, B: Backend>(backend: &B) {
        let x = [T::near(1.0), T::near(0.0), T::near(1.0)];
        for op in [Op::Sum, Op::Var, Op::Dot, Op::MinMax, Op::Count, Op::L1] {
            if T::PARTS == 2 && op == Op::MinMax {
                continue;
            }
            let full = nearly_full(op, &x);
            let y = if op == Op::Dot { &x[..] } else { &[] };
            let more = backend.partial(Ask::new(op), &x, y).unwrap();
            for (mut all, rest) in [(full.clone(), &more), (more.clone(), &full)] {
                all.merge(rest);
                let bytes = all.to_bytes();
                assert_eq!(word(&bytes, 1), u64::MAX, "{op} of {}", T::DTYPE);
                assert_eq!(Partial::<T>::from_bytes(&bytes).unwrap().to_bytes(), bytes, "{op}");
            }
        }
    }
    for_every_element!(body(&CPU));
}

/// Stats holds several counters; all of them stop, and what is saved then can be read.
#[test]
fn counters_of_stats_stop_together() {
    fn body<T: Sample>(limbs: [usize; 2]) {
        let x = [T::near(1.0), T::near(2.0)];
        let bytes = CPU.partial(Ask::new(Op::Stats), &x, &[]).unwrap().to_bytes();
        // Seen, NaNs, the moments' count, their sums, their squares, the norm's count and sum, the extremes' count.
        let moments = 3;
        let norm = moments + 1 + T::PARTS * (1 + limbs[0]) + 1 + limbs[1];
        let extremes = norm + 1 + 1 + limbs[1];
        let mut counts = vec![1, moments, norm];
        counts.extend((T::PARTS == 1).then_some(extremes));
        let full: Vec<_> = counts.iter().map(|&at| (at, u64::MAX - 1)).collect();
        let full = Partial::<T>::from_bytes(&with(bytes.clone(), &full)).unwrap();
        let mut all = Partial::<T>::from_bytes(&bytes).unwrap();
        all.merge(&full);
        all.merge(&full);
        let bytes = all.to_bytes();
        for &at in &counts {
            assert_eq!(word(&bytes, at), u64::MAX, "word {at} of {}", T::DTYPE);
        }
        assert_eq!(Partial::<T>::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        let Partial::Stats(stats) = all else { panic!("stats leave stats") };
        assert_eq!(stats.count(), u64::MAX);
    }
    body::<u8>([2, 2]);
    body::<i64>([3, 4]);
    body::<bf16>([6, 10]);
    body::<f64>([34, 67]);
    body::<Complex<f32>>([6, 10]);
}

/// One element at a time, too.
#[test]
fn adding_to_a_full_counter_leaves_it_full() {
    let bytes = with(Exact::<f32>::new().to_bytes(), &[(1, u64::MAX)]);
    let mut sum = Exact::<f32>::from_bytes(&bytes).unwrap();
    sum.add(2.0);
    assert_eq!((sum.count(), sum.round()), (u64::MAX, 2.0));
    let Partial::Extremes(mut extremes) = nearly_full(Op::MinMax, &[1i8, 2]) else {
        panic!("minmax leaves extremes")
    };
    (0..3).for_each(|index| extremes.add(5, index));
    assert_eq!((extremes.count(), extremes.max()), (u64::MAX, Ok(5)));
    let Partial::Count(mut count) = nearly_full(Op::Count, &[1i8, 2]) else {
        panic!("count leaves a count")
    };
    (0..3).for_each(|_| count.add(1i8));
    assert_eq!((count.seen, count.nonzero), (u64::MAX, 5));
}

/// Only so many elements overflow 128 bits; the error then names the type that was asked for.
#[test]
fn a_wide_sum_that_overflows_names_its_own_type() {
    let said = |error: Error| match &error {
        Error::Overflow { op: Op::Sum, result, .. } => (*result, error.to_string()),
        other => panic!("{other:?}"),
    };
    // 2^127, in the first limbs of an i64's sum.
    let i64s = with(Exact::<i64>::new().to_bytes(), &[(1, u64::MAX), (4, 1 << 63)]);
    let (result, message) = said(Exact::<i64>::from_bytes(&i64s).unwrap().wide().unwrap_err());
    assert_eq!(result, "i128");
    assert_eq!(
        message,
        "sum of i64 is 170141183460469231731687303715884105728, which i128 cannot hold; merge fewer partials"
    );
    let u64s = with(Exact::<u64>::new().to_bytes(), &[(1, u64::MAX), (4, 1 << 63)]);
    let mut sum = Exact::<u64>::from_bytes(&u64s).unwrap();
    sum.merge(&sum.clone());
    assert_eq!(said(sum.wide().unwrap_err()).0, "u128");
    let narrow = reduce(&[u64::MAX, 1]).overflow(Overflow::Error).sum();
    assert_eq!(said(narrow.unwrap_err()).0, "u64");
}
