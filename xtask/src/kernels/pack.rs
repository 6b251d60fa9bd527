//! Writing `kernels.pack`, whose layout `warpfold_kernels::pack` tells.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;

use lzma_rust2::{LzmaOptions, LzmaWriter};
use warpfold_kernels::pack::MAGIC;
use warpfold_kernels::{find, names};

use super::compile::{Made, parallel};
use crate::Outcome;

/// The module that has something of all, which all others begin from.
const ROOT: &str = "segment_totals_f32.sm70";

/// A module's texts as they are compressed, and those of the module that they follow.
struct Texts<'a> {
    name: &'a str,
    follows: Option<&'a str>,
    own: [Vec<u8>; 2],
}

/// The pack of these modules. Streams whose texts are those of the pack that this program embeds are taken from there, so that a change of one kernel is quick.
pub(super) fn bytes(made: &BTreeMap<String, Made>) -> Outcome<Vec<u8>> {
    let names: Vec<&str> = made.keys().map(String::as_str).collect();
    let texts: Vec<Texts<'_>> = made
        .iter()
        .map(|(name, made)| {
            let short = names::shorten(&made.ptx);
            assert!(names::restore(&short) == made.ptx, "short names lead back: {name}");
            let own = [short, made.lines.clone().into_bytes()];
            Texts { name, follows: follows(name, &names), own }
        })
        .collect();
    let place = |name: &str| names.binary_search(&name).expect("a module of the list");
    let streams = parallel(&texts, |texts_of| {
        let before = texts_of.follows.map(|name| &texts[place(name)].own);
        let kept = kept(texts_of, before);
        [0, 1].map(|k| {
            let before = before.map(|texts| texts[k].clone());
            kept.map_or_else(|| compress(&texts_of.own[k], before), |streams| streams[k].to_vec())
        })
    });

    let mut directory = String::new();
    for (texts, streams) in texts.iter().zip(&streams) {
        let dash = |number: Option<usize>| number.map_or_else(|| "-".into(), |n| n.to_string());
        let follows = dash(texts.follows.map(place));
        write!(directory, "m {} {follows}", texts.name).expect("strings take text");
        for (text, stream) in texts.own.iter().zip(streams) {
            write!(directory, " {} {}", text.len(), stream.len()).expect("strings take text");
        }
        directory.push('\n');
        for facts in &made[texts.name].kernels {
            let known = |number: Option<u32>| dash(number.map(|number| number as usize));
            writeln!(
                directory,
                "e {} {} {} {} {} {} {} {}",
                facts.name,
                known(facts.max_threads),
                known(facts.min_blocks),
                facts.shared_bytes,
                facts.parameters,
                facts.parameter_bytes,
                known(facts.state_bytes),
                known(facts.record_words),
            )
            .expect("strings take text");
        }
    }
    let stream = compress(directory.as_bytes(), None);
    let options = options(None);
    let mut pack = MAGIC.to_vec();
    pack.push(options.get_props());
    for word in [options.dict_size as usize, directory.len(), stream.len()] {
        let word = u32::try_from(word).map_err(|_| format!("{word} is too much for a pack"))?;
        pack.extend(word.to_le_bytes());
    }
    pack.extend(stream);
    streams.iter().flatten().for_each(|stream| pack.extend(stream));
    Ok(pack)
}

/// The streams of the embedded pack, if they are of the same texts.
fn kept(texts: &Texts<'_>, before: Option<&[Vec<u8>; 2]>) -> Option<[&'static [u8]; 2]> {
    let is = |module: warpfold_kernels::Module, own: &[Vec<u8>; 2]| {
        module.short_ptx() == own[0] && module.table().as_bytes() == own[1]
    };
    let old = find(texts.name)?;
    let same = match (old.follows(), texts.follows) {
        (None, None) => true,
        (Some(old), Some(new)) => old == new && is(find(old)?, before?),
        _ => false,
    };
    (same && is(old, &texts.own)).then(|| old.streams())
}

/// The module whose text another one's is compressed as the continuation of, as they differ little: its own for the oldest devices, then the first of its fold, then one
/// that has something of all. So no module is more than three others away from its text.
fn follows<'a>(name: &str, names: &[&'a str]) -> Option<&'a str> {
    if name == ROOT {
        return None;
    }
    let entry = name.split('.').next().unwrap_or(name);
    let first = |is: &dyn Fn(&str) -> bool| names.iter().copied().find(|other| is(other));
    let oldest = first(&|other| other.strip_suffix(".sm70") == Some(entry));
    let alike = first(&|other| family(other) == family(name));
    let root = first(&|other| other == ROOT);
    [oldest, alike, root].into_iter().find(|at| at.is_some_and(|at| at != name)).flatten()
}

/// A module's name without its element type and target.
fn family(module: &str) -> &str {
    let entry = module.split('.').next().unwrap_or(module);
    entry.rsplit_once('_').map_or(entry, |(fold, _)| fold)
}

fn options(before: Option<Vec<u8>>) -> LzmaOptions {
    const PRESET: u32 = 6;
    let mut options = LzmaOptions::with_preset(PRESET);
    // More than any two texts; a reader reserves as much.
    options.dict_size = 1 << 20;
    // Text has no words of four bytes, and of one like another long stretches are the same.
    options.pb = 0;
    options.nice_len = 273;
    // Empty is as good as none, and the encoder wants none then.
    options.preset_dict = before.filter(|text| !text.is_empty());
    options
}

/// A raw stream of LZMA, of text that is taken to follow another one.
fn compress(text: &[u8], before: Option<Vec<u8>>) -> Vec<u8> {
    let mut writer = LzmaWriter::new_no_header(Vec::new(), &options(before), false)
        .expect("a preset's options are sound");
    writer.write_all(text).and_then(|()| writer.finish()).expect("memory takes all")
}
