//! SQL through a session: results equal exact ones, to the last bit, whatever the partitions, files and orders.

mod grouped;
mod layouts;
mod reference;
mod rules;
mod table;
mod windows;

use datafusion::arrow::array::{ArrayRef, RecordBatch};
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::common::ScalarValue;
use datafusion::prelude::SessionContext;

/// All rows of a query.
async fn rows(context: &SessionContext, sql: &str) -> Vec<Vec<ScalarValue>> {
    let frame = context.sql(sql).await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let batches = frame.collect().await.unwrap_or_else(|error| panic!("{sql}: {error}"));
    let row = |batch: &RecordBatch, row: usize| {
        let cell = |column: &ArrayRef| ScalarValue::try_from_array(column, row).unwrap();
        batch.columns().iter().map(cell).collect::<Vec<_>>()
    };
    let each =
        |batch: &RecordBatch| (0..batch.num_rows()).map(|at| row(batch, at)).collect::<Vec<_>>();
    batches.iter().flat_map(each).collect()
}

/// The one row of a query.
async fn row(context: &SessionContext, sql: &str) -> Vec<ScalarValue> {
    let mut rows = rows(context, sql).await;
    assert_eq!(rows.len(), 1, "{sql}");
    rows.remove(0)
}

/// What a query is refused with.
async fn refusal(context: &SessionContext, sql: &str) -> String {
    match context.sql(sql).await {
        Err(error) => error.to_string(),
        Ok(frame) => frame.collect().await.expect_err(sql).to_string(),
    }
}

/// The text of a plan.
async fn plan(context: &SessionContext, sql: &str) -> String {
    let batches = context.sql(sql).await.unwrap().collect().await.unwrap();
    let text = |batch: &RecordBatch| {
        let options = FormatOptions::default();
        let column = ArrayFormatter::try_new(batch.column(1), &options).unwrap();
        (0..batch.num_rows()).map(|at| column.value(at).to_string()).collect::<String>()
    };
    batches.iter().map(text).collect()
}

/// Bits of an f64 that is there.
fn bits(value: &ScalarValue) -> u64 {
    match value {
        ScalarValue::Float64(Some(value)) => value.to_bits(),
        other => panic!("{other:?}"),
    }
}
