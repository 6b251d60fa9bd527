//! [`Rung`]: one way to fold an array, with what is to be said of it.

use std::sync::LazyLock;

use warpfold::{Accuracy, Op};
use warpfold_kernels::ladder::{self as kernels, Finish};

/// One way to fold an array: on the host, by a kernel of the ladder, or by the library.
#[derive(Debug, Clone, PartialEq)]
pub struct Rung {
    /// `host_serial`, `06_interleaved`, `library`, …
    pub name: &'static str,
    /// What it does.
    pub idea: &'static str,
    /// What it is better at than the rung before.
    pub mends: &'static str,
    /// The documents that show it, and what they call it there.
    pub seeds: &'static [(&'static str, String)],
    /// What is wrong in those documents; empty where there is nothing.
    pub wrong: &'static str,
    /// What runs.
    pub way: Way,
}

/// What runs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Way {
    /// A loop of this computer.
    Host(Host),
    /// A kernel of the ladder.
    Kernel(&'static kernels::Rung),
    /// The library's own reduction.
    Library(Accuracy),
}

/// The loops of this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Host {
    /// One element after the other.
    Serial,
    /// The tree, step by step, in a copy of the array.
    Tree,
}

impl Rung {
    /// How what blocks leave becomes one, for kernels.
    pub fn finish(&self) -> Option<Finish> {
        match self.way {
            Way::Kernel(kernel) => Some(kernel.finish),
            _ => None,
        }
    }

    /// Its number on the ladder, for kernels.
    pub fn number(&self) -> Option<u32> {
        match self.way {
            Way::Kernel(kernel) => Some(kernel.number),
            _ => None,
        }
    }

    /// The CUDA file, for kernels.
    pub fn source(&self) -> Option<&'static warpfold_kernels::Source> {
        match self.way {
            Way::Kernel(kernel) => Some(kernel.source),
            _ => None,
        }
    }

    /// The elements that it folds of an array of `n`: all, or as many as one block takes.
    pub fn folds(&self, n: u64) -> u64 {
        match self.way {
            Way::Kernel(kernels::Rung { grid: kernels::Grid::OneBlock { most }, .. }) => {
                n.min((*most).into())
            }
            _ => n,
        }
    }
}

/// Every rung, from the lowest up: the host's, the kernels, the library.
pub fn rungs() -> &'static [Rung] {
    static RUNGS: LazyLock<Vec<Rung>> = LazyLock::new(|| {
        let kernels = kernels::rungs().iter().map(|kernel| Rung {
            name: &kernel.name,
            idea: &kernel.idea,
            mends: &kernel.mends,
            seeds: &kernel.seeds,
            wrong: &kernel.wrong,
            way: Way::Kernel(kernel),
        });
        host().into_iter().chain(kernels).chain(library()).collect()
    });
    &RUNGS
}

fn host() -> [Rung; 2] {
    static SERIAL: LazyLock<Vec<(&str, String)>> =
        LazyLock::new(|| vec![("slides", "serial_reduce".to_owned())]);
    static TREE: LazyLock<Vec<(&str, String)>> =
        LazyLock::new(|| vec![("thesis", "2.3.1".to_owned())]);
    [
        Rung {
            name: "host_serial",
            idea: "One loop on one core of this computer.",
            mends: "Nothing: it is where everything begins.",
            seeds: &SERIAL,
            wrong: "The slides' loop adds to whatever the caller's variable held.",
            way: Way::Host(Host::Serial),
        },
        Rung {
            name: "host_tree",
            idea: "The tree on one core: pairs are folded in a copy of the array, then pairs of those.",
            mends: "The loop of host_serial cannot be shared out: each step waits for the one before. The pairs of a step do not.",
            seeds: &TREE,
            wrong: "The thesis's loop advances the array's length in place of its index, and so never ends; with the loops swapped, \
                    each element would have to be finished before those that need it, which holds for descending indices only.",
            way: Way::Host(Host::Tree),
        },
    ]
}

fn library() -> [Rung; 2] {
    let rung = |name, idea, mends, accuracy| Rung {
        name,
        idea,
        mends,
        seeds: &[],
        wrong: "",
        way: Way::Library(accuracy),
    };
    [
        rung(
            "library",
            "The library's kernel with fast sums: several vectors in flight a thread, a tuned launch, one pass.",
            "The rungs take one size of block for every array; the library's plan depends on type, size and machine.",
            Accuracy::Fast,
        ),
        rung(
            "library_exact",
            "The library's kernel: the mathematical sum, rounded once, the same bits on every machine.",
            "The result of every rung below depends on the order of its additions.",
            Accuracy::Exact,
        ),
    ]
}

/// The rung of a name; a kernel's may be given without its number, or by its number alone.
///
/// # Errors
/// What there is, and the nearest name.
pub fn find(name: &str) -> Result<&'static Rung, String> {
    let wanted = name.to_ascii_lowercase();
    let is_it = |rung: &&Rung| {
        let parts = rung.name.split_once('_').filter(|_| rung.number().is_some());
        let number = rung.number().map(|number| number.to_string());
        rung.name == wanted
            || parts.is_some_and(|(digits, rest)| digits == wanted || rest == wanted)
            || number.is_some_and(|number| number == wanted)
    };
    rungs().iter().find(is_it).ok_or_else(|| {
        let names: Vec<&str> = rungs().iter().map(|rung| rung.name).collect();
        let distance = |rung: &&Rung| {
            let bare = rung.name.trim_start_matches(|c: char| c.is_ascii_digit() || c == '_');
            strsim::osa_distance(rung.name, &wanted).min(strsim::osa_distance(bare, &wanted))
        };
        let nearest = rungs().iter().min_by_key(distance).map_or("", |rung| rung.name);
        format!(
            "no rung is called {name:?}; did you mean {nearest:?}? There are {}",
            names.join(", ")
        )
    })
}

/// The data that rungs fold unless told otherwise: full-width integers, whose sums wrap; normal floats, but factors near one for products.
pub fn natural_data(op: Op, dtype: warpfold::DType) -> warpfold_lab::array::Data {
    match dtype.is_float() && op != Op::Prod {
        true => warpfold_lab::array::Data::Natural,
        false => warpfold_lab::array::Data::Factors,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_are_found_by_name_and_number() {
        for name in ["06_interleaved", "interleaved", "06", "6", "Interleaved"] {
            assert_eq!(find(name).map(|rung| rung.name), Ok("06_interleaved"), "{name}");
        }
        assert_eq!(find("library").map(|rung| rung.name), Ok("library"));
        assert_eq!(find("host_tree").map(|rung| rung.name), Ok("host_tree"));
        let wrong = find("sequental").unwrap_err();
        assert!(wrong.contains("\"08_sequential\"") && wrong.contains("16_bulk_copy"), "{wrong}");
        assert!(find("").is_err() && find("serial").is_err());
    }

    #[test]
    fn the_ladder_has_every_rung_of_the_documents_in_order() {
        let names: Vec<&str> = rungs().iter().map(|rung| rung.name).collect();
        assert_eq!(names.len(), 20);
        assert!(names[2..18].windows(2).all(|pair| pair[0] < pair[1]));
        for seed in kernels::header::SEEDS {
            assert!(rungs().iter().any(|rung| rung.seeds.iter().any(|(name, _)| name == seed)));
        }
    }
}
