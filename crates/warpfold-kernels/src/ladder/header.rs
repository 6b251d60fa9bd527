//! The comment that a rung begins with, as a value: a rung is registered nowhere else.
//!
//! ```text
//! // rung:   06_interleaved            the file's own name
//! // idea:   …                         what it does
//! // mends:  …                         what it is better at than a rung before
//! // grid:   1 element a thread        how many blocks (see Grid)
//! // shared: 1 element a thread        dynamic shared memory, if any (see Shared)
//! // memory: 1 element a block         memory to work in, if any (see Workspace)
//! // blocks: 32 64                     the sizes it is compiled for, if not for all
//! // target: 90                        the compute capability it needs, if more than the least
//! // finish: recursive                 how what blocks leave becomes one (see Finish)
//! // work:   n - G                     operations of a launch (see Formula)
//! // steps:  lg(min(n, B))             the longest chain of them
//! // lacks:  prod of complex128, as …  what it cannot do, if anything
//! // seeds:  blog K2; Harris 1         where it comes from
//! // wrong:  …                         what is wrong there
//! ```

use std::collections::BTreeMap;

use super::{Finish, Formula, Grid, Lack, Rung, Shared, Workspace};
use crate::{Source, catalog};

/// The documents that rungs come from.
pub const SEEDS: &[&str] = &["blog", "lesson", "slides", "thesis", "guide", "Harris"];

const KEYS: &[&str] = &[
    "rung", "idea", "mends", "grid", "shared", "memory", "blocks", "target", "finish", "work",
    "steps", "lacks", "seeds", "wrong",
];

/// Reads the header of a source; the error says what is wrong with it.
pub(super) fn read(source: &'static Source) -> Result<Rung, String> {
    let wrong = |wrong: String| format!("the header of {}: {wrong}", source.name);
    fields(source.text).and_then(|fields| rung(source, fields)).map_err(wrong)
}

fn rung(source: &'static Source, mut fields: BTreeMap<&str, String>) -> Result<Rung, String> {
    let mut must = |key: &str| fields.remove(key).ok_or_else(|| format!("there is no {key}"));
    let name = must("rung")?;
    if source.name.strip_suffix(".cu") != Some(&name) {
        return Err(format!("the file calls itself {name:?}"));
    }
    let number = name.split_once('_').and_then(|(number, _)| number.parse().ok());
    Ok(Rung {
        number: number.ok_or_else(|| format!("{name:?} does not begin with its number"))?,
        name,
        idea: must("idea")?,
        mends: must("mends")?,
        grid: grid(&must("grid")?)?,
        finish: finish(&must("finish")?)?,
        work: Formula::read(&must("work")?)?,
        steps: Formula::read(&must("steps")?)?,
        seeds: seeds(&must("seeds")?)?,
        wrong: must("wrong")?,
        shared: fields.remove("shared").map_or(Ok(Shared::None), |text| shared(&text))?,
        memory: fields.remove("memory").map_or(Ok(Workspace::None), |text| workspace(&text))?,
        blocks: fields.remove("blocks").map(|text| numbers(&text)).transpose()?.unwrap_or_default(),
        target: fields.remove("target").map_or(Ok(catalog::BASE), |text| number_of(&text))?,
        lacks: fields.remove("lacks").map(|text| lack(&text)).transpose()?,
        source,
    })
}

/// The fields of the leading comment: a key, a colon, and text that may go on in lines that are indented.
fn fields(text: &str) -> Result<BTreeMap<&str, String>, String> {
    let mut fields: BTreeMap<&str, String> = BTreeMap::new();
    let mut last = None;
    for line in text.lines() {
        let Some(line) = line.strip_prefix("// ") else { break };
        match (line.split_once(':'), last) {
            (Some((key, value)), _) if KEYS.contains(&key) => {
                if fields.insert(key, value.trim().to_owned()).is_some() {
                    return Err(format!("{key} is there twice"));
                }
                last = Some(key);
            }
            (_, Some(key)) if line.starts_with("  ") => {
                let value = fields.get_mut(key).expect("the last key has a value");
                value.push(' ');
                value.push_str(line.trim());
            }
            _ => return Err(format!("{line:?} belongs to no field of the header")),
        }
    }
    Ok(fields)
}

fn number_of(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("{text:?} is no number"))
}

fn numbers(text: &str) -> Result<Vec<u32>, String> {
    text.split(' ').map(number_of).collect()
}

/// The numbers of a text that is `pattern` with a number in the place of each `#`.
fn matched<const N: usize>(text: &str, pattern: &str) -> Option<[u32; N]> {
    let plain: String = text
        .split(' ')
        .map(|word| if word.parse::<u32>().is_ok() { "#" } else { word })
        .map(|word| word.to_owned() + " ")
        .collect();
    let found = text.split(' ').filter_map(|word| word.parse().ok());
    (plain.trim_end() == pattern).then(|| found.collect::<Vec<_>>().try_into().ok())?
}

