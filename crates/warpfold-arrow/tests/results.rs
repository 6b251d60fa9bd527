//! Results written as files, read back by arrow-rs with every type as it was; damaged ones are errors in a line.

use std::fs::{self, File};
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::*;
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use arrow_schema::{DataType, TimeUnit};
use half::{bf16, f16};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use warpfold_arrow::Cell;
use warpfold_arrow::files::{Files, Results, Written};
use warpfold_num::{Column, Complex, Op, Policy, Value};

fn read(path: &Path, written: Written) -> RecordBatch {
    let file = File::open(path).unwrap();
    let batches: Vec<RecordBatch> = match written {
        Written::Parquet => {
            let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
            reader.map(Result::unwrap).collect()
        }
        Written::Arrow => FileReader::try_new(file, None).unwrap().map(Result::unwrap).collect(),
    };
    let [batch] = &batches[..] else { panic!("one batch") };
    batch.clone()
}

fn results() -> Results {
    let mut results = Results::default();
    let add =
        |results: &mut Results, name: &str, column: Column| results.numbers(name, &column).unwrap();
    add(&mut results, "bool", Column::Bool(vec![true, false, true]));
    add(&mut results, "i8", Column::I8(vec![-128, 0, 127]));
    add(&mut results, "i64", Column::I64(vec![i64::MIN, 0, i64::MAX]));
    add(&mut results, "u64", Column::U64(vec![0, 1, u64::MAX]));
    add(&mut results, "f16", Column::F16(vec![f16::from_f32(1.5), f16::INFINITY, f16::NEG_ZERO]));
    add(
        &mut results,
        "bf16",
        Column::BF16(vec![bf16::from_f32(1.5), bf16::MAX, bf16::MIN_POSITIVE]),
    );
    add(&mut results, "f64", Column::F64(vec![0.1, f64::NAN, -0.0]));
    add(&mut results, "z", Column::Complex64(vec![Complex::new(1.0, -2.0); 3]));
    results.words("word", [Some("a\n\"é\""), None, Some("")].into_iter());
    let decimal = |value| Some(Cell::Decimal(value, 2));
    results.cells("decimal", &[decimal(10i128.pow(38) - 1), None, decimal(-5)]).unwrap();
    let at = DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into()));
    let time = |ticks, dtype: &DataType| Some(Cell::Time(ticks, dtype.clone()));
    results.cells("at", &[time(i64::MIN, &at), time(1, &at), None]).unwrap();
    results
        .cells("day", &[time(-1, &DataType::Date32), None, time(19_000, &DataType::Date32)])
        .unwrap();
    let clock = DataType::Time32(TimeUnit::Millisecond);
    results.cells("clock", &[None, time(86_399_999, &clock), time(0, &clock)]).unwrap();
    let value = |value: i64| Some(Cell::Value(Value::I64(value)));
    results.cells("some", &[value(7), None, value(-7)]).unwrap();
    results.cells("none", &[None, None, None]).unwrap();
    results
}

