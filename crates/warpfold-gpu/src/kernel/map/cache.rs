//! Spliced modules, each made once in a process.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use warpfold_expr::Program;
use warpfold_kernels::catalog::BASE;

use super::shape::Shape;
use super::splice::{Input, splice};
use crate::Result;

/// A template with the code of a map in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Spliced {
    /// Told apart from all others of the process by it.
    pub(crate) name: String,
    pub(crate) entry: String,
    pub(crate) ptx: String,
    /// The template's line of each line.
    pub(in crate::kernel) lines: Vec<u32>,
}

impl Spliced {
    /// A module of a name of its own that was made of one that ships.
    #[cfg(any(feature = "cuda", feature = "simt"))]
    pub(in crate::kernel) fn of_text(name: String, entry: String, ptx: String) -> Self {
        Spliced { name, entry, ptx, lines: Vec::new() }
    }

    /// The PTX, as the driver and the simulator are given it.
    pub fn ptx(&self) -> &str {
        &self.ptx
    }

    /// The line of the template that a line stands for; all are counted from one.
    pub fn template_line(&self, line: u32) -> u32 {
        let known = line.checked_sub(1).and_then(|at| self.lines.get(at as usize));
        known.copied().unwrap_or(0)
    }

    /// The name of its kernel.
    pub fn entry(&self) -> &str {
        &self.entry
    }
}

/// What was made of expressions, each once in a process.
pub(in crate::kernel) struct Made<T> {
    known: Mutex<Option<HashMap<String, Arc<T>>>>,
    next: AtomicU64,
}

impl<T> Made<T> {
    /// What is remembered; a program that makes more expressions than that, as a server of queries may, splices anew.
    const MOST: usize = 1024;

    pub(in crate::kernel) const fn new() -> Self {
        Made { known: Mutex::new(None), next: AtomicU64::new(0) }
    }

    /// What has a key, made of a number that nothing else has if it is not known.
    pub(in crate::kernel) fn of(
        &self,
        key: String,
        make: impl FnOnce(u64) -> Result<T>,
    ) -> Result<Arc<T>> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(made) = known().get_or_insert_default().get(&key) {
            return Ok(made.clone());
        }
        let made = Arc::new(make(self.next.fetch_add(1, Ordering::Relaxed))?);
        let mut known = known();
        let known = known.get_or_insert_default();
        if known.len() >= Self::MOST {
            known.clear();
        }
        Ok(known.entry(key).or_insert(made).clone())
    }
}

/// The module for a map.
///
/// # Errors
/// As [`splice`].
pub(super) fn module(program: &Program, shape: &Shape, inputs: &[Input]) -> Result<Arc<Spliced>> {
    static MADE: Made<Spliced> = Made::new();
    let key = format!("{shape:?} {inputs:?} {:?}\n{program}", program.inputs());
    MADE.of(key, |number| {
        let entry = shape.entry(program);
        let template = warpfold_kernels::find(&format!("{entry}.sm{BASE}"));
        let template =
            template.unwrap_or_else(|| unreachable!("{entry} is in the catalogue")).ptx();
        let (ptx, lines) = splice(&template, &entry, program, shape, inputs)?;
        Ok(Spliced { name: format!("{entry}, map {number}"), entry, ptx, lines })
    })
}
