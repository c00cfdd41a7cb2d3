//! Memory of kept tiles.

use crate::families::rows::{LANES, Lane};
use crate::numerics::vector::{aligned, first_aligned};

/// Lanes that start cache lines: where they do not, each is read in two parts, and a pass over rows in the cache takes a fifth longer.
#[derive(Debug)]
pub(super) struct Blocks {
    numbers: Vec<f64>,
    /// Where the first lane starts.
    first: usize,
    lanes: usize,
}

impl Blocks {
    /// So many lanes of zeros.
    pub fn new(lanes: usize) -> Self {
        // One more, so that a lane can start late.
        let numbers = vec![0.0; (lanes + 1) * LANES];
        Self {
            first: first_aligned(&numbers),
            numbers,
            lanes,
        }
    }

    #[inline(always)]
    pub fn lanes(&self) -> &[Lane] {
        let (lanes, _) = self.numbers[self.first..].as_chunks();
        &lanes[..self.lanes]
    }

    pub fn lanes_mut(&mut self) -> &mut [Lane] {
        &mut aligned(&mut self.numbers)[..self.lanes]
    }
}

impl Clone for Blocks {
    /// Other memory may start elsewhere.
    fn clone(&self) -> Self {
        let mut own = Self::new(self.lanes);
        own.lanes_mut().copy_from_slice(self.lanes());
        own
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_hold_the_same_numbers() {
        let mut blocks = Blocks::new(3);
        for (k, number) in blocks.lanes_mut().as_flattened_mut().iter_mut().enumerate() {
            *number = k as f64;
        }
        let others: Vec<Blocks> = (0..20).map(|_| blocks.clone()).collect();
        for other in &others {
            assert_eq!(other.lanes(), blocks.lanes());
        }
    }
}
