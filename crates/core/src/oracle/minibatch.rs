//! Which rows a gradient estimate uses.

use std::sync::Arc;

use rand::RngExt as _;

use super::AliasTable;
use crate::models::{BLOCK_ROWS, Rows};
use ergodic_base::ChainRng;

/// [`BLOCK_ROWS`] as numbers of rows are kept.
const BLOCK: u32 = BLOCK_ROWS as u32;

ergodic_base::choice! {
    /// How rows are chosen. Rows were shuffled once at import.
    pub enum Scheme {
        /// Independent draws with replacement: the textbook scheme that variance formulas assume.
        Iid = "iid" => "random rows",
        /// Random blocks of eight neighbouring rows, with replacement.
        Blocks = "blocks" => "blocks of rows",
        /// One random contiguous span (around the end).
        Spans = "spans",
        /// Contiguous spans from a random start, each row once per pass.
        Epoch = "epoch",
        /// Independent draws with replacement, probabilities proportional to the Lipschitz constants of row gradients
        /// ([`AliasTable`]); for control variates only.
        Lipschitz = "lipschitz" => "important rows",
    }
}

/// Draws minibatches of fixed size.
#[derive(Clone, Debug)]
pub struct Minibatch {
    num_obs: usize,
    batch: usize,
    scheme: Scheme,
    picks: Vec<u32>,
    /// Chances of rows ([`Scheme::Lipschitz`] only); without them all are equal.
    chances: Option<Arc<AliasTable>>,
    /// Next row and rows left in the present pass ([`Scheme::Epoch`] only).
    cursor: u64,
    left: u64,
}

impl Minibatch {
    /// Minibatches of `batch` of `num_obs` rows; `batch` is cut to 1..=`num_obs` and, for blocks, rounded up to whole
    /// blocks.
    pub fn new(num_obs: usize, batch: usize, scheme: Scheme) -> Self {
        let mut batch = batch.clamp(1, num_obs.max(1));
        if scheme == Scheme::Blocks {
            batch = batch.div_ceil(BLOCK_ROWS) * BLOCK_ROWS;
        }
        Self {
            num_obs,
            batch,
            scheme,
            picks: Vec::with_capacity(batch),
            chances: None,
            cursor: 0,
            left: 0,
        }
    }

    /// The minibatch with the chances of rows for [`Scheme::Lipschitz`].
    #[must_use]
    pub(crate) fn with_chances(mut self, chances: Option<Arc<AliasTable>>) -> Self {
        self.chances = chances;
        self
    }

    /// Rows per minibatch.
    pub fn batch(&self) -> usize {
        self.batch
    }

    /// The position of a pass, for saving and restoring.
    pub(crate) fn position_mut(&mut self) -> [&mut u64; 2] {
        [&mut self.cursor, &mut self.left]
    }

    /// The rows of the next estimate.
    pub fn draw(&mut self, rng: &mut ChainRng) -> Rows<'_> {
        if self.batch >= self.num_obs && self.scheme != Scheme::Blocks {
            // Everything at once: with replacement would only add noise.
            return Rows::Span {
                start: 0,
                len: self.num_obs,
            };
        }
        self.picks.clear();
        match self.scheme {
            Scheme::Iid | Scheme::Lipschitz => {
                if let Some(chances) = &self.chances {
                    let picks = (0..self.batch).map(|_| chances.draw(rng));
                    self.picks.extend(picks);
                } else {
                    many_below(rng, self.num_obs as u32, self.batch, &mut self.picks);
                }
            }
            Scheme::Blocks => {
                let count = self.batch / BLOCK_ROWS;
                let blocks = (self.num_obs / BLOCK_ROWS) as u32;
                if self.num_obs.is_multiple_of(BLOCK_ROWS) {
                    many_below(rng, blocks, count, &mut self.picks);
                    return Rows::Blocks(&self.picks);
                }
                // The block of a random row, so that rows which fill no block have their chance.
                many_below(rng, self.num_obs as u32, count, &mut self.picks);
                if self.picks.iter().all(|&row| row / BLOCK < blocks) {
                    self.picks.iter_mut().for_each(|row| *row /= BLOCK);
                    return Rows::Blocks(&self.picks);
                }
                self.widen();
            }
            Scheme::Spans => {
                let start = below(rng, self.num_obs as u32) as usize;
                if start + self.batch <= self.num_obs {
                    return Rows::Span {
                        start,
                        len: self.batch,
                    };
                }
                self.push_span(start, self.batch);
            }
            Scheme::Epoch => {
                if self.left < self.batch as u64 {
                    self.cursor = u64::from(below(rng, self.num_obs as u32));
                    self.left = self.num_obs as u64;
                }
                let start = self.cursor as usize;
                self.cursor = (self.cursor + self.batch as u64) % self.num_obs as u64;
                self.left -= self.batch as u64;
                if start + self.batch <= self.num_obs {
                    return Rows::Span {
                        start,
                        len: self.batch,
                    };
                }
                self.push_span(start, self.batch);
            }
        }
        Rows::Pick(&self.picks)
    }

    /// Puts a block of rows in the place of each row: that which the row is in, or the rows that fill no block, from this one on and over
    /// and over, so that the sum of the block is expected to be that of any other.
    fn widen(&mut self) {
        let count = self.picks.len();
        let rest = self.num_obs as u32 % BLOCK;
        let first = self.num_obs as u32 - rest;
        self.picks.resize(count * BLOCK_ROWS, 0);
        for k in (0..count).rev() {
            let row = self.picks[k];
            for (j, to) in (0..).zip(&mut self.picks[k * BLOCK_ROWS..][..BLOCK_ROWS]) {
                *to = if row < first {
                    row - row % BLOCK + j
                } else {
                    first + (row - first + j) % rest
                };
            }
        }
    }

    fn push_span(&mut self, start: usize, len: usize) {
        for k in 0..len {
            let row = start + k;
            self.picks.push(
                (if row < self.num_obs {
                    row
                } else {
                    row - self.num_obs
                }) as u32,
            );
        }
    }
}

