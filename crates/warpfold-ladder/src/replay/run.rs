//! Running a document's experiment again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use warpfold::{Op, Result};

use super::paper::{Act, Does, Paper};
use crate::found::{Device, DeviceKind};
use crate::sweep::{Sweep, sweep};
use crate::{
    Case, Divergence, Ladder, LadderRequest, Rung, Runs, Setting, Simulated, Stage, find, rungs,
};
use warpfold_lab::array::Data;
use warpfold_lab::cuda::report::{Peer, Temperature};

/// The layout of the file; a reader refuses others.
pub const SCHEMA: u32 = 1;

/// Elements at most where there is no GPU: the simulator runs everything once, and within a minute.
pub const SIMULATED: u64 = 1 << 16;

/// Elements of its sweeps.
const SIMULATED_SWEEP: u64 = 1 << 13;

/// Rounds of each branch of the pair, long against a launch; and in the simulator.
const ROUNDS: [u32; 2] = [1 << 16, 1000];

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// [`SCHEMA`].
    pub schema: u32,
    /// The library's version.
    pub warpfold: String,
    /// The revision of the sources, if the caller knew it.
    pub revision: Option<String>,
    /// When it began, in UTC (RFC 3339).
    pub date: String,
    /// The document's name.
    pub document: String,
    /// Where it ran.
    pub device: Device,
    /// Elements in place of the document's, where there is no GPU.
    pub simulated: Option<u64>,
    /// Its rungs, and the library's reductions; then those over other numbers of elements, or for the maximum.
    pub ladders: Vec<Ladder>,
    /// Its pictures.
    pub sweeps: Vec<Sweep>,
    /// The pair that diverges.
    pub divergence: Option<Divergence>,
    /// Its rungs as the simulator counts them.
    pub counted: Option<Ladder>,
    /// Registers of its rungs' threads.
    pub registers: BTreeMap<String, u32>,
    /// Other libraries, over as many elements.
    pub peers: Vec<Peer>,
}

impl Replay {
    /// The document.
    ///
    /// # Panics
    /// If there is none of that name.
    pub fn paper(&self) -> &'static Paper {
        super::paper(&self.document).expect("a replay is of a document")
    }
}

/// Runs a document's experiment. `progress` is told what comes next.
///
/// # Errors
/// As those of [`Stage::climb`].
pub fn replay(
    paper: &Paper,
    stage: &mut dyn Stage,
    setting: &Setting,
    progress: &mut dyn FnMut(&str),
) -> Result<Replay> {
    let simulated = stage.device().kind == DeviceKind::Simt;
    let runner = Runner { paper, most: if simulated { SIMULATED } else { u64::MAX }, simulated };
    let mut ladders = Vec::new();
    for request in runner.requests() {
        let Case { op, n, dtype, .. } = request.case;
        progress(&format!("{op} of {n} {dtype}"));
        ladders.push(stage.climb(&request, &mut ())?);
    }
    let mut found = Replay {
        schema: SCHEMA,
        warpfold: crate::VERSION.to_owned(),
        revision: setting.revision.clone(),
        date: ladders[0].date.clone(),
        document: paper.name.to_owned(),
        device: stage.device(),
        simulated: (simulated && paper.experiment.n > SIMULATED).then_some(SIMULATED),
        ladders,
        sweeps: Vec::new(),
        divergence: None,
        counted: None,
        registers: BTreeMap::new(),
        peers: Vec::new(),
    };
    let (n, dtype) = (found.ladders[0].n, found.ladders[0].dtype);
    let same = |peer: &&Peer| peer.n == n && peer.dtype == dtype.name() && peer.op == "sum";
    found.peers = setting.peers.iter().filter(same).cloned().collect();
    for act in paper.besides {
        match *act {
            Act::Maximum => {}
            Act::Sweep(over, n) => {
                let n = if simulated { SIMULATED_SWEEP } else { n };
                let mut request = runner.request(Op::Sum, n, paper.experiment.fill);
                request.rungs = vec![runner.best()];
                let mut step = |what: &str| progress(&format!("by {}: {what}", over.axis()));
                found.sweeps.push(sweep(stage, over, &request, &[Temperature::Cold], &mut step)?);
            }
            Act::Divergence => {
                progress("the pair that diverges");
                let rounds = ROUNDS[usize::from(simulated)];
                found.divergence = stage.divergence(rounds, runner.runs())?;
            }
            Act::Counts if simulated => found.counted = Some(found.ladders[0].clone()),
            Act::Counts => {
                progress("the simulator's counts");
                let counter = Runner { paper, most: SIMULATED, simulated: true };
                let mut counts = Simulated::new(setting.clone());
                found.counted = Some(counts.climb(&counter.requests()[0], &mut ())?);
                for rung in runner.rungs() {
                    let registers = stage.registers(rung, found.ladders[0].case())?;
                    found.registers.extend(registers.map(|count| (rung.name.to_owned(), count)));
                }
            }
        }
    }
    Ok(found)
}

/// What a document asks for.
struct Runner<'a> {
    paper: &'a Paper,
    /// Elements at most.
    most: u64,
    simulated: bool,
}

impl Runner<'_> {
    /// The document's rungs, once each, in the ladder's order.
    fn rungs(&self) -> Vec<&'static Rung> {
        let named =
            |rung: &&Rung| self.paper.lines.iter().any(|line| line.does.rung() == Some(rung.name));
        rungs().iter().filter(named).collect()
    }

    /// The rung that its sweeps are of: its last kernel.
    fn best(&self) -> &'static Rung {
        self.rungs().last().copied().expect("every document has a rung")
    }

    fn runs(&self) -> Runs {
        Runs::Exactly(if self.simulated { 1 } else { self.paper.experiment.runs })
    }

    /// Its rungs and the library, over so many elements.
    fn request(&self, op: Op, n: u64, data: Data) -> LadderRequest {
        let experiment = self.paper.experiment;
        let library =
            ["library", "library_exact"].map(|name| find(name).expect("the library is a rung"));
        let mut rungs = self.rungs();
        rungs.extend(library.into_iter().take(if op == Op::Sum { 2 } else { 1 }));
        LadderRequest {
            case: Case {
                op,
                dtype: experiment.dtype,
                n: n.min(self.most),
                block: experiment.block,
            },
            rungs,
            data,
            runs: self.runs(),
            temperature: Temperature::Cold,
            grid: None,
        }
    }

    /// Everything that is climbed: the lines first.
    fn requests(&self) -> Vec<LadderRequest> {
        let experiment = self.paper.experiment;
        let mut all = vec![self.request(Op::Sum, experiment.n, experiment.fill)];
        for line in self.paper.lines {
            if let Does::RungAt(name, n) = line.does
                && n.min(self.most) != experiment.n.min(self.most)
            {
                let mut request = self.request(Op::Sum, n, experiment.fill);
                request.rungs.retain(|rung| rung.name == name);
                all.push(request);
            }
        }
        if self.paper.besides.contains(&Act::Maximum) {
            all.push(self.request(Op::Max, experiment.n, Data::Natural));
        }
        all
    }
}
