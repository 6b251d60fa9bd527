//! What Rust knows of the parameters of kernels and of the numbers that they take for a choice, read from the device code: `arguments.rs` of `warpfold-kernels`.

use std::fmt::Write;

use crate::Outcome;

/// Kernels, and macros that declare them: the file, the kernel's name there, and the name of its parameters in Rust. Parameters without a name are arrays.
const KERNELS: &[(&str, &str, &str)] = &[
    ("walk/array.cuh", "name", "Arguments"),
    ("walk/parts.cuh", "name", "SegmentArguments"),
    ("entry/strided.cu", "NAME(ENTRY, _loops)", "StridedArguments"),
    ("entry/segment_moments.cu", "ENTRY", "MomentArguments"),
    ("entry/segment_products.cu", "ENTRY", "TreeArguments"),
    ("entry/segment_products.cu", "NAME(ENTRY, _join)", "TreeJoinArguments"),
    ("entry/segment_fallback.cu", "NAME(ENTRY, _columns)", "FallbackColumnArguments"),
    ("entry/lengths.cu", "segment_lengths", "LengthArguments"),
    ("entry/rank_sums.cu", "rank_sums_##E", "RankSumArguments"),
    ("entry/groups.cu", "groups_digits", "DigitArguments"),
    ("entry/groups.cu", "groups_scan", "ScanArguments"),
    ("entry/groups.cu", "NAME", "RunArguments"),
    ("entry/groups.cu", "groups_bounds", "BoundArguments"),
    ("sort/scatter.cuh", "NAME", "ScatterArguments"),
    ("entry/tables.cu", "NAME", "TableArguments"),
    ("walk/map_array.cuh", "name", "MapArguments"),
    ("walk/map_rows.cuh", "name", "MapRowArguments"),
    ("walk/map_segments.cuh", "name", "MapSegmentArguments"),
    ("walk/map_columns.cuh", "name", "MapColumnArguments"),
];

/// Lists of parameters that several kernels begin with.
const LISTS: &[(&str, &str, &str)] =
    &[("walk/columns.cuh", "COLUMN_PARAMETERS", "ColumnArguments")];

/// Enumerations whose numbers the host passes: the file, how they begin there, and their name in Rust.
const CODES: &[(&str, &str, &str)] = &[
    ("acc/finish_integers.cuh", "enum class Step", "Step"),
    ("entry/segment_moments.cu", "enum class Moment", "Moment"),
    ("walk/tables.cuh", "enum Kind : u32", "TableKind"),
];

/// The file that the device code gives; `read` gives a file of its folder.
pub(super) fn text(read: impl Fn(&str) -> Result<String, String>) -> Outcome<String> {
    let mut text = String::from(
        "//! Parameters of kernels, 64 bits each, and numbers that they take for a choice, as the device code has them. Made by `cargo xtask kernels`.\n",
    );
    for &(file, kernel, name) in KERNELS {
        let source = read(file)?;
        let mut entries = source.split("extern \"C\" __global__").skip(1);
        let list = entries.find_map(|entry| between(entry, &format!(" {kernel}("), ") {"));
        let list = list.ok_or_else(|| format!("{file} declares no kernel {kernel}"))?;
        record(&mut text, file, name, &declared(list));
    }
    for &(file, list, name) in LISTS {
        let source = read(file)?;
        let list = between(&source, &format!("#define {list} "), "\n#");
        let list = list.ok_or_else(|| format!("{file} has no list of parameters for {name}"))?;
        record(&mut text, file, name, &declared(list));
    }
    for &(file, start, name) in CODES {
        let source = read(file)?;
        let list = between(&source, &format!("{start} {{"), "}")
            .ok_or_else(|| format!("{file} has no {start}"))?;
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        let variants = lines(&names);
        write!(
            text,
            "\n/// `{start}` of `{file}`, as numbers.\n#[derive(Debug, Clone, Copy, PartialEq, Eq)]\n#[allow(missing_docs, reason = \"named as in the device code\")]\npub enum {name} {{\n{variants}}}\n",
        )
        .expect("a string grows");
    }
    Ok(text)
}

fn between<'t>(text: &'t str, start: &str, end: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(start)?;
    rest.split_once(end).map(|(body, _)| body)
}

/// The names of parameters that have one.
fn declared(parameters: &str) -> Vec<String> {
    let name = |one: &str| one.trim().rsplit([' ', '*', '\n']).next().unwrap_or("").to_string();
    let named = parameters.replace('\\', " ");
    named.split(',').map(name).filter(|name| !name.is_empty()).collect()
}

fn lines(names: &[&str]) -> String {
    names.iter().map(|name| format!("    {name},\n")).collect()
}

fn record(text: &mut String, file: &str, name: &str, fields: &[String]) {
    let typed: String = fields.iter().map(|field| format!("    pub {field}: u64,\n")).collect();
    let (count, list) = (fields.len(), fields.join(", "));
    write!(
        text,
        "\n/// Parameters that `{file}` declares, which says what they are; pointers are addresses in the machine's memory.\n#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]\n#[allow(missing_docs, reason = \"named as in the device code\")]\npub struct {name} {{\n{typed}}}\n\nimpl {name} {{\n    /// One by one, in the kernel's order.\n    pub const fn words(&self) -> [u64; {count}] {{\n        let {name} {{ {list} }} = *self;\n        [{list}]\n    }}\n}}\n",
    )
    .expect("a string grows");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_names_in_their_order() {
        let list =
            "const void*, const void*, u64 n, const Spans<E>::Node* states, \\\n    u64 *faults";
        assert_eq!(declared(list), ["n", "states", "faults"]);
    }

    /// No compiler of CUDA is needed to see that.
    #[test]
    fn what_rust_knows_of_parameters_is_what_the_device_code_says() {
        let folder =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/warpfold-kernels");
        let read =
            |path: std::path::PathBuf| std::fs::read_to_string(path).map_err(|e| e.to_string());
        let made =
            text(|file| read(folder.join("cuda").join(file))).expect("the device code has them");
        let there = read(folder.join("src/arguments.rs")).expect("it is committed");
        assert_eq!(made, there, "run cargo xtask kernels");
    }
}
