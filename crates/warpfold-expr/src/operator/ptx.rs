//! An operator's texts as instructions of PTX, for states in registers.
//!
//! A field has two registers of 32 bits, named after its state and numbered: `left0` and `left1` are the first field's halves. Fields of `f32` have the first alone.

use std::fmt::Write as _;

use super::typed::{TypedOperator, Values, bits};
use crate::program::Id;
use crate::ptx::{self, Code, Raw};
use crate::types::Type;

impl TypedOperator {
    /// The types of the fields.
    pub fn fields(&self) -> impl Iterator<Item = Type> + '_ {
        self.fields.iter().map(|(_, ty)| *ty)
    }

    /// The inputs that a lifted state is made of, by their places; that of the index is behind all others.
    pub fn reads(&self) -> Vec<usize> {
        ptx::inputs(&self.lift.program, &self.lift.computed())
    }

    /// Instructions, in a scope of their own, that make the state of an element, whose inputs lie where `raw` says; the last input is the element's index.
    /// `@` and a predicate are put before `fault` where an operation of integers may have no value.
    pub fn print_lift(&self, raw: impl Fn(usize) -> Raw, state: &str, fault: &str) -> String {
        self.lift.print(raw, state, fault)
    }

    /// The same of two neighbours' states, the left one first; the merged state may be either.
    pub fn print_merge(&self, left: &str, right: &str, state: &str, fault: &str) -> String {
        let fields = self.fields.len();
        let raw = |input: usize| match input.checked_sub(fields) {
            None => field(left, input),
            Some(field_of_right) => field(right, field_of_right),
        };
        self.merge.print(raw, state, fault)
    }

    /// What tells the instructions from those of other operators, and what is said of them, beside the inputs' types.
    pub fn printed_key(&self) -> String {
        let key = |Values { program, constants }: &Values| {
            format!("{program}{:?} {constants:?}", program.roots())
        };
        let said = (self.identity, self.commutative, self.tolerance.to_bits());
        format!("{}\n{}\n{said:?}", key(&self.lift), key(&self.merge))
    }
}

/// The registers of a field of a state.
fn field(state: &str, field: usize) -> Raw {
    Raw { words: [2 * field, 2 * field + 1].map(|word| format!("{state}{word}")), bit: 0 }
}

impl Values {
    /// The values that are no constants.
    fn computed(&self) -> Vec<Id> {
        let all = self.program.roots().iter().zip(&self.constants);
        all.filter(|(_, constant)| constant.is_none()).map(|(root, _)| root.value).collect()
    }

    fn print(&self, raw: impl Fn(usize) -> Raw, state: &str, fault: &str) -> String {
        let roots = || self.program.roots().iter().zip(&self.constants).enumerate();
        let mut code = Code::new(&self.program, &self.computed(), None, raw);
        let predicate = code.fault();
        let mut text = String::from("{\n") + &code.text();
        if let Some(predicate) = predicate {
            let _ = writeln!(text, "@{predicate} {fault}");
        }
        // A state that is read is written once all of it was.
        for (k, (root, constant)) in roots() {
            let [low, high] = field(state, k).words;
            let _ = match constant {
                Some(constant) => {
                    let word = bits(*constant);
                    let _ = writeln!(text, "mov.b32 {low}, 0x{:08X};", word as u32);
                    writeln!(text, "mov.b32 {high}, 0x{:08X};", word >> 32)
                }
                None if self.program.ty(root.value) == Type::F32 => {
                    writeln!(text, "mov.b32 {low}, {};", code.value(root.value))
                }
                None => writeln!(text, "mov.b64 {{{low}, {high}}}, {};", code.value(root.value)),
            };
        }
        text + "}\n"
    }
}
