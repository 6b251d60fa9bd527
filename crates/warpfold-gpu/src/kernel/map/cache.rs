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
    lines: Vec<u32>,
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

/// Modules that are remembered; a program that makes more expressions than that, as a server of queries may, splices anew.
const MOST: usize = 1024;

/// The module for a map.
///
/// # Errors
/// As [`splice`].
pub(super) fn module(program: &Program, shape: &Shape, inputs: &[Input]) -> Result<Arc<Spliced>> {
    static MADE: Mutex<Option<HashMap<String, Arc<Spliced>>>> = Mutex::new(None);
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let made = || MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let key = format!("{shape:?} {inputs:?} {:?}\n{program}", program.inputs());
    if let Some(spliced) = made().get_or_insert_default().get(&key) {
        return Ok(spliced.clone());
    }
    let entry = shape.entry(program);
    let template = warpfold_kernels::find(&format!("{entry}.sm{BASE}"));
    let template = template.unwrap_or_else(|| unreachable!("{entry} is in the catalogue")).ptx();
    let (ptx, lines) = splice(&template, &entry, program, shape, inputs)?;
    let name = format!("{entry}, map {}", NEXT.fetch_add(1, Ordering::Relaxed));
    let spliced = Arc::new(Spliced { name, entry, ptx, lines });
    let mut made = made();
    let made = made.get_or_insert_default();
    if made.len() >= MOST {
        made.clear();
    }
    Ok(made.entry(key).or_insert(spliced).clone())
}
