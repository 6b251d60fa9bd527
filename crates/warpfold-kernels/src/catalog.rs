//! Every production kernel, listed once: the build, the executor and the tests derive names from here.

mod batched;
mod maps;
mod sums;

pub use batched::{BatchedBuild, COLUMN_FOLDS, SEGMENT_FOLDS, STRIDED_FOLDS, batched_builds};
pub use maps::{
    MAP_INPUTS, MAPS, MapFold, OPERATOR_FOLD, OPERATOR_JOIN, OPERATOR_ROWS, OPERATOR_SHORT_ROWS,
    is_template,
};
pub use sums::{RANK_SUMS, TABLES};

/// The element types by the names of the contract, with the C++ type of each.
pub const ELEMENTS: &[Element] = &[
    Element::integer("bool", "boolean"),
    Element::integer("i8", "i8"),
    Element::integer("i16", "i16"),
    Element::integer("i32", "i32"),
    Element::integer("i64", "i64"),
    Element::integer("u8", "u8"),
    Element::integer("u16", "u16"),
    Element::integer("u32", "u32"),
    Element::integer("u64", "u64"),
    Element::float("f16", "f16"),
    Element::float("bf16", "bf16"),
    Element::float("f32", "f32"),
    Element::float("f64", "f64"),
    Element::complex("complex64", "complex64"),
    Element::complex("complex128", "complex128"),
];

/// The kinds of fold: each a template of a source file, instantiated for every element type it takes.
pub const FOLDS: &[KernelFamily] = &[
    KernelFamily {
        name: "sum",
        source: "entry/sum.cu",
        template: "Sum",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "min",
        source: "entry/extremes.cu",
        template: "Min",
        takes: Takes::Real,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "max",
        source: "entry/extremes.cu",
        template: "Max",
        takes: Takes::Real,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "minmax",
        source: "entry/extremes.cu",
        template: "MinMax",
        takes: Takes::Real,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "argmin",
        source: "entry/extremes.cu",
        template: "ArgMin",
        takes: Takes::Real,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "argmax",
        source: "entry/extremes.cu",
        template: "ArgMax",
        takes: Takes::Real,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "linf",
        source: "entry/linf.cu",
        template: "Linf",
        takes: Takes::All,
        newer: NARROW_FLOATS,
    },
    KernelFamily {
        name: "count",
        source: "entry/count.cu",
        template: "Count",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "l1",
        source: "entry/norms.cu",
        template: "L1",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "squares",
        source: "entry/norms.cu",
        template: "Squares",
        takes: Takes::Floats,
        newer: None,
    },
    KernelFamily {
        name: "moments",
        source: "entry/moments.cu",
        template: "Moments",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "stats",
        source: "entry/stats.cu",
        template: "Stats",
        takes: Takes::Integers,
        newer: NARROW_INTEGERS,
    },
    KernelFamily {
        name: "dot",
        source: "entry/dot.cu",
        template: "Dot",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "prod",
        source: "entry/product.cu",
        template: "Product",
        takes: Takes::All,
        newer: None,
    },
    KernelFamily {
        name: "exact_sum",
        source: "entry/exact_sum.cu",
        template: "ExactSum",
        takes: Takes::Floats,
        newer: None,
    },
    KernelFamily {
        name: "exact_l1",
        source: "entry/exact_l1.cu",
        template: "ExactL1",
        takes: Takes::Floats,
        newer: None,
    },
    KernelFamily {
        name: "exact_dot",
        source: "entry/exact_dot.cu",
        template: "ExactDot",
        takes: Takes::Floats,
        newer: None,
    },
    KernelFamily {
        name: "exact_moments",
        source: "entry/exact_moments.cu",
        template: "ExactMoments",
        takes: Takes::Floats,
        newer: None,
    },
    KernelFamily {
        name: "exact_stats",
        source: "entry/exact_stats.cu",
        template: "ExactStats",
        takes: Takes::RealFloats,
        newer: None,
    },
];

/// The last step of values that stay on the device.
pub const FINISH: Plain = Plain { name: "finish", source: "entry/finish.cu", entries: &["finish"] };

/// Nothing at all, and reading alone.
pub const LIMITS: Plain = Plain {
    name: "limits",
    source: "entry/limits.cu",
    entries: &["empty", "read_1", "read_2", "read_4", "read_8"],
};

/// The thesis's pair of kernels, a demonstration beside the ladder.
pub const DIVERGENCE: Plain = Plain {
    name: "divergence",
    source: "ladder/divergence.cu",
    entries: &["horrific_kernel", "good_kernel"],
};

/// Additions alone.
pub const ADDS: Plain = Plain {
    name: "adds",
    source: "entry/adds.cu",
    entries: &["add_u32", "add_u64", "add_f32", "add_f64"],
};

/// Digits counted for a sort, runs of equal keys, and where those of each number begin.
pub const GROUPS: Plain = Plain {
    name: "groups",
    source: "entry/groups.cu",
    entries: &[
        "groups_digits",
        "groups_scan",
        "groups_runs_8",
        "groups_runs_16",
        "groups_runs_32",
        "groups_runs_64",
        "groups_bounds",
    ],
};

/// The scatter of a radix sort: of ordinals of 32 bits with values of as many, and of ordinals of 32 and of 64 bits with any.
pub const SORT: Plain = Plain {
    name: "sort",
    source: "entry/sort.cu",
    entries: &["sort_pairs", "sort_scatter_32", "sort_scatter_64"],
};

/// The same for pairs of 32 bits in more shared memory.
pub const SORT_WIDE: Plain =
    Plain { name: "sort_wide", source: "entry/sort_wide.cu", entries: &["sort_pairs_wide"] };

