//! Rows whose float sums depend on order, in several files, and their exact sum by integers alone.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::prelude::SessionContext;

pub(crate) struct Rows {
    folder: tempfile::TempDir,
    /// The sum of x in units of 2^-30.
    sum: i128,
}

impl Rows {
    pub(crate) fn write(files: usize, rows: usize) -> Rows {
        let folder = tempfile::tempdir().unwrap();
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut next = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 20
        };
        let mut sum = 0i128;
        for file in 0..files {
            let (mut k, mut x, mut y, mut n) = (vec![], vec![], vec![], vec![]);
            for _ in 0..rows {
                let exponent = [-30, 0, 40][(next() % 3) as usize];
                let integer = (next() as i64 >> 4) - (1 << 39);
                sum += i128::from(integer) << (exponent + 30);
                k.push(format!("key {}", next() % 17));
                // Powers of two scale without rounding.
                x.push(integer as f64 * 2f64.powi(exponent));
                y.push((next() % 1000) as f64 / 7.0);
                n.push(next() as i64 - (1 << 43));
            }
            let columns: [(&str, ArrayRef); 4] = [
                ("k", Arc::new(StringArray::from(k))),
                ("x", Arc::new(Float64Array::from(x))),
                ("y", Arc::new(Float64Array::from(y))),
                ("n", Arc::new(Int64Array::from(n))),
            ];
            let batch = RecordBatch::try_from_iter(columns).unwrap();
            let file =
                std::fs::File::create(folder.path().join(format!("{file}.parquet"))).unwrap();
            let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
            writer.write(&batch).unwrap();
            writer.close().unwrap();
        }
        Rows { folder, sum }
    }

    /// The sum of x, rounded once: integers round to even where they become floats.
    pub(crate) fn sum(&self) -> f64 {
        self.sum as f64 * 2f64.powi(-30)
    }

    pub(crate) async fn register(&self, context: &SessionContext) {
        let path = self.folder.path().to_str().unwrap();
        context.register_parquet("t", path, Default::default()).await.unwrap();
    }
}
