//! [`Maker`]: the loop of an expression by itself, for folds that make values a few at a time.

use std::ops::Range;

use super::{Body, Inputs, run};
use crate::function::{Binary, Unary};
use crate::native_loop::{MOST_INPUTS, Native, Wanted};
use crate::program::{Id, Node, Program, Type};
use crate::slice::Slice;

/// One loop that writes the values of an expression of floats: one in Rust, or a text of an operation or two that is so common that its loop is compiled.
#[derive(Debug, Clone)]
pub struct Maker {
    native: Native,
    indices: Vec<u8>,
}

impl Maker {
    /// The loop of a value of a program, if there is one.
    pub fn of(program: &Program, id: Id) -> Option<Self> {
        if !program.ty(id).is_float() {
            return None;
        }
        let is_root = |expression: &usize| {
            let root = program.roots()[*expression];
            root.value == id && root.factors.is_none()
        };
        let mut expressions = (0..program.roots().len()).filter(is_root);
        let given = expressions.find_map(|expression| program.native(expression));
        let given = given.map(|(native, indices)| Maker { native, indices: indices.to_vec() });
        given
            .filter(|_| !matches!(program.nodes()[usize::from(id)], Node::Input(_)))
            .or_else(|| common(program, id))
    }

    /// The inputs that it reads, bound to it.
    pub fn bind<'s>(&self, inputs: &[Slice<'s>]) -> Bound<'s> {
        let mut given = [Slice::Bool(&[]); MOST_INPUTS];
        for (given, &index) in given.iter_mut().zip(&self.indices) {
            *given = inputs[usize::from(index)];
        }
        Bound { run: self.native.run, given, count: self.indices.len() }
    }
}

