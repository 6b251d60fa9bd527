//! One table of hard numbers, in many layouts.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Decimal128Array, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    UInt32Array, UInt64Array,
};
use datafusion::arrow::compute::take;
use datafusion::datasource::MemTable;
use datafusion::prelude::{ParquetReadOptions, SessionConfig, SessionContext};
use parquet::arrow::ArrowWriter;

/// Rows of the table.
pub(crate) const ROWS: usize = 12_000;

/// Groups of column `k`.
pub(crate) const GROUPS: usize = 37;

/// The columns as vectors, for the reference.
pub(crate) struct Columns {
    pub(crate) k: Vec<i32>,
    /// Nearly a group a row.
    pub(crate) wide: Vec<i64>,
    pub(crate) x: Vec<Option<f64>>,
    pub(crate) y: Vec<Option<f64>>,
    pub(crate) f: Vec<Option<f32>>,
    pub(crate) i: Vec<Option<i64>>,
    pub(crate) u: Vec<Option<u64>>,
    pub(crate) n: Vec<Option<u32>>,
    pub(crate) d: Vec<Option<i128>>,
}

/// Numbers that plain additions get wrong: twins that cancel, exponents far apart, subnormals; a null in eleven.
pub(crate) fn columns() -> Columns {
    let mut state = 42u64;
    let mut next = move || {
        state = state.wrapping_mul(0xd134_2543_de82_ef95).wrapping_add(1);
        state ^ state >> 29
    };
    let mut float = |row: usize, spread: i32| {
        let bits = next();
        let exponent = match row % 97 {
            13 => 900,
            14 => -1060,
            _ => (bits >> 8) as i32 % spread,
        };
        let mantissa = 1.0 + (bits >> 12) as f64 * 2f64.powi(-52);
        let sign = if bits >> 63 == 1 { -1.0 } else { 1.0 };
        // In two steps, as the power alone may be no float.
        sign * mantissa * 2f64.powi(exponent / 2) * 2f64.powi(exponent - exponent / 2)
    };
    let mut x: Vec<f64> = (0..ROWS).map(|row| float(row, 40)).collect();
    for row in (7..ROWS - 740).step_by(19) {
        // Twins are of one group.
        x[row + 740] = -x[row];
    }
    let y = (0..ROWS).map(|row| float(row + 50, 12)).collect::<Vec<_>>();
    let f: Vec<f32> = x.iter().map(|&x| (x % 1e9) as f32).collect();
    let with_nulls = |row: usize| row % 11 != 3;
    fn nulls<T: Copy>(values: &[T], is_there: impl Fn(usize) -> bool) -> Vec<Option<T>> {
        values.iter().enumerate().map(|(row, &x)| is_there(row).then_some(x)).collect()
    }
    let i: Vec<i64> = x.iter().map(|x| (x.to_bits() >> 28) as i64 - (1 << 35)).collect();
    let u: Vec<u64> = y.iter().map(|y| y.to_bits() >> 15).collect();
    let n: Vec<u32> = u.iter().map(|&u| u as u32 >> 16).collect();
    let d: Vec<i128> =
        i.iter().zip(&u).map(|(&i, &u)| (i128::from(i) * i128::from(u)) << 20).collect();
    Columns {
        k: (0..ROWS).map(|row| (row % GROUPS) as i32).collect(),
        wide: (0..ROWS).map(|row| (row as i64 * 7919) % 9_973).collect(),
        x: nulls(&x, with_nulls),
        y: nulls(&y, |row| row % 13 != 5),
        f: nulls(&f, with_nulls),
        i: nulls(&i, with_nulls),
        u: nulls(&u, with_nulls),
        n: nulls(&n, with_nulls),
        d: nulls(&d, with_nulls),
    }
}

/// All rows as one batch.
pub(crate) fn batch(columns: &Columns) -> RecordBatch {
    let d = Decimal128Array::from(columns.d.clone()).with_precision_and_scale(37, 3).unwrap();
    let all: Vec<(&str, ArrayRef)> = vec![
        ("k", Arc::new(Int32Array::from(columns.k.clone()))),
        ("wide", Arc::new(Int64Array::from(columns.wide.clone()))),
        ("x", Arc::new(Float64Array::from(columns.x.clone()))),
        ("y", Arc::new(Float64Array::from(columns.y.clone()))),
        ("f", Arc::new(Float32Array::from(columns.f.clone()))),
        ("i", Arc::new(Int64Array::from(columns.i.clone()))),
        ("u", Arc::new(UInt64Array::from(columns.u.clone()))),
        ("n", Arc::new(UInt32Array::from(columns.n.clone()))),
        ("d", Arc::new(d)),
    ];
    RecordBatch::try_from_iter_with_nullable(all.into_iter().map(|(name, all)| (name, all, true)))
        .unwrap()
}

/// The rows in another order.
pub(crate) fn shuffled(batch: &RecordBatch, seed: u64) -> RecordBatch {
    let mut rows: Vec<u64> = (0..batch.num_rows() as u64).collect();
    rows.sort_by_key(|row| (row ^ seed).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23));
    let rows = UInt64Array::from(rows);
    let columns = batch.columns().iter().map(|column| take(column, &rows, None).unwrap());
    RecordBatch::try_new(batch.schema(), columns.collect()).unwrap()
}

pub(crate) fn context(partitions: usize) -> SessionContext {
    // Small batches, so that there are many.
    let config = SessionConfig::new().with_target_partitions(partitions).with_batch_size(512);
    let mut context = SessionContext::new_with_config(config);
    warpfold_datafusion::register(&mut context).unwrap();
    context
}

/// Registers the rows as table `t`, in memory, in so many partitions.
pub(crate) fn in_memory(context: &SessionContext, batch: &RecordBatch, partitions: usize) {
    let rows = batch.num_rows();
    let cut = |part: usize| rows * part / partitions;
    let partition = |part: usize| {
        let (start, end) = (cut(part), cut(part + 1));
        let pieces = (start..end).step_by(512);
        pieces.map(|at| batch.slice(at, 512.min(end - at))).collect::<Vec<_>>()
    };
    let parts = (0..partitions).map(partition).collect();
    let table = MemTable::try_new(batch.schema(), parts).unwrap();
    context.deregister_table("t").unwrap();
    context.register_table("t", Arc::new(table)).unwrap();
}

/// Registers the rows as table `t`, in so many Parquet files of a folder.
pub(crate) async fn in_files(
    context: &SessionContext,
    batch: &RecordBatch,
    files: usize,
    folder: &Path,
) {
    for file in 0..files {
        let (start, end) = (batch.num_rows() * file / files, batch.num_rows() * (file + 1) / files);
        let path = folder.join(format!("{file}.parquet"));
        let mut writer =
            ArrowWriter::try_new(File::create(path).unwrap(), batch.schema(), None).unwrap();
        writer.write(&batch.slice(start, end - start)).unwrap();
        writer.close().unwrap();
    }
    context.deregister_table("t").unwrap();
    let options = ParquetReadOptions::default();
    context.register_parquet("t", folder.to_str().unwrap(), options).await.unwrap();
}
