//! Files of pyarrow and Polars: every codec, empty row groups, several files, and damage. Expected values are Python's (`math.fsum`, `fractions`), of the
//! formulas in `fixtures/make.py`.

use std::fs;
use std::path::{Path, PathBuf};

use parquet::file::metadata::{
    FileMetaData, ParquetMetaData, ParquetMetaDataReader, ParquetMetaDataWriter, RowGroupMetaData,
};
use warpfold_arrow::files::{Files, expand};
use warpfold_arrow::{Cell, Error};
use warpfold_exact::partial::Finish;
use warpfold_num::{Op, Policy};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn policy(threads: usize) -> Policy {
    Policy { threads: Some(threads), ..Policy::default() }
}

fn reduce(paths: &[PathBuf], column: &str, op: Op, threads: usize) -> Result<String, Error> {
    let files = Files::open(paths)?;
    let (mut folds, _) = files.fold(&[column.to_string()], op, policy(threads))?;
    let fields = folds.pop().expect("one column has one fold").finish(Finish::default())?;
    Ok(fields.0.iter().map(|(_, cell)| text(cell.as_ref())).collect::<Vec<_>>().join(" "))
}

fn text(cell: Option<&Cell>) -> String {
    match cell {
        Some(Cell::Value(warpfold_num::Value::F64(value))) => format!("{value:?}"),
        Some(cell) => cell.to_string(),
        None => "none".into(),
    }
}

const WHOLE: [&str; 10] = [
    "pyarrow-none.parquet",
    "pyarrow-snappy.parquet",
    "pyarrow-gzip.parquet",
    "pyarrow-brotli.parquet",
    "pyarrow-lz4.parquet",
    "empty-groups.parquet",
    "polars.parquet",
    "lz4.feather",
    "polars.arrow",
    "stream.arrows",
];

#[test]
fn every_writer_and_codec_gives_the_same_results() {
    for name in WHOLE {
        for (column, op, expected) in [
            ("price", Op::Sum, "53375.125"),
            ("price", Op::ArgMax, "1"),
            ("price", Op::ArgMin, "998"),
            ("price", Op::Mean, "62.28135939323221"),
            ("count", Op::Sum, "798200"),
            ("count", Op::MinMax, "-500 2497"),
            ("big", Op::Max, "18446744073709551615"),
            ("big", Op::Min, "18446744073709550616"),
            ("big", Op::ArgMin, "999"),
            ("flag", Op::Sum, "334"),
            ("cost", Op::Sum, "30206.54"),
            ("cost", Op::ArgMax, "999"),
            ("day", Op::Max, "2024-03-02"),
            ("at", Op::Mean, "2024-02-28T00:08:19.708559Z"),
            ("at", Op::Max, "2024-02-28T00:16:39Z"),
        ] {
            for threads in [1, 2] {
                let found = reduce(&[fixture(name)], column, op, threads).unwrap();
                assert_eq!(found, expected, "{op} of {column} in {name}");
            }
        }
        let error = reduce(&[fixture(name)], "big", Op::Sum, 2).unwrap_err().to_string();
        assert!(error.contains("18446744073709551115500"), "{error}");
        let error = reduce(&[fixture(name)], "parts", Op::Sum, 2).unwrap_err().to_string();
        assert!(error.contains("nested"), "{error}");
        let error = reduce(&[fixture(name)], "prices", Op::Sum, 2).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("price, count, big"), "{error}");
    }
    assert_eq!(reduce(&[fixture("v2.parquet")], "price", Op::Sum, 2).unwrap(), "53375.125");
    assert_eq!(reduce(&[fixture("v2.parquet")], "count", Op::Sum, 2).unwrap(), "798200");
    let half = reduce(&[fixture("pyarrow-snappy.parquet")], "half", Op::Sum, 2).unwrap();
    assert_eq!(half, "7049.5");
}

#[test]
fn rows_by_keys_are_counted_whichever_thread_reads_the_last() {
    let files = Files::open(&[fixture("pyarrow-snappy.parquet")]).unwrap();
    for _ in 0..500 {
        let of = [["count".to_string()], ["flag".to_string()]];
        let (groups, _) = files.group(&of[0], &of[1], Op::Sum, policy(2)).unwrap();
        assert_eq!((groups[0].rows(), groups[0].values()), (1000, 800));
    }
}

