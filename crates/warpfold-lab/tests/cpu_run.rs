//! A whole run over small arrays: everything is verified, timed, reported, saved and read again.

use std::time::Duration;

use warpfold_lab::report::{Failure, Report, Row};
use warpfold_lab::sampler::Sampling;
use warpfold_lab::{Regex, cpu, table};

fn options(filter: &str) -> cpu::Options {
    let sampling = Sampling {
        warm_up: Duration::ZERO,
        budget: Duration::ZERO,
        min_samples: 1,
        max_samples: 1,
        shortest_sample: Duration::from_nanos(1),
    };
    let filter = Regex::new(filter).expect("the test's own expression");
    cpu::Options { sizes: vec![24 << 10], filter, sampling, ..Default::default() }
}

#[derive(Default)]
struct Heard {
    planned: usize,
    rows: usize,
    failures: Vec<Failure>,
}

impl cpu::Observer for Heard {
    fn planned(&mut self, rows: usize) {
        self.planned = rows;
    }

    fn row(&mut self, _: &Row) {
        self.rows += 1;
    }

    fn failed(&mut self, failure: &Failure) {
        self.failures.push(failure.clone());
    }
}

#[test]
fn every_row_is_right_and_timed() {
    let mut heard = Heard::default();
    let report = cpu::run(&options(""), &mut heard).expect("memory for 24 KiB");
    assert_eq!(heard.failures, []);
    assert_eq!((heard.rows, report.rows.len()), (heard.planned, heard.planned));
    assert!(heard.planned > 200, "{}", heard.planned);
    assert!(report.rows.iter().all(|row| row.seconds.median > 0.0 && row.bytes_per_second > 0.0));
}

#[test]
fn a_filter_takes_rows_by_name() {
    let report = cpu::run(&options("^(sum|max)/(f32|i8)/natural/24KiB$"), &mut ()).expect("memory");
    let mut names: Vec<_> = report.rows.iter().map(Row::name).collect();
    names.sort();
    let ops = ["max", "sum"]
        .iter()
        .flat_map(|op| ["f32", "i8"].map(|t| format!("{op}/{t}/natural/24KiB")));
    assert_eq!(names, ops.collect::<Vec<_>>());
}

#[test]
fn a_report_survives_its_file_and_prints() {
    let mut report = cpu::run(&options("^sum/f64/"), &mut ()).expect("memory");
    report.header.revision = Some("0123abc".into());
    let path = std::env::temp_dir().join(format!("warpfold-lab-{}/cpu.json", std::process::id()));
    report.save(&path).expect("the temporary folder can be written");
    let read = Report::load(&path).expect("what was saved can be read");
    std::fs::remove_dir_all(path.parent().expect("it has a folder")).expect("it can be removed");
    assert_eq!(read, report);
    let text = table::text(&report);
    for part in ["0123abc", "loguniform", "sum        f64", "GB/s", "2 rows, 0 failed"] {
        assert!(text.contains(part), "{part:?} is missing in\n{text}");
    }
}
