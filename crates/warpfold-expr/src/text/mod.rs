//! From text to a tree.

mod parse;
mod token;

use warpfold_num::{Error, Result};

use crate::native_loop::Native;
pub(crate) use parse::{Ast, Form};
pub(crate) use token::Points;

/// Characters at most of an expression's text.
const LONGEST: usize = 10_000;

/// An expression: what its text says, before its inputs' types are known.
#[derive(Debug, Clone)]
pub struct Expr {
    text: String,
    names: Vec<String>,
    pub(crate) ast: Ast,
    /// The loop of an expression that was written in Rust.
    pub(crate) native: Option<Native>,
}

impl Expr {
    /// Reads an expression.
    ///
    /// # Errors
    /// [`Error::Map`], with the column where the text is none.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text, Points::Refused)
    }

    /// Reads an expression whose names may have points in them.
    pub(crate) fn read(text: &str, points: Points) -> Result<Self> {
        let characters = text.chars().count();
        if characters > LONGEST {
            let obstacle = format!("the text has {characters} characters, and {LONGEST} are read");
            return Err(at(LONGEST + 1, obstacle, "say it in fewer, or map in steps"));
        }
        let (ast, names) = parse::parse(text, points)?;
        Ok(Expr { text: text.into(), names, ast, native: None })
    }

    /// The text it was read from.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The inputs that it names, each once, in the order of the text.
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// An error at a column of the text, from 1.
pub(crate) fn at(column: usize, obstacle: impl Into<String>, remedy: impl Into<String>) -> Error {
    Error::Map {
        requested: format!("map, column {column}"),
        obstacle: obstacle.into(),
        remedy: remedy.into(),
    }
}
