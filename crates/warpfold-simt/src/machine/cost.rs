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
    /// Needed where no two words share a bank.
    pub(crate) ideal: u32,
}

/// Wavefronts of one warp's access, `bytes` a lane, addresses of the lanes in `on`.
///
/// Each wavefront serves one word of each bank; lanes of a pass that read the same word share it. 32 bits are one pass; of 64 bits each half of the
/// warp is one, of 128 each quarter, unless lanes share in pairs ([`shared_in_pairs`]), as an H200 counts under Nsight Compute (results/h200/counters.json).
pub(crate) fn wavefronts(addresses: &[u64; 32], on: u32, bytes: u32) -> Wavefronts {
    let mut all = Wavefronts::default();
    let mut pass = |lanes: u32| {
        let of_pass = wavefronts_of_pass(addresses, lanes, bytes);
        all.taken += of_pass.taken;
        all.ideal += of_pass.ideal;
    };
    let width = if bytes <= 4 || shared_in_pairs(addresses, on) { 32 } else { 128 / bytes };
    for first in (0..32).step_by(width as usize) {
        let lanes = on & ((u32::MAX >> (32 - width)) << first);
        if lanes != 0 {
            pass(lanes);
        }
    }
    all
}

/// Whether each lane's neighbour, or each lane's neighbour but one, reads the same or nothing.
fn shared_in_pairs(addresses: &[u64; 32], on: u32) -> bool {
    [1, 2].into_iter().any(|distance: usize| {
        (0..32usize).filter(|lane| on >> lane & 1 == 1).all(|lane| {
            let other = lane ^ distance;
            on >> other & 1 == 0 || addresses[lane] == addresses[other]
        })
    })
}

fn wavefronts_of_pass(addresses: &[u64; 32], on: u32, bytes: u32) -> Wavefronts {
    let words = u64::from(bytes.div_ceil(4));
    let mut seen = [0u64; 128];
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
    let taken = depth.iter().max().copied().unwrap_or(0);
    Wavefronts { taken, ideal: count.div_ceil(BANKS) as u32 }
}

/// Wavefronts of one warp's atomics of up to 32 bits where lanes of one word are served one after another, beyond those of [`wavefronts`].
pub(crate) fn turns(addresses: &[u64; 32], on: u32) -> u32 {
    let mut depth = [0u32; BANKS];
    for lane in (0..32usize).filter(|lane| on >> lane & 1 == 1) {
        depth[(addresses[lane] / 4 % BANKS as u64) as usize] += 1;
    }
    depth.iter().max().copied().unwrap_or(0) - wavefronts_of_pass(addresses, on, 4).taken
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
            assert_eq!(wavefronts(&strided(stride), u32::MAX, 4), Wavefronts { taken, ideal: 1 });
        }
    }

    #[test]
    fn wide_accesses_take_what_their_words_take() {
        assert_eq!(wavefronts(&strided(8), u32::MAX, 8), Wavefronts { taken: 2, ideal: 2 });
        assert_eq!(wavefronts(&strided(16), u32::MAX, 16), Wavefronts { taken: 4, ideal: 4 });
        assert_eq!(wavefronts(&strided(16), 0xff, 16), Wavefronts { taken: 1, ideal: 1 });
        assert_eq!(wavefronts(&strided(8), 0x5555_5555, 8), Wavefronts { taken: 2, ideal: 1 });
        assert_eq!(wavefronts(&strided(0), u32::MAX, 8), Wavefronts { taken: 1, ideal: 1 });
        assert_eq!(wavefronts(&strided(0), u32::MAX, 16), Wavefronts { taken: 1, ideal: 1 });
        // Eight words of 64 bits, each read by four lanes that are no neighbours.
        let repeated = std::array::from_fn(|lane| lane as u64 % 8 * 8);
        assert_eq!(wavefronts(&repeated, u32::MAX, 8), Wavefronts { taken: 2, ideal: 2 });
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
