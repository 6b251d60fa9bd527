//! The PTX files, compressed by the build script and decompressed when asked for.

use std::borrow::Cow;
use std::io::Read;

use lzma_rust2::LzmaReader;

#[cfg(test)]
use crate::ladder;
use crate::{catalog, names};

include!(concat!(env!("OUT_DIR"), "/modules.rs"));

/// One PTX module: the entries of a fold and element type, for a compute capability and all later ones.
#[derive(Debug, Clone, Copy)]
pub struct Module {
    /// The file's name without `.ptx`.
    pub name: &'static str,
    /// Which of all modules its texts are compressed as the continuation of.
    follows: Option<usize>,
    ptx: Text,
    lines: Text,
}

/// A stream of LZMA without header, as the build script made it: of PTX with short names, of a table as it is.
#[derive(Debug, Clone, Copy)]
struct Text {
    bytes: usize,
    compressed: &'static [u8],
}

impl Module {
    /// The PTX text.
    pub fn ptx(&self) -> Cow<'static, str> {
        names::restore(&self.text(&|module| module.ptx)).into()
    }

    /// The table of the source lines it came from.
    pub(crate) fn table(&self) -> String {
        let table = self.text(&|module| module.lines);
        String::from_utf8(table).expect("the build script compressed ASCII text")
    }

    fn text(&self, kind: &dyn Fn(&Module) -> Text) -> Vec<u8> {
        let before = self.follows.map(|at| MODULES[at].text(kind));
        kind(self).after(before.as_deref())
    }

    /// Bytes that the module takes in the binary.
    pub const fn embedded_bytes(&self) -> usize {
        self.ptx.compressed.len() + self.lines.compressed.len()
    }
}

impl Text {
    /// The text, given the one that it was compressed to follow.
    fn after(self, before: Option<&[u8]>) -> Vec<u8> {
        let mut text = Vec::with_capacity(self.bytes);
        let before = before.filter(|text| !text.is_empty());
        let bytes = self.bytes as u64;
        LzmaReader::new_with_props(self.compressed, bytes, PROPERTIES, WINDOW, before)
            .and_then(|mut reader| reader.read_to_end(&mut text))
            .expect("the build script made the stream");
        text
    }
}

/// Every module, by name.
pub fn modules() -> &'static [Module] {
    MODULES
}

/// The module of a name.
pub fn find(name: &str) -> Option<Module> {
    MODULES.binary_search_by(|module| module.name.cmp(name)).ok().map(|k| MODULES[k])
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_build_of_the_catalogue_is_embedded_with_its_entries_and_nothing_else_is() {
        let mut names: Vec<String> = Vec::new();
        for build in catalog::builds() {
            let module =
                find(&build.module()).unwrap_or_else(|| panic!("{} is missing", build.module()));
            let ptx = module.ptx();
            for entry in [Some(build.entry()), build.entry_skip_nan()].into_iter().flatten() {
                assert!(
                    ptx.contains(&format!(".visible .entry {entry}(")),
                    "{entry} in {}",
                    module.name
                );
            }
            assert!(ptx.contains(&format!(".target sm_{}", build.target)), "{}", module.name);
            names.push(build.module());
        }
        for build in catalog::many_builds() {
            let module = find(&build.module()).unwrap_or_else(|| panic!("{}", build.module()));
            let declared = format!(".visible .entry {}", build.entry());
            assert!(module.ptx().contains(&declared), "{}", module.name);
            names.push(build.module());
        }
        for plain in catalog::PLAIN {
            let module = find(&plain.module()).unwrap_or_else(|| panic!("{}", plain.module()));
            let ptx = module.ptx();
            let declared = |entry: &&str| ptx.contains(&format!(".visible .entry {entry}("));
            assert!(plain.entries.iter().all(declared), "{}", module.name);
            assert_eq!(ptx.matches(".visible .entry").count(), plain.entries.len());
            names.push(plain.module());
        }
        for rung in ladder::rungs() {
            let module = find(&rung.module()).unwrap_or_else(|| panic!("{}", rung.module()));
            let (ptx, entries) = (module.ptx(), rung.entries());
            let declared = |entry: &String| ptx.contains(&format!(".visible .entry {entry}("));
            assert!(entries.iter().all(declared), "{}", module.name);
            assert_eq!(ptx.matches(".visible .entry").count(), entries.len(), "{}", module.name);
            assert!(ptx.contains(&format!(".target sm_{}", rung.target)), "{}", module.name);
            names.push(rung.module());
        }
        names.sort();
        let embedded: Vec<&str> = modules().iter().map(|m| m.name).collect();
        assert_eq!(embedded, names);
    }

    #[test]
    fn all_of_it_stays_below_two_mebibytes() {
        let bytes: usize = modules().iter().map(Module::embedded_bytes).sum();
        assert!(bytes < 2 << 20, "{bytes} bytes");
    }
}
