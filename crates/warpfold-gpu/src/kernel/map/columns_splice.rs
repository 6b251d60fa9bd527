//! The pseudo-instructions of columns (`walk/map_columns.cuh`): what is loaded where.

use std::fmt::Write as _;

use warpfold_engine::map::Each;

use super::loads::{element, element_at, vectors};
use super::shape::{Reads, Walk};
use super::splice::{Input, Splice};

/// Words of steps that are loaded ahead at most: more of them would be spilled.
const AHEAD: usize = 48;

/// Parameters of the kernels.
const WIDTH: usize = 8;
const ROWS: usize = 9;

/// Registers of a lane's columns, by their numbers: the index of each one's first element in the order of results, and how far the column lies from the lane's
/// first.
const INDEX: usize = 0;
const OFFSET: usize = 4;
/// Registers that [`INDEX`] and [`OFFSET`] are of.
pub(super) const OF_COLUMNS: usize = 8;

/// Where a step of columns begins, by registers: its element, and its row.
#[derive(Clone, Copy)]
pub(super) struct At<'s> {
    pub(super) element: &'s str,
    pub(super) row: &'s str,
}

impl Splice<'_> {
    /// Columns of a lane, in kernels that have some: as many as a vector has values.
    pub(super) fn columns(&self) -> Option<usize> {
        let is_of_columns = self.shape.template.walk() == Some(Walk::Columns);
        is_of_columns.then(|| 16 / self.shape.dtype(self.program).size())
    }

    /// Words that an input's elements of a step are loaded to, of so many columns.
    pub(super) fn words_of_columns(&self, input: Input, elements: usize, columns: usize) -> usize {
        let (size, rows) = (self.dtype(input).size(), elements / columns);
        match (input.each, input.reads) {
            (Each::Row, _) => 0,
            (Each::Column, _) => rows * size.div_ceil(4),
            (Each::Element, Reads::Vectors) => rows * (columns * size).div_ceil(4),
            (Each::Element, Reads::Elements) => elements * size.div_ceil(4),
        }
    }

    /// The word and the bit of an element of a step.
    pub(super) fn place_in_columns(
        &self,
        input: Input,
        e: usize,
        columns: usize,
    ) -> (usize, usize) {
        let (size, row, column) = (self.dtype(input).size(), e / columns, e % columns);
        match (input.each, input.reads) {
            (Each::Row | Each::Column, _) => (row * size.div_ceil(4), 0),
            (Each::Element, Reads::Vectors) => {
                let word = row * (columns * size).div_ceil(4) + column * size / 4;
                (word, column * size % 4 * 8)
            }
            (Each::Element, Reads::Elements) => (e * size.div_ceil(4), 0),
        }
    }

    /// Steps of columns that are loaded before the first of them is mapped.
    fn columns_ahead(&self, elements: usize) -> usize {
        (AHEAD / self.words(elements).max(1)).max(1)
    }

    /// Puts the index of an element of a step, in the order of results, into `wfs_i`: that of its column's first.
    pub(super) fn index_in_columns(e: usize, columns: usize) -> String {
        format!("mov.b64 wfs_i, wfb_{};", INDEX + e % columns)
    }

    /// The values of a lane's columns, which are one for each.
    pub(super) fn begin_columns(
        &self,
        text: &mut String,
        columns: usize,
        output: &str,
        apart: &str,
        count: &str,
    ) {
        let entry = self.entry;
        let _ = writeln!(
            text,
            ".reg .b64 wfs_p, wfs_q, wfs_n, wfs_l;\nsub.s64 wfs_l, {count}, 1;\nld.param.u64 wfs_n, [{entry}_param_{ROWS}];"
        );
        for c in 0..columns {
            let (index, offset) = (INDEX + c, OFFSET + c);
            let _ = writeln!(
                text,
                "min.u64 wfb_{offset}, wfs_l, {c};\nmul.lo.u64 wfb_{offset}, wfb_{offset}, {apart};\n\
                 add.s64 wfb_{index}, {output}, wfb_{offset};\nmul.lo.u64 wfb_{index}, wfb_{index}, wfs_n;"
            );
        }
        let mut fixed = 0;
        for (slot, &input) in self.inputs.iter().enumerate() {
            if input.each == Each::Row {
                let size = self.dtype(input).size();
                self.first_address(text, slot, output, size);
                let register = |c: usize| fixed + c * self.fixed_of_element();
                load_each_column(text, "", size, columns, register, "wff_");
                fixed += size.div_ceil(4);
            }
        }
    }

    /// The address of an element of an input, into `wfs_p`.
    fn first_address(&self, text: &mut String, slot: usize, index: &str, size: usize) {
        let _ = writeln!(
            text,
            "ld.param.u64 wfs_p, [{}_param_{slot}];\ncvta.to.global.u64 wfs_p, wfs_p;\nmad.lo.s64 wfs_p, {index}, {size}, wfs_p;",
            self.entry
        );
    }

    /// Steps of all inputs, so many elements and rows apart, as far as there are rows, into registers that stay.
    pub(super) fn load_columns(
        &mut self,
        text: &mut String,
        [steps, elements, columns]: [usize; 3],
        at: At<'_>,
        [rows_apart, apart]: [&str; 2],
    ) {
        let words = self.words(elements);
        self.registers = self.registers.max(steps * words);
        let _ = writeln!(
            text,
            ".reg .b64 wfs_at, wfs_row, wfs_rows;\n.reg .pred wfs_g;\nmov.b64 wfs_at, {};\nmov.b64 wfs_row, {};\n\
             ld.param.u64 wfs_rows, [{}_param_{ROWS}];",
            at.element, at.row, self.entry
        );
        for k in 0..self.columns_ahead(elements).min(steps) {
            if k > 0 {
                let _ = writeln!(
                    text,
                    "add.s64 wfs_at, wfs_at, {apart};\nadd.s64 wfs_row, wfs_row, {rows_apart};"
                );
            }
            text.push_str("setp.lt.u64 wfs_g, wfs_row, wfs_rows;\n");
            let at = At { element: "wfs_at", row: "wfs_row" };
            self.load_column_step(text, "@wfs_g ", [elements, columns], at, k * words);
        }
    }

    /// A step that is there, if it was not loaded before.
    pub(super) fn load_late_columns(
        &self,
        text: &mut String,
        k: usize,
        shape: [usize; 2],
        at: At<'_>,
    ) {
        if k >= self.columns_ahead(shape[0]) {
            self.load_column_step(text, "", shape, at, k * self.words(shape[0]));
        }
    }

    /// A step of all inputs: in place of rows beyond the last one that one.
    fn load_column_step(
        &self,
        text: &mut String,
        guard: &str,
        [elements, columns]: [usize; 2],
        at: At<'_>,
        mut first: usize,
    ) {
        let (entry, rows) = (self.entry, elements / columns);
        let _ = writeln!(
            text,
            "{{\n.reg .b64 wfs_p, wfs_q, wfs_n, wfs_w, wfs_o;\n.reg .pred wfs_t;\nld.param.u64 wfs_n, [{entry}_param_{ROWS}];\n\
             ld.param.u64 wfs_w, [{entry}_param_{WIDTH}];\nsub.s64 wfs_n, wfs_n, {};",
            at.row
        );
        for (slot, &input) in self.inputs.iter().enumerate() {
            let size = self.dtype(input).size();
            let (index, pitch) = match input.each {
                Each::Row => continue,
                Each::Column => (at.row, "1"),
                Each::Element => (at.element, "wfs_w"),
            };
            self.first_address(text, slot, index, size);
            let words = self.words_of_columns(input, elements, columns);
            for row in 0..rows {
                if row > 0 {
                    let _ = writeln!(
                        text,
                        "setp.gt.u64 wfs_t, wfs_n, {row};\nselp.b64 wfs_o, {pitch}, 0, wfs_t;\nmad.lo.s64 wfs_p, wfs_o, {size}, wfs_p;"
                    );
                }
                let register = first + row * words / rows;
                match (input.each, input.reads) {
                    (Each::Element, Reads::Vectors) => {
                        vectors(text, guard, ".cs", columns * size, register);
                    }
                    (Each::Element, Reads::Elements) => {
                        let register = |c: usize| register + c * size.div_ceil(4);
                        load_each_column(text, guard, size, columns, register, "wfr_");
                    }
                    _ => element(text, guard, size, 0, register, "wfr_"),
                }
            }
            first += words;
        }
        text.push_str("}\n");
    }
}

/// An element of each of a lane's columns, from the first one's address on.
fn load_each_column(
    text: &mut String,
    guard: &str,
    size: usize,
    columns: usize,
    register: impl Fn(usize) -> usize,
    of: &str,
) {
    for c in 0..columns {
        let _ = writeln!(text, "mad.lo.s64 wfs_q, wfb_{}, {size}, wfs_p;", OFFSET + c);
        element_at(text, guard, size, "wfs_q", register(c), of);
    }
}
