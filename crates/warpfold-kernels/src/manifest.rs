//! What a launch must know of a kernel, as the device code says it.
//!
//! Launch bounds, parameters and shared memory are read from the PTX when the pack is made, sizes of states and records from constants that the device code
//! defines beside each kernel; the names and order of parameters, and numbers that stand for a choice, are in [`arguments`](crate::arguments), made of the
//! device code too, and so are constants that launches and plans go by. So none of it is typed a second time in Rust.

/// The parameters of a kernel, as `arguments.rs` lists them.
macro_rules! arguments {
    ($file:literal: $name:ident { $($field:ident),+ }) => {
        #[doc = concat!("Parameters that `", $file, "` declares; pointers are addresses in the machine's memory.")]
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
        #[allow(missing_docs, reason = "named as in the device code")]
        pub struct $name {
            $(pub $field: u64,)+
        }

        impl $name {
            /// One by one, in the kernel's order.
            pub const fn words(&self) -> [u64; [$(stringify!($field)),+].len()] {
                [$(self.$field),+]
            }
        }
    };
}

/// Numbers that a kernel takes for a choice.
macro_rules! codes {
    ($file:literal: $name:ident { $($code:ident),+ }) => {
        #[doc = concat!("Choices that `", $file, "` numbers from 0.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[allow(missing_docs, reason = "named as in the device code")]
        pub enum $name {
            $($code,)+
        }
    };
}

/// A number that the device code goes by.
macro_rules! constant {
    ($file:literal: $name:ident = $value:literal) => {
        #[doc = concat!("A constant of `", $file, "`.")]
        pub const $name: u64 = $value;
    };
}

pub(crate) use {arguments, codes, constant};

/// A kernel: an entry of a [`Module`](crate::Module).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// Its name, which a driver finds it by.
    pub name: &'static str,
    /// Threads of the largest block, if the kernel bounds them.
    pub max_threads: Option<u32>,
    /// Such blocks that a multiprocessor must have registers for.
    pub min_blocks: Option<u32>,
    /// Bytes of static shared memory a block.
    pub shared_bytes: u32,
    /// How many parameters it takes.
    pub parameters: u32,
    /// Bytes of all of them, with what lies between them.
    pub parameter_bytes: u32,
    /// Bytes of the state that a block leaves in the workspace, of kernels that say so.
    pub state_bytes: Option<u32>,
    /// Words of 64 bits of the record that an exact fold writes, up to the end of its integers.
    pub record_words: Option<u32>,
}

impl Entry {
    /// Reads a row of the pack's directory.
    pub(crate) fn read(row: &'static str) -> Entry {
        let mut words = row.split(' ');
        let name = words.next().expect("a kernel has a name");
        let mut number = || words.next().and_then(|word| word.parse().ok());
        Entry {
            name,
            max_threads: number(),
            min_blocks: number(),
            shared_bytes: number().unwrap_or(0),
            parameters: number().unwrap_or(0),
            parameter_bytes: number().unwrap_or(0),
            state_bytes: number(),
            record_words: number(),
        }
    }
}