#[test]
fn statistics_serve_integers_alone() {
    let files = Files::open(&[fixture("pyarrow-snappy.parquet")]).unwrap();
    let read = |column: &str, op| files.fold(&[column.to_string()], op, policy(2)).unwrap().1;
    assert_eq!((read("count", Op::MinMax).skipped, read("big", Op::Max).skipped), (4, 4));
    assert_eq!((read("price", Op::Max).skipped, read("price", Op::Max).decoded), (0, 4));
    // Rows that statistics stand for are counted as those that are decoded: every fifth is null.
    let count = files.fold(&["count".to_string()], Op::Max, policy(2)).unwrap().0;
    assert_eq!((count[0].rows(), count[0].values()), (1000, 800));
    assert_eq!((read("count", Op::Sum).skipped, read("count", Op::ArgMin).skipped), (0, 0));
}

#[test]
fn files_are_one_column_in_their_order() {
    let parts = expand(&fixture("parts")).unwrap();
    assert_eq!(parts.len(), 4);
    let by_pattern = expand(&fixture("parts").join("part-[0-2].parquet")).unwrap();
    assert_eq!(by_pattern, parts[..3]);
    for (op, expected) in [(Op::Sum, "53375.125"), (Op::ArgMin, "998"), (Op::ArgMax, "1")] {
        assert_eq!(reduce(&parts, "price", op, 2).unwrap(), expected, "{op}");
    }
    // Arrow and Parquet are one column as well: 1000 rows before the second one's greatest.
    let both = [fixture("parts/part-3.parquet"), fixture("lz4.feather")];
    assert_eq!(reduce(&both, "price", Op::ArgMax, 2).unwrap(), "251");
    assert_eq!(reduce(&both, "price", Op::Prod, 2).unwrap(), "0.0");
    let error = expand(&fixture("nothing-*.parquet")).unwrap_err().to_string();
    assert!(error.contains("no file matches"), "{error}");
}

/// What shares are made of: where row groups end, and in which order files come.
#[test]
fn cuts_tell_row_groups_and_orders_of_files_apart() {
    let cuts = |names: &[&str]| {
        let paths: Vec<PathBuf> = names.iter().map(|name| fixture(name)).collect();
        Files::open(&paths).unwrap().cuts().unwrap()
    };
    let both = ["parts/part-3.parquet", "lz4.feather"];
    assert_eq!(cuts(&both), cuts(&both));
    assert_ne!(cuts(&both), cuts(&["lz4.feather", "parts/part-3.parquet"]));
    assert_ne!(cuts(&both).0, cuts(&both[..1]).0);
}

#[test]
fn groups_of_files() {
    for name in WHOLE {
        let files = Files::open(&[fixture(name)]).unwrap();
        for (column, key, expected) in [
            (
                "price",
                "shop",
                "shop 0=13184.5 shop 1=1.000000000001321e16 shop 2=-9999999999986788.0 shop 3=13285.5 none=482.75",
            ),
            (
                "cost",
                "shop",
                "shop 0=7476.08 shop 1=7461.80 shop 2=7516.66 shop 3=7503.80 none=248.20",
            ),
            ("count", "kind", "even=397600 odd=400600"),
            (
                "cost",
                "day",
                "2024-02-28=1712.73 2024-02-29=5593.81 2024-03-01=9526.39 2024-03-02=13373.61",
            ),
        ] {
            let (mut groups, _) =
                files.group(&[column.to_string()], &[key.to_string()], Op::Sum, policy(2)).unwrap();
            let found = groups.remove(0).finish(Finish::default()).unwrap();
            let rows: Vec<String> = found.columns[0]
                .1
                .iter()
                .enumerate()
                .map(|(row, cell)| {
                    let key = found.keys[0].text(row).unwrap_or_else(|| "none".into());
                    format!("{key}={}", text(cell.as_ref()))
                })
                .collect();
            assert_eq!(rows.join(" "), expected, "{column} by {key} in {name}");
        }
    }
}

#[cfg(not(feature = "zstd"))]
#[test]
fn what_needs_c_is_said() {
    let error =
        reduce(&[fixture("pyarrow-zstd.parquet")], "price", Op::Sum, 1).unwrap_err().to_string();
    assert!(error.contains("feature zstd") && !error.contains('\n'), "{error}");
}

