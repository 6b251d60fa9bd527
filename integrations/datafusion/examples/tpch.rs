//! TPC-H Q1, Q6 and Q15 with exact aggregates: the same bits over any partitions and orders of files, and times beside the engine's own
//! functions. Prices are DOUBLE, as most data in Parquet files are, and the tables are generated here. Prints JSON; fails where bits differ.
//!
//! `cargo run --release --example tpch -- [SCALE FACTOR] [ROUNDS]`

mod measure;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, Field, Schema};
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::util::display::{ArrayFormatter, FormatOptions};
use datafusion::error::Result;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use measure::{alternate, beside, circumstances, run};
use parquet::arrow::ArrowWriter;
use serde_json::json;
use tpchgen::generators::{LineItemGenerator, SupplierGenerator};
use tpchgen_arrow::{LineItemArrow, SupplierArrow};

/// Files of the large table.
const FILES: i32 = 8;

/// The columns that the queries read.
const LINEITEM: [&str; 8] = [
    "l_suppkey",
    "l_quantity",
    "l_extendedprice",
    "l_discount",
    "l_tax",
    "l_returnflag",
    "l_linestatus",
    "l_shipdate",
];
const SUPPLIER: [&str; 4] = ["s_suppkey", "s_name", "s_address", "s_phone"];

