//! One scheduler and two executors, each a process of its own, over loopback: results have the bits of one process, at any number of partitions, and
//! when an executor is killed.

mod processes;
mod rows;

use std::time::{Duration, Instant};

use datafusion::arrow::array::{AsArray, RecordBatch};
use datafusion::arrow::datatypes::Float64Type;
use datafusion::arrow::util::pretty::pretty_format_batches;
use datafusion::prelude::{SessionConfig, SessionContext};

use processes::Cluster;
use rows::Rows;

const QUERIES: [&str; 4] = [
    "SELECT exact_sum(x) AS a, exact_avg(x) AS b, exact_var(x) AS c, exact_stddev_pop(x) AS d FROM t",
    "SELECT exact_sum(n) AS a, exact_dot(x, y) AS b, exact_sum(DISTINCT n) AS c, exact_avg(x) FILTER (WHERE n > 0) AS d FROM t",
    "SELECT k, exact_sum(x) AS a, exact_avg(x) AS b, exact_var(x) AS c, count(*) AS d FROM t GROUP BY k ORDER BY k",
    "SELECT exact_sum(t.x) AS a, exact_sum(s.b) AS b FROM t JOIN (SELECT k, exact_avg(y) AS b FROM t GROUP BY k) s ON t.k = s.k",
];

/// Rows that take some seconds, of which many are done when an executor dies.
const LONG: &str = "SELECT t.k, exact_sum(t.x * s.n) AS a, exact_avg(t.y) AS b FROM t CROSS JOIN (SELECT n FROM t WHERE y < 3) s GROUP BY t.k ORDER BY t.k";

fn config(partitions: usize) -> SessionConfig {
    SessionConfig::new().with_target_partitions(partitions)
}

/// Every value with all its digits, which tell each float from its neighbours.
async fn result(context: &SessionContext, query: &str) -> Result<String, String> {
    let text = |error: datafusion::error::DataFusionError| error.to_string();
    let batches: Vec<RecordBatch> =
        context.sql(query).await.map_err(text)?.collect().await.map_err(text)?;
    Ok(pretty_format_batches(&batches).map_err(|error| error.to_string())?.to_string())
}

async fn alone(rows: &Rows) -> SessionContext {
    let mut context = SessionContext::new_with_config(config(1));
    warpfold_datafusion::register(&mut context).unwrap();
    rows.register(&context).await;
    context
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cluster_has_the_bits_of_one_process() {
    let rows = Rows::write(8, 3000);
    let alone = alone(&rows).await;
    let sum = alone.sql("SELECT exact_sum(x) FROM t").await.unwrap().collect().await.unwrap();
    assert_eq!(sum[0].column(0).as_primitive::<Float64Type>().value(0), rows.sum());
    let cluster = Cluster::start(Duration::from_secs(20));
    for partitions in [1, 2, 8] {
        let context = cluster.connect(config(partitions)).await;
        rows.register(&context).await;
        for query in QUERIES {
            let expected = result(&alone, query).await.unwrap();
            assert_eq!(result(&context, query).await.unwrap(), expected, "{partitions}: {query}");
        }
    }
    // What one process refuses, a cluster refuses.
    let context = cluster.connect(config(2)).await;
    rows.register(&context).await;
    let error = result(&context, "SELECT exact_sum(n * 0 + 9223372036854775807) FROM t").await;
    assert!(
        error.clone().unwrap_err().contains("exact_sum: the exact result is beyond Int64"),
        "{error:?}"
    );
    let worked = cluster.worked();
    assert!(worked.iter().all(|&did| did), "an executor had nothing to do: {worked:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_query_survives_a_killed_executor() {
    let rows = Rows::write(8, 3000);
    let expected = result(&alone(&rows).await, LONG).await.unwrap();
    let mut cluster = Cluster::start(Duration::from_secs(6));
    let context = cluster.connect(config(8)).await;
    rows.register(&context).await;
    let begun = Instant::now();
    let query = tokio::spawn(async move { result(&context, LONG).await });
    // Killed once it has written a partition that others are to read.
    while !cluster.worked()[0] {
        assert!(!query.is_finished(), "the query was over before anything was written");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    cluster.kill(0);
    assert!(!query.is_finished(), "the query was over before the executor died");
    let found = tokio::time::timeout(Duration::from_secs(240), query).await;
    let found = found.expect("a query ends when an executor dies").unwrap();
    assert_eq!(found.unwrap(), expected);
    eprintln!("survived: {} ms", begun.elapsed().as_millis());
}
