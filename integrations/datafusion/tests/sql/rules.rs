//! NULL, NaN, infinities, overflow, DISTINCT, FILTER, types.

use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;

use crate::table::{batch, columns, context, in_memory, shuffled};
use crate::{refusal, row, rows};

fn double(value: f64) -> ScalarValue {
    ScalarValue::Float64(Some(value))
}

async fn one(context: &SessionContext, sql: &str) -> ScalarValue {
    row(context, sql).await.remove(0)
}

#[tokio::test]
async fn nothing_is_null() {
    let context = context(2);
    let all = "exact_sum(x), exact_avg(x), exact_var(x), exact_var_pop(x), exact_stddev(x), exact_stddev_pop(x), exact_dot(x, x)";
    for from in ["(VALUES (1.5)) AS t(x) WHERE x > 2", "(VALUES (CAST(NULL AS DOUBLE))) AS t(x)"] {
        let found = row(&context, &format!("SELECT {all} FROM {from}")).await;
        assert_eq!(found, vec![ScalarValue::Float64(None); 7], "{from}");
    }
    let found = row(&context, &format!("SELECT {all} FROM (VALUES (1.5), (NULL)) AS t(x)")).await;
    let null = ScalarValue::Float64(None);
    let expected =
        [double(1.5), double(1.5), null.clone(), double(0.0), null, double(0.0), double(2.25)];
    assert_eq!(found, expected);
    let sql = "SELECT g, exact_sum(x), exact_var(x) FROM (VALUES (1, NULL), (2, 3.0), (2, 5.0), (3, 1.0)) AS t(g, x) GROUP BY g ORDER BY g";
    let int = |value| ScalarValue::Int64(Some(value));
    let null = ScalarValue::Float64(None);
    let expected = vec![
        vec![int(1), null.clone(), null.clone()],
        vec![int(2), double(8.0), double(2.0)],
        vec![int(3), double(1.0), null],
    ];
    assert_eq!(rows(&context, sql).await, expected);
    assert_eq!(one(&context, "SELECT exact_sum(NULL)").await, ScalarValue::Float64(None));
}

#[tokio::test]
async fn specials_and_zeros_are_as_in_the_contract() {
    let context = context(1);
    let sum = |values: &str| {
        format!("SELECT exact_sum(CAST(x AS DOUBLE)) FROM (VALUES {values}) AS t(x)")
    };
    let by = |values: &str| format!("{} GROUP BY 1 = 1", sum(values));
    let queries: [&dyn Fn(&str) -> String; 2] = [&sum, &by];
    for sql in queries {
        assert_eq!(one(&context, &sql("('inf'), ('1')")).await, double(f64::INFINITY));
        let ScalarValue::Float64(Some(nan)) = one(&context, &sql("('inf'), ('-inf')")).await else {
            panic!()
        };
        assert_eq!(nan.to_bits(), 0x7ff8_0000_0000_0000);
        let ScalarValue::Float64(Some(nan)) = one(&context, &sql("('NaN'), ('-inf')")).await else {
            panic!()
        };
        assert_eq!(nan.to_bits(), 0x7ff8_0000_0000_0000);
        let ScalarValue::Float64(Some(zero)) = one(&context, &sql("('-0.0'), ('-0.0')")).await
        else {
            panic!()
        };
        assert_eq!(zero.to_bits(), 0);
        // Beyond the largest float on the way, and not at the end.
        assert_eq!(one(&context, &sql("('1e308'), ('1e308'), ('-1e308')")).await, double(1e308));
        assert_eq!(one(&context, &sql("('1e308'), ('1e308')")).await, double(f64::INFINITY));
    }
}

#[tokio::test]
async fn overflow_is_an_error_and_judged_on_the_result() {
    let context = context(1);
    let values = "(VALUES (9223372036854775807), (1), (-1)) AS t(x)";
    for group in ["", " GROUP BY 1 = 1"] {
        let fits = one(&context, &format!("SELECT exact_sum(x) FROM {values}{group}")).await;
        assert_eq!(fits, ScalarValue::Int64(Some(i64::MAX)));
        let sql = format!("SELECT exact_sum(x) FROM {values} WHERE x > 0{group}");
        let why = refusal(&context, &sql).await;
        assert!(why.contains("exact_sum: the exact result is beyond Int64"), "{why}");
        let sql = format!("SELECT exact_dot(x, x) FROM {values}{group}");
        let why = refusal(&context, &sql).await;
        assert!(why.contains("exact_dot: the exact result is beyond Int64"), "{why}");
        let nines = "99999999999999999999999999999999999999";
        let decimals = format!(
            "(SELECT CAST(c AS DECIMAL(38, 0)) AS x FROM (VALUES ('{nines}'), ('1')) AS t(c))"
        );
        let why = refusal(&context, &format!("SELECT exact_sum(x) FROM {decimals}{group}")).await;
        assert!(why.contains("100000000000000000000000000000000000000"), "{why}");
        let mean = one(&context, &format!("SELECT exact_avg(x) FROM {decimals}{group}")).await;
        assert_eq!(mean, double(5e37));
        // Variances of integers of 64 bits go beyond 128 in their groups.
        let wide = "(VALUES (9223372036854775807), (-9223372036854775807), (9223372036854775807), (-9223372036854775807), (9223372036854775807)) AS t(x)";
        let var = one(&context, &format!("SELECT exact_var_pop(x) FROM {wide}{group}")).await;
        // 24/25 of (2^63 - 1)², whose nearest float that of 2^126 is.
        assert_eq!(var, double(0.96 * 2f64.powi(126)));
    }
}

