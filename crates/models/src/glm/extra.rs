//! What rows hold besides their covariates: each number beside the row, or once where all rows share it.
//!
//! Without weights, offsets and the like most of these numbers are the same in every row, and reading them row by row would cost as
//! much as reading covariates.

use crate::families::rows::{LANES, Lane, RowFamily};

/// Most extra numbers of a row.
const MOST: usize = 4;

/// A place beyond those of all rows, so that one comparison says whether a number is stored and where.
const SHARED: usize = usize::MAX;

/// Which extra numbers stand beside each row, and those that all rows share.
#[derive(Clone, Debug)]
pub(super) struct Extra {
    /// The place among the stored numbers of a row; [`SHARED`] for the others.
    places: [usize; MOST],
    /// The numbers that all rows share.
    shared: [Lane; MOST],
    /// Numbers stored per row.
    num_stored: usize,
}

impl Extra {
    /// Takes the extra numbers that all `rows` share out of them; rows are `num_columns` covariates and then `num_extra` numbers.
    pub fn taken_from(rows: &mut Vec<f64>, num_columns: usize, num_extra: usize) -> Self {
        let width = num_columns + num_extra;
        let mut own = Self {
            places: [SHARED; MOST],
            shared: [[0.0; LANES]; MOST],
            num_stored: 0,
        };
        let mut kept = Vec::with_capacity(num_extra);
        for e in 0..num_extra {
            let mut numbers = rows.iter().skip(num_columns + e).step_by(width);
            let first = numbers.next().copied().unwrap_or(0.0);
            // By bits: 0 and −0 differ in what comes of them. A row of nothing could not be counted.
            let is_shared = numbers.all(|number| number.to_bits() == first.to_bits());
            if is_shared && num_columns > 0 {
                own.shared[e] = [first; LANES];
            } else {
                own.places[e] = own.num_stored;
                own.num_stored += 1;
                kept.push(e);
            }
        }
        if own.num_stored == num_extra {
            return own;
        }
        let stride = num_columns + own.num_stored;
        let num_obs = rows.len() / width;
        for i in 0..num_obs {
            rows.copy_within(i * width..i * width + num_columns, i * stride);
            for (k, e) in kept.iter().enumerate() {
                rows[i * stride + num_columns + k] = rows[i * width + num_columns + e];
            }
        }
        rows.truncate(num_obs * stride);
        rows.shrink_to_fit();
        own
    }

    /// Numbers stored per row.
    #[inline(always)]
    pub fn num_stored(&self) -> usize {
        self.num_stored
    }

    /// The extra numbers of the row that stores these.
    #[inline]
    pub fn of_row(&self, stored: &[f64]) -> [f64; MOST] {
        let mut out = [0.0; MOST];
        for e in 0..MOST {
            out[e] = *stored.get(self.places[e]).unwrap_or(&self.shared[e][0]);
        }
        out
    }

    /// The extra numbers of the tile that stores these.
    #[inline(always)]
    pub fn of_tile<F: RowFamily>(&self, stored: &[Lane]) -> [Lane; MOST] {
        let mut out = [[0.0; LANES]; MOST];
        for e in 0..F::EXTRA {
            out[e] = self.of_place(e, stored);
        }
        out
    }

    /// The extra numbers `e` of the tile that stores these.
    #[inline(always)]
    pub fn of_place(&self, e: usize, stored: &[Lane]) -> Lane {
        let place = self.places[e];
        // No `get`: what the standard library calls is not compiled for vector instructions.
        if place < stored.len() {
            stored[place]
        } else {
            self.shared[e]
        }
    }
}
