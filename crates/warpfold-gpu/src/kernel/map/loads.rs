//! Loads of vectors and of elements from an address in `wfs_p`, into registers.

use std::fmt::Write as _;

use warpfold_engine::map::Each;

use super::shape::Reads;
use super::splice::{Input, Splice};

impl Splice<'_> {
    /// A step of one input, from an address on.
    pub(super) fn load_step(
        &self,
        text: &mut String,
        guard: &str,
        input: Input,
        elements: usize,
        register: usize,
    ) {
        let size = self.dtype(input).size();
        match (input.reads, input.each) {
            // What other rows read too stays in the caches.
            (Reads::Vectors, Each::Column) => {
                vectors(text, guard, "", elements * size, register);
            }
            (Reads::Vectors, _) => vectors(text, guard, ".cs", elements * size, register),
            (Reads::Elements, _) => (0..elements).for_each(|e| {
                let register = register + e * size.div_ceil(4);
                element(text, guard, size, e, register, "wfr_");
            }),
        }
    }
}

/// So many bytes from `wfs_p` on, which is a multiple of 16, or of all of them.
pub(in crate::kernel) fn vectors(
    text: &mut String,
    guard: &str,
    cache: &str,
    bytes: usize,
    mut register: usize,
) {
    let mut at = 0;
    while at < bytes {
        let wide = [16, 8, 4, 2].into_iter().find(|&wide| wide <= bytes - at).unwrap_or(2);
        let registers: Vec<String> =
            (0..wide.div_ceil(4)).map(|k| format!("wfr_{}", register + k)).collect();
        let _ = match wide {
            16 => writeln!(
                text,
                "{guard}ld.global{cache}.v4.u32 {{{}}}, [wfs_p+{at}];",
                registers.join(", ")
            ),
            8 => writeln!(
                text,
                "{guard}ld.global{cache}.v2.u32 {{{}}}, [wfs_p+{at}];",
                registers.join(", ")
            ),
            4 => writeln!(text, "{guard}ld.global{cache}.u32 {}, [wfs_p+{at}];", registers[0]),
            _ => writeln!(text, "{guard}ld.global{cache}.u16 {}, [wfs_p+{at}];", registers[0]),
        };
        register += wide.div_ceil(4);
        at += wide;
    }
}

/// One element of those from `wfs_p` on, in one register or two.
pub(in crate::kernel) fn element(
    text: &mut String,
    guard: &str,
    size: usize,
    e: usize,
    register: usize,
    of: &str,
) {
    element_at(text, guard, size, &format!("wfs_p+{}", e * size), register, of);
}

/// One element at an address, in one register or two.
pub(super) fn element_at(
    text: &mut String,
    guard: &str,
    size: usize,
    address: &str,
    register: usize,
    of: &str,
) {
    let _ = match size {
        8 => writeln!(
            text,
            "{guard}ld.global.v2.u32 {{{of}{register}, {of}{}}}, [{address}];",
            register + 1
        ),
        size => writeln!(text, "{guard}ld.global.u{} {of}{register}, [{address}];", 8 * size),
    };
}
