//! Autocovariances of sequences of zeros and ones, lag by lag as they are wanted: the effective sample size of a quantile looks at a few
//! dozen lags, and a whole Fourier transform computes thousands.
//!
//! Lags come in blocks of 64. A one at place p has the 64 places after it as one word of bits; the words of all ones are added bit by
//! bit, by counters whose digits stand across words. Counts are whole numbers, so that nothing is rounded before the means are taken off.

/// Lags of a block.
pub(super) const BLOCK: usize = 64;

/// Sequences of equal length with ones at given places, and the autocovariances found so far.
#[derive(Default)]
pub(super) struct Indicators {
    len: usize,
    /// Words of a sequence, the last of zeros, so that a word may begin anywhere.
    width: usize,
    bits: Vec<u64>,
    /// Ones per sequence.
    ones: Vec<u32>,
    /// Of those, ones among the first and among the last places, as many as lags have been found.
    ends: Vec<[u32; 2]>,
    autocovariance: Vec<f64>,
}

impl Indicators {
    /// Forgets everything for `count` sequences of `len` zeros.
    pub fn clear(&mut self, count: usize, len: usize) {
        self.len = len;
        self.width = len.div_ceil(BLOCK) + 1;
        self.bits.clear();
        self.bits.resize(count * self.width, 0);
        self.ones.clear();
        self.ones.resize(count, 0);
        self.ends.clear();
        self.ends.resize(count, [0, 0]);
        self.autocovariance.clear();
    }

    /// Makes a zero a one.
    pub fn set(&mut self, sequence: usize, place: usize) {
        self.bits[sequence * self.width + place / BLOCK] |= 1 << (place % BLOCK);
        self.ones[sequence] += 1;
    }

    /// Whether all places of all sequences are alike.
    pub fn is_constant(&self) -> bool {
        let ones: u64 = self.ones.iter().copied().map(u64::from).sum();
        ones == 0 || ones == (self.len * self.ones.len()) as u64
    }

    /// Share of ones in each sequence.
    pub fn means(&self) -> impl Iterator<Item = f64> {
        let len = self.len as f64;
        self.ones.iter().map(move |&ones| f64::from(ones) / len)
    }

    /// Autocovariances found so far, averaged over sequences, with the divisor n at every lag.
    pub fn autocovariance(&self) -> &[f64] {
        &self.autocovariance
    }

    /// Finds those of the next block of lags, unless all lags are found.
    pub fn find_more(&mut self) {
        let first = self.autocovariance.len();
        let last = (first + BLOCK).min(self.len);
        let pairs = self.pairs(first);
        let n = self.len as f64;
        let squares: f64 = self.means().map(|mean| mean * mean).sum();
        for lag in first..last {
            // Σ over sequences of mean × (ones that have a place `lag` after them + those that have one before).
            let mut products = 0.0;
            for (sequence, (&ones, ends)) in self.ones.iter().zip(&mut self.ends).enumerate() {
                let inner = 2 * ones - ends[0] - ends[1];
                products += f64::from(ones) / n * f64::from(inner);
                let bit = |place: usize| {
                    (self.bits[sequence * self.width + place / BLOCK] >> (place % BLOCK)) as u32 & 1
                };
                ends[0] += bit(lag);
                ends[1] += bit(self.len - 1 - lag);
            }
            let pairs = f64::from(pairs[lag - first]);
            let sum = pairs - products + (self.len - lag) as f64 * squares;
            self.autocovariance.push(sum / (n * self.ones.len() as f64));
        }
    }

    /// Pairs of ones `first`, `first` + 1, … places apart.
    fn pairs(&self, first: usize) -> [u32; BLOCK] {
        // Digit i of the counter of lag `first` + k is bit k of word i.
        let mut digits = [0_u64; u32::BITS as usize];
        for bits in self.bits.chunks_exact(self.width) {
            'sequence: for (word, &ones) in bits.iter().enumerate() {
                let mut left = ones;
                while left != 0 {
                    let place = word * BLOCK + left.trailing_zeros() as usize + first;
                    left &= left - 1;
                    if place >= self.len {
                        break 'sequence;
                    }
                    let (word, shift) = (place / BLOCK, place % BLOCK);
                    let mut carry = bits[word] >> shift;
                    if shift > 0 {
                        carry |= bits[word + 1] << (BLOCK - shift);
                    }
                    for digit in &mut digits {
                        if carry == 0 {
                            break;
                        }
                        (*digit, carry) = (*digit ^ carry, *digit & carry);
                    }
                }
            }
        }
        std::array::from_fn(|k| {
            let bit = |i: usize| (digits[i] >> k) as u32 & 1;
            (0..digits.len()).fold(0, |count, i| count | bit(i) << i)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_the_sum_over_pairs(
            len in 1_usize..300,
            words in prop::collection::vec(prop::collection::vec(any::<bool>(), 300), 1..5),
        ) {
            let mut indicators = Indicators::default();
            // Memory is used again.
            indicators.clear(9, 700);
            indicators.set(8, 699);
            indicators.clear(words.len(), len);
            for (sequence, bits) in words.iter().enumerate() {
                for place in (0..len).filter(|&place| bits[place]) {
                    indicators.set(sequence, place);
                }
            }
            while indicators.autocovariance().len() < len {
                indicators.find_more();
            }
            prop_assert_eq!(indicators.autocovariance().len(), len);
            let n = len as f64;
            for lag in 0..len {
                let mut expected = 0.0;
                for (bits, mean) in words.iter().zip(indicators.means()) {
                    let less = |place: usize| f64::from(u8::from(bits[place])) - mean;
                    expected += (0..len - lag).map(|i| less(i) * less(i + lag)).sum::<f64>();
                }
                expected /= n * words.len() as f64;
                let found = indicators.autocovariance()[lag];
                prop_assert!((found - expected).abs() < 1e-12, "{lag}: {found} {expected}");
            }
        }
    }

    #[test]
    fn sequences_that_stand_still_have_no_covariance() {
        let mut indicators = Indicators::default();
        indicators.clear(2, 100);
        assert!(indicators.is_constant());
        for place in 0..100 {
            indicators.set(0, place);
        }
        assert!(!indicators.is_constant());
        indicators.find_more();
        assert_eq!(indicators.autocovariance(), [0.0; BLOCK]);
        indicators.find_more();
        assert_eq!(indicators.autocovariance(), [0.0; 100]);
    }
}
