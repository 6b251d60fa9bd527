//! Maps: what is reduced, where that is not the arrays themselves but an expression of them.
//!
//! A text is [parsed](Expr::parse), [given its inputs' types](Program::new), which makes a list of operations without names, and
//! [run](Tiles) on a thousand elements at a time, in the processor's first cache, or [printed](ptx::Code) for a device.
//!
//! ```
//! use warpfold_expr::{Expr, Program, Type};
//! use warpfold_num::DType;
//!
//! let expr = Expr::parse("select(abs(x - y) > 1, 0, x)")?;
//! assert_eq!(expr.names(), ["x", "y"]);
//! let program = Program::new(&[&expr], &[("x", DType::F32), ("y", DType::F32)])?;
//! assert_eq!(program.result(0), Type::F32);
//! # Ok::<(), warpfold_num::Error>(())
//! ```
//!
//! # What an operation gives
//!
//! Elements of `f16`, `bf16` and `f32` compute in `f32`, `f64` in `f64`, signed integers in `i64`, unsigned ones in `u64`, `bool` in `bool`.
//! Every operation of floats is rounded once, to nearest-even; integers are checked. Operands have one type: nothing is converted unsaid but
//! constants, which take the type of what they meet.

mod function;
mod isa;
pub mod lanes;
pub mod math;
pub mod native;
mod native_loop;
mod operator;
mod program;
pub mod ptx;
mod scalar;
mod slice;
mod text;
mod tile;
mod types;

pub use function::{Binary, Unary};
pub use native::{Bound, Maker};
pub use operator::{MOST_FIELDS, MOST_RUNS, Operator, Piece, State, TypedOperator, Written};
pub use program::{Id, Node, Program, Root};
pub use slice::Slice;
pub use text::Expr;
pub use tile::{Buffering, Fault, TILE, Tiles};
pub use types::{Const, Type};
