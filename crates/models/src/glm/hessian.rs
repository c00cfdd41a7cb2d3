//! Second derivatives of rows, summed lane by lane.

use std::ops::Range;

use super::GlmRows;
use super::source::TileSource;
use super::sums::reduce;
use super::terms::{TileTerms, with_terms};
use super::tiled::{GROUP, TilePass, TiledRows, predictors};
use crate::families::rows::{AuxLanes, LANES, Lane, RowFamily};
use crate::numerics::arithmetic::{Arithmetic, at_level};
use crate::numerics::vector::{Vector as _, aligned};
use crate::{Rows, Scratch};

/// Sums of products kept at once, 128 kB: with the rows of a stretch they fit the cache of a core. Linear predictors are computed
/// anew for every n products, that is once for up to 63 coordinates.
const SUMS: usize = 2048;
/// Rows passed over before the next sums are taken, in whole groups.
const STRETCH: usize = 16 * GROUP * LANES;

impl<F: RowFamily> GlmRows<F> {
    /// ADDS the sum of second derivatives of −log p to the row-major D×D `hessian`.
    pub fn add_neg_hessian(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = self.dim();
        let shared = self.shared(u);
        with_terms!(self, &shared, terms => {
            self.tiled.add_lower(terms, u, rows, scratch, hessian);
        });
        for i in 0..dim {
            for j in 0..i {
                hessian[j * dim + i] = hessian[i * dim + j];
            }
        }
    }
}

impl TiledRows {
    /// ADDS the sum of second derivatives of −log p to the lower half of the `hessian` alone.
    fn add_lower(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        at_level!(self.level, A => self.add_lower_at::<A>(terms, u, rows, scratch, hessian));
    }

    #[inline(always)]
    fn add_lower_at<A: Arithmetic>(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        hessian: &mut [f64],
    ) {
        let dim = self.num_columns + terms.num_aux();
        let len = rows.len(self.store.num_obs());
        let pass = TilePass {
            source: self.as_kept(rows),
            beta: &u[..self.num_columns],
            terms,
            len,
            centre: &[],
        };
        let tile = aligned(&mut scratch.tile);
        let most = SUMS.max(dim).min(dim * (dim + 1) / 2);
        scratch.products.resize(LANES * (most + 1), 0.0);
        let sums = &mut aligned(&mut scratch.products)[..most];
        for start in (0..len).step_by(STRETCH) {
            let end = len.min(start + STRETCH);
            let mut lines = 0..0;
            while lines.end < dim {
                lines = lines.end..end_of_lines(lines.end, dim, most);
                sums.fill([0.0; LANES]);
                let mut first = start;
                while first + GROUP * LANES <= end {
                    self.add_products::<A, _, GROUP>(
                        &pass,
                        first,
                        LANES,
                        tile,
                        lines.clone(),
                        sums,
                    );
                    first += GROUP * LANES;
                }
                while first < end {
                    let live = LANES.min(end - first);
                    self.add_products::<A, _, 1>(&pass, first, live, tile, lines.clone(), sums);
                    first += LANES;
                }
                let mut sums = sums.iter();
                for i in lines.clone() {
                    for (entry, sum) in hessian[i * dim..=i * dim + i].iter_mut().zip(&mut sums) {
                        *entry += reduce(sum);
                    }
                }
            }
        }
    }

    /// Adds the second derivatives of `T` tiles from row `first` of a pass, of which `live` rows count in each, to the `sums` of
    /// these lines of the lower half.
    #[inline(always)]
    fn add_products<A: Arithmetic, K: TileTerms, const T: usize>(
        &self,
        pass: &TilePass<'_, K, impl TileSource>,
        first: usize,
        live: usize,
        buffer: &mut [Lane],
        lines: Range<usize>,
        sums: &mut [Lane],
    ) {
        let columns = self.num_columns;
        let live = if T > 1 { LANES } else { live };
        let tiles = self.tiles_at::<A, T, false>(pass, first, live, buffer);
        let predictors = predictors::<A, _, _, T, false>(pass, first, &tiles);
        let z = self.with_offsets::<A, T>(pass.terms, &predictors, &tiles);
        let mut curvatures = pass.terms.curvature::<A, T>(&z, &tiles);
        if live < LANES {
            for curvature in &mut curvatures {
                curvature.drop_from(live);
            }
        }
        let mut rest = sums;
        for i in lines {
            let (line, after) = rest.split_at_mut(i + 1);
            rest = after;
            let (of_columns, of_aux) = line.split_at_mut(columns.min(i + 1));
            let mut own = [A::V::splat(0.0); T];
            for t in 0..T {
                own[t] = match i.checked_sub(columns) {
                    None => A::V::load(&curvatures[t].zz) * A::V::load(&tiles[t][i]),
                    Some(m) => A::V::load(&curvatures[t].za.lanes()[m]),
                };
            }
            for (j, sum) in of_columns.iter_mut().enumerate() {
                let mut total = A::V::load(sum);
                for t in 0..T {
                    total = own[t].mul_add(A::V::load(&tiles[t][j]), total);
                }
                *sum = total.lane();
            }
            let Some(m) = i.checked_sub(columns) else {
                continue;
            };
            for (l, sum) in of_aux.iter_mut().enumerate() {
                let mut total = A::V::load(sum);
                for curvature in &curvatures {
                    let pairs = K::Aux::pairs(&curvature.aa);
                    total = total + A::V::load(&pairs[m * (m + 1) / 2 + l]);
                }
                *sum = total.lane();
            }
        }
    }
}

/// The end of the lines of the lower half from the `first` on whose entries are at most `most`, at least one line.
fn end_of_lines(first: usize, dim: usize, most: usize) -> usize {
    let mut count = first + 1;
    let mut end = first + 1;
    while end < dim && count + end < most {
        count += end + 1;
        end += 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_taken_once_and_fit() {
        for (dim, most) in [(1, 1), (3, 6), (5, 5), (10, 12), (200, SUMS)] {
            let mut end = 0;
            while end < dim {
                let first = end;
                end = end_of_lines(first, dim, most);
                let entries: usize = (first..end).map(|i| i + 1).sum();
                assert!(
                    end > first && entries <= most,
                    "{dim} {most}: {first} to {end}"
                );
                assert!(
                    end == dim || entries + end + 1 > most,
                    "{dim} {most}: {first} to {end} leave room"
                );
            }
            assert_eq!(end, dim);
        }
    }
}
