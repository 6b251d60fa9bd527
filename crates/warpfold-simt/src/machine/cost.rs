//! What a warp's memory access costs: wavefronts in shared memory, sectors in global memory.

/// Banks of shared memory, each four bytes wide.
pub(crate) const BANKS: usize = 32;
/// Bytes of a sector, the unit of traffic to the L2 cache.
pub(crate) const SECTOR: u64 = 32;

/// Wavefronts of a shared access: those taken, and those without bank conflicts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wavefronts {
    /// Taken.
    pub(crate) taken: u32,
    /// Needed where no two words share a bank: as many as it takes to hand lanes what is theirs.
    pub(crate) ideal: u32,
}

/// Bytes that lanes are handed, or hand over, in a wavefront.
const HANDED: u32 = 128;

/// Wavefronts of one warp's access, `bytes` a lane, addresses of the lanes in `on`.
///
/// Each wavefront serves one word of each bank; lanes that read the same word share it. Writes of 64 bits go by halves of the warp, of 128 by quarters, whose wavefronts nothing else
/// shares; reads and atomics are of the whole warp (as an H200 counts them instruction by instruction under Nsight Compute: results/h200/counters.json).
pub(crate) fn wavefronts(addresses: &[u64; 32], on: u32, bytes: u32, is_write: bool) -> Wavefronts {
    // All lanes together are not handed more than that by words of 32 bits.
    let handed =
        if bytes <= 4 { 1 } else { (handed_apart(addresses, on) * bytes).div_ceil(HANDED) };
    let width = if is_write && bytes > 4 { (128 / bytes).max(1) } else { 32 };
    let taken: u32 = (0..32)
        .step_by(width as usize)
        .map(|first| on & ((u32::MAX >> (32 - width)) << first))
        .map(|lanes| of_pass(addresses, lanes, bytes))
        .sum();
    Wavefronts { taken: taken.max(handed), ideal: handed }
}

/// Lanes that are handed something each: one of two, where each lane's neighbour, or each lane's neighbour but one, reads the same or nothing.
fn handed_apart(addresses: &[u64; 32], on: u32) -> u32 {
    let lanes = || (0..32usize).filter(|lane| on >> lane & 1 == 1);
    let alike = |distance: &usize| {
        let same = |lane: usize| {
            on >> (lane ^ distance) & 1 == 0 || addresses[lane] == addresses[lane ^ distance]
        };
        lanes().all(same)
    };
    match [1, 2].iter().find(|distance| alike(distance)) {
        Some(distance) => lanes()
            .filter(|lane| lane & distance == 0 || on >> (lane ^ distance) & 1 == 0)
            .count() as u32,
        None => on.count_ones(),
    }
}

/// Those taken of lanes that are served together: words of the bank that has most; none of none.
fn of_pass(addresses: &[u64; 32], on: u32, bytes: u32) -> u32 {
    let words = u64::from(bytes.div_ceil(4));
    let mut seen = [0u64; 256];
    let mut count = 0;
    let mut depth = [0u32; BANKS];
    for (lane, &address) in addresses.iter().enumerate() {
        if on >> lane & 1 == 0 {
            continue;
        }
        for word in (address / 4)..(address / 4 + words) {
            let bank = (word % BANKS as u64) as usize;
            // A bank that serves nothing yet cannot serve this word.
            if depth[bank] == 0 || !seen[..count].iter().rev().any(|&w| w == word) {
                seen[count] = word;
                count += 1;
                depth[bank] += 1;
            }
        }
    }
    depth.iter().max().copied().unwrap_or(0)
}

/// Wavefronts of one warp's atomics of up to 32 bits where lanes of one word are served one after another, beyond those of [`wavefronts`].
pub(crate) fn turns(addresses: &[u64; 32], on: u32) -> u32 {
    let mut depth = [0u32; BANKS];
    for lane in (0..32usize).filter(|lane| on >> lane & 1 == 1) {
        depth[(addresses[lane] / 4 % BANKS as u64) as usize] += 1;
    }
    depth.iter().max().copied().unwrap_or(0) - of_pass(addresses, on, 4)
}