/// A loop and what it reads.
#[derive(Debug, Clone, Copy)]
pub struct Bound<'s> {
    run: fn(&[Slice<'_>], Range<usize>, Wanted, &mut [u8]),
    given: [Slice<'s>; MOST_INPUTS],
    count: usize,
}

impl<'s> Bound<'s> {
    /// What it reads.
    pub fn inputs(&self) -> &[Slice<'s>] {
        &self.given[..self.count]
    }

    /// Writes the values of the elements of a range as numbers of the expression's type.
    #[inline]
    pub fn make(&self, range: Range<usize>, values: &mut [u8]) {
        (self.run)(self.inputs(), range, Wanted::Value, values);
    }
}

/// The loop of a body.
const fn native<B: Body>() -> Native {
    Native { names: B::NAMES, dtypes: <B::Elements as Inputs>::DTYPES, run: run::<B> }
}

/// The loop of a common text, and where its inputs stand.
fn common(program: &Program, id: Id) -> Option<Maker> {
    /// A loop for both types.
    macro_rules! both {
        (|$($name:ident),+| $body:expr) => {
            match program.ty(id) {
                Type::F32 => both!(@f32 |$($name),+| $body),
                _ => both!(@f64 |$($name),+| $body),
            }
        };
        (@$ty:ident |$($name:ident),+| $body:expr) => {{
            enum Common {}
            impl Body for Common {
                const TEXT: &'static str = stringify!($body);
                const NAMES: &'static [&'static str] = &[$(stringify!($name)),+];
                type Elements = ($(both!(@of $name $ty),)+);

                #[inline(always)]
                fn of(($($name,)+): Self::Elements) -> impl super::Root {
                    #[allow(unused_imports, reason = "a body names some of them")]
                    use super::*;
                    $(let $name = Given::number($name);)+
                    $body
                }
            }
            native::<Common>()
        }};
        (@of $name:ident $ty:ident) => { $ty };
    }
    let nodes = program.nodes();
    let input = |id: Id| match nodes[usize::from(id)] {
        Node::Input(input) if program.inputs()[usize::from(input)] == program.ty(id).dtype() => {
            Some(input)
        }
        _ => None,
    };
    let (native, indices) = match nodes[usize::from(id)] {
        Node::Unary(Unary::Abs, a) => match nodes[usize::from(a)] {
            Node::Binary(Binary::Sub, a, b) => {
                (both!(|x, y| abs(x - y)), vec![input(a)?, input(b)?])
            }
            _ => (both!(|x| abs(x)), vec![input(a)?]),
        },
        Node::Binary(Binary::Sub, a, b) => (both!(|x, y| x - y), vec![input(a)?, input(b)?]),
        Node::Binary(Binary::Add, a, b) => (both!(|x, y| x + y), vec![input(a)?, input(b)?]),
        Node::Binary(Binary::Mul, a, b) => {
            (both!(|x, y| rounded(x * y)), vec![input(a)?, input(b)?])
        }
        _ => return None,
    };
    Some(Maker { native, indices })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Expr, TILE, Tiles, map};
    use warpfold_num::DType;

    const SPECIAL: [f64; 8] =
        [0.0, -0.0, 1.5, -2.25, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-42];

    /// The bits that a loop makes of a range, and those that the steps make; `None` where there is no loop.
    fn both(expr: &Expr, inputs: &[Slice<'_>], range: Range<usize>) -> Option<[Vec<u8>; 2]> {
        let names = ["y", "x"];
        let types: Vec<_> = names.into_iter().zip(inputs.iter().map(Slice::dtype)).collect();
        let program = Program::new(&[expr], &types).expect("it suits the types");
        let id = program.roots()[0].value;
        let bytes = range.len() * program.ty(id).dtype().size();
        let mut made = vec![0u64; bytes.div_ceil(8)];
        let made = &mut bytemuck::cast_slice_mut::<u64, u8>(&mut made)[..bytes];
        Maker::of(&program, id)?.bind(inputs).make(range.clone(), made);
        let text = Expr::parse(expr.text()).expect("it was read before");
        let steps = Program::new(&[&text], &types).expect("it suits the types");
        let mut tiles = Tiles::new(&steps, false);
        tiles.run(inputs, range.start, range.len()).expect("every element has a value");
        let expected = tiles.bytes(steps.roots()[0].value, inputs, range.start, range.len());
        Some([made.to_vec(), expected[..bytes].to_vec()])
    }

    #[test]
    fn common_texts_have_the_bits_of_their_steps() {
        let x: Vec<f64> = (0..3 * TILE).map(|k| SPECIAL[k % 8] * (k / 8) as f64).collect();
        let y: Vec<f64> = (0..3 * TILE).map(|k| SPECIAL[k / 7 % 8] - k as f64).collect();
        let narrow = |x: &[f64]| -> Vec<f32> { x.iter().map(|&x| x as f32).collect() };
        let (short_x, short_y) = (narrow(&x), narrow(&y));
        for inputs in
            [[Slice::F64(&y), Slice::F64(&x)], [Slice::F32(&short_y), Slice::F32(&short_x)]]
        {
            for text in ["abs(x - y)", "abs(x)+0*y", "x - y", "y - x", "x + y", "rounded(x * y)"] {
                let expr = Expr::parse(text).expect("it is one");
                let is_common = !text.contains('0');
                for range in [0..TILE, 77..99, TILE + 1..2 * TILE] {
                    let bits = both(&expr, &inputs, range);
                    assert_eq!(bits.is_some(), is_common, "{text}");
                    assert!(bits.is_none_or(|[made, steps]| made == steps), "{text}");
                }
            }
        }
        let body = map!(|x: f64, y: f64| abs(x - y) * 0.5 + x).expect("it is one");
        let [made, steps] =
            both(&body, &[Slice::F64(&y), Slice::F64(&x)], 5..700).expect("it is a loop");
        // Any NaN is as good as another.
        for (made, steps) in made.as_chunks().0.iter().zip(steps.as_chunks().0) {
            let (made, steps) = (f64::from_le_bytes(*made), f64::from_le_bytes(*steps));
            assert!(made.to_bits() == steps.to_bits() || made.is_nan() && steps.is_nan());
        }
    }

    #[test]
    fn integers_and_inputs_have_no_loop() {
        let of = |text, dtype| {
            let expr = Expr::parse(text).expect("it is one");
            let program = Program::new(&[&expr], &[("x", dtype), ("y", dtype)]).expect("it suits");
            Maker::of(&program, program.roots()[0].value).is_some()
        };
        assert!(of("x - y", DType::F32));
        assert!(!of("x - y", DType::I64));
        assert!(!of("x - y", DType::F16));
        assert!(!of("x - y + x", DType::F32));
    }
}