/// A file whose footer was made anew, from what it said.
fn relabelled(
    name: &str,
    change: impl Fn(usize, RowGroupMetaData) -> RowGroupMetaData,
    rows: impl Fn(i64) -> i64,
) -> Vec<u8> {
    let bytes = fs::read(fixture(name)).unwrap();
    let whole = fs::File::open(fixture(name)).unwrap();
    let metadata = ParquetMetaDataReader::new().parse_and_finish(&whole).unwrap();
    let file = metadata.file_metadata();
    let groups = metadata.row_groups().iter().cloned().enumerate();
    let groups: Vec<RowGroupMetaData> = groups.map(|(at, group)| change(at, group)).collect();
    let file = FileMetaData::new(
        file.version(),
        rows(file.num_rows()),
        None,
        file.key_value_metadata().cloned(),
        file.schema_descr_ptr(),
        file.column_orders().cloned(),
    );
    let length = u32::from_le_bytes(bytes[bytes.len() - 8..][..4].try_into().unwrap()) as usize;
    let mut out = bytes[..bytes.len() - 8 - length].to_vec();
    let metadata = ParquetMetaData::new(file, groups);
    ParquetMetaDataWriter::new(&mut out, &metadata).finish().unwrap();
    out
}

/// Footers that tell of other rows than there are: never another result, and no end of memory.
#[test]
fn footers_that_lie_are_found_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lies.parquet");
    let run = |bytes: Vec<u8>, column: &str, op| {
        fs::write(&path, bytes).unwrap();
        reduce(std::slice::from_ref(&path), column, op, 2)
    };
    let same = relabelled("pyarrow-snappy.parquet", |_, group| group, |rows| rows);
    assert_eq!(run(same, "price", Op::Sum).unwrap(), "53375.125");
    let of_rows = |change: fn(i64) -> i64, at: usize| {
        move |group: usize, metadata: RowGroupMetaData| {
            let rows = change(metadata.num_rows());
            match group == at {
                true => metadata.into_builder().set_num_rows(rows).build().unwrap(),
                false => metadata,
            }
        }
    };
    let changes: [fn(i64) -> i64; 6] =
        [|n| n + 1, |n| n - 1, |_| 0, |_| -1, |_| i64::MAX / 4, |n| n << 40];
    for change in changes {
        for group in [0, 3] {
            for (column, op) in [
                ("price", Op::Sum),
                ("count", Op::Max),
                ("price", Op::ArgMax),
                ("parts", Op::Count),
            ] {
                let bytes =
                    relabelled("pyarrow-snappy.parquet", of_rows(change, group), |rows| rows);
                let error = run(bytes, column, op).unwrap_err().to_string();
                assert!(!error.contains('\n'), "{error}");
                assert!(column == "parts" || error.contains("lies.parquet"), "{error}");
            }
        }
        // What the file says of all its rows is not needed, and not believed.
        let bytes = relabelled("pyarrow-snappy.parquet", |_, group| group, change);
        if let Ok(found) = run(bytes, "price", Op::Sum) {
            assert_eq!(found, "53375.125");
        }
    }
    // A footer that lies throughout is found out by what is read.
    for more in [1, -1, 1 << 40] {
        let change = |_, group: RowGroupMetaData| {
            let rows = group.num_rows() + more;
            let columns = group
                .columns()
                .iter()
                .map(|column| column.clone().into_builder().set_num_values(rows).build().unwrap());
            let columns = columns.collect();
            group.into_builder().set_num_rows(rows).set_column_metadata(columns).build().unwrap()
        };
        let bytes = relabelled("pyarrow-snappy.parquet", change, |rows| rows);
        for (column, op) in [("price", Op::Sum), ("count", Op::Sum), ("at", Op::Max)] {
            let error = run(bytes.clone(), column, op).unwrap_err().to_string();
            assert!(error.contains("lies.parquet") && !error.contains('\n'), "{error}");
        }
    }
}

#[test]
fn damaged_files_are_errors_in_a_line() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["pyarrow-snappy.parquet", "lz4.feather", "stream.arrows"] {
        let bytes = fs::read(fixture(name)).unwrap();
        let path = folder.path().join(name);
        let n = bytes.len();
        // Truncated anywhere, or with bytes turned over at the end, where footers are: an error, or the right result.
        let mut damaged: Vec<Vec<u8>> =
            [0, 1, 3, 7, n / 2, n - 9, n - 1].map(|end| bytes[..end].to_vec()).into();
        for k in 1..400 {
            let mut bytes = bytes.clone();
            bytes[n - k * (n / 400).min(9)] ^= 1 << (k % 8);
            damaged.push(bytes);
        }
        let mut errors = 0;
        for bytes in damaged {
            fs::write(&path, bytes).unwrap();
            if let Err(error) = reduce(std::slice::from_ref(&path), "price", Op::Sum, 1) {
                let line = error.to_string();
                assert!(line.contains(name) && !line.contains('\n'), "{line}");
                errors += 1;
            }
        }
        assert!(errors >= 6, "{name}: {errors}");
    }
}
