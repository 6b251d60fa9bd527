//! The model of time: its errors against what an H200 measured and documents published, its machine code against the instructions that an H200 counted.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use warpfold::plan::CudaFacts;
use warpfold::{DType, Op};
use warpfold_kernels::ladder;
use warpfold_lab::cuda::report::Temperature;
use warpfold_ladder::model::{
    Code, DEVICES, Device, ERROR, H200, Limit, Set, measured, of_papers, of_results, predict,
};
use warpfold_ladder::{Addresses, Case, Ladder, Plan, Way, find, rungs};
use warpfold_simt::{Argument, Dimensions, Launch, Memory, Program, Settings};

fn results() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/h200")
}

fn merged(sets: Vec<Set>) -> Set {
    Set { source: String::new(), rows: sets.into_iter().flat_map(|set| set.rows).collect() }
}

#[test]
fn errors_stay_where_they_are_said_to_be() {
    let first = merged(of_results(&results(), &["ladder_f32.json"]).expect("results"));
    assert_eq!(first.rows.len(), 18);
    let [median, worst] = first.errors();
    assert!(median <= 0.12 && worst <= 0.30, "ladder_f32: {median} {worst}");

    let files = [
        "ladder_i32.json",
        "sweep_block.json",
        "sweep_items.json",
        "sweep_size.json",
        "sweep_type.json",
    ];
    let then = merged(of_results(&results(), &files).expect("results"));
    assert!(then.rows.len() > 200);
    let [median, worst] = then.errors();
    assert!(median <= 0.15 && worst <= 0.40, "without fitting again: {median} {worst}");

    let all = Set { source: String::new(), rows: [first.rows, then.rows].concat() };
    let said = all.errors().map(|error| (100.0 * error).ceil());
    assert_eq!(said, ERROR, "in percent, rounded up");
}

#[test]
fn documents_gpus_are_met_in_order() {
    let sets = of_papers().expect("every rung of a document is predicted");
    let names: Vec<&str> = sets.iter().map(|set| &*set.source).collect();
    assert_eq!(
        names,
        ["blog, GeForce RTX 3090", "thesis, GeForce RTX 3070", "harris, GeForce 8800 GTX (G80)"]
    );
    for set in &sets {
        assert!(set.in_order(), "{}", set.source);
        let [median, _] = set.errors();
        assert!(set.source.contains("G80") || median <= 0.25, "{}: {median}", set.source);
    }
}

/// Dynamic instructions by the rules of translation, beside `smsp__inst_executed` of an H200.
#[test]
fn machine_code_is_about_what_the_hardware_executes() {
    let text = std::fs::read_to_string(results().join("counters.json")).expect("results");
    let counted: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let mut ratios = Vec::new();
    for row in counted["results"].as_array().expect("a list") {
        let (Some(name), Some(200_003)) = (row["rung"].as_str(), row["n"].as_u64()) else {
            continue;
        };
        let dtype = if row["dtype"] == "f32" { DType::F32 } else { DType::F64 };
        let hardware = row["counts"]["smsp__inst_executed.sum"]["hardware"].as_f64();
        let Way::Kernel(kernel) = find(name).expect("a rung").way else { continue };
        let case = Case { op: Op::Sum, dtype, n: 200_003, block: 256 };
        let facts = CudaFacts { compute: 90, multiprocessors: 132 };
        let plan = Plan::new(kernel, case, facts).expect("a plan");
        let ratio = issued(&plan, case) / hardware.expect("a count");
        println!("{name} {dtype}: {ratio:.3}");
        ratios.push(ratio);
    }
    assert_eq!(ratios.len(), 32);
    ratios.sort_by(f64::total_cmp);
    let median = (ratios[15] + ratios[16]) / 2.0;
    assert!((0.9..1.1).contains(&median), "{median}");
    assert!(ratios[0] > 0.75 && ratios[31] < 1.35, "{} {}", ratios[0], ratios[31]);
}

fn issued(plan: &Plan, case: Case) -> f64 {
    let module = warpfold_kernels::find(&plan.module).expect("it is embedded");
    let ptx = module.ptx();
    let program = Program::load(&ptx).expect("PTX");
    let code = Code::new(program.kernel(&plan.entry).expect("an entry"), &ptx);
    let mut memory = Memory::new();
    let size = case.dtype.size() as u64;
    let zeros = vec![0u8; (plan.n * size) as usize];
    let at = Addresses {
        input: memory.upload_bytes(&zeros).address(),
        result: memory.upload_bytes(&[0; 16]).address(),
        partials: plan.partials.map(|count| memory.allocate(count * size).address()),
        scratch: memory.allocate(plan.scratch * size).address(),
        ticket: memory.upload(&[0u32]).address(),
    };
    let launches = plan.launches(at);
    let first = &launches[0];
    let launch = Launch {
        kernel: plan.entry.clone(),
        grid: Dimensions::from(first.pass.grid),
        block: Dimensions::from(first.pass.block),
        shared_bytes: first.pass.shared_bytes,
        arguments: first.parameters.iter().copied().map(Argument::from).collect(),
    };
    let counters = launch.run(&program, &mut memory, &Settings::default()).expect("no fault");
    code.issued(&counters).map(|(machine, count)| machine.issues() * count).sum()
}

