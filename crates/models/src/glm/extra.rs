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
    /// Tells which of the extra numbers all `rows` share; rows are `num_columns` covariates and then `num_extra` numbers.
    pub fn of(rows: &[f64], num_columns: usize, num_extra: usize) -> Self {
        let mut first = [0.0; MOST];
        for (number, &of_row) in first.iter_mut().zip(rows.iter().skip(num_columns)) {
            *number = of_row;
        }
        // A row of nothing could not be counted.
        let mut is_shared = [num_columns > 0; MOST];
        for row in rows.chunks_exact(num_columns + num_extra) {
            let of_row = row[num_columns..].iter().zip(first);
            for (is_shared, (number, first)) in is_shared.iter_mut().zip(of_row) {
                // By bits: 0 and −0 differ in what comes of them.
                *is_shared &= number.to_bits() == first.to_bits();
            }
            if !is_shared[..num_extra].contains(&true) {
                break;
            }
        }
        let mut own = Self {
            places: [SHARED; MOST],
            shared: [[0.0; LANES]; MOST],
            num_stored: 0,
        };
        for e in 0..num_extra {
            if is_shared[e] {
                own.shared[e] = [first[e]; LANES];
            } else {
                own.places[e] = own.num_stored;
                own.num_stored += 1;
            }
        }
        own
    }

    /// Copies those of the `extra` numbers of a row that are stored.
    pub fn store(&self, extra: &[f64], stored: &mut [f64]) {
        for (&place, &number) in self.places.iter().zip(extra) {
            if place != SHARED {
                stored[place] = number;
            }
        }
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
    pub fn of_tile<'a, F: RowFamily>(&'a self, stored: &'a [Lane]) -> [&'a Lane; MOST] {
        let mut out = self.shared.each_ref();
        for e in 0..F::EXTRA {
            out[e] = self.of_place(e, stored);
        }
        out
    }

    /// The extra numbers `e` of the tile that stores these.
    #[inline(always)]
    pub fn of_place<'a>(&'a self, e: usize, stored: &'a [Lane]) -> &'a Lane {
        let place = self.places[e];
        // No `get`: what the standard library calls is not compiled for vector instructions.
        if place < stored.len() {
            &stored[place]
        } else {
            &self.shared[e]
        }
    }
}