/// The queries, with the names of the functions left open: `{sum}`, `{avg}`.
const QUERIES: [(&str, &str); 3] = [
    ("Q1", "SELECT l_returnflag, l_linestatus, {sum}(l_quantity), {sum}(l_extendedprice), {sum}(l_extendedprice * (1 - l_discount)),
        {sum}(l_extendedprice * (1 - l_discount) * (1 + l_tax)), {avg}(l_quantity), {avg}(l_extendedprice), {avg}(l_discount), count(*)
        FROM lineitem WHERE l_shipdate <= DATE '1998-12-01' - INTERVAL '90' DAY
        GROUP BY l_returnflag, l_linestatus ORDER BY l_returnflag, l_linestatus"),
    ("Q6", "SELECT {sum}(l_extendedprice * l_discount) FROM lineitem
        WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
        AND l_discount BETWEEN 0.0499999 AND 0.0700001 AND l_quantity < 24"),
    ("Q15", "WITH revenue AS (SELECT l_suppkey AS supplier_no, {sum}(l_extendedprice * (1 - l_discount)) AS total_revenue FROM lineitem
        WHERE l_shipdate >= DATE '1996-01-01' AND l_shipdate < DATE '1996-01-01' + INTERVAL '3' MONTH GROUP BY l_suppkey)
        SELECT s_suppkey, s_name, s_address, s_phone, total_revenue FROM supplier, revenue
        WHERE s_suppkey = supplier_no AND total_revenue = (SELECT max(total_revenue) FROM revenue) ORDER BY s_suppkey"),
];

fn exact(query: &str) -> String {
    query.replace("{sum}", "exact_sum").replace("{avg}", "exact_avg")
}

fn own(query: &str) -> String {
    query.replace("{sum}", "sum").replace("{avg}", "avg")
}

/// The columns named, decimals as DOUBLE.
fn narrowed(batch: &RecordBatch, columns: &[&str]) -> std::result::Result<RecordBatch, ArrowError> {
    let (mut fields, mut arrays) = (Vec::new(), Vec::new());
    for name in columns {
        let array = &batch[*name];
        let dtype = match array.data_type() {
            DataType::Decimal128(..) => DataType::Float64,
            other => other.clone(),
        };
        arrays.push(cast(array, &dtype)?);
        fields.push(Field::new(*name, dtype, false));
    }
    RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays)
}

fn write(
    path: &Path,
    batches: impl Iterator<Item = std::result::Result<RecordBatch, ArrowError>>,
    columns: &[&str],
) -> Result<u64> {
    let mut writer: Option<ArrowWriter<File>> = None;
    let mut rows = 0;
    for batch in batches {
        let batch = narrowed(&batch?, columns)?;
        rows += batch.num_rows() as u64;
        let writer = match &mut writer {
            Some(writer) => writer,
            none => none.insert(ArrowWriter::try_new(File::create(path)?, batch.schema(), None)?),
        };
        writer.write(&batch)?;
    }
    writer.map(ArrowWriter::close).transpose()?;
    Ok(rows)
}

/// A context over the files in one of their orders.
async fn context(folder: &Path, order: usize, partitions: usize) -> Result<SessionContext> {
    let names = folder.join(format!("order-{order}"));
    fs::create_dir_all(&names)?;
    for file in 0..FILES as usize {
        // The engine takes the files of a folder by their names.
        let place = (file * [1, 3, 5][order] + order) % FILES as usize;
        let (from, to) = (
            folder.join(format!("lineitem-{file}.parquet")),
            names.join(format!("{place}.parquet")),
        );
        if !to.exists() {
            fs::hard_link(from, to)?;
        }
    }
    let config = SessionConfig::new().with_target_partitions(partitions);
    let mut context = SessionContext::new_with_config(config);
    warpfold_datafusion::register(&mut context)?;
    let options = ParquetReadOptions::default;
    let supplier = folder.join("supplier.parquet");
    context.register_parquet("lineitem", names.display().to_string(), options()).await?;
    context.register_parquet("supplier", supplier.display().to_string(), options()).await?;
    Ok(context)
}

/// Every cell of a result, floats by their bits.
fn cells(batches: &[RecordBatch]) -> Result<Vec<String>> {
    use datafusion::arrow::array::AsArray;
    use datafusion::arrow::datatypes::Float64Type;
    let mut cells = Vec::new();
    for batch in batches {
        for column in batch.columns() {
            if let Some(floats) = column.as_primitive_opt::<Float64Type>() {
                cells.extend(floats.values().iter().map(|x| format!("{:016x}", x.to_bits())));
                continue;
            }
            let options = FormatOptions::default();
            let column = ArrayFormatter::try_new(column, &options)?;
            cells.extend((0..batch.num_rows()).map(|row| column.value(row).to_string()));
        }
    }
    Ok(cells)
}

#[tokio::main]
async fn main() -> Result<()> {
    let mut numbers = std::env::args().skip(1).filter_map(|text| text.parse::<f64>().ok());
    let (scale, rounds) = (numbers.next().unwrap_or(1.0), numbers.next().unwrap_or(3.0) as usize);
    let folder = tempfile::tempdir()?;
    let mut rows = 0;
    for part in 0..FILES {
        let batches = LineItemArrow::new(LineItemGenerator::new(scale, part + 1, FILES));
        rows += write(&folder.path().join(format!("lineitem-{part}.parquet")), batches, &LINEITEM)?;
    }
    let suppliers = SupplierArrow::new(SupplierGenerator::new(scale, 1, 1));
    write(&folder.path().join("supplier.parquet"), suppliers, &SUPPLIER)?;
    eprintln!("{rows} rows of lineitem at scale factor {scale}");
    let mut found: BTreeMap<&str, [Vec<Vec<String>>; 2]> = BTreeMap::new();
    for partitions in [1, 2, 8] {
        for order in 0..3 {
            let context = context(folder.path(), order, partitions).await?;
            for (name, query) in QUERIES {
                let results = found.entry(name).or_default();
                for (results, query) in results.iter_mut().zip([exact(query), own(query)]) {
                    let cells = cells(&run(&context, &query).await?)?;
                    if !results.contains(&cells) {
                        results.push(cells);
                    }
                }
            }
        }
    }
    let mut queries = Vec::new();
    for (name, query) in QUERIES {
        let [exact_results, own_results] = &found[name];
        let mut summary = json!({
            "query": name,
            "layouts": 9,
            "different_results": { "exact": exact_results.len(), "own": own_results.len() },
            "cells": exact_results[0].len(),
        });
        for partitions in [1, 2] {
            let context = context(folder.path(), 0, partitions).await?;
            let (exact, own) = (exact(query), own(query));
            let seconds = alternate(&context, &[&exact, &own], rounds).await?;
            summary[format!("partitions_{partitions}")] = beside(&seconds[0], &seconds[1]);
        }
        eprintln!("{summary}");
        queries.push(summary);
    }
    let is_same = found.values().all(|[exact, _]| exact.len() == 1 && !exact[0].is_empty());
    let all = json!({
        "circumstances": circumstances(), "scale_factor": scale, "lineitem_rows": rows, "queries": queries,
    });
    println!("{}", serde_json::to_string_pretty(&all).expect("it is JSON"));
    assert!(is_same, "an exact result differs between layouts, or is empty");
    Ok(())
}