#[test]
fn every_type_comes_back() {
    let folder = tempfile::tempdir().unwrap();
    for (name, written) in [("x.parquet", Written::Parquet), ("x.arrow", Written::Arrow)] {
        let path = folder.path().join(name);
        results().write(written, &mut File::create(&path).unwrap()).unwrap();
        let batch = read(&path, written);
        let column =
            |name: &str| batch.column_by_name(name).unwrap_or_else(|| panic!("{name}")).clone();
        let names: Vec<String> = results().names().map(str::to_string).collect();
        assert_eq!(
            batch.schema().fields().iter().map(|f| f.name().clone()).collect::<Vec<_>>(),
            names
        );
        assert_eq!(
            column("bool").as_boolean().iter().flatten().collect::<Vec<_>>(),
            [true, false, true]
        );
        assert_eq!(column("i8").as_primitive::<Int8Type>().values()[..], [-128, 0, 127]);
        assert_eq!(column("i64").as_primitive::<Int64Type>().values()[..], [i64::MIN, 0, i64::MAX]);
        assert_eq!(column("u64").as_primitive::<UInt64Type>().values()[..], [0, 1, u64::MAX]);
        let halves: Vec<u16> = column("f16")
            .as_primitive::<Float16Type>()
            .values()
            .iter()
            .map(|x| x.to_bits())
            .collect();
        assert_eq!(halves, [0x3e00, 0x7c00, 0x8000]);
        let brains: Vec<u32> = column("bf16")
            .as_primitive::<Float32Type>()
            .values()
            .iter()
            .map(|x| x.to_bits())
            .collect();
        assert_eq!(brains, [0x3fc0_0000, 0x7f7f_0000, 0x0080_0000]);
        let floats: Vec<u64> = column("f64")
            .as_primitive::<Float64Type>()
            .values()
            .iter()
            .map(|x| x.to_bits())
            .collect();
        assert_eq!(floats, [0x3fb9_9999_9999_999a, f64::NAN.to_bits(), 1 << 63]);
        assert_eq!(column("z_re").as_primitive::<Float32Type>().values()[..], [1.0; 3]);
        assert_eq!(column("z_im").as_primitive::<Float32Type>().values()[..], [-2.0; 3]);
        assert_eq!(
            column("word").as_string::<i32>().iter().collect::<Vec<_>>(),
            [Some("a\n\"é\""), None, Some("")]
        );
        let decimals = column("decimal");
        assert_eq!(decimals.data_type(), &DataType::Decimal128(38, 2));
        assert_eq!(
            decimals.as_primitive::<Decimal128Type>().iter().collect::<Vec<_>>(),
            [Some(10i128.pow(38) - 1), None, Some(-5)]
        );
        let at = column("at");
        assert_eq!(at.data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, Some("UTC".into())));
        assert_eq!(
            at.as_primitive::<TimestampNanosecondType>().iter().collect::<Vec<_>>(),
            [Some(i64::MIN), Some(1), None]
        );
        assert_eq!(
            column("day").as_primitive::<Date32Type>().iter().collect::<Vec<_>>(),
            [Some(-1), None, Some(19_000)]
        );
        let clock = column("clock");
        assert_eq!(
            clock.as_primitive::<Time32MillisecondType>().iter().collect::<Vec<_>>(),
            [None, Some(86_399_999), Some(0)]
        );
        assert_eq!(
            column("some").as_primitive::<Int64Type>().iter().collect::<Vec<_>>(),
            [Some(7), None, Some(-7)]
        );
        assert_eq!(column("none").logical_null_count(), 3);
    }
}

#[test]
fn what_has_no_type_is_refused() {
    let mut results = Results::default();
    let both = [Some(Cell::Value(Value::I64(1))), Some(Cell::Value(Value::F64(1.0)))];
    assert!(results.cells("x", &both).unwrap_err().contains("several types"));
    let both = [Some(Cell::Decimal(1, 2)), Some(Cell::Decimal(1, 3))];
    assert!(results.cells("x", &both).unwrap_err().contains("several types"));
    assert!(results.numbers("x", &Column::I128(vec![1])).is_err());
    assert_eq!(results.names().count(), 0);
}

/// A disk that is full says so, whatever stands between.
#[test]
fn the_system_s_error_is_kept() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    for written in [Written::Parquet, Written::Arrow] {
        let error = results().write(written, &mut Full).unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{written:?}: {error}");
    }
}

#[test]
fn damaged_results_are_errors_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for (name, written) in [("x.parquet", Written::Parquet), ("x.arrow", Written::Arrow)] {
        let mut bytes = Vec::new();
        results().write(written, &mut bytes).unwrap();
        let (n, path) = (bytes.len(), folder.path().join(name));
        let mut errors = 0;
        for k in 0..600 {
            let mut damaged = bytes.clone();
            match k {
                0..100 => damaged.truncate(n * k / 100),
                _ => damaged[n - 1 - (k * k * 13) % n.min(4000)] ^= 1 << (k % 8),
            }
            fs::write(&path, damaged).unwrap();
            let found = Files::open(std::slice::from_ref(&path)).and_then(|files| {
                let (mut folds, _) =
                    files.fold(&["i64".to_string()], Op::Max, Policy::default())?;
                folds.pop().expect("one column").finish(Default::default())
            });
            if let Err(error) = found {
                let line = error.to_string();
                assert!(line.contains(name) && !line.contains('\n'), "{line}");
                errors += 1;
            }
        }
        assert!(errors >= 100, "{name}: {errors}");
    }
}
