//! Window frames: growing ones, and sliding ones whose rows leave without a trace.

use datafusion::common::ScalarValue;

use crate::reference::{Ratio, f64_of, sum, variance};
use crate::rows;
use crate::table::{batch, columns, context, in_memory};

#[tokio::test]
async fn frames_are_exact() {
    let columns = columns();
    let context = context(2);
    in_memory(&context, &batch(&columns), 2);
    let frame = |frame: &str| format!("OVER (PARTITION BY k ORDER BY n, wide, y {frame})");
    let sliding = frame("ROWS BETWEEN 3 PRECEDING AND 1 FOLLOWING");
    let growing = frame("ROWS UNBOUNDED PRECEDING");
    let sql = format!(
        "SELECT x, exact_sum(x) {sliding}, exact_var(x) {sliding}, exact_sum(x) {growing}, exact_avg(x) {growing} FROM t WHERE k = 5 AND x IS NOT NULL ORDER BY n, wide, y"
    );
    let found = rows(&context, &sql).await;
    let value = |row: &Vec<ScalarValue>| match row[0] {
        ScalarValue::Float64(Some(x)) => Ratio::of(x),
        ref other => panic!("{other:?}"),
    };
    let x: Vec<Ratio> = found.iter().map(value).collect();
    assert!(x.len() > 200);
    let double = |x: &Ratio| ScalarValue::Float64(Some(f64_of(x)));
    for (at, row) in found.iter().enumerate() {
        let frame = &x[at.saturating_sub(3)..(at + 2).min(x.len())];
        let grown = &x[..=at];
        assert_eq!(row[1], double(&sum(frame)), "row {at}");
        assert_eq!(row[2], double(&variance(frame, 1)), "row {at}");
        assert_eq!(row[3], double(&sum(grown)), "row {at}");
        assert_eq!(row[4], double(&sum(grown).over(at as i64 + 1)), "row {at}");
    }
}

#[tokio::test]
async fn specials_leave_a_frame_as_they_came() {
    let context = context(1);
    let sql = "SELECT exact_sum(x) OVER (ORDER BY at ROWS BETWEEN 1 PRECEDING AND CURRENT ROW), exact_sum(i) OVER (ORDER BY at ROWS 1 PRECEDING),
        exact_dot(x, x) OVER (ORDER BY at ROWS 1 PRECEDING), exact_sum(m) OVER (ORDER BY at ROWS 1 PRECEDING)
        FROM (SELECT at, CAST(c AS DOUBLE) AS x, i, CAST(i AS DECIMAL(9, 1)) AS m FROM (VALUES (1, '1e100', 1), (2, 'NaN', 2), (3, '-inf', NULL), (4, 'inf', NULL), (5, '2', 3), (6, '-3', 4)) AS t(at, c, i))";
    let found = rows(&context, sql).await;
    let cell = |row: usize, column: usize| match found[row][column] {
        ScalarValue::Float64(Some(x)) => x,
        ref other => panic!("{other:?}"),
    };
    let sums: Vec<f64> = (0..6).map(|row| cell(row, 0)).collect();
    assert_eq!((sums[0], sums[4], sums[5]), (1e100, f64::INFINITY, -1.0));
    assert!(sums[1..4].iter().all(|sum| sum.is_nan()), "{sums:?}");
    let dots: Vec<f64> = (0..6).map(|row| cell(row, 2)).collect();
    assert_eq!((dots[0], dots[3], dots[4], dots[5]), (1e200, f64::INFINITY, f64::INFINITY, 13.0));
    assert!(dots[1..3].iter().all(|dot| dot.is_nan()), "{dots:?}");
    let expected = [Some(1), Some(3), Some(2), None, Some(3), Some(7)];
    for (row, expected) in found.iter().zip(expected) {
        assert_eq!(row[1], ScalarValue::Int64(expected));
        assert_eq!(row[3], ScalarValue::Decimal128(expected.map(|x| i128::from(x) * 10), 38, 1));
    }
}
