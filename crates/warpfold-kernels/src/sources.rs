//! The CUDA C++ sources, and which of their lines each line of PTX came from.

use crate::Module;

include!(concat!(env!("OUT_DIR"), "/sources.rs"));

/// A source file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Source {
    /// Its folder below `cuda/`, with a slash at its end: `ladder/`, `walk/`.
    pub folder: &'static str,
    /// Its name, which no other file has in any folder.
    pub name: &'static str,
    /// What it holds.
    pub text: &'static str,
}

/// Every source file, by folder and name.
pub fn sources() -> &'static [Source] {
    SOURCES
}

/// For each line of a module's PTX, the source line it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    files: Vec<String>,
    /// The first PTX line of each stretch, the file's index and the source line, rising.
    stretches: Vec<(u32, usize, u32)>,
}

impl Lines {
    /// The source file and line that a line of the PTX came from; all are counted from one.
    pub fn of(&self, ptx_line: u32) -> Option<(&str, u32)> {
        let after = self.stretches.partition_point(|&(first, ..)| first <= ptx_line);
        let (_, file, line) = *self.stretches.get(after.checked_sub(1)?)?;
        (line != 0).then(|| (self.files[file].as_str(), line))
    }

    /// Reads a table: file names on the first line, then on each line how many PTX lines further the next
    /// stretch begins, the file's number from one, the source line.
    fn read(table: &str) -> Lines {
        let mut lines = table.lines();
        let files = lines.next().unwrap_or_default().split(' ').map(str::to_owned).collect();
        let mut first = 0;
        let stretches = lines
            .map(|line| {
                let mut numbers = line.split(' ').map(|n| n.parse().expect("the table is numbers"));
                let mut next = || numbers.next().expect("three a line");
                first += next();
                (first, next() as usize - 1, next())
            })
            .collect();
        Lines { files, stretches }
    }
}

impl Module {
    /// Where its PTX comes from, line by line.
    pub fn lines(&self) -> Lines {
        Lines::read(&self.table())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretch_lasts_until_the_next() {
        let lines = Lines::read("b.cu a.cuh\n3 1 7\n2 2 0\n4 2 9\n");
        let of = |line| lines.of(line);
        assert_eq!(
            [of(2), of(3), of(4), of(5)],
            [None, Some(("b.cu", 7)), Some(("b.cu", 7)), None]
        );
        assert_eq!([of(8), of(9), of(99)], [None, Some(("a.cuh", 9)), Some(("a.cuh", 9))]);
    }

    #[test]
    fn names_are_unique_whatever_the_folder() {
        let mut names: Vec<_> = sources().iter().map(|source| source.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), sources().len());
    }

    /// In every module, each line that a table names is there and holds code.
    #[test]
    fn every_line_that_is_named_exists() {
        for module in crate::modules() {
            let lines = module.lines();
            for (_, file, line) in lines.stretches.iter().filter(|stretch| stretch.2 != 0) {
                let name = &lines.files[*file];
                let source = sources().iter().find(|source| source.name == name);
                let source = source.unwrap_or_else(|| panic!("{name} of {}", module.name));
                let code = source.text.lines().nth(*line as usize - 1);
                assert!(code.is_some_and(|code| !code.trim().is_empty()), "{name}:{line}");
            }
            let ptx = module.ptx();
            // Of a template, where the loads of a map or an operator will be.
            let loads = ["ld.global", "warpfold.load", "warpfold.get"];
            let loads = |text: &str| loads.iter().any(|load| text.contains(load));
            let loads = ptx.lines().zip(1..).find(|(text, _)| loads(text));
            let (_, at) = loads.expect("every kernel reads its array");
            assert!(lines.of(at).is_some(), "{}", module.name);
        }
    }
}
