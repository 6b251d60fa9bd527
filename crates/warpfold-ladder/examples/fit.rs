//! Predictions beside measurements, while the model is made.
use std::path::Path;
use warpfold_ladder::model::*;

fn main() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/h200/");
    let files: Vec<String> = std::env::args().skip(1).collect();
    let files: Vec<&str> = files.iter().map(String::as_str).collect();
    let mut sets = of_results(Path::new(root), &files).unwrap();
    if files.is_empty() {
        sets = of_papers().unwrap();
    }
    for set in &sets {
        for r in &set.rows {
            print!("{:22} {:40} {:10.1} {:10.1} {:+6.1}% R{} {:20}", r.name, r.of, r.measured, r.predicted.microseconds, 100.0 * r.error(), r.predicted.resident, r.predicted.binding().name());
            for (l, t) in &r.predicted.limits {
                print!(" {}={:.1}", &l.name()[..2], t)
            }
            println!();
        }
        let [m, w] = set.errors();
        println!("== {}: median {:.1}% worst {:.1}% order {}", set.source, 100.0 * m, 100.0 * w, set.in_order());
    }
}