/// The same in less shared memory.
pub const SORT_SMALL: Plain = Plain {
    name: "sort_small",
    source: "entry/sort_small.cu",
    entries: &["sort_pairs_small", "sort_scatter_32_small", "sort_scatter_64_small"],
};

/// How many elements segments have.
pub const LENGTHS: Plain =
    Plain { name: "segment_lengths", source: "entry/lengths.cu", entries: &["segment_lengths"] };

/// Sources that are compiled as they are, for [`BASE`]: no folds.
pub const PLAIN: &[Plain] = &[
    FINISH,
    LIMITS,
    DIVERGENCE,
    ADDS,
    GROUPS,
    LENGTHS,
    OPERATOR_FOLD,
    OPERATOR_JOIN,
    OPERATOR_ROWS,
    OPERATOR_SHORT_ROWS,
    RANK_SUMS,
    SORT,
    SORT_SMALL,
    SORT_WIDE,
    TABLES,
];

/// Float types whose minimum and maximum are instructions from compute capability 8.0 on.
const NARROW_FLOATS: Option<NewerBuilds> =
    Some(NewerBuilds { target: 80, elements: &["f16", "bf16", "f32"] });
/// Integers of which a word holds several: two halves have minimum and maximum instructions from 9.0 on.
const NARROW_INTEGERS: Option<NewerBuilds> =
    Some(NewerBuilds { target: 90, elements: &["bool", "i8", "i16", "u8", "u16"] });

/// The compute capability that every kernel is compiled for, times ten.
pub const BASE: u32 = 70;
/// Those that some are compiled for again, newest first.
pub const NEWER: &[u32] = &[90, 80];

/// An element type as kernels know it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Element {
    /// The contract's name, which is part of the entry's name.
    pub name: &'static str,
    /// The C++ type.
    pub cpp: &'static str,
    /// What kind of number it is.
    pub class: Class,
}

/// What kind of number an element is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// Integers and bool.
    Integer,
    /// Real floats.
    Float,
    /// Pairs of floats.
    Complex,
}

/// Which element types a fold takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Takes {
    /// Every type.
    All,
    /// All but complex.
    Real,
    /// Integers and bool.
    Integers,
    /// Real and complex floats.
    Floats,
    /// Real floats.
    RealFloats,
}

/// A kind of fold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelFamily {
    /// Its name, the first part of its entries' names.
    pub name: &'static str,
    /// The file below `cuda/`.
    pub source: &'static str,
    /// The C++ template, over an element type and what happens to NaN.
    pub template: &'static str,
    /// The element types.
    pub takes: Takes,
    /// The builds for newer devices, where those have instructions that pay.
    pub newer: Option<NewerBuilds>,
}

/// Builds beside those for [`BASE`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NewerBuilds {
    /// One of [`NEWER`].
    pub target: u32,
    /// The element types.
    pub elements: &'static [&'static str],
}

impl Element {
    const fn integer(name: &'static str, cpp: &'static str) -> Self {
        Element { name, cpp, class: Class::Integer }
    }

    const fn float(name: &'static str, cpp: &'static str) -> Self {
        Element { name, cpp, class: Class::Float }
    }

    const fn complex(name: &'static str, cpp: &'static str) -> Self {
        Element { name, cpp, class: Class::Complex }
    }

    /// Whether an element can be a NaN, so that there are entries that skip it.
    pub const fn has_nan(&self) -> bool {
        !matches!(self.class, Class::Integer)
    }
}

impl KernelFamily {
    /// Whether it is an exact fold of floats, which takes its choices as options.
    pub fn is_exact(&self) -> bool {
        self.name.starts_with("exact_")
    }

    /// Whether the fold is compiled for an element type.
    pub fn takes(&self, element: &Element) -> bool {
        match self.takes {
            Takes::All => true,
            Takes::Real => element.class != Class::Complex,
            Takes::Integers => element.class == Class::Integer,
            Takes::Floats => element.class != Class::Integer,
            Takes::RealFloats => element.class == Class::Float,
        }
    }
}

/// A source that is compiled as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plain {
    /// Its name, the first part of its module's.
    pub name: &'static str,
    /// The file below `cuda/`.
    pub source: &'static str,
    /// Its entries.
    pub entries: &'static [&'static str],
}

impl Plain {
    /// The module's name, which is the file's: `limits.sm70`.
    pub fn module(&self) -> String {
        format!("{}.sm{BASE}", self.name)
    }
}

/// One PTX file: a fold, an element type and a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build {
    /// The fold.
    pub fold: &'static KernelFamily,
    /// The element type.
    pub element: &'static Element,
    /// The compute capability times ten.
    pub target: u32,
}

impl Build {
    /// The entry's name, `sum_f32`.
    pub fn entry(&self) -> String {
        format!("{}_{}", self.fold.name, self.element.name)
    }

    /// The entry that skips NaNs, `sum_f32_skip_nan`, where elements can be NaN and the entry does not take that as an option.
    pub fn entry_skip_nan(&self) -> Option<String> {
        let apart = self.element.has_nan() && !self.fold.is_exact();
        apart.then(|| self.entry() + "_skip_nan")
    }

    /// The module's name, which is the file's: `sum_f32.sm70`.
    pub fn module(&self) -> String {
        format!("{}.sm{}", self.entry(), self.target)
    }
}

/// Every PTX file of a fold of whole arrays.
pub fn builds() -> impl Iterator<Item = Build> {
    FOLDS.iter().flat_map(|fold| {
        ELEMENTS.iter().filter(|element| fold.takes(element)).flat_map(move |element| {
            let newer = fold.newer.filter(|newer| newer.elements.contains(&element.name));
            [Some(BASE), newer.map(|newer| newer.target)]
                .into_iter()
                .flatten()
                .map(move |target| Build { fold, element, target })
        })
    })
}
