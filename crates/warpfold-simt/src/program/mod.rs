//! From syntax to something that runs: names resolved, calls inlined, branches given the place
//! where their paths meet again.

mod cfg;
mod decode;
mod layout;
pub(crate) mod op;
pub(crate) mod window;

use std::sync::atomic::{AtomicU64, Ordering};

use crate::ptx::{Line, Location, Module, SyntaxError};
use op::{Instruction, Slot};

/// A module that reads as PTX but cannot be run.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("PTX line {line}: {message}")]
pub struct DecodeError {
    /// Where.
    pub line: Line,
    /// What stood in the way.
    pub message: String,
}

/// Text that cannot become a [`Program`].
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum LoadError {
    /// It is not PTX.
    #[error(transparent)]
    Syntax(#[from] SyntaxError),
    /// It uses what the subset lacks.
    #[error(transparent)]
    Decode(#[from] DecodeError),
}

/// A module made ready to run: its kernels, and the images of its variables.
#[derive(Clone, Debug)]
pub struct Program {
    kernels: Vec<Kernel>,
    pub(crate) constants: Vec<u8>,
    pub(crate) globals: Vec<u8>,
    pub(crate) identity: u64,
    files: Vec<(u64, String)>,
}

impl Program {
    /// Parses and decodes a PTX file.
    ///
    /// # Errors
    /// [`LoadError`], with the line, where the text is not PTX or outside the subset.
    pub fn load(text: &str) -> Result<Program, LoadError> {
        Ok(Program::new(&Module::parse(text)?)?)
    }

    /// Decodes a module: every kernel of it, launched or not.
    ///
    /// # Errors
    /// [`DecodeError`], with the line, where it goes outside the subset.
    pub fn new(module: &Module) -> Result<Program, DecodeError> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let layout = layout::Layout::new(module)?;
        let kernels = decode::kernels(module, &layout)?;
        let files = layout.files.clone();
        Ok(Program {
            kernels,
            constants: layout.constants,
            globals: layout.globals,
            identity: NEXT.fetch_add(1, Ordering::Relaxed),
            files,
        })
    }

    /// Says where lines of the PTX come from, where the PTX itself does not: file and line of the CUDA source.
    pub fn locate<'a>(&mut self, of: impl Fn(u32) -> Option<(&'a str, u32)>) {
        let sites = self.kernels.iter_mut().flat_map(|kernel| &mut kernel.sites);
        for site in sites.filter(|site| site.location.is_none()) {
            let Some((file, line)) = of(site.line.0) else { continue };
            site.location = Some(Location {
                file: 0,
                line: u64::from(line),
                column: 0,
                function: None,
                inlined_at: None,
            });
            site.file = Some(file.to_owned());
        }
    }

    /// The kernels, in the order of the file.
    pub fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    /// The kernel of that name.
    pub fn kernel(&self, name: &str) -> Option<&Kernel> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The CUDA source file that `.loc` calls `index`.
    pub fn file(&self, index: u64) -> Option<&str> {
        self.files.iter().find(|(i, _)| *i == index).map(|(_, name)| name.as_str())
    }
}

/// A formal parameter of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its place in parameter space, in bytes.
    pub offset: u32,
    /// Its size, in bytes.
    pub bytes: u32,
}

/// Where an instruction comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Site {
    /// Its line in the PTX.
    pub line: Line,
    /// Its place in the CUDA source, where the PTX was made with `-lineinfo`.
    pub location: Option<Location>,
    /// The name of the file that `location` refers to.
    pub file: Option<String>,
    /// The instruction as PTX writes it.
    pub text: String,
}

impl std::fmt::Display for Site {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PTX line {}", self.line)?;
        if let (Some(location), Some(file)) = (&self.location, &self.file) {
            write!(f, " ({file}:{}", location.line)?;
            match location.column {
                0 => write!(f, ")")?,
                column => write!(f, ":{column})")?,
            }
        }
        write!(f, " `{}`", self.text)
    }
}

/// A kernel, decoded.
#[derive(Clone, Debug)]
pub struct Kernel {
    pub(crate) name: String,
    /// Where it begins.
    pub(crate) line: Line,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) parameter_bytes: u32,
    pub(crate) code: Vec<Instruction>,
    pub(crate) sites: Vec<Site>,
    pub(crate) registers: u32,
    pub(crate) predicates: u32,
    /// Slots that hold a constant.
    pub(crate) immediates: Vec<(Slot, u64)>,
    /// Slots that hold a special register.
    pub(crate) specials: Vec<(Slot, Special)>,
    /// Bytes of statically sized shared memory.
    pub(crate) static_shared: u32,
    /// Where dynamically sized shared memory begins.
    pub(crate) dynamic_shared: u32,
    /// Bytes of local memory of each thread.
    pub(crate) local_bytes: u32,
    /// Loops, each with the index of its first instruction.
    pub(crate) loops: Vec<Loop>,
    /// Whether blocks may speak to each other, through atomics or strong accesses.
    pub(crate) communication: Communication,
    /// `.maxntid` or `.reqntid`: most threads in a block.
    pub(crate) most_threads: Option<u64>,
}

/// A natural loop.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Loop {
    /// Index of the first instruction of its header.
    pub(crate) header: op::Pc,
    /// Instructions in it: first and last of its extent in the code.
    pub(crate) blocks: Vec<(op::Pc, op::Pc)>,
}

/// Whether blocks of a launch may observe each other's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Communication {
    /// No atomic and no strong access to global memory: blocks are independent or racing.
    None,
    /// Results may depend on the order of blocks.
    Possible,
}

impl Kernel {
    /// Its name in the PTX.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What it takes.
    pub fn parameters(&self) -> &[Parameter] {
        &self.parameters
    }

    /// Bytes of statically sized shared memory.
    pub fn static_shared_bytes(&self) -> u32 {
        self.static_shared
    }

    /// Whether its blocks may observe each other's order.
    pub fn communication(&self) -> Communication {
        self.communication
    }

    /// Where each instruction comes from, in the order of the code.
    pub fn sites(&self) -> impl ExactSizeIterator<Item = &Site> {
        self.code.iter().map(|instruction| &self.sites[instruction.site as usize])
    }

    /// The site of the first instruction of each loop's header.
    pub fn loop_headers(&self) -> impl ExactSizeIterator<Item = &Site> {
        self.loops.iter().map(|l| self.site(l.header))
    }

    pub(crate) fn site(&self, pc: op::Pc) -> &Site {
        &self.sites[self.code[pc as usize].site as usize]
    }
}

/// A special register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Special {
    /// `%tid`, by axis.
    Thread(u8),
    /// `%ntid`
    BlockSize(u8),
    /// `%ctaid`
    Block(u8),
    /// `%nctaid`
    GridSize(u8),
    Lane,
    Warp,
    Warps,
    LaneMaskEqual,
    LaneMaskLess,
    LaneMaskLessEqual,
    LaneMaskGreater,
    LaneMaskGreaterEqual,
    DynamicShared,
    TotalShared,
    /// What a launch without clusters, on one multiprocessor, reads as a constant.
    Fixed(u32),
}