#[tokio::test]
async fn distinct_and_filter() {
    let context = context(2);
    let from = "(VALUES (1.5), (1.5), (-0.0), (0.0), (2.25), (NULL)) AS t(x)";
    // Alone, which the engine turns into groups, and beside another distinct aggregate, which it does not.
    assert_eq!(
        one(&context, &format!("SELECT exact_sum(DISTINCT x) FROM {from}")).await,
        double(3.75)
    );
    let sql = format!(
        "SELECT exact_sum(DISTINCT x), exact_avg(DISTINCT x), exact_var_pop(DISTINCT x), exact_sum(x), exact_dot(DISTINCT x, x), count(DISTINCT -x) FROM {from}"
    );
    let found = row(&context, &sql).await;
    assert_eq!(found[..4], [double(3.75), double(1.25), double(0.875), double(5.25)]);
    assert_eq!(found[4], double(7.3125));
    let by = format!(
        "SELECT exact_sum(DISTINCT x), exact_avg(DISTINCT x) FROM {from} GROUP BY x > 1 ORDER BY 1"
    );
    assert_eq!(
        rows(&context, &by).await,
        [
            [double(0.0), double(0.0)],
            [double(3.75), double(1.875)],
            [ScalarValue::Float64(None), ScalarValue::Float64(None)]
        ]
    );
    let sql = format!(
        "SELECT exact_sum(x) FILTER (WHERE x > 1), exact_sum(x) FILTER (WHERE x > 9) FROM {from}"
    );
    assert_eq!(row(&context, &sql).await, [double(5.25), ScalarValue::Float64(None)]);
    let sql = format!(
        "SELECT exact_sum(x) FILTER (WHERE x > 1), exact_sum(x) FILTER (WHERE x > 9) FROM {from} GROUP BY x > 9 ORDER BY 1"
    );
    assert_eq!(
        row(&context, &format!("{sql} LIMIT 1")).await,
        [double(5.25), ScalarValue::Float64(None)]
    );
}

/// Of several partitions, distinct values met in each.
#[tokio::test]
async fn distinct_values_of_many_partitions_count_once() {
    let (one_part, batched_parts) = (context(1), context(8));
    let all = batch(&columns());
    in_memory(&one_part, &all, 1);
    in_memory(&batched_parts, &shuffled(&all, 4), 8);
    let sql = "SELECT exact_sum(DISTINCT n), exact_avg(DISTINCT k), exact_sum(DISTINCT x), exact_var(DISTINCT f), exact_sum(DISTINCT d) FROM t";
    let found = row(&one_part, sql).await;
    assert_eq!(row(&batched_parts, sql).await, found);
    let values = columns().n.into_iter().flatten().collect::<std::collections::BTreeSet<u32>>();
    let sum: u64 = values.into_iter().map(u64::from).sum();
    assert_eq!(found[..2], [ScalarValue::UInt64(Some(sum)), double(18.0)]);
}

#[tokio::test]
async fn types_are_taken_without_loss_or_refused() {
    let context = context(1);
    let from = "(VALUES (1, true, 'a'), (2, true, 'b')) AS t(i, b, s)";
    // Casts stand apart, as the engine names results without them.
    let types = format!(
        "SELECT exact_sum(a), exact_sum(u), exact_sum(r), exact_sum(b), exact_avg(b), exact_sum(h), exact_sum(d), exact_sum(c), exact_dot(j, 0.5)
        FROM (SELECT CAST(i AS SMALLINT) AS a, CAST(i AS INT UNSIGNED) AS u, CAST(i AS REAL) AS r, b, arrow_cast(i, 'Float16') AS h,
        arrow_cast(i, 'Dictionary(Int32, Int64)') AS d, CAST(i AS DECIMAL(9, 2)) AS c, CAST(i AS INT) AS j FROM {from})"
    );
    let expected = [
        ScalarValue::Int64(Some(3)),
        ScalarValue::UInt64(Some(3)),
        ScalarValue::Float32(Some(3.0)),
        ScalarValue::Int64(Some(2)),
        double(1.0),
        ScalarValue::Float32(Some(3.0)),
        ScalarValue::Int64(Some(3)),
        ScalarValue::Decimal128(Some(300), 38, 2),
        double(1.5),
    ];
    assert_eq!(row(&context, &types).await, expected);
    for (sql, why) in [
        ("exact_sum(s)", "exact_sum of Utf8"),
        ("exact_var(CAST(i AS DECIMAL(9, 2)))", "exact_var of Decimal"),
        ("exact_dot(i, 0.5)", "no type holds both without loss"),
        ("exact_dot(i)", "exact_dot takes two columns"),
        ("exact_sum(i, i)", "exact_sum takes one column"),
        ("exact_sum(now())", "exact_sum of Timestamp"),
    ] {
        let found = refusal(&context, &format!("SELECT {sql} FROM {from}")).await;
        assert!(found.contains(why), "{sql}: {found}");
    }
}
