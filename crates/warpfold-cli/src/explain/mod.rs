//! `warpfold explain`: one launch of a kernel in the simulator, told step by step.
//!
//! ```text
//! args -> subject (PTX, sources, memory, a launch) -> the simulator, watched by a recorder
//!      -> explanation (counts, verdicts, annotated sources, the steps of one block) -> text | json | html
//! ```
//!
//! Only [`subject`] knows what kernels and rungs there are; whatever has PTX, sources and a launch can be explained.

mod args;
mod explanation;
mod html;
mod recorder;
mod roof;
mod source;
mod steps;
mod subject;
mod text;
mod timed;
mod verdict;

use warpfold_simt::{Detail, Settings};

pub(crate) use args::Explain;
pub(crate) use args::Format;
pub(crate) use explanation::Explanation;
pub(crate) use html::{COLORS, Picture, escaped, picture};
use recorder::Recorder;
use subject::Subject;

use crate::{Failure, streams};

/// Explains a kernel and prints the explanation.
pub(crate) fn explain(args: &Explain) -> Result<(), Failure> {
    let mut explanation = explanation(args)?;
    explanation.predict(args.predict);
    let text = match args.format {
        Format::Text => text::render(&explanation),
        Format::Json => serde_json::to_string(&explanation).expect("plain values are JSON") + "\n",
        Format::Html => html::render(&explanation, args.predict),
    };
    streams::print(text.as_bytes())
}

/// Runs what was asked for, and explains it.
pub(crate) fn explanation(args: &Explain) -> Result<Explanation, Failure> {
    run(Subject::of(args)?, args.seed)
}

fn run(mut subject: Subject, seed: u64) -> Result<Explanation, Failure> {
    let settings = Settings { seed, chains: Detail::On, ..Settings::default() };
    let mut recorder = Recorder::default();
    let counters = subject
        .launch
        .run_observed(&subject.program, &mut subject.memory, &settings, &mut recorder)
        .map_err(|fault| subject.failed(&fault))?;
    Ok(Explanation::new(&subject, seed, &counters, recorder))
}
