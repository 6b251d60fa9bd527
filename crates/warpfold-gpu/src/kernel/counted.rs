//! Launches that read how many elements there are from the machine's memory when they run: in a graph, a length that changes between replays.
//!
//! Kernels take the length as a parameter. Here the parameter is its address, and their PTX, as it ships, has a load in the place where it reads the
//! parameter; one parameter more says how many elements there are at most.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use super::batched::{BatchedLaunch, Code};
use super::launch::Launch;
use super::map::Spliced;
use crate::plan::CudaPlan;
use crate::{Error, Op, Result};

/// Which parameter of kernels is the length, and how many there are.
const LENGTH: usize = 2;
const PARAMETERS: usize = 9;

/// Fails for what counts elements on the host too.
///
/// # Errors
/// [`Error::Unsupported`].
pub(crate) fn check(plan: &CudaPlan) -> Result<()> {
    let (op, dtype) = (plan.problem.op, plan.problem.dtype);
    if matches!(op, Op::Prod | Op::Stats) {
        return Err(Error::Unsupported {
            option: "a length on the device",
            op,
            dtype,
            why: "kernels of products and of stats are told it by the host; read the length, and reduce as many elements",
        });
    }
    Ok(())
}

/// The same launches, whose length lies at an address and is at most that of their plan.
///
/// # Errors
/// [`Error::Unsupported`] for a device that is older than every kernel.
pub(crate) fn launches(
    launches: impl Iterator<Item = Launch>,
    compute: u32,
    length: u64,
) -> Result<Vec<BatchedLaunch>> {
    let counted = |launch: Launch| {
        let mut words = launch.arguments.words().to_vec();
        let capacity = std::mem::replace(&mut words[LENGTH], length);
        words.push(capacity);
        let entry = launch.kernel.entry();
        let code = Code::Spliced(module(launch.kernel.module(compute)?, &entry));
        let Launch { grid, block, .. } = launch;
        Ok(BatchedLaunch { code, entry, grid, block, shared_bytes: 0, words })
    };
    launches.map(counted).collect()
}

/// A module whose kernel of a name reads its length, made once in a process.
fn module(module: warpfold_kernels::Module, entry: &str) -> Arc<Spliced> {
    static MADE: Mutex<Option<HashMap<String, Arc<Spliced>>>> = Mutex::new(None);
    let name = format!("{}, {entry} of a length on the device", module.name);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let ptx = with_length_on_device(&module.ptx(), entry);
        Arc::new(Spliced::of_text(name.clone(), entry.into(), ptx))
    };
    made.get_or_insert_default().entry(name.clone()).or_insert_with(make).clone()
}

/// The PTX of a module in which a kernel has its length's address for a parameter, and the most it may be as one more.
///
/// # Panics
/// If the kernel has other parameters than all kernels, or reads this one otherwise.
fn with_length_on_device(ptx: &str, entry: &str) -> String {
    let (length, last) =
        (format!("[{entry}_param_{LENGTH}]"), format!("{entry}_param_{}", PARAMETERS - 1));
    let (mut text, mut is_declared, mut is_read) =
        (String::with_capacity(ptx.len() + 1024), false, false);
    for line in ptx.lines() {
        if line.trim() == format!(".param .u64 {last}") {
            let _ = writeln!(text, "{line},\n\t.param .u64 {entry}_param_{PARAMETERS}");
            is_declared = true;
            continue;
        }
        if line.contains(&length) {
            let register = line
                .trim()
                .strip_prefix("ld.param.u64 ")
                .and_then(|rest| rest.split(',').next())
                .map(str::trim);
            let register = register.unwrap_or_else(|| unreachable!("`{line}` reads the length"));
            let _ = writeln!(
                text,
                "{{\n.reg .b64 wfn_p;\nld.param.u64 wfn_p, {length};\ncvta.to.global.u64 wfn_p, wfn_p;\nld.global.u64 {register}, [wfn_p];\n\
                 ld.param.u64 wfn_p, [{entry}_param_{PARAMETERS}];\nmin.u64 {register}, {register}, wfn_p;\n}}"
            );
            is_read = true;
            continue;
        }
        text.push_str(line);
        text.push('\n');
    }
    assert!(is_declared && is_read, "{entry} has the parameters of all kernels");
    text
}

#[cfg(test)]
mod tests {
    use warpfold_kernels::catalog;

    use super::*;

    #[test]
    fn every_kernel_of_one_array_reads_its_length_so() {
        for build in catalog::builds().filter(|build| build.fold.name != "prod") {
            let module = warpfold_kernels::find(&build.module()).unwrap();
            for entry in std::iter::once(build.entry()).chain(build.entry_skip_nan()) {
                let ptx = with_length_on_device(&module.ptx(), &entry);
                assert!(!ptx.contains(&format!(", [{entry}_param_2];\nmul")), "{entry}");
            }
        }
        with_length_on_device(&warpfold_kernels::find("finish.sm70").unwrap().ptx(), "finish");
    }
}
