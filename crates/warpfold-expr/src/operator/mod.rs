//! [`Operator`]: a reduction of one's own as text: how an element becomes a state, how neighbours' states merge, what the last one says.
//!
//! ```
//! use warpfold_expr::{Operator, Piece, Slice, Written};
//! use warpfold_num::DType;
//!
//! // Maxima with what stands beside them.
//! let written = Written { finish: Some("of"), ..Written::new("most: f64, of: i64", "x, y", "max(a.most, b.most), select(b.most > a.most, b.of, a.of)") };
//! let operator = Operator::parse(&written)?.typed(&[("x", DType::F64), ("y", DType::I64)])?;
//! let inputs = [Slice::F64(&[1.5, 7.0, 2.0]), Slice::I64(&[10, 20, 30])];
//! let lift = |at| operator.lift(Piece::of(&inputs), at);
//! let state = operator.merge(&operator.merge(&lift(0)?, &lift(1)?)?, &lift(2)?)?;
//! assert_eq!(operator.finish(&state)?, [20i64.into()]);
//! # Ok::<(), warpfold_num::Error>(())
//! ```

mod laws;
mod ptx;
mod runs;
mod text;
mod typed;

use crate::slice::Slice;
use crate::text::Expr;
use crate::types::Type;
pub use runs::MOST_RUNS;
pub use typed::{State, TypedOperator};

/// Fields at most of a state, which has 64 bytes at most.
pub const MOST_FIELDS: usize = 8;

/// Neighbouring elements, and which indices they have.
#[derive(Debug, Clone, Copy)]
pub struct Piece<'a> {
    /// The elements of each input, as many of each.
    pub inputs: &'a [Slice<'a>],
    /// The index of the first one.
    pub start: u64,
    /// Where rows of so many elements lie one behind the other: their length, after which indices begin at 0 again.
    pub row: Option<u64>,
}

impl<'a> Piece<'a> {
    /// Elements whose indices count from 0.
    pub fn of(inputs: &'a [Slice<'a>]) -> Self {
        Piece { inputs, start: 0, row: None }
    }

    /// The index of the element at a position.
    fn index(&self, position: usize) -> u64 {
        let index = self.start + position as u64;
        self.row.map_or(index, |row| index % row)
    }
}

/// An operator's texts. Fields and values stand between commas; expressions are those of [`Expr`].
#[derive(Debug, Clone, Copy)]
pub struct Written<'a> {
    /// The fields, such as `n: f64, mean: f64`: of f64, f32, i64 or u64.
    pub state: &'a str,
    /// The fields of one element's state, of the inputs and `index`.
    pub lift: &'a str,
    /// The fields of the state of neighbours, of `a.n` and `b.n`, the left one first.
    pub merge: &'a str,
    /// The results, of `n`; without it the fields.
    pub finish: Option<&'a str>,
    /// The state of nothing, of constants.
    pub identity: Option<&'a str>,
    /// Whether neighbours may change places: claimed, and checked.
    pub commutative: bool,
    /// How far apart two roundings of a field may be, as a part of the largest magnitude about.
    pub tolerance: f64,
}

impl<'a> Written<'a> {
    /// What every operator has.
    pub fn new(state: &'a str, lift: &'a str, merge: &'a str) -> Self {
        Written {
            state,
            lift,
            merge,
            finish: None,
            identity: None,
            commutative: false,
            tolerance: 1e-9,
        }
    }
}

/// An operator, before its inputs' types are known.
#[derive(Debug, Clone)]
pub struct Operator {
    fields: Vec<(String, Type)>,
    lift: Vec<Expr>,
    merge: Vec<Expr>,
    finish: Option<Vec<Expr>>,
    identity: Option<Vec<Expr>>,
    commutative: bool,
    tolerance: f64,
}

impl Operator {
    /// The inputs that it names, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for name in self.lift.iter().flat_map(Expr::names) {
            if name != typed::INDEX && !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Whether it looks at the index of elements.
    pub fn counts(&self) -> bool {
        self.lift.iter().flat_map(Expr::names).any(|name| name == typed::INDEX)
    }

    /// What its results are called: the fields' names, or what the last text says of each.
    pub fn titles(&self) -> Vec<String> {
        match &self.finish {
            None => self.fields.iter().map(|(name, _)| name.clone()).collect(),
            Some(finish) => finish.iter().map(|expr| expr.text().trim().to_owned()).collect(),
        }
    }
}
