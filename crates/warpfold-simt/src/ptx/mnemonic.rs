//! The operations of the subset, each listed once.

macro_rules! mnemonics {
    ($($variant:ident $word:literal),* $(,)?) => {
        /// A PTX operation that the simulator knows, by its first word.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs)] // The names are PTX's own.
        pub enum Mnemonic { $($variant),* }

        impl Mnemonic {
            /// Every operation.
            pub const ALL: &'static [Mnemonic] = &[$(Mnemonic::$variant),*];

            /// The operation that `word` names.
            pub fn from_word(word: &str) -> Option<Mnemonic> {
                match word { $($word => Some(Mnemonic::$variant),)* _ => None }
            }

            /// The word PTX writes.
            pub fn word(self) -> &'static str {
                match self { $(Mnemonic::$variant => $word),* }
            }
        }
    };
}

mnemonics! {
    Abs "abs", Activemask "activemask", Add "add", Addc "addc", And "and", Atom "atom",
    Bar "bar", Barrier "barrier", Bfe "bfe", Bfi "bfi", Bfind "bfind", Bmsk "bmsk", Bra "bra",
    Brev "brev", Brkpt "brkpt", Brx "brx", Call "call", Clz "clz", Cnot "cnot",
    Copysign "copysign", Cos "cos", Cp "cp", Cvt "cvt", Cvta "cvta", Discard "discard",
    Div "div", Dp2a "dp2a", Dp4a "dp4a", Elect "elect", Ex2 "ex2", Exit "exit", Fence "fence",
    Fma "fma", Fns "fns", Griddepcontrol "griddepcontrol", Isspacep "isspacep", Ld "ld",
    Ldu "ldu", Lg2 "lg2", Lop3 "lop3", Mad "mad", Mad24 "mad24", Madc "madc", Mapa "mapa",
    Match "match", Max "max", Mbarrier "mbarrier", Membar "membar", Min "min", Mov "mov",
    Mul "mul", Mul24 "mul24", Nanosleep "nanosleep", Neg "neg", Not "not", Or "or",
    Popc "popc", Prefetch "prefetch", Prefetchu "prefetchu", Prmt "prmt", Rcp "rcp", Red "red",
    Redux "redux", Rem "rem", Ret "ret", Rsqrt "rsqrt", Sad "sad", Selp "selp", Set "set",
    Setp "setp", Shf "shf", Shfl "shfl", Shl "shl", Shr "shr", Sin "sin", Slct "slct",
    Sqrt "sqrt", St "st", Sub "sub", Subc "subc", Szext "szext", Tanh "tanh", Testp "testp",
    Trap "trap", Vote "vote", Xor "xor",
}
