//! exp, log, sin and their like in maps: a device runs the source that the processor runs, as instructions that it printed itself.

use warpfold::{Element, Op, bf16};

use super::{Case, compare, pair};
use crate::data::{Contents, Random};

#[test]
fn functions_have_the_bits_of_the_processor() {
    fn of<T: Element>(texts: &[&'static str]) {
        let mut random = Random(41);
        for kind in [Contents::Plain, Contents::Specials, Contents::Wide] {
            let (x, y) = pair::<T>(kind, 1030, &mut random);
            for text in texts {
                compare(Case::of(text), &[Op::Sum, Op::Max], &x, &y, 1);
                compare(Case::of(text).keep("x < y").ignoring_nans(), &[Op::Mean], &x, &y, 0);
            }
        }
    }
    let functions = [
        "exp(x)",
        "exp2(x)",
        "expm1(x)",
        "log(x)",
        "log2(x)",
        "log1p(x)",
        "tanh(x)",
        "sigmoid(x)",
        "sin(x)",
        "cos(x)",
        "x**3",
        "x**-2",
        "x**0",
    ];
    of::<f32>(&functions);
    of::<f64>(&functions);
    of::<bf16>(&["exp(x) * cos(y)", "sin(x) + sin(y)"]);
}
