//! [`Class`]: what kind of work an instruction is.

macro_rules! classes {
    ($($(#[$doc:meta])* $variant:ident $name:literal),* $(,)?) => {
        /// What kind of work an instruction is.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Class { $($(#[$doc])* $variant),* }

        impl Class {
            /// Every class.
            pub const ALL: &'static [Class] = &[$(Class::$variant),*];

            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Class::$variant => $name),* }
            }
        }
    };
}

classes! {
    /// Integer arithmetic.
    Integer "integer",
    /// Shifts, logic, bit fields.
    Bits "bits",
    /// f32 arithmetic.
    Float32 "f32",
    /// f64 arithmetic.
    Float64 "f64",
    /// f16 and bf16 arithmetic.
    Half "half",
    /// Comparisons and logic on predicates.
    Predicate "predicate",
    /// Conversions.
    Convert "convert",
    /// Copies and selections.
    Move "move",
    /// Loads from global (or generic) memory.
    GlobalLoad "global load",
    /// Stores to global (or generic) memory.
    GlobalStore "global store",
    /// Loads from shared memory.
    SharedLoad "shared load",
    /// Stores to shared memory.
    SharedStore "shared store",
    /// Loads and stores of local memory.
    Local "local",
    /// Loads from constant memory.
    Constant "constant",
    /// Loads of the kernel's arguments.
    Parameter "parameter",
    /// Atomics and reductions.
    Atomic "atomic",
    /// Branches and exits.
    Control "control",
    /// Block barriers.
    BlockBarrier "block barrier",
    /// Warp barriers.
    WarpBarrier "warp barrier",
    /// Shuffles, votes, matches, warp reductions.
    WarpExchange "warp exchange",
    /// Memory fences.
    Fence "fence",
    /// Operations on mbarriers.
    Mbarrier "mbarrier",
    /// Bulk copies.
    BulkCopy "bulk copy",
}
