//! First and second moments of scores, summed lane by lane.

use super::GlmRows;
use super::source::{Picked, TileSource};
use super::sums::reduce;
use super::terms::{TileTerms, with_terms};
use super::tiled::{GROUP, TilePass, TiledRows, predictors};
use crate::families::rows::{AuxLanes as _, LANES, Lane, RowFamily};
use crate::numerics::arithmetic::{Arithmetic, at_level};
use crate::numerics::vector::{Vector as _, aligned};
use crate::{Rows, Scratch};

/// Most coordinates whose products of scores are summed lane by lane: those of twice as many no longer fit the nearest cache.
pub const MOST_IN_LANES: usize = 24;

impl<F: RowFamily> GlmRows<F> {
    /// ADDS the sum of the scores s of `rows` to `sum` (D), and the lower half of Σ s s' to the row-major D×D `products`; of at most
    /// [`MOST_IN_LANES`] coordinates it pays.
    pub fn score_moments(
        &self,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        let shared = self.shared(u);
        with_terms!(self, &shared, terms => {
            self.tiled.moments(terms, u, rows, scratch, sum, products);
        });
    }
}

impl TiledRows {
    fn moments(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        at_level!(self.level, A => self.moments_at::<A>(terms, u, rows, scratch, sum, products));
    }

    #[inline(always)]
    fn moments_at<A: Arithmetic>(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        scratch: &mut Scratch,
        sum: &mut [f64],
        products: &mut [f64],
    ) {
        let dim = self.num_columns + terms.num_aux();
        let len = rows.len(self.store.num_obs());
        let pass = TilePass {
            source: Picked {
                view: self.store.view(),
                row: |k| rows.get(k),
                block: |k| rows.block(k),
                len,
            },
            beta: &u[..self.num_columns],
            terms,
            len,
            centre: &[],
        };
        // Scores of a group, their sums, and the sums of their products.
        let lanes = GROUP * dim + dim + dim * (dim + 1) / 2;
        scratch.products.resize(LANES * (lanes + 1), 0.0);
        let (scores, sums) = aligned(&mut scratch.products)[..lanes].split_at_mut(GROUP * dim);
        sums.fill([0.0; LANES]);
        let tile = aligned(&mut scratch.tile);
        let mut first = 0;
        while first + GROUP * LANES <= len {
            self.add_moments::<A, _, GROUP>(&pass, first, LANES, tile, scores, sums);
            first += GROUP * LANES;
        }
        while first < len {
            let live = LANES.min(len - first);
            self.add_moments::<A, _, 1>(&pass, first, live, tile, scores, sums);
            first += LANES;
        }
        let (means, pairs) = sums.split_at(dim);
        for (sum, mean) in sum.iter_mut().zip(means) {
            *sum += reduce(mean);
        }
        let mut pairs = pairs.iter();
        for (i, line) in products.chunks_exact_mut(dim).enumerate() {
            for (product, pair) in line[..=i].iter_mut().zip(&mut pairs) {
                *product += reduce(pair);
            }
        }
    }

    /// Adds the scores of `T` tiles from row `first` of a pass, of which `live` rows count in each, and their products to `sums`.
    #[inline(always)]
    fn add_moments<A: Arithmetic, K: TileTerms, const T: usize>(
        &self,
        pass: &TilePass<'_, K, impl TileSource>,
        first: usize,
        live: usize,
        buffer: &mut [Lane],
        scores: &mut [Lane],
        sums: &mut [Lane],
    ) {
        let (columns, num_aux) = (self.num_columns, pass.terms.num_aux());
        let dim = columns + num_aux;
        let live = if T > 1 { LANES } else { live };
        let tiles = self.tiles_at::<A, T, false>(pass, first, live, buffer);
        let predictors = predictors::<A, _, _, T, false>(pass, first, &tiles);
        let z = self.with_offsets::<A, T>(pass.terms, &predictors, &tiles);
        pass.terms.each_terms::<A, T, false>(
            &z,
            &tiles,
            #[inline(always)]
            |t, mut terms| {
                if live < LANES {
                    terms.drop_from(live);
                }
                // Coordinate by coordinate, the tiles of each next to each other.
                let residual = A::V::load(&terms.residual);
                for j in 0..columns {
                    scores[j * T + t] = (residual * A::V::load(&tiles[t][j])).lane();
                }
                for m in 0..num_aux {
                    scores[(columns + m) * T + t] = terms.aux.lanes()[m];
                }
            },
        );
        let (means, mut pairs) = sums.split_at_mut(dim);
        for (i, mean) in means.iter_mut().enumerate() {
            let mut own = [A::V::splat(0.0); T];
            let mut total = A::V::load(mean);
            for (own, score) in own.iter_mut().zip(&scores[i * T..][..T]) {
                *own = A::V::load(score);
                total = total + *own;
            }
            *mean = total.lane();
            let (line, rest) = pairs.split_at_mut(i + 1);
            for (pair, other) in line.iter_mut().zip(scores.chunks_exact(T)) {
                let mut total = A::V::load(pair);
                for (own, other) in own.iter().zip(other) {
                    total = own.mul_add(A::V::load(other), total);
                }
                *pair = total.lane();
            }
            pairs = rest;
        }
    }
}
