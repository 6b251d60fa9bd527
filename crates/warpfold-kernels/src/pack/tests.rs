//! What the pack holds, beside the catalogue.

use super::*;
use crate::ladder;

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
    for build in catalog::batched_builds() {
        let module = find(&build.module()).unwrap_or_else(|| panic!("{}", build.module()));
        let declared = format!(".visible .entry {}", build.entry());
        assert!(module.ptx().contains(&declared), "{}", module.name);
        names.push(build.module());
    }
    for map in catalog::MAPS {
        for ty in map.types {
            let module = find(&map.module(ty)).unwrap_or_else(|| panic!("{}", map.module(ty)));
            let declared = format!(".visible .entry {}(", map.entry(ty));
            assert!(module.is_template() && module.ptx().contains(&declared), "{}", module.name);
            names.push(map.module(ty));
        }
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
fn all_of_it_stays_small() {
    let bytes: usize = modules().iter().map(Module::embedded_bytes).sum();
    // Every program carries it. Stats of integers in one pass took it beyond 2 MiB, at which this was set at first, and
    // quotients without calls, which spill less, beyond 2.25.
    assert!(bytes < 19 << 17, "{bytes} bytes");
}

/// The lock lists the kernels of the pack, by the texts that are embedded and what the directory says of them.
#[test]
fn the_lock_lists_what_is_embedded() {
    use sha2::{Digest, Sha256};
    let lock = include_str!("../../kernels.lock");
    let rows: Vec<Vec<&str>> = lock
        .lines()
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split_whitespace().collect())
        .collect();
    let mut listed = 0;
    for module in modules() {
        let ptx = module.ptx();
        let mut outside = String::new();
        let mut texts = Vec::<String>::new();
        let mut inside = false;
        for line in ptx.split_inclusive('\n') {
            if line.starts_with(".visible .entry ") {
                inside = true;
                texts.push(String::new());
            }
            let text = if inside { texts.last_mut() } else { None };
            text.unwrap_or(&mut outside).push_str(line);
            inside &= line != "}\n";
        }
        assert_eq!(texts.len(), module.entries().len(), "{}", module.name);
        for (entry, text) in module.entries().iter().zip(&texts) {
            let row = rows.iter().find(|row| row[..2] == [module.name, entry.name]);
            let row = row.unwrap_or_else(|| panic!("{} of {}", entry.name, module.name));
            let hash = Sha256::digest([outside.as_str(), text].concat());
            let hash: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(row[row.len() - 1], hash, "{} of {}", entry.name, module.name);
            let dash = |known: Option<u32>| known.map_or("-".to_owned(), |known| known.to_string());
            let known = [
                dash(entry.max_threads),
                dash(entry.min_blocks),
                entry.shared_bytes.to_string(),
                format!("{}:{}", entry.parameters, entry.parameter_bytes),
                dash(entry.state_bytes),
                dash(entry.record_words),
            ];
            assert_eq!(row[2..8], known, "{} of {}", entry.name, module.name);
            assert!(text.starts_with(&format!(".visible .entry {}(", entry.name)));
            if let Some(threads) = entry.max_threads {
                assert!(text.contains(&format!(".maxntid {threads}, 1, 1")), "{}", entry.name);
            }
            let (declared, _) = text.split_once(')').expect("parameters end");
            assert_eq!(declared.matches(".param ").count(), entry.parameters as usize);
            listed += 1;
        }
    }
    assert_eq!(listed, rows.len());
}
