//! Predictions beside measurements, while the model is made.
use warpfold_lab::cuda::report::Temperature::*;
use warpfold_ladder::model::*;
use warpfold_ladder::*;
fn main() {
    let d = Device::find(&std::env::args().nth(1).unwrap_or("h200".into())).unwrap();
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../results/h200/");
    let mut all = vec![];
    for f in ["ladder_f32", "ladder_i32"] {
        let l: Ladder =
            serde_json::from_str(&std::fs::read_to_string(format!("{root}{f}.json")).unwrap())
                .unwrap();
        println!("{f}");
        for r in &l.rungs {
            let rung = find(&r.name).unwrap();
            let t0 = std::time::Instant::now();
            match predict(
                rung,
                Case { op: l.op, dtype: l.dtype, n: l.n, block: l.block },
                d,
                Cold,
                None,
            ) {
                Ok(p) => {
                    let m = r.time.unwrap().median;
                    let e = p.microseconds / m - 1.0;
                    if d.key == "h200" {
                        all.push(e.abs());
                    }
                    print!(
                        "{:22} {:10.1} {:10.1} {:+6.1}% R{} {:20}",
                        r.name,
                        m,
                        p.microseconds,
                        100.0 * e,
                        p.resident,
                        p.binding().name()
                    );
                    for (l, t) in &p.limits {
                        print!(" {}={:.1}", &l.name()[..2], t)
                    }
                    println!(" {:?}", t0.elapsed());
                }
                Err(e) => println!("{} {e}", r.name),
            }
        }
    }
    all.sort_by(f64::total_cmp);
    if !all.is_empty() {
        println!(
            "median {:.1}% worst {:.1}%",
            100.0 * all[all.len() / 2],
            100.0 * all[all.len() - 1]
        );
    }
    if std::env::args().nth(2).is_none() {
        return;
    }
    for f in ["sweep_block", "sweep_items", "sweep_size", "sweep_type"] {
        let s: sweep::Sweep =
            serde_json::from_str(&std::fs::read_to_string(format!("{root}{f}.json")).unwrap())
                .unwrap();
        println!("{f}");
        let mut some = vec![];
        for p in &s.points {
            let rung = find(&p.rung).unwrap();
            let Some(block) = p.block else { continue };
            let grid = match (f, p.items) {
                ("sweep_items", Some(i)) => Some(p.n.div_ceil(i * block as u64) as u32),
                _ => None,
            };
            let case = Case { op: s.op, dtype: p.dtype, n: p.n, block };
            let q = predict(rung, case, d, p.temperature, grid)
                .or_else(|_| predict(rung, case, d, p.temperature, None))
                .unwrap();
            let m = p.time.unwrap().median;
            let e = q.microseconds / m - 1.0;
            some.push(e.abs());
            println!(
                "{:22} {:?} n={} b={} i={:?} {} {:10.1} {:10.1} {:+6.1}% {}",
                p.rung,
                p.temperature,
                p.n,
                block,
                p.items,
                p.dtype,
                m,
                q.microseconds,
                100.0 * e,
                q.binding().name()
            );
        }
        some.sort_by(f64::total_cmp);
        println!(
            "== {f}: median {:.1}% worst {:.1}%",
            100.0 * some[some.len() / 2],
            100.0 * some[some.len() - 1]
        );
    }
}
