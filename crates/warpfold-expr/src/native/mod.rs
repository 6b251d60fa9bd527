//! [`map!`](crate::map): an expression that is written in Rust. The same tokens are compiled twice: by the user's compiler to a loop over slices, whose numbers
//! are the [`Number`]s here, and, as text, by [`Expr::parse`].
//!
//! Both have the same bits, as numbers here have no operation but those of the language: each is rounded once, nothing is contracted, and functions are
//! [`math`](crate::math)'s. What would differ is refused, by the compiler or by [`Expr::of`]: constants that are computed with one another (Rust infers a type
//! for them, the language computes in `f64`) and names that are no inputs.

mod functions;
mod inputs;
mod maker;
mod numbers;
#[cfg(test)]
mod tests;

use std::ops::Range;

use bytemuck::cast_slice_mut;
use warpfold_num::{Error, Result};

use crate::function::Unary;
use crate::isa::{Job, widest};
use crate::native_loop::{Native, Wanted};
use crate::program::{Program, Type};
use crate::slice::Slice;
use crate::text::{Expr, Form};

#[doc(hidden)]
pub use functions::*;
#[doc(hidden)]
pub use inputs::{Given, Inputs};
pub use maker::{Bound, Maker};
#[doc(hidden)]
pub use numbers::{Meet, Number, Root};

/// An expression in Rust: what [`map!`](crate::map) writes.
#[doc(hidden)]
pub trait Body {
    /// The tokens.
    const TEXT: &'static str;
    /// The inputs' names.
    const NAMES: &'static [&'static str];
    /// The inputs' types.
    type Elements: Inputs;

    /// The value of one element; `#[inline(always)]`, so that it is compiled with the instructions of the loop around it.
    fn of(elements: Self::Elements) -> impl Root;
}

/// An expression of the elements of some arrays, written in Rust: `map!(|x: f32, y: f32| abs(x - y))`.
///
/// The body is one expression of the [language of maps](crate::Expr) as far as that is Rust: its operators and functions, numbers, and the inputs'
/// names. Rust's compiler checks its types and makes a loop of it, which runs where that is the fastest; the text serves everything else, such as GPUs.
/// Results have the bits of the text's.
///
/// It is a `Result<Expr>`, and goes wherever an expression does. Integers are `pow(x, 2)` and `floor_div(x, y)` in place of `x**2` and `x // y`, which are
/// not Rust; a comparison with a constant has the constant on its right.
///
/// ```
/// use warpfold_expr::map;
///
/// let distance = map!(|x: f32, y: f32| select(abs(x - y) > 0.5, abs(x - y) - 0.25, (x - y) * (x - y)))?;
/// assert_eq!(distance.names(), ["x", "y"]);
/// # Ok::<(), warpfold_num::Error>(())
/// ```
///
/// Types that do not suit are told at compile time:
///
/// ```compile_fail
/// warpfold_expr::map!(|x: f32, y: f64| x + y);
/// ```
#[macro_export]
macro_rules! map {
    (|$($name:ident : $ty:ty),+ $(,)?| $body:expr) => {{
        enum Written {}
        impl $crate::native::Body for Written {
            const TEXT: &'static str = stringify!($body);
            const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];
            type Elements = ($($ty,)+);

            #[inline(always)]
            #[allow(clippy::neg_cmp_op_on_partial_ord, reason = "a body says what is computed")]
            fn of(($($name,)+): ($($ty,)+)) -> impl $crate::native::Root {
                #[allow(unused_imports, reason = "a body names some of them")]
                use $crate::native::*;
                $(let $name = Given::number($name);)+
                $body
            }
        }
        $crate::Expr::of::<Written>()
    }};
}

/// The loop, compiled for each instruction set where it is called.
struct Run<'r, B> {
    inputs: &'r [Slice<'r>],
    range: Range<usize>,
    wanted: Wanted,
    out: &'r mut [u8],
    body: std::marker::PhantomData<B>,
}