/// Sectors that one warp's access touches.
pub(crate) fn sectors(addresses: &[u64; 32], on: u32, bytes: u32) -> u32 {
    let mut seen = [0u64; 64];
    let mut count = 0;
    let mut greatest = None;
    for (lane, &address) in addresses.iter().enumerate() {
        if on >> lane & 1 == 0 {
            continue;
        }
        for sector in address / SECTOR..=(address + u64::from(bytes) - 1) / SECTOR {
            let beyond = greatest.is_none_or(|greatest| sector > greatest);
            if beyond || !seen[..count].iter().rev().any(|&s| s == sector) {
                seen[count] = sector;
                count += 1;
                greatest = greatest.max(Some(sector));
            }
        }
    }
    count as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strided(stride: u64) -> [u64; 32] {
        std::array::from_fn(|lane| lane as u64 * stride)
    }

    #[test]
    fn strides_conflict_as_the_banks_say() {
        for (stride, taken) in [(4, 1), (8, 2), (16, 4), (128, 32), (0, 1), (12, 1)] {
            for is_write in [false, true] {
                let found = wavefronts(&strided(stride), u32::MAX, 4, is_write);
                assert_eq!(found, Wavefronts { taken, ideal: 1 });
            }
        }
    }

    #[test]
    fn wide_accesses_take_what_their_words_take() {
        let read = |addresses: [u64; 32], on, bytes| {
            let found = wavefronts(&addresses, on, bytes, false);
            (found.taken, found.ideal)
        };
        assert_eq!(read(strided(8), u32::MAX, 8), (2, 2));
        assert_eq!(read(strided(16), u32::MAX, 16), (4, 4));
        assert_eq!(read(strided(16), 0xff, 16), (1, 1));
        assert_eq!(read(strided(8), 0x5555_5555, 8), (2, 1));
        // One word for all: a pair of lanes is handed it once.
        assert_eq!(read(strided(0), u32::MAX, 8), (1, 1));
        assert_eq!(read(strided(0), u32::MAX, 16), (2, 2));
        // Eight words of 64 bits, each read by four lanes that are no neighbours.
        let repeated = std::array::from_fn(|lane| lane as u64 % 8 * 8);
        assert_eq!(read(repeated, u32::MAX, 8), (2, 2));
    }

    #[test]
    fn parts_of_a_warp_write_apart() {
        // Two lanes, of one half of the warp and of both.
        for (on, taken) in [(0b11, 1), (1 | 1 << 31, 2)] {
            assert_eq!(wavefronts(&strided(8), on, 8, true), Wavefronts { taken, ideal: 1 });
            assert_eq!(wavefronts(&strided(8), on, 8, false), Wavefronts { taken: 1, ideal: 1 });
        }
        // The widest that PTX has.
        assert_eq!(wavefronts(&strided(32), u32::MAX, 32, false).taken, 8);
        let each_quarter = 0x0101_0101;
        assert_eq!(wavefronts(&strided(16), each_quarter, 16, true).taken, 4);
    }

    #[test]
    fn atomics_of_one_word_take_turns() {
        assert_eq!(turns(&strided(4), u32::MAX), 0);
        assert_eq!(turns(&strided(128), u32::MAX), 0, "as many words of one bank");
        assert_eq!(turns(&strided(0), u32::MAX), 31);
        assert_eq!(turns(&strided(2), u32::MAX), 1);
    }

    #[test]
    fn sectors_are_counted_once() {
        assert_eq!(sectors(&strided(4), u32::MAX, 4), 4);
        assert_eq!(sectors(&strided(16), u32::MAX, 16), 16);
        assert_eq!(sectors(&strided(0), u32::MAX, 4), 1);
        assert_eq!(sectors(&strided(64), u32::MAX, 4), 32);
    }
}
