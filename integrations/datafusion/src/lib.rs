//! Exact, reproducible aggregate functions for [DataFusion](https://datafusion.apache.org), and so for SQL: the same bits however many
//! partitions, threads, files and machines there are, and in whatever order rows arrive. Sums are rounded once.
//!
//! | function | result |
//! |---|---|
//! | `exact_sum(x)` | BIGINT of integers, checked; REAL of REAL; DOUBLE of DOUBLE; DECIMAL(38, s) of DECIMAL, checked |
//! | `exact_avg(x)` | DOUBLE, REAL of REAL |
//! | `exact_var(x)`, `exact_var_pop(x)` | the variance of a sample (over n − 1) and of a population; DOUBLE, REAL of REAL |
//! | `exact_stddev(x)`, `exact_stddev_pop(x)` | its root, rounded once from the exact variance |
//! | `exact_dot(x, y)` | Σxy, as sums |
//!
//! ```
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! use datafusion::prelude::SessionContext;
//! let mut context = SessionContext::new();
//! warpfold_datafusion::register(&mut context)?;
//! let sum = "SELECT exact_sum(x) FROM (VALUES (1e16), (1.0), (-1e16)) AS t(x)";
//! let batches = context.sql(sum).await?.collect().await?;
//! assert_eq!(batches[0].column(0).as_any().downcast_ref::<datafusion::arrow::array::Float64Array>().unwrap().value(0), 1.0);
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Rows without a value are left out, of `exact_dot` where either is missing. Of no rows, and of one where a sample's variance is asked for,
//! the result is NULL. DISTINCT, FILTER, GROUP BY and window frames work as for the engine's own functions; frames that slide take rows out
//! exactly. NaN, infinities, overflow and zeros are as in warpfold's contract: an integer result that does not fit is an error.

mod cell;
mod column;
mod decimal;
mod distinct;
mod function;
mod groups;
mod number;
mod sliding;
mod slot;
mod slots;
mod task;
mod whole;

use std::sync::Arc;

use datafusion_common::Result;
use datafusion_expr::AggregateUDF;
use datafusion_expr::registry::FunctionRegistry;

pub use function::{Exact, Function};

/// The functions, to be registered where an engine wants them one by one (Ballista's schedulers and executors).
pub fn functions() -> Vec<Arc<AggregateUDF>> {
    let all = Function::ALL.iter().map(|&function| Exact::new(function));
    all.map(|exact| Arc::new(AggregateUDF::new_from_impl(exact))).collect()
}

/// Registers every function with a context or a session's state.
///
/// # Errors
/// What the registry says.
pub fn register(registry: &mut dyn FunctionRegistry) -> Result<()> {
    functions().into_iter().try_for_each(|function| registry.register_udaf(function).map(|_| ()))
}
