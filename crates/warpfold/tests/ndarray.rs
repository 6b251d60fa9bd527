//! Arrays of the crate `ndarray`, beside their own loops.

use ndarray::{Array3, ArrayD, Axis, IxDyn, s};
use warpfold::{Error, reduce, reduce_axes, reduce_pair};

/// Whole numbers, so that every sum is exact.
fn array() -> Array3<f64> {
    Array3::from_shape_fn((4, 5, 6), |(i, j, k)| ((i * 31 + j * 17 + k * 7) % 23) as f64 - 11.0)
}

#[test]
fn any_layout_has_the_results_of_its_elements() {
    let x = array();
    let mut permuted = x.clone();
    permuted.swap_axes(0, 2);
    permuted.invert_axis(Axis(1));
    let views = [
        x.view(),
        x.t(),
        permuted.view(),
        x.slice(s![.., ..;-1, ..]),
        x.slice(s![1.., 2..4, ..;2]),
        x.slice(s![..0, .., ..]),
    ];
    for view in views {
        let expected: f64 = view.iter().sum();
        assert_eq!(reduce(&view).sum().unwrap(), expected, "{:?}", view.strides());
        let squares: f64 = view.iter().map(|x| x * x).sum();
        assert_eq!(reduce_pair(&view, &view).dot().unwrap(), squares);
        let largest = view.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let at = view.iter().position(|&x| x == largest).map(|at| at as u64);
        assert_eq!(reduce(&view).argmax().ok(), at);
    }
}

#[test]
fn axes_are_those_of_the_array() {
    let x = array();
    for axis in 0..3 {
        for view in [x.view(), x.slice(s![.., ..;-1, ..])] {
            let found = reduce_axes(&view, &[axis as i64]).unwrap().sum().unwrap();
            let expected = view.sum_axis(Axis(axis));
            assert_eq!(found.values, expected.iter().copied().collect::<Vec<_>>());
        }
    }
    let scalar = ArrayD::from_elem(IxDyn(&[]), 2.5f32);
    assert_eq!(reduce(&scalar).sum().unwrap(), 2.5);
}

#[test]
fn axes_of_a_view_with_gaps_are_refused_and_not_copied() {
    let x = array();
    let error = reduce_axes(&x.slice(s![.., .., ..2]), &[0]).unwrap_err();
    assert!(matches!(error, Error::Shape { .. }), "{error}");
}
