//! Reports as files: what each begins with, and how it is written and read again.

use std::path::Path;
use std::time::SystemTime;
use std::{fs, io};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What every report of a benchmark begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The layout of the file; a reader refuses others.
    pub schema: u32,
    /// The library's version.
    pub warpfold: String,
    /// The revision of the sources, if the caller knew it.
    pub revision: Option<String>,
    /// When the run began, in UTC (RFC 3339; the day alone in the oldest runs).
    pub date: String,
}

impl Header {
    /// That of a run that begins now.
    pub fn now(schema: u32, revision: Option<String>) -> Self {
        let date = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        Header { schema, warpfold: crate::VERSION.to_owned(), revision, date }
    }

    /// The date without the time.
    pub fn day(&self) -> &str {
        self.date.split('T').next().unwrap_or_default()
    }
}

/// Writes a report, a row a line, replacing the file in one step.
pub(crate) fn save(path: &Path, report: &impl Serialize) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let draft = path.with_extension("json.new");
    fs::write(&draft, json(report)?)?;
    fs::rename(draft, path)
}

/// Reads a report of one layout.
pub(crate) fn load<R: DeserializeOwned>(path: &Path, schema: u32) -> io::Result<R> {
    let report: Value = serde_json::from_str(&fs::read_to_string(path)?)?;
    match report.get("schema").and_then(Value::as_u64) {
        Some(found) if found != u64::from(schema) => Err(io::Error::other(format!(
            "the report has layout {found} and this program reads {schema}; run the benchmark again"
        ))),
        _ => Ok(serde_json::from_value(report)?),
    }
}

/// A struct as JSON, whose lists have a line for each of their items.
///
/// # Errors
/// What it holds has no JSON.
///
/// # Panics
/// If it is no struct.
pub fn json(report: &impl Serialize) -> io::Result<String> {
    let Value::Object(fields) = serde_json::to_value(report)? else {
        unreachable!("a struct is an object")
    };
    let lines = fields.into_iter().map(|(name, value)| match value {
        Value::Array(rows) if !rows.is_empty() => {
            let rows: Vec<String> = rows.iter().map(|row| format!("  {row}")).collect();
            format!("\"{name}\": [\n{}\n]", rows.join(",\n"))
        }
        value => format!("\"{name}\": {value}"),
    });
    Ok(format!("{{\n{}\n}}\n", lines.collect::<Vec<_>>().join(",\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Report {
        #[serde(flatten)]
        header: Header,
        rows: Vec<(String, f64)>,
    }

    #[test]
    fn a_report_is_read_as_it_was_written_and_other_layouts_are_refused() {
        let folder = std::env::temp_dir().join(format!("warpfold-report-{}", std::process::id()));
        let path = folder.join("report.json");
        let rows = vec![("one".to_owned(), 0.1), ("two".to_owned(), 1e300)];
        let report = Report { header: Header::now(7, Some("0123abc".into())), rows };
        save(&path, &report).expect("the temporary folder can be written");
        let text = fs::read_to_string(&path).expect("it was written");
        let (same, other) = (load::<Report>(&path, 7), load::<Report>(&path, 8));
        fs::remove_dir_all(folder).expect("it can be removed");
        assert_eq!(same.expect("what was saved can be read"), report);
        let known_as = other.expect_err("another layout").to_string();
        assert!(known_as.contains("layout 7") && known_as.contains("reads 8"), "{known_as}");
        assert!(text.contains("\"rows\": [\n  [\"one\",0.1],\n"), "{text}");
        assert!(text.contains(&format!("\"date\": \"{}T", report.header.day())), "{text}");
    }
}
