//! Categories of a mixture: multinomial components with a symmetric Dirichlet prior per block.
//!
//! A block is a categorical column, of which every unit has one value, or the items of long data, of which a unit has any
//! number (Baker et al. 2018, section 5.2: the pages that a user visited). θ_b ~ Dirichlet(a, …, a); a unit's items are a
//! sequence, so that their likelihood Π θ_item has no multinomial coefficient, which would cancel anyway. Given the counts s of a
//! cluster a further item has probability (a + s_item)/(A + S), A = a V, S = Σ s (the source's Dirichlet density prints the
//! exponent a where a − 1 is meant).

use std::ops::Range;

use statrs::function::gamma::ln_gamma;

/// A categorical column or a column of items.
#[derive(Clone, Debug)]
pub struct Block {
    /// Name of the column.
    pub name: String,
    /// Names of the levels (V).
    pub levels: Vec<String>,
    /// Where the items of the block stand among those of all blocks.
    pub items: Range<usize>,
    /// a.
    pub concentration: f64,
}

impl Block {
    /// A = a V.
    fn total(&self) -> f64 {
        self.concentration * self.items.len() as f64
    }
}

/// An item of a unit and how often the unit has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Position among the items of all blocks.
    pub item: u32,
    /// Block of the entry.
    pub block: u32,
    /// How often, at least once.
    pub count: u32,
}

/// Categories of all units and the prior of their components.
#[derive(Clone, Debug)]
pub struct Counts {
    /// Blocks in order.
    pub blocks: Vec<Block>,
    /// Where the entries of each unit start, one more at the end.
    start: Vec<u32>,
    entries: Vec<Entry>,
    mean_observations: Vec<f64>,
}

/// Products are folded into a logarithm beyond this.
const SMALL: f64 = 1e-200;
/// Most observations up to which ratios of gamma functions are products.
const FEW: f64 = 16.0;

/// ln Γ(a + n) − ln Γ(a) for a whole number n.
fn log_rising(a: f64, n: f64) -> f64 {
    if n > FEW {
        return ln_gamma(a + n) - ln_gamma(a);
    }
    let mut product = 1.0;
    let mut k = 0.0;
    while k < n {
        product *= a + k;
        k += 1.0;
    }
    product.ln()
}

impl Counts {
    /// Blocks and, for each unit, items (`[item of all blocks]`, repeats allowed, in any order).
    pub fn new(blocks: Vec<Block>, units: &[Vec<u32>]) -> Self {
        let (mut start, mut entries) = (vec![0], Vec::new());
        let block_of: Vec<u32> = blocks
            .iter()
            .enumerate()
            .flat_map(|(b, block)| vec![b as u32; block.items.len()])
            .collect();
        for items in units {
            let mut items = items.clone();
            items.sort_unstable();
            for same in items.chunk_by(|a, b| a == b) {
                entries.push(Entry {
                    item: same[0],
                    block: block_of[same[0] as usize],
                    count: same.len() as u32,
                });
            }
            start.push(entries.len() as u32);
        }
        let mut mean_observations = vec![0.0; blocks.len()];
        for entry in &entries {
            let share = f64::from(entry.count) / units.len() as f64;
            mean_observations[entry.block as usize] += share;
        }
        Self {
            blocks,
            start,
            entries,
            mean_observations,
        }
    }

    /// V, the items of all blocks.
    pub fn num_items(&self) -> usize {
        self.blocks.last().map_or(0, |block| block.items.end)
    }

    /// The entries of a unit, in order of items.
    #[inline]
    pub fn unit(&self, unit: usize) -> &[Entry] {
        &self.entries[self.start[unit] as usize..self.start[unit + 1] as usize]
    }

    /// Observations of a unit, all blocks together.
    pub fn observations(&self, unit: usize) -> u64 {
        self.unit(unit)
            .iter()
            .map(|entry| u64::from(entry.count))
            .sum()
    }

    /// Mean observations of a unit in block `b`.
    pub fn mean_observations(&self, b: usize) -> f64 {
        self.mean_observations[b]
    }

    /// Numbers per cluster: counts of items (V) and of blocks.
    pub fn width(&self) -> usize {
        self.num_items() + self.blocks.len()
    }

    /// Adds `sign` times a unit to the counts of a cluster.
    #[inline]
    pub fn add(&self, unit: usize, sign: f64, record: &mut [f64]) {
        let (items, totals) = record.split_at_mut(self.num_items());
        for entry in self.unit(unit) {
            let count = sign * f64::from(entry.count);
            items[entry.item as usize] += count;
            totals[entry.block as usize] += count;
        }
    }

    /// Log probability of a unit's items given a cluster.
    #[inline]
    pub fn log_predictive(&self, unit: usize, record: &[f64]) -> f64 {
        let (items, totals) = record.split_at(self.num_items());
        let (mut log, mut product) = (0.0, 1.0);
        let (mut block, mut seen, mut a, mut total) = (u32::MAX, 0.0, 0.0, 0.0);
        for entry in self.unit(unit) {
            if entry.block != block {
                block = entry.block;
                let of = &self.blocks[block as usize];
                (seen, a, total) = (0.0, of.concentration, of.total() + totals[block as usize]);
            }
            let mut item = a + items[entry.item as usize];
            for _ in 0..entry.count {
                product *= item / (total + seen);
                item += 1.0;
                seen += 1.0;
                if product < SMALL {
                    log += product.ln();
                    product = 1.0;
                }
            }
        }
        log + product.ln()
    }

    /// Log marginal likelihood of a cluster.
    pub fn log_marginal(&self, record: &[f64]) -> f64 {
        let (items, totals) = record.split_at(self.num_items());
        let of_block = |(block, total): (&Block, &f64)| {
            let counts = items[block.items.clone()].iter().filter(|&&s| s > 0.0);
            let seen: f64 = counts.map(|&s| log_rising(block.concentration, s)).sum();
            seen - log_rising(block.total(), *total)
        };
        self.blocks.iter().zip(totals).map(of_block).sum()
    }
}
