//! What an assembler makes of the library's own kernels, by the rules of translation, beside the instructions that an H200 counted.

use std::path::Path;

use serde_json::Value;
use warpfold::kernel::FoldKernel;
use warpfold::plan::{CudaFacts, CudaPlan, Problem, choose_cuda};
use warpfold::simt::{Device, Settings};
use warpfold::{Accuracy, DType, Op, Overflow, Policy, with_element};
use warpfold_lab::array::{Buffer, Data, fill};
use warpfold_ladder::model::Code;
use warpfold_ladder::natural_data;
use warpfold_simt::{Detail, Program};

/// Elements that were counted.
const ELEMENTS: u64 = 200_003;

/// Issue slots by the rules, and warp instructions of PTX, of a plan's first launch.
fn issued(plan: CudaPlan) -> (f64, f64) {
    let Problem { op, dtype, n, .. } = plan.problem;
    let kernel = FoldKernel { fold: plan.fold, dtype, skips_nan: plan.skips_nan() };
    let ptx = kernel.module(90).expect("it is embedded").ptx();
    let program = Program::load(&ptx).expect("PTX");
    let code = Code::new(program.kernel(&kernel.entry()).expect("an entry"), &ptx);
    let settings =
        Settings { races: Detail::Off, uninitialised: Detail::Off, ..Settings::default() };
    let device = Device::with(CudaFacts { compute: 90, multiprocessors: 132 }, settings);
    let data = if dtype.is_float() { natural_data(op, dtype) } else { Data::Natural };
    let mut buffer = Buffer::new(n * dtype.size() as u64).expect("memory");
    with_element!(dtype, T => {
        fill::<T>(&mut buffer, data, 1);
        let x = device.upload(&buffer.as_slice::<T>()[..n as usize]).expect("memory");
        let run = device.launch(&plan, x.view(), None, None).expect("no fault");
        let slots = code.issued(&run.counters[0]).map(|(machine, count)| machine.issues() * count);
        (slots.sum(), run.counters[0].total.warp_instructions as f64)
    })
}

#[test]
fn library_kernels_are_about_what_the_hardware_executes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../results/h200/counters.json");
    let text = std::fs::read_to_string(path).expect("results");
    let counted: Value = serde_json::from_str(&text).expect("JSON");
    let counts = |entry: &str| {
        let mut rows = counted["results"].as_array().expect("a list").iter();
        let row = rows.find(|row| row["kernel"] == entry && row["n"] == ELEMENTS)?;
        let counts = &row["counts"]["smsp__inst_executed.sum"];
        Some((counts["hardware"].as_f64()?, counts["simulator"].as_f64()?))
    };
    let facts = CudaFacts { compute: 90, multiprocessors: 132 };
    let mut ratios = Vec::new();
    for dtype in [DType::F16, DType::F32, DType::F64, DType::Complex64, DType::Complex128] {
        // Products were other kernels when these were counted.
        let exact = [Op::Sum, Op::Var, Op::L1, Op::Linf, Op::Stats];
        let requested = exact.map(|op| (op, Accuracy::Exact)).into_iter();
        for (op, accuracy) in
            requested.chain([(Op::Sum, Accuracy::Fast), (Op::ArgMax, Accuracy::Fast)])
        {
            let policy = Policy { accuracy, overflow: Overflow::Wrap, ..Policy::default() };
            let problem = Problem { op, dtype, n: ELEMENTS, policy };
            let Ok(plan) = choose_cuda(problem, facts) else { continue };
            let entry = FoldKernel { fold: plan.fold, dtype, skips_nan: plan.skips_nan() }.entry();
            let Some((hardware, simulator)) = counts(&entry) else { continue };
            let (slots, warps) = issued(CudaPlan { then: None, ..plan });
            // Other numbers may have taken other ways through the same kernel.
            if (warps / simulator - 1.0).abs() < 0.05 {
                println!("{entry}: {:.3}", slots / hardware);
                ratios.push((slots / hardware, entry));
            }
        }
    }
    assert!(ratios.len() >= 27, "{}", ratios.len());
    ratios.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (median, least, most) = (ratios[ratios.len() / 2].0, &ratios[0], &ratios[ratios.len() - 1]);
    assert!((0.8..1.1).contains(&median), "{median}");
    assert!(least.0 > 0.7 && most.0 < 1.35, "{least:?} {most:?}");
}