#[test]
fn every_rung_is_predicted_soon_and_within_its_bounds() {
    let case = Case { op: Op::Sum, dtype: DType::F32, n: 1 << 28, block: 256 };
    for rung in rungs().iter().filter(|rung| matches!(rung.way, Way::Kernel(_))) {
        let began = Instant::now();
        let found = predict(rung, case, &H200, Temperature::Cold, None).expect("an H200 runs all");
        assert!(began.elapsed() < Duration::from_secs(2), "{}: {:?}", rung.name, began.elapsed());
        let alone = found.limits.iter().filter(|(l, _)| *l != Limit::Latency);
        let longest = alone.map(|(_, time)| *time).fold(0.0, f64::max);
        assert!(found.microseconds >= 0.999 * longest, "{}: sooner than a limit", rung.name);
    }
}

#[test]
fn few_blocks_are_not_bound_by_memory() {
    let case = Case { op: Op::Sum, dtype: DType::F32, n: 1 << 25, block: 256 };
    let rung = find("15").expect("a rung");
    let of = |grid| predict(rung, case, &H200, Temperature::Cold, Some(grid)).expect("a time");
    let full = of(528);
    assert_eq!(full.binding(), Limit::Memory);
    for grid in [4, 16, 33, 66] {
        let few = of(grid);
        let binds = few.binding();
        // What one multiprocessor can ask for at once, or its way to L2.
        assert!(matches!(binds, Limit::Latency | Limit::L2), "{grid}: {:?}", few.limits);
        // Memory's bandwidth is as good as idle; and no limit takes longer than the whole.
        assert!(few.share(Limit::Memory) < 0.75, "{grid}: {:?}", few.limits);
        assert!(few.limits.iter().all(|(_, alone)| *alone <= 1.001 * few.microseconds));
        assert!(few.microseconds > full.microseconds);
    }
    // Where blocks share nothing, as many again take half as long.
    let twice = (of(4).microseconds - H200.launch[0]) / (of(8).microseconds - H200.launch[0]);
    assert!((1.8..2.2).contains(&twice), "{twice}");
}

#[test]
fn what_was_measured_is_what_results_say() {
    for (file, rows) in [("ladder_f32.json", 18), ("ladder_i32.json", 18)] {
        let text = std::fs::read_to_string(results().join(file)).expect("results");
        let found: Ladder = serde_json::from_str(&text).expect("a climb");
        let mut seen = 0;
        for row in &found.rungs {
            let Ok(rung) = find(&row.name) else { continue };
            let known = measured(&H200, rung, found.case(), found.temperature);
            assert_eq!(known, row.time.map(|time| time.median), "{file} {}", row.name);
            seen += usize::from(known.is_some());
            let other = Case { n: found.n + 1, ..found.case() };
            assert_eq!(measured(&H200, rung, other, found.temperature), None);
            assert_eq!(measured(&DEVICES[0], rung, found.case(), found.temperature), None);
            assert_eq!(measured(&H200, rung, found.case(), Temperature::Hot), None);
        }
        assert!(seen >= rows, "{file}: {seen}");
    }
}

#[test]
fn no_rung_takes_more_registers_than_a_full_multiprocessor_has() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../warpfold-kernels/kernels.lock");
    let lock = std::fs::read_to_string(path).expect("the lock");
    let mut rows = 0;
    for line in lock.lines().filter(|line| !line.starts_with('#')) {
        let cells: Vec<&str> = line.split_whitespace().collect();
        let is_rung = ladder::rungs().iter().any(|rung| cells[0].starts_with(&rung.name));
        // Of sm_80 and sm_90: instructions, registers, spills, calls each; a dash where a module is for newer devices.
        let columns = &cells[8..];
        let ninety = if columns[0] == "-" { 1 } else { 4 };
        if is_rung {
            let registers: u32 = columns[ninety + 1].parse().expect("registers");
            assert!(registers <= 32, "{line}");
            rows += 1;
        }
    }
    assert!(rows > 300);
}

#[test]
fn devices_are_found_by_name_and_hold_what_they_hold() {
    for name in ["rtx3090", "RTX 3090", "rtx-3090"] {
        assert_eq!(Device::find(name).map(|device| device.key), Ok("rtx3090"));
    }
    assert!(Device::find("voodoo2").unwrap_err().contains("h200"));
    assert_eq!(DEVICES.len(), 7);
    // 2048 threads; 228 KiB less one for each block.
    assert_eq!(H200.resident(256, 1024, 32), 8);
    assert_eq!(H200.resident(256, 32 << 10, 32), 6);
    assert_eq!(H200.resident(32, 0, 32), 32);
    assert_eq!(H200.resident(256, 0, 64), 4);
}
