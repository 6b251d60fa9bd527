//! The experiments of the documents that the ladder was built from, and what they published.
//!
//! ```text
//! Paper (a document as data) -> replay, on a Stage -> Replay (ladders, sweeps, counts) -> the program's tables
//! ```
//!
//! Figures stand here as printed, errors included; [`audit`](fn@audit) finds those that cannot be right by arithmetic alone.

mod audit;
mod blog;
mod guide;
mod harris;
mod lesson;
mod paper;
mod run;
mod slides;
mod thesis;

pub use audit::{Finding, audit, elements, unit};
pub use guide::{ASPECTS, COLUMNS, MATRIX, Mark};
pub use lesson::RATIO;
pub use paper::{
    Act, Claim, Does, Experiment, Figure, Line, Machine, Mistake, Paper, Printed, Quantity,
    machines,
};
pub use run::{Replay, SCHEMA, SIMULATED, replay};
pub use thesis::FIGURES;

/// The documents.
pub const PAPERS: [&Paper; 6] =
    [&blog::PAPER, &lesson::PAPER, &slides::PAPER, &thesis::PAPER, &guide::PAPER, &harris::PAPER];

/// The document of that name.
pub fn paper(name: &str) -> Option<&'static Paper> {
    PAPERS.into_iter().find(|paper| paper.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is wrong in the documents is found by computing, and nothing else is.
    #[test]
    fn the_documents_own_errors_are_found() {
        let found = |name: &str| -> Vec<(&str, &str)> {
            let found = audit(paper(name).expect("a document"));
            found.iter().map(|finding| (finding.of, finding.printed.0)).collect()
        };
        assert_eq!(
            found("blog"),
            [
                ("2 Tree Reduction", "24.7"),
                ("4 Sequential Addressing", "335"),
                ("N float32 reads at 936 GB/s", "0.136"),
                ("N − 1 float32 adds at 35.6 TFLOPS", "0.0036"),
                ("the theoretical minimum time", "0.1396"),
                ("the GPU loads and stores at most, at once and a thread", "128"),
            ]
        );
        assert_eq!(
            found("thesis"),
            [
                ("2^28 elements, which is", "1.3e8"),
                ("bandwidth of the A100", "1.555"),
                ("increase actually achieved on the G80, divergent warps", "100"),
            ]
        );
        assert_eq!(found("guide"), [("barriers saved a block by unrolling the last warp", "5")]);
        for right in ["lesson", "slides", "harris"] {
            assert_eq!(found(right), [], "{right}");
        }
    }

    /// Every rung that a document names is there, and what the rungs' own headers say of their documents agrees.
    #[test]
    fn documents_and_headers_name_the_same_rungs() {
        for paper in PAPERS {
            for rung in paper.lines.iter().filter_map(|line| line.does.rung()) {
                let found = crate::find(rung).expect("a rung");
                let seeds = |name: &str| name.eq_ignore_ascii_case(paper.name);
                assert!(
                    found.seeds.iter().any(|(name, _)| seeds(name)),
                    "{rung} in {}",
                    paper.name
                );
            }
        }
    }

    /// The whole experiment of each document, in the simulator, and nothing of it wrong.
    #[test]
    fn every_document_replays_without_a_gpu() {
        use crate::{Setting, Simulated};
        // The largest are left to the program's own tests.
        for name in ["slides", "harris"] {
            let paper = paper(name).expect("a document");
            let setting = Setting::default();
            let mut stage = Simulated::new(setting.clone());
            let found = replay(paper, &mut stage, &setting, &mut |_| ()).expect("it runs");
            assert_eq!((found.document.as_str(), found.simulated), (name, Some(SIMULATED)));
            for row in found.ladders.iter().flat_map(|ladder| &ladder.rungs) {
                assert_eq!(row.verified, Some(true), "{name}: {row:?}");
            }
            let text = serde_json::to_string(&found).expect("plain values");
            assert_eq!(serde_json::from_str::<Replay>(&text).expect("as it was written"), found);
        }
    }

    #[test]
    fn every_figure_is_a_number_below_its_machines_peak() {
        for paper in PAPERS {
            for figure in paper.lines.iter().flat_map(|line| line.figures) {
                assert!(figure.printed.value() > 0.0 && figure.printed.unit() > 0.0);
                if figure.quantity == Quantity::Gigabytes {
                    let rate = figure.printed.value() * 1e9;
                    assert!(rate < figure.machine.peak, "{}: {rate}", paper.name);
                }
            }
        }
    }

    /// The slides' wrong kernel gives the right sum of ones, in both launches: simulated here, because it is the best argument against
    /// testing with ones.
    #[test]
    fn doubling_an_element_looks_like_a_sum_of_ones() {
        let doubled = |mut element: u32| {
            let mut half = 1024 / 2;
            while half > 0 {
                element += element;
                half /= 2;
            }
            element
        };
        assert_eq!(doubled(doubled(1)), 1 << 20);
        assert_ne!(doubled(doubled(2)), 2, "the sum of 2, 0, 0, … is not");
    }
}
