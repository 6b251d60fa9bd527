//! [`Results`]: several of one reading.

use std::ops::Index;

use warpfold_exact::partial::Output;
use warpfold_num::Result;

/// Results by name and by number.
#[derive(Debug, Clone, PartialEq)]
pub struct Results {
    all: Vec<(String, Result<Output>)>,
}

impl Results {
    pub(super) fn new(all: Vec<(String, Result<Output>)>) -> Self {
        Results { all }
    }

    /// The result of a name; the first, if there are two.
    pub fn get(&self, name: &str) -> Option<&Result<Output>> {
        self.all.iter().find(|(known, _)| known == name).map(|(_, result)| result)
    }

    /// Names and results; in the order of the request.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Result<Output>)> {
        self.all.iter().map(|(name, result)| (name.as_str(), result))
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

impl Index<usize> for Results {
    type Output = Result<Output>;

    fn index(&self, which: usize) -> &Result<Output> {
        &self.all[which].1
    }
}
