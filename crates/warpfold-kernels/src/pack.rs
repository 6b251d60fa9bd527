//! The pack: every module's PTX and its table of source lines, compressed once by `cargo xtask kernels` and embedded as it lies in the tree.
//!
//! `kernels.pack` is the magic, the properties byte of LZMA, the window, the length of the directory and of its stream (32 bits each, little-endian);
//! then the directory's stream and those of all modules, PTX before lines. Streams are raw LZMA. The directory is text, by name of module:
//!
//! ```text
//! m NAME FOLLOWS PTX-BYTES PTX-STREAM LINES-BYTES LINES-STREAM
//! e NAME THREADS BLOCKS SHARED PARAMETERS PARAMETER-BYTES STATE RECORD
//! ```
//!
//! A module's texts are compressed as the continuation of those of the module whose number is FOLLOWS, as they differ little; a module is at most three others
//! away from its text. PTX is compressed with short names (`names.rs`). What is not known or not limited is a dash.

use std::borrow::Cow;
use std::io::Read;
use std::sync::OnceLock;

use lzma_rust2::LzmaReader;

use crate::manifest::Entry;
use crate::{catalog, names};

static PACK: &[u8] = include_bytes!("../kernels.pack");

/// What every pack begins with.
pub const MAGIC: &[u8; 8] = b"wfpack1\n";
/// Bytes before the directory's stream.
pub const HEADER: usize = MAGIC.len() + 1 + 3 * 4;

/// One PTX module: the entries of a fold and element type, for a compute capability and all later ones.
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// Its name: `sum_f32.sm70`.
    pub name: &'static str,
    /// Which of all modules its texts are compressed as the continuation of.
    follows: Option<usize>,
    ptx: Text,
    lines: Text,
    entries: &'static [Entry],
}

/// A stream of LZMA without header: of PTX with short names, of a table as it is.
#[derive(Debug, Clone, Copy)]
struct Text {
    bytes: usize,
    stream: &'static [u8],
}

/// The pack with its directory read.
struct Pack {
    properties: u8,
    window: u32,
    modules: Vec<Module>,
}

impl Module {
    /// The PTX text.
    pub fn ptx(&self) -> Cow<'static, str> {
        names::restore(&self.short_ptx()).into()
    }

    /// Whether it runs only once the code of a map stands in it.
    pub fn is_template(&self) -> bool {
        catalog::is_template(self.name)
    }

    /// Its kernels, in the order of the text.
    pub fn entries(&self) -> &'static [Entry] {
        self.entries
    }

    /// The kernel of a name.
    pub fn entry(&self, name: &str) -> Option<&'static Entry> {
        self.entries.iter().find(|entry| entry.name == name)
    }

    /// Bytes that the module takes in the binary.
    pub const fn embedded_bytes(&self) -> usize {
        self.ptx.stream.len() + self.lines.stream.len()
    }

    /// The table of the source lines it came from.
    #[doc(hidden)]
    pub fn table(&self) -> String {
        String::from_utf8(self.text(&|module| module.lines)).expect("the pack holds ASCII tables")
    }

    /// The PTX with short names, as the pack has it.
    #[doc(hidden)]
    pub fn short_ptx(&self) -> Vec<u8> {
        self.text(&|module| module.ptx)
    }

    /// The name of the module that this one's texts follow.
    #[doc(hidden)]
    pub fn follows(&self) -> Option<&'static str> {
        self.follows.map(|at| modules()[at].name)
    }

    /// The streams of PTX and table.
    #[doc(hidden)]
    pub fn streams(&self) -> [&'static [u8]; 2] {
        [self.ptx.stream, self.lines.stream]
    }

    fn text(&self, kind: &dyn Fn(&Module) -> Text) -> Vec<u8> {
        let before = self.follows.map(|at| modules()[at].text(kind));
        pack().decompress(kind(self), before.as_deref())
    }
}

impl Pack {
    fn read(bytes: &'static [u8]) -> Pack {
        let (header, mut rest) = bytes.split_at(HEADER);
        assert_eq!(&header[..MAGIC.len()], MAGIC, "kernels.pack is no pack of this version");
        let word = |at: usize| {
            let at = MAGIC.len() + 1 + 4 * at;
            u32::from_le_bytes(header[at..at + 4].try_into().expect("four bytes"))
        };
        let mut pack =
            Pack { properties: header[MAGIC.len()], window: word(0), modules: Vec::new() };
        let mut take = |bytes: usize, length: usize| {
            let (stream, after) = rest.split_at(length);
            rest = after;
            Text { bytes, stream }
        };
        let directory = take(word(1) as usize, word(2) as usize);
        let directory = String::from_utf8(pack.decompress(directory, None));
        // Read once and kept as long as the program runs, as the pack itself is.
        let directory: &'static str = directory.expect("the directory is text").leak();

        let mut lines = directory.lines().peekable();
        while let Some(line) = lines.next() {
            let mut words = line.split(' ').skip(1);
            let name = words.next().expect("a module has a name");
            let mut number = || words.next().and_then(|word| word.parse::<usize>().ok());
            let follows = number();
            let mut text = || {
                let lengths = number().zip(number()).expect("a text has two lengths");
                take(lengths.0, lengths.1)
            };
            let (ptx, lines_of_ptx) = (text(), text());
            let mut entries = Vec::new();
            while let Some(line) = lines.next_if(|line| line.starts_with("e ")) {
                entries.push(Entry::read(line.trim_start_matches("e ")));
            }
            let entries = entries.leak();
            pack.modules.push(Module { name, follows, ptx, lines: lines_of_ptx, entries });
        }
        pack
    }

    /// The text, given the one that it was compressed to follow.
    fn decompress(&self, text: Text, before: Option<&[u8]>) -> Vec<u8> {
        let mut whole = Vec::with_capacity(text.bytes);
        let before = before.filter(|text| !text.is_empty());
        let bytes = text.bytes as u64;
        LzmaReader::new_with_props(text.stream, bytes, self.properties, self.window, before)
            .and_then(|mut reader| reader.read_to_end(&mut whole))
            .expect("the pack's streams are whole");
        whole
    }
}

fn pack() -> &'static Pack {
    static READ: OnceLock<Pack> = OnceLock::new();
    READ.get_or_init(|| Pack::read(PACK))
}

/// Every module, by name.
pub fn modules() -> &'static [Module] {
    &pack().modules
}

/// The module of a name.
pub fn find(name: &str) -> Option<Module> {
    let modules = modules();
    modules.binary_search_by(|module| module.name.cmp(name)).ok().map(|k| modules[k])
}

/// The best module of a fold and element type for a device, if the catalogue has one.
///
/// `compute` is the device's compute capability times ten.
pub fn of_catalog(fold: &str, element: &str, compute: u32) -> Option<Module> {
    let entry = format!("{fold}_{element}");
    let targets = catalog::NEWER.iter().chain([&catalog::BASE]).copied();
    targets
        .filter(|&target| target <= compute)
        .find_map(|target| find(&format!("{entry}.sm{target}")))
}

/// The kernel of a name, in the module for the oldest devices that has it.
pub fn entry(name: &str) -> Option<&'static Entry> {
    modules().iter().find_map(|module| module.entry(name))
}

#[cfg(test)]
mod tests;
