//! Aggregate functions for DuckDB, as an extension that it loads: exact, and the same bits for any number of threads and any order of rows.
//!
//! | function | of DOUBLE | of BIGINT, UBIGINT |
//! |---|---|---|
//! | `exact_sum(x)` | DOUBLE | the same type, checked |
//! | `exact_avg(x)` | DOUBLE | DOUBLE |
//! | `exact_var(x)`, `exact_stddev(x)` (over n − 1), `exact_var_pop(x)`, `exact_stddev_pop(x)` | DOUBLE | DOUBLE |
//!
//! The extension names functions of DuckDB's C interface and finds them in the library that loads it, so that it needs neither headers nor a
//! version of them at build time.

#[cfg(unix)]
mod api;
#[cfg(unix)]
mod calls;
#[cfg(unix)]
mod function;
#[cfg(unix)]
mod register;
#[cfg(unix)]
mod state;
