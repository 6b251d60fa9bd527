//! Whole columns: every function and type, in every layout.

use datafusion::common::ScalarValue;

use crate::reference::{Ratio, f32_of, f64_of, root_of, sum, variance};
use crate::row;
use crate::table::{Columns, batch, columns, context, in_files, in_memory, shuffled};

const ALL: &str = "SELECT exact_sum(x), exact_avg(x), exact_var(x), exact_var_pop(x), exact_stddev(x), exact_stddev_pop(x), exact_dot(x, y),
    exact_sum(f), exact_avg(f), exact_dot(f, f), exact_dot(f, y), exact_sum(i), exact_avg(i), exact_var(i), exact_stddev(i),
    exact_sum(u), exact_avg(u), exact_dot(n, n), exact_sum(n), exact_var_pop(n), exact_sum(d), exact_avg(d) FROM t";

pub(crate) fn ratios<T: Copy>(all: &[Option<T>], of: impl Fn(T) -> Ratio) -> Vec<Ratio> {
    all.iter().flatten().map(|&x| of(x)).collect()
}

fn integer<T: Into<num_bigint::BigInt>>(x: T) -> Ratio {
    Ratio::new(x.into(), 1.into())
}

/// What the query of all functions gives.
fn expected(c: &Columns) -> Vec<ScalarValue> {
    let x = ratios(&c.x, Ratio::of);
    let f = ratios(&c.f, |f| Ratio::of(f.into()));
    let i = ratios(&c.i, integer);
    let u = ratios(&c.u, integer);
    let n = ratios(&c.n, integer);
    let d = ratios(&c.d, integer);
    let both = |a: &[Option<f64>]| {
        let pairs = a.iter().zip(&c.y).filter_map(|(&a, &y)| Some((a?, y?)));
        sum(&pairs.map(|(a, y)| Ratio::of(a).times(&Ratio::of(y))).collect::<Vec<_>>())
    };
    let squares = |all: &[Ratio]| sum(&all.iter().map(|x| x.times(x)).collect::<Vec<_>>());
    let f_wide: Vec<Option<f64>> = c.f.iter().map(|f| f.map(f64::from)).collect();
    let mean = |all: &[Ratio]| sum(all).over(all.len() as i64);
    let double = |x: &Ratio| ScalarValue::Float64(Some(f64_of(x)));
    let real = |x: &Ratio| ScalarValue::Float32(Some(f32_of(x)));
    let root = |x: &Ratio| ScalarValue::Float64(Some(root_of(x)));
    let signed = |x: &Ratio| ScalarValue::Int64(Some(i64::try_from(x.integer()).unwrap()));
    let unsigned = |x: &Ratio| ScalarValue::UInt64(Some(u64::try_from(x.integer()).unwrap()));
    vec![
        double(&sum(&x)),
        double(&mean(&x)),
        double(&variance(&x, 1)),
        double(&variance(&x, 0)),
        root(&variance(&x, 1)),
        root(&variance(&x, 0)),
        double(&both(&c.x)),
        real(&sum(&f)),
        real(&mean(&f)),
        real(&squares(&f)),
        double(&both(&f_wide)),
        signed(&sum(&i)),
        double(&mean(&i)),
        double(&variance(&i, 1)),
        root(&variance(&i, 1)),
        unsigned(&sum(&u)),
        double(&mean(&u)),
        unsigned(&squares(&n)),
        unsigned(&sum(&n)),
        double(&variance(&n, 0)),
        ScalarValue::Decimal128(Some(i128::try_from(sum(&d).integer()).unwrap()), 38, 3),
        double(&mean(&d).over(1000)),
    ]
}

#[tokio::test]
async fn results_are_exact_in_any_layout() {
    let columns = columns();
    let (batch, expected) = (batch(&columns), expected(&columns));
    for partitions in [1, 2, 8] {
        let context = context(partitions);
        for seed in [0, 5] {
            let rows = if seed == 0 { batch.clone() } else { shuffled(&batch, seed) };
            in_memory(&context, &rows, partitions);
            assert_eq!(row(&context, ALL).await, expected, "{partitions} partitions, {seed}");
        }
        for (files, seed) in [(1, 1), (3, 2), (8, 3)] {
            let folder = tempfile::tempdir().unwrap();
            in_files(&context, &shuffled(&batch, seed), files, folder.path()).await;
            assert_eq!(
                row(&context, ALL).await,
                expected,
                "{partitions} partitions, {files} files"
            );
        }
    }
}

/// The tables are such that the engine's own sum depends on the layout; else the test above would say little.
#[tokio::test]
async fn the_own_sum_depends_on_the_layout() {
    let batch = batch(&columns());
    let mut sums = Vec::new();
    for partitions in [1, 2, 8] {
        let context = context(partitions);
        for seed in [5, 6, 7] {
            in_memory(&context, &shuffled(&batch, seed), partitions);
            sums.push(row(&context, "SELECT sum(x) FROM t").await);
        }
    }
    assert!(sums.iter().any(|sum| *sum != sums[0]), "{sums:?}");
}