/// Appends `count` draws of [`below`] to `picks`, the same as one after the other, from random words made in bulk.
fn many_below(rng: &mut ChainRng, bound: u32, count: usize, picks: &mut Vec<u32>) {
    let first = picks.len();
    picks.resize(first + count, 0);
    rng.fill(&mut picks[first..]);
    let threshold = bound.wrapping_neg() % bound;
    let mut kept = first;
    for k in first..picks.len() {
        let product = u64::from(picks[k]) * u64::from(bound);
        picks[kept] = (product >> 32) as u32;
        kept += usize::from(product as u32 >= threshold);
    }
    picks.truncate(kept);
    while picks.len() < first + count {
        picks.push(below(rng, bound));
    }
}

/// A uniform integer in `0..bound`, without modulo bias (Lemire's multiplication method).
#[inline]
pub fn below(rng: &mut ChainRng, bound: u32) -> u32 {
    let mut product = u64::from(rng.random::<u32>()) * u64::from(bound);
    if (product as u32) < bound {
        let threshold = bound.wrapping_neg() % bound;
        while (product as u32) < threshold {
            product = u64::from(rng.random::<u32>()) * u64::from(bound);
        }
    }
    (product >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};

    /// Every scheme must give every row the same expected count.
    #[test]
    fn all_rows_are_equally_likely_under_every_scheme() {
        let (batch, rounds) = (24, 40_000);
        let schemes = [Scheme::Iid, Scheme::Blocks, Scheme::Spans, Scheme::Epoch];
        // In whole blocks and not.
        let cases = schemes.into_iter();
        for (scheme, num_obs) in cases.flat_map(|it| [80, 83, 31].map(|n| (it, n))) {
            let mut minibatch = Minibatch::new(num_obs, batch, scheme);
            let mut rng = stream(11, 0, Purpose::Batch);
            let mut counts = vec![0_u32; num_obs];
            for _ in 0..rounds {
                let rows = minibatch.draw(&mut rng);
                for k in 0..rows.len(num_obs) {
                    counts[rows.get(k)] += 1;
                }
            }
            let expected = (rounds * batch) as f64 / num_obs as f64;
            // Neighbouring rows are drawn together, so a count varies by at most batch times its binomial variance.
            let bound = 6.0 * (expected * batch as f64).sqrt();
            for (row, &count) in counts.iter().enumerate() {
                assert!(
                    (f64::from(count) - expected).abs() < bound,
                    "{scheme:?}, row {row}: {count} against {expected}"
                );
            }
        }
    }

    #[test]
    fn draws_in_bulk_are_those_one_by_one() {
        // Of the large bound a third of the words is refused.
        for bound in [1, 7, 100_000, 2_863_311_531] {
            let (mut one, mut bulk) = (stream(3, 0, Purpose::Batch), stream(3, 0, Purpose::Batch));
            let mut picks = Vec::new();
            for count in [1, 5, 64, 1000] {
                picks.clear();
                many_below(&mut bulk, bound, count, &mut picks);
                let expected: Vec<u32> = (0..count).map(|_| below(&mut one, bound)).collect();
                assert_eq!(picks, expected);
            }
        }
    }

    #[test]
    fn an_epoch_uses_no_row_twice() {
        let mut minibatch = Minibatch::new(40, 10, Scheme::Epoch);
        let mut rng = stream(1, 0, Purpose::Batch);
        let mut seen = [0; 40];
        for _ in 0..4 {
            let rows = minibatch.draw(&mut rng);
            for k in 0..rows.len(40) {
                seen[rows.get(k)] += 1;
            }
        }
        assert!(seen.iter().all(|&count| count == 1));
    }
}
