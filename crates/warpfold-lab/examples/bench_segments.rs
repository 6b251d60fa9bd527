//! Sums of segments and over axes on a GPU, timed: `bench_segments [FILTER [ELEMENTS]]`, a JSON object a row.

use std::process::ExitCode;

use regex_lite::Regex;
use warpfold::cuda::Gpu;
use warpfold_lab::cuda::{
    DeviceTime,
    segments::{SegmentRow, segments, sums_over_axes},
};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let filter = Regex::new(&arguments.next().unwrap_or_default());
    let elements = arguments.next().map_or(Ok(1 << 28), |n| n.parse());
    let (Ok(filter), Ok(elements)) = (filter, elements) else {
        eprintln!(
            "bench_segments [FILTER [ELEMENTS]]: FILTER is a regular expression, ELEMENTS a number"
        );
        return ExitCode::from(2);
    };
    let tell =
        |row: &SegmentRow| println!("{}", serde_json::to_string(row).expect("rows are plain data"));
    let measured = Gpu::open(0).and_then(|gpu| {
        let mut rows = segments(&gpu, elements, &filter, DeviceTime::default(), tell)?;
        rows.extend(sums_over_axes(&gpu, elements, &filter, DeviceTime::default(), tell)?);
        Ok(rows)
    });
    match measured {
        Ok(rows) if rows.iter().all(|row| row.wrong.is_none()) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("bench_segments: {error}");
            ExitCode::FAILURE
        }
    }
}
