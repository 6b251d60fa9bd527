//! Whole arrays with strides, beside loops over their indices.

use proptest::prelude::*;
use warpfold::{Error, Stream, View, reduce, reduce_pair};

/// Memory, and a view of it with any strides.
fn strided() -> impl Strategy<Value = (Vec<f64>, Vec<u64>, Vec<i64>, u64)> {
    prop::collection::vec((1u64..6, -9i64..9), 0..4).prop_flat_map(|axes| {
        let back = |&(length, stride): &(u64, i64)| (length - 1) * stride.min(0).unsigned_abs();
        let ahead = |&(length, stride): &(u64, i64)| (length - 1) * stride.max(0).unsigned_abs();
        let start: u64 = axes.iter().map(back).sum();
        let len = start + axes.iter().map(ahead).sum::<u64>() + 1;
        let (shape, strides) = axes.into_iter().unzip::<_, _, Vec<_>, Vec<_>>();
        let integers = prop::collection::vec((-1000i16..1000).prop_map(f64::from), len as usize);
        (integers, Just(shape), Just(strides), Just(start))
    })
}

/// The elements of a view in C order, by its definition.
fn elements(memory: &[f64], shape: &[u64], strides: &[i64], start: u64) -> Vec<f64> {
    let mut at = vec![start as i64];
    for (&length, &stride) in shape.iter().zip(strides) {
        at = at.iter().flat_map(|&at| (0..length as i64).map(move |k| at + k * stride)).collect();
    }
    at.into_iter().map(|at| memory[at as usize]).collect()
}

proptest! {
    #[test]
    fn a_view_is_reduced_as_its_elements_are((memory, shape, strides, start) in strided()) {
        let view = View::strided(&memory, &shape, &strides, start).unwrap();
        let x = elements(&memory, &shape, &strides, start);
        prop_assert_eq!(view.iter().collect::<Vec<_>>(), x.clone());

        let sum: i64 = x.iter().map(|&x| x as i64).sum();
        prop_assert_eq!(reduce(&view).sum().unwrap(), sum as f64);
        let largest = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        prop_assert_eq!(reduce(&view).max().unwrap(), largest);
        let first = x.iter().position(|&x| x == largest);
        prop_assert_eq!(reduce(&view).argmax().unwrap(), first.unwrap() as u64);
        prop_assert_eq!(reduce(&view).count(), x.iter().filter(|&&x| x != 0.0).count() as u64);
        let squares: i64 = x.iter().map(|&x| (x * x) as i64).sum();
        prop_assert_eq!(reduce(view.clone()).sumsq().unwrap(), squares as f64);
        prop_assert_eq!(reduce(&view).stats().count(), x.len() as u64);

        // Beside the same elements backwards, side by side.
        let y: Vec<f64> = x.iter().rev().copied().collect();
        let products = x.iter().zip(&y).map(|(x, y)| (x * y) as i64);
        prop_assert_eq!(reduce_pair(&view, &y).dot().unwrap(), products.sum::<i64>() as f64);
    }
}

#[test]
fn arrays_of_two_lengths_are_refused() {
    let x = [1.0f32; 6];
    let odd = View::strided(&x, &[3], &[2], 0).unwrap();
    let error = reduce_pair(&odd, &x).dot().unwrap_err();
    assert!(matches!(error, Error::LengthMismatch { left: 3, right: 6 }), "{error}");
    assert_eq!(reduce_pair(&odd, &[1.0, 2.0, 3.0]).dot().unwrap(), 6.0);
    assert_eq!(reduce(&vec![true; 3].into_boxed_slice()).sum().unwrap(), 3);
}

#[test]
fn streams_answer_what_their_partial_serves_and_nothing_else() {
    use warpfold::{Op, Policy};
    let mut stream = Stream::<i16>::new(Op::MinMax, Policy::default()).unwrap();
    assert!(matches!(stream.min(), Err(Error::Empty { .. })));
    stream.push(&[3, -7]).unwrap();
    stream.push(&[5]).unwrap();
    assert_eq!((stream.minmax().unwrap(), stream.argmin().unwrap()), ((-7, 5), 1));
    assert!(matches!(stream.sum(), Err(Error::Undefined { op: Op::Sum, .. })));
    let stats = Stream::<f32>::new(Op::Stats, Policy::default()).unwrap();
    assert_eq!(stats.stats().unwrap().count(), 0);
    assert!(stream.stats().is_err());
}