fn grid(text: &str) -> Result<Grid, String> {
    let text = text.replace("1 element ", "1 elements ");
    if let Some([each]) = matched(&text, "# elements a thread") {
        return Ok(Grid::Elements { each });
    }
    if let Some([most]) = matched(&text, "one block of a thread an element, # at most") {
        return Ok(Grid::OneBlock { most });
    }
    let per_thread = "# threads and # blocks a multiprocessor, # bytes a thread";
    if let Some([threads, blocks, bytes]) = matched(&text, per_thread) {
        return Ok(Grid::PerThread { threads, blocks, bytes });
    }
    let per_block = "# threads and # blocks a multiprocessor, # bytes a block";
    if let Some([threads, blocks, bytes]) = matched(&text, per_block) {
        return Ok(Grid::PerBlock { threads, blocks, bytes });
    }
    Err(format!("{text:?} is no grid"))
}

fn shared(text: &str) -> Result<Shared, String> {
    match text {
        "1 element a thread" => Ok(Shared::ElementPerThread),
        other => matched(other, "# bytes")
            .map(|[bytes]| Shared::Bytes(bytes))
            .ok_or_else(|| format!("{other:?} is no shared memory")),
    }
}

fn workspace(text: &str) -> Result<Workspace, String> {
    match text {
        "1 element a thread" => Ok(Workspace::ElementPerThread),
        "1 element a block" => Ok(Workspace::ElementPerBlock),
        other => Err(format!("{other:?} is no memory to work in")),
    }
}

fn finish(text: &str) -> Result<Finish, String> {
    let is_it = |finish: &&Finish| finish.name() == text;
    Finish::ALL.iter().find(is_it).copied().ok_or_else(|| format!("{text:?} is no finish"))
}

fn lack(text: &str) -> Result<Lack, String> {
    let parts = text.split_once(", ").and_then(|(what, why)| {
        let (op, element) = what.split_once(" of ")?;
        Some(Lack { op: op.to_owned(), element: element.to_owned(), why: why.to_owned() })
    });
    parts.ok_or_else(|| format!("{text:?} does not say what is lacking and why"))
}

fn seeds(text: &str) -> Result<Vec<(&'static str, String)>, String> {
    if text == "beyond" {
        return Ok(Vec::new());
    }
    let one = |seed: &str| {
        let (name, place) = seed.split_once(' ').unwrap_or((seed, ""));
        let known = SEEDS.iter().find(|known| **known == name);
        known.map(|known| (*known, place.to_owned())).ok_or_else(|| format!("no seed {name:?}"))
    };
    text.split("; ").map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: &str = "\
// rung:   06_interleaved
// idea:   One
//         idea: told in two lines.
// mends:  What was before.
// grid:   8 elements a thread
// shared: 1 element a thread
// finish: recursive
// work:   n - G
// steps:  lg(min(n, B))
// lacks:  prod of complex128, as it is so
// seeds:  blog K2; Harris 1
// wrong:  Something.
//
// Prose.
";

    fn of(text: &str) -> Result<Rung, String> {
        let text: &'static str = Box::leak(text.to_owned().into_boxed_str());
        read(Box::leak(Box::new(Source { folder: "ladder/", name: "06_interleaved.cu", text })))
    }

    #[test]
    fn a_header_is_read_as_it_was_written() {
        let rung = of(WHOLE).unwrap();
        assert_eq!((rung.number, &*rung.idea), (6, "One idea: told in two lines."));
        assert_eq!((rung.grid, rung.finish), (Grid::Elements { each: 8 }, Finish::Recursive));
        assert_eq!(rung.seeds, [("blog", "K2".to_owned()), ("Harris", "1".to_owned())]);
        assert_eq!(rung.lacks.unwrap().why, "as it is so");
        let bytes = "1024 threads and 6 blocks a multiprocessor, 8192 bytes a block";
        assert_eq!(grid(bytes), Ok(Grid::PerBlock { threads: 1024, blocks: 6, bytes: 8192 }));
    }

    #[test]
    fn what_is_missing_or_wrong_is_named() {
        for key in ["idea", "mends", "grid", "finish", "work", "steps", "seeds", "wrong"] {
            let field = format!("// {key}:");
            let without: String = WHOLE
                .lines()
                .filter(|l| !l.starts_with(&field))
                .map(|l| l.to_owned() + "\n")
                .collect();
            let wrong = of(&without).unwrap_err();
            assert!(wrong.contains("06_interleaved.cu"), "{wrong}");
            assert!(key == "idea" || wrong.contains(&format!("there is no {key}")), "{wrong}");
        }
        for (text, other) in [
            ("06_", "07_"),
            ("8 elements", "many elements"),
            ("recursive", "somehow"),
            ("n - G", "n -"),
            ("Harris", "Harry"),
            ("// mends:", "// mend:"),
            ("// work:", "// idea:"),
        ] {
            assert!(of(&WHOLE.replace(text, other)).is_err(), "{other}");
        }
    }
}
