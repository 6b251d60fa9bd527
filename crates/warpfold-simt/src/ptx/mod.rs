//! PTX text: the syntax tree, its parser and its printer.
//!
//! [`Module::parse`] reads the PTX that NVRTC emits; `Display` writes it back. An opcode outside
//! the subset is an error that names it and its line, never a silent skip.

mod ast;
mod lexer;
mod mnemonic;
mod parse;
mod parse_body;
mod print;

pub use ast::*;
pub use mnemonic::Mnemonic;

/// Text that is not PTX, or not of the subset.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("PTX line {line}: {message}")]
pub struct SyntaxError {
    /// Where reading stopped.
    pub line: Line,
    /// What was expected and what stood there.
    pub message: String,
}

impl Module {
    /// Reads a PTX file.
    ///
    /// # Errors
    /// [`SyntaxError`], with the line, where the text is not PTX or uses what the subset lacks.
    pub fn parse(text: &str) -> Result<Module, SyntaxError> {
        parse::Parser::new(text)?.module()
    }
}
