//! Groups: small states, wide ones, states merged, groups emitted early.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::common::ScalarValue;
use datafusion::datasource::MemTable;
use datafusion::prelude::{SessionContext, col};

use crate::layouts::ratios;
use crate::reference::{Ratio, f64_of, root_of, sum, variance};
use crate::table::{Columns, GROUPS, batch, columns, context, in_memory, shuffled};
use crate::{bits, plan, rows};

const BY_K: &str = "SELECT k, exact_sum(x), exact_avg(x), exact_var(x), exact_stddev_pop(x), exact_dot(x, y), exact_sum(i), exact_avg(i),
    exact_var(n), exact_sum(d), exact_avg(f), exact_dot(i, n), exact_sum(u) FROM t GROUP BY k ORDER BY k";

/// Columns of one group.
fn of_group(columns: &Columns, group: usize) -> Columns {
    fn every<T: Copy>(all: &[T], group: usize) -> Vec<T> {
        all.iter().skip(group).step_by(GROUPS).copied().collect()
    }
    Columns {
        k: every(&columns.k, group),
        wide: every(&columns.wide, group),
        x: every(&columns.x, group),
        y: every(&columns.y, group),
        f: every(&columns.f, group),
        i: every(&columns.i, group),
        u: every(&columns.u, group),
        n: every(&columns.n, group),
        d: every(&columns.d, group),
    }
}

fn integer<T: Into<num_bigint::BigInt>>(x: T) -> Ratio {
    Ratio::new(x.into(), 1.into())
}

fn expected(columns: &Columns, group: usize) -> Vec<ScalarValue> {
    let c = of_group(columns, group);
    let x = ratios(&c.x, Ratio::of);
    let i = ratios(&c.i, integer);
    let n = ratios(&c.n, integer);
    let f = ratios(&c.f, |f| Ratio::of(f.into()));
    let dot = c.x.iter().zip(&c.y).filter_map(|(&x, &y)| Some((x?, y?)));
    let dot: Vec<Ratio> = dot.map(|(x, y)| Ratio::of(x).times(&Ratio::of(y))).collect();
    let products = c.i.iter().zip(&c.n).filter_map(|(&i, &n)| Some((i?, n?)));
    let products: Vec<Ratio> =
        products.map(|(i, n)| integer(i128::from(i) * i128::from(n))).collect();
    let double = |x: &Ratio| ScalarValue::Float64(Some(f64_of(x)));
    let mean = |all: &[Ratio]| sum(all).over(all.len() as i64);
    let signed = |x: &Ratio| ScalarValue::Int64(Some(i64::try_from(x.integer()).unwrap()));
    vec![
        ScalarValue::Int32(Some(group as i32)),
        double(&sum(&x)),
        double(&mean(&x)),
        double(&variance(&x, 1)),
        ScalarValue::Float64(Some(root_of(&variance(&x, 0)))),
        double(&sum(&dot)),
        signed(&sum(&i)),
        double(&mean(&i)),
        double(&variance(&n, 1)),
        ScalarValue::Decimal128(
            Some(i128::try_from(sum(&ratios(&c.d, integer)).integer()).unwrap()),
            38,
            3,
        ),
        ScalarValue::Float32(Some(crate::reference::f32_of(&mean(&f)))),
        signed(&sum(&products)),
        ScalarValue::UInt64(Some(u64::try_from(sum(&ratios(&c.u, integer)).integer()).unwrap())),
    ]
}

#[tokio::test]
async fn groups_are_exact_in_any_layout() {
    let columns = columns();
    let batch = batch(&columns);
    let expected: Vec<_> = (0..GROUPS).map(|group| expected(&columns, group)).collect();
    for partitions in [1, 2, 8] {
        let context = context(partitions);
        for seed in [0, 9] {
            let all = if seed == 0 { batch.clone() } else { shuffled(&batch, seed) };
            in_memory(&context, &all, partitions);
            assert_eq!(rows(&context, BY_K).await, expected, "{partitions} partitions, {seed}");
        }
    }
}

