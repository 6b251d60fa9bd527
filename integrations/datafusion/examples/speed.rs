//! `exact_sum` beside the engine's own `sum`, in memory: ungrouped, and by few and by many keys. Prints JSON.
//!
//! `cargo run --release --example speed -- [ROWS] [ROUNDS]`

mod measure;

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use datafusion::datasource::MemTable;
use datafusion::error::Result;
use datafusion::prelude::{SessionConfig, SessionContext};
use measure::{alternate, beside, circumstances};
use serde_json::json;

/// Rows of a batch: the engine's own.
const BATCH: usize = 8192;

fn table(rows: usize, partitions: usize) -> Result<MemTable> {
    let mut state = 1u64;
    let mut next = move || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        state ^ state >> 31
    };
    let mut batch = || {
        let words: Vec<u64> = (0..BATCH).map(|_| next()).collect();
        // Of both signs, over some twenty binary orders of magnitude.
        let x = words.iter().map(|&word| {
            (word >> 11) as i64 as f64 * 2f64.powi((word & 15) as i32 - 60) - 2f64.powi(-8)
        });
        let columns: [(&str, ArrayRef); 4] = [
            ("x", Arc::new(Float64Array::from_iter_values(x))),
            (
                "few",
                Arc::new(Int64Array::from_iter_values(
                    words.iter().map(|w| (w >> 33) as i64 % 100),
                )),
            ),
            (
                "many",
                Arc::new(Int64Array::from_iter_values(
                    words.iter().map(|w| (w >> 30) as i64 % 100_000),
                )),
            ),
            (
                "most",
                Arc::new(Int64Array::from_iter_values(
                    words.iter().map(|w| (w >> 20) as i64 % 1_000_000),
                )),
            ),
        ];
        RecordBatch::try_from_iter(columns)
    };
    let mut parts = vec![Vec::new(); partitions];
    for k in 0..rows.div_ceil(BATCH) {
        parts[k % partitions].push(batch()?);
    }
    MemTable::try_new(parts[0][0].schema(), parts)
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<usize>().ok());
    let (rows, rounds) = (numbers.next().unwrap_or(10_000_000), numbers.next().unwrap_or(9));
    let mut cells = Vec::new();
    for partitions in [1, 2] {
        let mut context = SessionContext::new_with_config(
            SessionConfig::new().with_target_partitions(partitions),
        );
        warpfold_datafusion::register(&mut context)?;
        context.register_table("t", Arc::new(table(rows, partitions)?))?;
        for (name, by) in [
            ("ungrouped", ""),
            ("100 keys", "few"),
            ("100000 keys", "many"),
            ("1000000 keys", "most"),
        ] {
            // The groups are counted, so that none is printed or kept.
            let query = |sum: &str| match by {
                "" => format!("SELECT {sum}(x) FROM t"),
                key => format!("SELECT count(s) FROM (SELECT {sum}(x) AS s FROM t GROUP BY {key})"),
            };
            let queries = [
                query("exact_sum"),
                query("sum"),
                query("exact_avg"),
                query("avg"),
                query("exact_var"),
                query("var_samp"),
            ];
            let queries: Vec<&str> = queries.iter().map(String::as_str).collect();
            let seconds = alternate(&context, &queries, rounds).await?;
            for (pair, function) in seconds.chunks(2).zip(["sum", "avg", "var"]) {
                let mut cell = beside(&pair[0], &pair[1]);
                cell["function"] = json!(function);
                cell["groups"] = json!(name);
                cell["partitions"] = json!(partitions);
                eprintln!("{cell}");
                cells.push(cell);
            }
        }
    }
    let all = json!({ "circumstances": circumstances(), "rows": rows, "cells": cells });
    println!("{}", serde_json::to_string_pretty(&all).expect("it is JSON"));
    Ok(())
}
