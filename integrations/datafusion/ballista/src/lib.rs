//! The functions of [`warpfold_datafusion`] on [Ballista](https://datafusion.apache.org/ballista/): a query has the same bits on one machine and on
//! a cluster, whatever executors there are and whichever of them fail on the way.
//!
//! A plan names its functions, so whoever reads one must know them: the client that writes SQL, the scheduler that cuts it into stages, and each
//! executor. Partial results travel between them as bytes that are exact.
//!
//! ```no_run
//! # tokio::runtime::Runtime::new()?.block_on(async {
//! let context = warpfold_ballista::connect("df://localhost:50050", Default::default()).await?;
//! context.register_parquet("sales", "sales/", Default::default()).await?;
//! context.sql("SELECT shop, exact_sum(price) FROM sales GROUP BY shop").await?.show().await?;
//! # Ok::<(), datafusion::error::DataFusionError>(())
//! # })?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::sync::Arc;

use ballista::prelude::{SessionConfigExt, SessionContextExt};
use ballista_core::registry::BallistaFunctionRegistry;
use ballista_core::utils::default_session_builder;
use ballista_executor::executor_process::ExecutorProcessConfig;
use ballista_scheduler::config::SchedulerConfig;
use datafusion::error::Result;
use datafusion::execution::SessionState;
use datafusion::prelude::{SessionConfig, SessionContext};

/// A session of Ballista's own with the functions.
///
/// # Errors
/// What the engine says.
pub fn session(config: SessionConfig) -> Result<SessionState> {
    let mut state = default_session_builder(config)?;
    warpfold_datafusion::register(&mut state)?;
    Ok(state)
}

/// A scheduler that knows the functions.
#[must_use]
pub fn scheduler(config: SchedulerConfig) -> SchedulerConfig {
    SchedulerConfig { override_session_builder: Some(Arc::new(session)), ..config }
}

/// An executor that knows the functions, beside those of a registry that it has.
#[must_use]
pub fn executor(config: ExecutorProcessConfig) -> ExecutorProcessConfig {
    let mut registry = BallistaFunctionRegistry::default();
    if let Some(own) = &config.override_function_registry {
        registry.scalar_functions.clone_from(&own.scalar_functions);
        registry.aggregate_functions.clone_from(&own.aggregate_functions);
        registry.window_functions.clone_from(&own.window_functions);
        registry.higher_order_functions.clone_from(&own.higher_order_functions);
    }
    for function in warpfold_datafusion::functions() {
        registry.aggregate_functions.insert(function.name().to_string(), function);
    }
    ExecutorProcessConfig { override_function_registry: Some(Arc::new(registry)), ..config }
}

/// A client of a scheduler (`df://HOST:PORT`) that knows the functions.
///
/// # Errors
/// What the engine says.
pub async fn connect(url: &str, config: SessionConfig) -> Result<SessionContext> {
    let state = default_session_builder(config.upgrade_for_ballista())?;
    let mut context = SessionContext::remote_with_state(url, state).await?;
    // A remote session begins with Ballista's own functions, whatever the state had.
    warpfold_datafusion::register(&mut context)?;
    Ok(context)
}