/// The sums of column `wide`'s groups; the first of them is null where all its rows are.
fn by_wide(columns: &Columns) -> BTreeMap<i64, Option<u64>> {
    let mut groups: BTreeMap<i64, Vec<Ratio>> = BTreeMap::new();
    for (&key, x) in columns.wide.iter().zip(&columns.x) {
        groups.entry(key).or_default().extend(x.map(Ratio::of));
    }
    let sum = |all: Vec<Ratio>| (!all.is_empty()).then(|| f64_of(&sum(&all)).to_bits());
    groups.into_iter().map(|(key, all)| (key, sum(all))).collect()
}

async fn sums_by_wide(context: &SessionContext, filter: &str) -> BTreeMap<i64, Option<u64>> {
    let sql = format!("SELECT wide, exact_sum(x){filter} FROM t GROUP BY wide");
    let one = |row: &Vec<ScalarValue>| match &row[..] {
        [ScalarValue::Int64(Some(key)), sum] => (*key, (!sum.is_null()).then(|| bits(sum))),
        other => panic!("{other:?}"),
    };
    rows(context, &sql).await.iter().map(one).collect()
}

/// With nearly as many groups as rows the first phase gives up and passes a state a row on.
#[tokio::test]
async fn rows_passed_on_as_states_are_exact() {
    let columns = columns();
    let expected = by_wide(&columns);
    assert!(expected.values().any(Option::is_none), "some group has nothing but nulls");
    let context = context(2);
    let set = "SET datafusion.execution.skip_partial_aggregation_probe";
    for sql in [format!("{set}_rows_threshold = 1000"), format!("{set}_ratio_threshold = 0.1")] {
        context.sql(&sql).await.unwrap().collect().await.unwrap();
    }
    in_memory(&context, &batch(&columns), 2);
    assert_eq!(sums_by_wide(&context, "").await, expected);
    let sql = "EXPLAIN ANALYZE SELECT wide, exact_sum(x) FROM t GROUP BY wide";
    let plan = plan(&context, sql).await;
    let skipped = plan.split("skipped_aggregation_rows=").nth(1).expect(&plan);
    assert!(!skipped.starts_with("0,") && !skipped.starts_with("0]"), "{plan}");
    // The same with a filter that passes everything but nulls, which is folded into the states.
    assert_eq!(sums_by_wide(&context, " FILTER (WHERE x IS NOT NULL)").await, expected);
}

/// Rows that come sorted by their keys let groups out before the end, and those that remain get new numbers.
#[tokio::test]
async fn groups_let_out_early_are_exact() {
    let columns = columns();
    let context = context(1);
    in_memory(&context, &batch(&columns), 1);
    let sorted = context.sql("SELECT k, x FROM t ORDER BY k").await.unwrap();
    let schema = Arc::new(sorted.schema().as_arrow().clone());
    let parts = vec![sorted.collect().await.unwrap()];
    let table = MemTable::try_new(schema, parts).unwrap();
    let table = table.with_sort_order(vec![vec![col("k").sort(true, true)]]);
    context.register_table("sorted", Arc::new(table)).unwrap();
    let sql = "SELECT k, exact_sum(x), exact_var(x) FROM sorted GROUP BY k";
    let plan = plan(&context, &format!("EXPLAIN {sql}")).await;
    assert!(plan.contains("ordering_mode=Sorted"), "{plan}");
    let found = rows(&context, sql).await;
    assert_eq!(found.len(), GROUPS);
    for row in found {
        let ScalarValue::Int32(Some(group)) = row[0] else { panic!("{row:?}") };
        let x = ratios(&of_group(&columns, group as usize).x, Ratio::of);
        assert_eq!(bits(&row[1]), f64_of(&sum(&x)).to_bits(), "group {group}");
        assert_eq!(bits(&row[2]), f64_of(&variance(&x, 1)).to_bits(), "group {group}");
    }
}