impl<B: Body> Job for Run<'_, B> {
    type Output = ();

    #[inline(always)]
    fn run<const AVX512: bool>(self) {
        let n = self.range.len();
        let x = B::Elements::slices(self.inputs, self.range.start, n);
        macro_rules! each {
            ($what:ident) => {
                // The numbers' type is that of what is written, which has no name.
                for (k, out) in cast_slice_mut::<u8, _>(self.out)[..n].iter_mut().enumerate() {
                    *out = B::of(B::Elements::at(x, k)).$what();
                }
            };
        }
        match self.wanted {
            Wanted::Value => each!(value),
            Wanted::Left => each!(left),
            Wanted::Right => each!(right),
        }
    }
}

fn run<B: Body>(inputs: &[Slice<'_>], range: Range<usize>, wanted: Wanted, out: &mut [u8]) {
    widest(Run::<B> { inputs, range, wanted, out, body: std::marker::PhantomData });
}

impl Expr {
    /// An expression of [`map!`](crate::map).
    ///
    /// # Errors
    /// [`Error::Map`] for what Rust takes and the language does not, such as a variable of the program around it.
    #[doc(hidden)]
    pub fn of<B: Body>() -> Result<Expr> {
        fn result<R: Root, E>(_: fn(E) -> R) -> Type {
            R::TYPE
        }
        let native = Native { names: B::NAMES, dtypes: B::Elements::DTYPES, run: run::<B> };
        written(B::TEXT, native, result(B::of))
    }
}

/// The expression of a body whose values are of a type.
fn written(tokens: &str, native: Native, result: Type) -> Result<Expr> {
    let mut expr = Expr::parse(&text(tokens))?;
    let refused = |obstacle: String, remedy: &str| {
        let requested = format!("map!, `{}`", expr.text());
        Err(Error::Map { requested, obstacle, remedy: remedy.into() })
    };
    if let Some(name) = expr.names().iter().find(|name| !native.names.contains(&name.as_str())) {
        let obstacle = format!("`{name}` is none of its inputs");
        return refused(obstacle, "write constants as numbers, and name inputs between the bars");
    }
    if let Some(name) = native.names.iter().find(|name| !expr.names().iter().any(|n| n == *name)) {
        return refused(format!("it does not read `{name}`"), "leave the input out");
    }
    if computes_constants(&expr) {
        let obstacle = "constants are computed with one another".to_owned();
        return refused(obstacle, "write the number that they come to");
    }
    let inputs: Vec<_> = native.names.iter().copied().zip(native.dtypes.iter().copied()).collect();
    let found = Program::new(&[&expr], &inputs)?.result(0);
    if found != result {
        let obstacle = format!("it is {found} as text and {result} in Rust");
        return refused(
            obstacle,
            "say f32(…), f64(…), i64(…) or u64(…) of what is to have the type",
        );
    }
    expr.native = Some(native);
    Ok(expr)
}

/// The text of tokens: `!` binds in Rust as `~` does in the language.
fn text(tokens: &str) -> String {
    let mut text = String::with_capacity(tokens.len());
    let mut rest = tokens.chars().peekable();
    while let Some(c) = rest.next() {
        text.push(if c == '!' && rest.peek() != Some(&'=') { '~' } else { c });
    }
    text
}

/// Whether an operation but a sign has constants alone: those have other types in Rust.
fn computes_constants(expr: &Expr) -> bool {
    let forms = &expr.ast.forms;
    let mut are_constant: Vec<bool> = Vec::with_capacity(forms.len());
    for form in forms {
        let is = |operand: &usize| are_constant[*operand];
        let (is_constant, is_computed) = match form {
            Form::Number(_) | Form::Truth(_) => (true, false),
            Form::Name(_) => (false, false),
            Form::Unary(op, a) => (is(a), is(a) && *op != Unary::Neg),
            Form::Rounded(a) | Form::Power(a, _) => (is(a), is(a)),
            Form::Binary(_, a, b) => (is(a) && is(b), is(a) && is(b)),
            // A choice between two constants is none.
            Form::Select(c, ..) => (is(c), is(c)),
            Form::Fma(a, b, c) => (is(a) && is(b) && is(c), is(a) && is(b)),
        };
        if is_computed {
            return true;
        }
        are_constant.push(is_constant);
    }
    false
}
