//! The steps of a block: one instruction each, with every warp that runs it side by side, as if the warps went in lockstep.
//!
//! Warps run in any order, so what the simulator saw is put in order again: between two barriers, the instructions of each warp are merged
//! into one sequence in which every warp's own order is kept. The k-th time that a warp runs an instruction stands beside the k-th
//! time that others do.

use std::collections::HashMap;

use serde::Serialize;
use warpfold_simt::Counters;

use super::recorder::Event;
use super::subject::Subject;

/// One instruction of a block.
#[derive(Debug, Serialize)]
pub(crate) struct Step {
    /// Its index in the kernel's code.
    pub(crate) index: u32,
    /// Its kind of work.
    pub(crate) class: &'static str,
    /// Block barriers passed before.
    pub(crate) phase: u32,
    /// What each warp did, by warp; those that are missing do not run it.
    pub(crate) warps: Vec<WarpStep>,
}

/// What one warp did.
#[derive(Debug, Serialize)]
pub(crate) struct WarpStep {
    /// The warp's number in its block.
    pub(crate) warp: u32,
    /// Lanes on the path, a bit each.
    pub(crate) active: u32,
    /// Of those, the lanes whose guard held.
    pub(crate) on: u32,
    /// What it did in memory.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) touches: Vec<Reach>,
}

/// An access to memory by one warp.
#[derive(Debug, Serialize)]
pub(crate) struct Reach {
    /// `shared`, or the name of an array in global memory.
    pub(crate) place: &'static str,
    /// `reads`, `writes` or `updates`.
    pub(crate) verb: &'static str,
    /// Bytes of each lane.
    pub(crate) bytes: u32,
    /// Each lane's byte in the place.
    pub(crate) at: Vec<Option<u64>>,
    /// Wavefronts of a shared access: taken, and without bank conflicts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) wavefronts: Option<(u32, u32)>,
    /// Sectors of a global access.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sectors: Option<u32>,
}

impl Step {
    /// Lanes that do the instruction's work.
    pub(crate) fn lanes(&self) -> u32 {
        self.warps.iter().map(|part| part.on.count_ones()).sum()
    }

    /// Warps of which some lanes take the branch and some do not.
    pub(crate) fn diverging(&self) -> usize {
        let parts = |part: &&WarpStep| part.on != 0 && part.on != part.active;
        if self.class == "control" { self.warps.iter().filter(parts).count() } else { 0 }
    }
}

/// Puts the events of a block in order.
pub(crate) fn merged(subject: &Subject, counters: &Counters, events: Vec<Event>) -> Vec<Step> {
    let warps = events.iter().map(|event| event.warp + 1).max().unwrap_or(0);
    let mut own: Vec<Vec<Event>> = (0..warps).map(|_| Vec::new()).collect();
    for event in events {
        own[event.warp as usize].push(event);
    }
    let mut steps: Vec<Step> = Vec::new();
    // The steps in order, as a chain: inserting does not move others.
    let mut next: Vec<Option<usize>> = Vec::new();
    let mut first: Option<usize> = None;
    let mut known: HashMap<(u32, u32, u32), usize> = HashMap::new();
    // Where each step stands: a warp may only go forward.
    for (warp, events) in own.into_iter().enumerate() {
        let mut times: HashMap<(u32, u32), u32> = HashMap::new();
        let mut cursor: Option<usize> = None;
        let order = ranks(first, &next);
        let mut reached = 0;
        for event in events {
            let time = times.entry((event.phase, event.index)).or_default();
            *time += 1;
            let key = (event.phase, event.index, *time);
            let found = known.get(&key).copied().filter(|&step| {
                order.get(step).is_none_or(|&rank| rank >= reached) && Some(step) != cursor
            });
            let at = found.unwrap_or_else(|| {
                let step = steps.len();
                steps.push(Step {
                    index: event.index,
                    class: counters.lines[event.index as usize].class.name(),
                    phase: event.phase,
                    warps: Vec::new(),
                });
                let after = match cursor {
                    Some(before) => next[before].replace(step),
                    None => first.replace(step),
                };
                next.push(after);
                known.insert(key, step);
                step
            });
            if let Some(&rank) = order.get(at) {
                reached = rank + 1;
            }
            cursor = Some(at);
            let touches = event.touches.iter().filter_map(|touch| reach(subject, touch)).collect();
            let (active, on) = (event.active, event.on);
            steps[at].warps.push(WarpStep { warp: warp as u32, active, on, touches });
        }
    }
    let mut rank = ranks(first, &next).into_iter();
    let mut ordered: Vec<(usize, Step)> = steps
        .into_iter()
        .map(|step| (rank.next().expect("every step is in the chain"), step))
        .collect();
    ordered.sort_by_key(|(rank, _)| *rank);
    ordered.into_iter().map(|(_, step)| step).collect()
}

/// The place of each step in the chain.
fn ranks(first: Option<usize>, next: &[Option<usize>]) -> Vec<usize> {
    let mut ranks = vec![0; next.len()];
    let (mut at, mut rank) = (first, 0);
    while let Some(step) = at {
        ranks[step] = rank;
        rank += 1;
        at = next[step];
    }
    ranks
}

fn reach(subject: &Subject, touch: &warpfold_simt::Touch) -> Option<Reach> {
    use warpfold_simt::ptx::Space;
    let (place, offset) = match touch.space {
        Space::Shared => ("shared", 0),
        Space::Global => {
            let first = touch.addresses.iter().flatten().min()?;
            let (name, offset) = subject.array_at(*first).unwrap_or(("module", 0));
            (name, first - offset)
        }
        _ => return None,
    };
    Some(Reach {
        place,
        verb: touch.verb,
        bytes: touch.bytes,
        at: touch.addresses.iter().map(|address| address.map(|a| a - offset)).collect(),
        wavefronts: touch.wavefronts,
        sectors: touch.sectors,
    })
}
