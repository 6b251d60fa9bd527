//! Reductions whose maps are changed ones, or that leave rare numbers to the processor, beside exact integers and plain Rust.

use num_bigint::BigInt;
use warpfold::kernel::MapGrid;
use warpfold::map::{HostArray, Map, Reduction};
use warpfold::partial::{Finish, Output};
use warpfold::{Element, Op, Policy, Value};

use super::exact_sum;
use crate::compare::same;
use crate::data::{Contents, Random, array};
use crate::machine;

const GRID: MapGrid = MapGrid { blocks: 2, threads: 64 };

#[test]
fn magnitudes_and_stats_are_those_of_plain_rust() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(31);
    for n in [1, 31, 1025, 3000] {
        let (x, y) = (
            array::<f64>(Contents::Plain, n, &mut random),
            array::<f64>(Contents::Plain, n, &mut random),
        );
        let (on, other) = (machine.upload(&x).unwrap(), machine.upload(&y).unwrap());
        let map = machine.map("x - y", [("x", &on), ("y", &other)]).grid(GRID);
        let values: Vec<f64> = x.iter().zip(&y).map(|(x, y)| x - y).collect();
        let one = |op| match map.output(op, Finish::default()) {
            Ok(Output::One(value)) => value,
            other => panic!("{other:?}"),
        };
        let l1 = exact_sum(values.iter().map(|x| x.abs()));
        assert_eq!(one(Op::L1), l1.into());
        let largest = values.iter().fold(0f64, |most, x| most.max(x.abs()));
        assert_eq!(one(Op::Linf), largest.into());
        let Ok(Output::Summary(summary)) = map.output(Op::Stats, Finish::default()) else {
            panic!("stats are a summary")
        };
        assert_eq!((summary.count, summary.nan_count, summary.l1), (n as u64, 0, l1.into()));
        assert_eq!(summary.sum, exact_sum(values.iter().copied()).into());
        let index_of = |better: fn(&f64, &f64) -> bool| {
            (1..n).fold(0, |best, k| if better(&values[k], &values[best]) { k } else { best })
        };
        let (least, most) = (index_of(f64::lt), index_of(f64::gt));
        assert_eq!(summary.argmin, Some(least as u64));
        assert_eq!(summary.argmax, Some(most as u64));
        assert_eq!(summary.min, Some(values[least].into()));
        assert_eq!(summary.max, Some(values[most].into()));
    }
}

#[test]
fn products_of_integers_are_those_of_big_ones() {
    let Some(machine) = machine(2, 3) else { return };
    let mut random = Random(37);
    for n in [0, 1, 40, 1025] {
        let x = array::<i8>(Contents::Plain, n, &mut random);
        let on = machine.upload(&x).unwrap();
        // Ones and minus ones but for a few.
        let map = machine.map("select(x % 64 == 5, x, 1 - 2 * (x % 2))", [("x", &on)]);
        let value = |x: i64| if x.rem_euclid(64) == 5 { x } else { 1 - 2 * x.rem_euclid(2) };
        let product: BigInt = x.iter().map(|&x| BigInt::from(value(x.into()))).product();
        let found = map.grid(GRID).output(Op::Prod, Finish::default());
        match i64::try_from(&product) {
            Ok(product) => assert_eq!(found, Ok(Output::One(product.into())), "{n}"),
            Err(_) => assert!(found.is_err(), "{n}: {found:?} for {product}"),
        }
    }
}

/// Weighted variances and logsumexp of numbers that kernels fold, and of those that they leave to the processor.
#[test]
fn what_lies_beyond_is_the_processors() {
    fn of<T: Element>(texts: &[&str], x: &[T]) {
        let Some(machine) = machine(2, 3) else { return };
        let on = machine.upload(x).unwrap();
        let wanted: Vec<Reduction> = texts.iter().map(|text| text.parse().unwrap()).collect();
        for keep in [None, Some("x > 0")] {
            let map = Map::all(&wanted, keep, &[("x", T::DTYPE)], Policy::default()).unwrap();
            let here = map.fold(&[HostArray::of(x)], 0).unwrap();
            let here = map.results(&here, Finish::default());
            let mut there = machine.map("x", [("x", &on)]).grid(GRID);
            if let Some(keep) = keep {
                there = there.where_(keep);
            }
            let there = there.all(texts).unwrap();
            for ((name, here), (_, there)) in here.iter().zip(there.iter()) {
                assert!(same(here, there), "{name} where {keep:?}: {there:?}, and here {here:?}");
            }
        }
    }
    let texts = ["logsumexp(x)", "var(x, weights=select(abs(x) < 1e300, 0.5, 0.25))"];
    let mut x: Vec<f64> = (0..2000).map(|k| f64::from(k % 97) / 7.0 - 5.0).collect();
    of(&texts, &x);
    x[77] = f64::NEG_INFINITY;
    of(&texts[..1], &x);
    for special in [700.0, -700.0, 1e-200, 1e200, f64::INFINITY, f64::NAN, 256.0, 256.5] {
        x[1234] = special;
        of(&texts, &x);
    }
    let x: Vec<f32> = (0..1500).map(|k| (k % 89) as f32 / 9.0 - 4.0).collect();
    of(&["logsumexp(x)", "std(x, weights=abs(x), ddof=2)"], &x);
}

/// e^x for few values, by exact integers of 2^-120 and a logarithm of f64.
#[test]
fn logsumexp_of_equal_numbers_is_known() {
    let Some(machine) = machine(2, 3) else { return };
    for n in [1usize, 1024, 4096] {
        let on = machine.upload(&vec![0f32; n]).unwrap();
        let found = machine.map("x", [("x", &on)]).grid(GRID).all(&["logsumexp(x)"]).unwrap();
        // The sum of ones is n, and its logarithm a multiple of that of two.
        let value = match found[0] {
            Ok(Output::One(Value::F32(value))) => value,
            ref other => panic!("{other:?}"),
        };
        let expected = (f64::from(n.ilog2()) * std::f64::consts::LN_2) as f32;
        assert_eq!(value.to_bits(), expected.to_bits());
    }
}
