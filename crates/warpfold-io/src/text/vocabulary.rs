//! [`Vocabulary`]: words of a column, each with a number.

use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, Mutex, PoisonError};

/// What cells are read as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Cells {
    /// Numbers of the type.
    #[default]
    Numbers,
    /// Words, each different one a `u32`: how many different ones came before it.
    Words,
}

/// Words that a reader on another thread has numbered, in the order of their numbers.
#[derive(Debug, Clone, Default)]
pub struct SharedWords(Arc<Mutex<Vec<String>>>);

impl SharedWords {
    /// Takes them out; complete once the text has ended.
    pub fn take(&self) -> Vec<String> {
        mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Words and their numbers.
#[derive(Debug)]
pub(super) struct Vocabulary {
    numbers: HashMap<Box<str>, u32>,
    /// Words that were not handed over.
    new: Vec<String>,
    shared: SharedWords,
}

impl Vocabulary {
    pub(super) fn new(shared: SharedWords) -> Vocabulary {
        Vocabulary { numbers: HashMap::new(), new: Vec::new(), shared }
    }

    /// The number of a word that is not empty; `None` if it is no UTF-8, or the numbers are used up.
    pub(super) fn number(&mut self, word: &[u8]) -> Option<u32> {
        let word = std::str::from_utf8(word).ok()?;
        if let Some(&number) = self.numbers.get(word) {
            return Some(number);
        }
        let next = u32::try_from(self.numbers.len()).ok()?;
        self.numbers.insert(word.into(), next);
        self.new.push(word.into());
        Some(next)
    }

    /// Hands over what is new.
    pub(super) fn share(&mut self) {
        let mut shared = self.shared.0.lock().unwrap_or_else(PoisonError::into_inner);
        shared.append(&mut self.new);
    }
}
