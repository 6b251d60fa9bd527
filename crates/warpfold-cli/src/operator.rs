//! [`OperatorFile`]: an operator of one's own, as a TOML file says it.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use warpfold_engine::operator::{Operator, Written};

use crate::Failure;

/// The texts of an operator, and the file that has them.
pub(crate) struct OperatorFile {
    path: PathBuf,
    texts: Texts,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Texts {
    state: String,
    lift: String,
    merge: String,
    finish: Option<String>,
    identity: Option<String>,
    #[serde(default)]
    commutative: bool,
    tolerance: Option<f64>,
}

/// Bytes at most of such a file: its texts have some thousands of characters.
const LONGEST: u64 = 1 << 20;

impl OperatorFile {
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let said = |why: &str| {
            Failure::Usage(format!(
                "--operator {}: {why}",
                path.display().to_string().escape_debug()
            ))
        };
        let about = std::fs::metadata(path).map_err(|error| said(&error.to_string()))?;
        if !about.is_file() {
            return Err(said("it is no plain file; save the operator to one"));
        }
        if about.len() > LONGEST {
            return Err(said("it is larger than a MiB; give the operator, and the data as inputs"));
        }
        let text = std::fs::read_to_string(path).map_err(|error| said(&error.to_string()))?;
        let texts = toml::from_str(&text).map_err(|error: toml::de::Error| {
            let at = error.span().map_or(0, |span| span.start);
            let line = text.bytes().take(at).filter(|&byte| byte == b'\n').count() + 1;
            let why = error.message().replace('\n', " ");
            said(&format!("line {line}: {why}; state, lift and merge are texts, and finish, identity, commutative and tolerance may stand beside them"))
        })?;
        Ok(OperatorFile { path: path.into(), texts })
    }

    /// The operator, if its texts are one.
    pub(crate) fn operator(&self) -> Result<Operator, Failure> {
        let Texts { state, lift, merge, finish, identity, commutative, tolerance } = &self.texts;
        let mut written = Written {
            finish: finish.as_deref(),
            identity: identity.as_deref(),
            commutative: *commutative,
            ..Written::new(state, lift, merge)
        };
        if let Some(tolerance) = tolerance {
            written.tolerance = *tolerance;
        }
        Operator::parse(&written).map_err(|error| self.failure(&error))
    }

    /// The inputs that it names.
    pub(crate) fn names(&self) -> Result<Vec<String>, Failure> {
        Ok(self.operator()?.names().into_iter().map(str::to_owned).collect())
    }

    /// What is wrong with it.
    pub(crate) fn failure(&self, error: &warpfold::Error) -> Failure {
        let path = self.path.display().to_string();
        Failure::Usage(format!("--operator {}: {error}", path.escape_debug()))
    }
}
