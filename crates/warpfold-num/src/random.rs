//! A generator of random numbers for arrays that are measured, for schedules and for tests, which must be the same in every run.

/// How far one number is from the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number that a seed and an index decide: SplitMix64 (Steele, Lea and Flood, 2014) at that place of its sequence.
pub const fn word(seed: u64, index: u64) -> u64 {
    let mut z = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(STEP));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The numbers of a seed, one after the other.
///
/// ```
/// use warpfold_num::random::{Words, word};
/// let mut words = Words(7);
/// assert_eq!((words.next(), words.next()), (word(7, 0), word(7, 1)));
/// ```
#[derive(Debug, Clone)]
pub struct Words(pub u64);

impl Words {
    /// The next number.
    pub const fn next(&mut self) -> u64 {
        let word = word(self.0, 0);
        self.0 = self.0.wrapping_add(STEP);
        word
    }

    /// The next number, below a limit.
    ///
    /// # Panics
    /// If the limit is zero.
    pub const fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit
    }

    /// The next number as an index into so many things.
    ///
    /// # Panics
    /// If there are none.
    pub const fn index(&mut self, count: usize) -> usize {
        (self.next() % count as u64) as usize
    }

    /// The next number as a fraction in [0, 1).
    pub const fn fraction(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The first numbers of seed 1234567, as the authors' program and many after it print them.
    #[test]
    fn numbers_are_those_of_splitmix64() {
        let mut words = Words(1_234_567);
        let found = [0; 5].map(|_| words.next());
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
            4_593_380_528_125_082_431,
            16_408_922_859_458_223_821,
        ];
        assert_eq!(found, expected);
    }
}
