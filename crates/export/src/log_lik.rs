//! Pointwise log likelihood as CSV: for R's loo, ArviZ and others.

use std::io::{self, Write};

use super::Results;
use super::draws_csv::INDEX_COLUMNS;
use super::number::shortest;

/// File name of the pointwise log likelihood.
pub(super) const FILE: &str = "log_lik.csv";

/// Numbers held at a time, besides what the draws take.
const HELD: usize = 4_000_000;

/// One line per draw with .chain, .iteration and .draw, one column per row used: `log_lik[12]` is that of row 12, counted from 1.
///
/// # Errors
/// The writer fails; the results have no log likelihood.
pub(super) fn write(results: &Results, out: &mut dyn Write) -> io::Result<()> {
    let Some(log_lik) = &results.log_lik else {
        return Err(io::ErrorKind::NotFound.into());
    };
    let mut out = io::BufWriter::new(out);
    write!(out, "{}", INDEX_COLUMNS.join(","))?;
    for row in &log_lik.observed().rows {
        write!(out, ",log_lik[{}]", row + 1)?;
    }
    writeln!(out)?;
    let (n, draws) = (log_lik.num_rows(), log_lik.num_draws());
    let mut place = Places::of(log_lik.chains());
    let height = (HELD / n.max(1)).clamp(1, draws.max(1));
    let mut values = vec![0.0; n * height];
    for first in (0..draws).step_by(height) {
        let tile = height.min(draws - first);
        let values = &mut values[..n * tile];
        log_lik.tile(first, tile, values);
        for s in 0..tile {
            let [chain, iteration] = place.next();
            write!(out, "{chain},{iteration},{}", first + s + 1)?;
            for row in values.chunks_exact(tile) {
                write!(out, ",{}", shortest(row[s]))?;
            }
            writeln!(out)?;
        }
    }
    out.flush()
}

/// Chain and iteration of one draw after the other, from 1.
struct Places<'a> {
    lengths: &'a [usize],
    chain: usize,
    iteration: usize,
}

impl<'a> Places<'a> {
    fn of(lengths: &'a [usize]) -> Self {
        Self {
            lengths,
            chain: 0,
            iteration: 0,
        }
    }

    fn next(&mut self) -> [usize; 2] {
        while self.lengths.get(self.chain) == Some(&self.iteration) {
            self.chain += 1;
            self.iteration = 0;
        }
        self.iteration += 1;
        [self.chain + 1, self.iteration]
    }
}
