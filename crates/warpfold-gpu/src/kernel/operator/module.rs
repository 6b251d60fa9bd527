//! [`Module`]: a template with the code of an operator in it, made once in a process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use warpfold_engine::operator::TypedOperator;
use warpfold_kernels::catalog::{BASE, MAP_INPUTS, Plain};
use warpfold_kernels::manifest;
use warpfold_num::laws::ENOUGH;

use super::host;
use super::splice::{Input, splice};
use crate::kernel::array::AnyView;
use crate::kernel::batched::{BatchedLaunch, Code};
use crate::kernel::executor::Executor;
use crate::kernel::map::Spliced;
use crate::kernel::map::cache::Made;
use crate::{Error, Result};

/// A kernel of an operator, for arrays that lie as those it was made for.
pub(super) struct Module {
    spliced: Arc<Spliced>,
    entry: &'static manifest::Entry,
    /// Whether the operator's laws were tried on elements.
    is_checked: AtomicBool,
}

impl Module {
    /// That of a template; the inputs are its first parameters.
    ///
    /// # Errors
    /// [`Error::Map`]: the operator reads more arrays than kernels take.
    pub(super) fn of(
        plain: Plain,
        operator: &TypedOperator,
        inputs: &[Input],
    ) -> Result<Arc<Module>> {
        static MADE: Made<Module> = Made::new();
        if inputs.len() > MAP_INPUTS {
            return Err(Error::Map {
                requested: "operator".into(),
                obstacle: format!(
                    "it reads {} arrays, and kernels take {MAP_INPUTS}",
                    inputs.len()
                ),
                remedy: "run it on the CPU, or put some of them into one array before".into(),
            });
        }
        let name = plain.entries[0];
        let key = format!("{name} {inputs:?} {:?}\n{}", operator.inputs(), operator.printed_key());
        MADE.of(key, |number| {
            let template = warpfold_kernels::find(&plain.module());
            let template = template.unwrap_or_else(|| unreachable!("{name} ships"));
            let entry = warpfold_kernels::entry(name);
            let entry = entry.unwrap_or_else(|| unreachable!("{name} ships"));
            let parameters = entry.parameters as usize;
            let (ptx, lines) = splice(&template.ptx(), (name, parameters), operator, inputs)?;
            let spliced = Spliced {
                name: format!("{name}, operator {number}"),
                entry: name.into(),
                ptx,
                lines,
            };
            Ok(Module { spliced: spliced.into(), entry, is_checked: AtomicBool::new(false) })
        })
    }

    /// Tries the operator's laws on the first elements, where it is new to the process.
    ///
    /// # Errors
    /// [`Error::Map`], with the states that break a law; [`Error::Device`].
    pub(super) fn check(
        &self,
        machine: &dyn Executor,
        operator: &TypedOperator,
        inputs: &[AnyView<'_>],
    ) -> Result<()> {
        if !self.is_checked.load(Ordering::Relaxed) {
            host::check(machine, operator, inputs)?;
            // Few elements tell little: others are looked at next time.
            let n = inputs.first().map_or(0, |view| view.len);
            self.is_checked.store(n >= ENOUGH, Ordering::Relaxed);
        }
        Ok(())
    }

    /// The threads of a block.
    pub(super) fn threads(&self) -> u32 {
        self.entry.max_threads.unwrap_or(32)
    }

    /// A launch of so many blocks with so many bytes of shared memory each.
    pub(super) fn launch(&self, grid: u32, shared_bytes: u32, words: Vec<u64>) -> BatchedLaunch {
        let (code, entry) = (Code::Spliced(self.spliced.clone()), self.spliced.entry().into());
        BatchedLaunch { code, entry, grid, block: self.threads(), shared_bytes, words }
    }
}

/// Fails for devices that the templates are not for.
pub(super) fn check_device(machine: &dyn Executor) -> Result<()> {
    match machine.facts().compute < BASE {
        false => Ok(()),
        true => Err(Error::Device {
            requested: "an operator of one's own".into(),
            obstacle: "no kernel is built for this device; compute capability 7.0 is the least"
                .into(),
            remedy: "run it on the CPU",
        }),
    }
}
