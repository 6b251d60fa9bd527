//! The modifiers of one instruction, taken one by one; what is left over is an error.

use super::super::DecodeError;
use super::super::layout::error;
use super::super::op::{Scope, Strength};
use crate::alu::soft::Rounding;
use crate::ptx::{Instruction, Space, Type};

/// An instruction's dotted words that have not been understood yet.
pub(super) struct Words<'a> {
    pub(super) instruction: &'a Instruction,
    rest: Vec<&'a str>,
}

const CACHE_HINTS: [&str; 24] = [
    "ca",
    "cg",
    "cs",
    "lu",
    "cv",
    "wb",
    "wt",
    "nc",
    "L1::evict_normal",
    "L1::evict_unchanged",
    "L1::evict_first",
    "L1::evict_last",
    "L1::no_allocate",
    "L2::64B",
    "L2::128B",
    "L2::256B",
    "L2::evict_last",
    "L2::evict_normal",
    "L2::evict_first",
    "weak",
    "volatile",
    "noftz",
    "uni",
    "ordered",
];

impl<'a> Words<'a> {
    pub(super) fn new(instruction: &'a Instruction) -> Words<'a> {
        Words { instruction, rest: instruction.modifiers.iter().map(String::as_str).collect() }
    }

    /// Whether `word` stands among them; takes it.
    pub(super) fn take(&mut self, word: &str) -> bool {
        match self.rest.iter().position(|w| *w == word) {
            Some(at) => {
                self.rest.remove(at);
                true
            }
            None => false,
        }
    }

    /// The first of `words` that stands among them.
    pub(super) fn take_any<'w>(&mut self, words: &[&'w str]) -> Option<&'w str> {
        words.iter().copied().find(|word| self.take(word))
    }

    /// The next type, from the left.
    pub(super) fn ty(&mut self) -> Result<Type, DecodeError> {
        let found = self.rest.iter().enumerate().find_map(|(i, w)| Some((i, Type::from_word(w)?)));
        match found {
            Some((at, ty)) => {
                self.rest.remove(at);
                Ok(ty)
            }
            None => self.error("needs a type"),
        }
    }

    /// The state space, generic where none is named. `.shared::cta` is `.shared`, and so is
    /// `.shared::cluster`: a launch has clusters of one block.
    pub(super) fn space(&mut self) -> Space {
        for (words, space) in [
            (&["global"][..], Space::Global),
            (&["shared", "shared::cta", "shared::cluster"], Space::Shared),
            (&["local"], Space::Local),
            (&["const"], Space::Const),
            (&["param", "param::entry", "param::func"], Space::Param),
        ] {
            if self.take_any(words).is_some() {
                return space;
            }
        }
        Space::Generic
    }

    /// `.v2`, `.v4`, or one.
    pub(super) fn count(&mut self) -> u32 {
        match self.take_any(&["v2", "v4"]) {
            Some("v2") => 2,
            Some(_) => 4,
            None => 1,
        }
    }

    pub(super) fn rounding(&mut self) -> Option<Rounding> {
        Some(match self.take_any(&["rn", "rz", "rm", "rp"])? {
            "rn" => Rounding::Nearest,
            "rz" => Rounding::Zero,
            "rm" => Rounding::Down,
            _ => Rounding::Up,
        })
    }

    pub(super) fn integral_rounding(&mut self) -> Option<Rounding> {
        Some(match self.take_any(&["rni", "rzi", "rmi", "rpi"])? {
            "rni" => Rounding::Nearest,
            "rzi" => Rounding::Zero,
            "rmi" => Rounding::Down,
            _ => Rounding::Up,
        })
    }

    /// The memory order; `weak` where none is named.
    pub(super) fn strength(&mut self, unnamed: Strength) -> Strength {
        match self.take_any(&["relaxed", "acquire", "release", "acq_rel"]) {
            Some("relaxed") => Strength::Relaxed,
            Some("acquire") => Strength::Acquire,
            Some("release") => Strength::Release,
            Some(_) => Strength::Both,
            None => unnamed,
        }
    }

    pub(super) fn scope(&mut self) -> Scope {
        match self.take_any(&["cta", "cluster", "gpu", "sys", "gl"]) {
            Some("cta") => Scope::Block,
            _ => Scope::Device,
        }
    }

    /// Takes what changes speed and not results.
    pub(super) fn hints(&mut self) {
        while self.take_any(&CACHE_HINTS).is_some() {}
    }

    pub(super) fn error<T>(&self, message: &str) -> Result<T, DecodeError> {
        error(self.instruction.line, format!("`{}` {message}", self.instruction.opcode()))
    }

    /// Checks that every word was understood.
    pub(super) fn finish(self) -> Result<(), DecodeError> {
        match self.rest.first() {
            None => Ok(()),
            Some(word) => self.error(&format!(
                "is outside the subset of PTX that the simulator runs (`.{word}`)"
            )),
        }
    }

    /// What is said of a form that no table lists.
    pub(super) fn unsupported<T>(&self) -> Result<T, DecodeError> {
        self.error("is outside the subset of PTX that the simulator runs")
    }
}
