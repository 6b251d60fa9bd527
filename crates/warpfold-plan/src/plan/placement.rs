//! Where an array in host memory is reduced best. Pure: what was measured is handed in.

use super::tuned::Link;

/// A side of the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// The processor, which reads the memory directly.
    Cpu,
    /// The GPU, which gets every byte over the link.
    Cuda,
}

/// Where, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placement {
    /// The side chosen.
    pub side: Side,
    /// The reason in words, with the numbers it stands on.
    pub why: String,
}

/// Chooses the side for host data of so many bytes, where known, from what was measured on this machine.
///
/// Host memory is read once on either way: by the processor's cores, or by the link's copies. So without a measurement that says
/// otherwise the processor is taken, and a GPU has to win by more than it takes to open it.
pub fn place_host(bytes: Option<u64>, link: Option<Link>) -> Placement {
    let Some(Link { gpu, cpu, open }) = link else {
        let why = "over a link every byte would be read from host memory too, and then cross it; \
                   no tuning file has a measurement of this machine that says otherwise";
        return Placement { side: Side::Cpu, why: why.into() };
    };
    let rates = format!(
        "measured here, {:.1} GB/s over the link and {:.1} GB/s on the processor",
        gpu / 1e9,
        cpu / 1e9
    );
    if gpu <= cpu {
        return Placement { side: Side::Cpu, why: rates };
    }
    let Some(bytes) = bytes else {
        let why = format!(
            "{rates}, but how much there will be is not known, and opening a GPU takes {open:.2} s"
        );
        return Placement { side: Side::Cpu, why };
    };
    let (over, here) = (open + bytes as f64 / gpu, bytes as f64 / cpu);
    let side = if over < here { Side::Cuda } else { Side::Cpu };
    let why = format!(
        "{rates}: {bytes} bytes take {over:.3} s on the GPU, {open:.2} s of it to open it, and {here:.3} s on the processor"
    );
    Placement { side, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn host_data_stay_unless_measured_otherwise() {
        assert_eq!(place_host(Some(1 << 40), None).side, Side::Cpu);
        let slow = Link { gpu: 2e10, cpu: 4e10, open: 0.2 };
        let placement = place_host(Some(1 << 40), Some(slow));
        assert_eq!(placement.side, Side::Cpu);
        assert!(
            placement.why.contains("20.0 GB/s over the link and 40.0 GB/s"),
            "{}",
            placement.why
        );
    }

    #[test]
    fn a_fast_link_wins_where_it_pays_for_opening_the_gpu() {
        let fast = Some(Link { gpu: 5e10, cpu: 2.5e10, open: 0.2 });
        assert_eq!(place_host(Some(1 << 30), fast).side, Side::Cpu);
        assert_eq!(place_host(Some(1 << 36), fast).side, Side::Cuda);
        assert_eq!(place_host(None, fast).side, Side::Cpu);
    }
}
