//! Rows of any family and the loops over them.

use super::columns::{Columns, Part};
use super::quantity::RowQuantity;
use super::source::{Ahead, InOrder, Numbered, Picked, TileSource};
use super::store::RowStore;
use super::sums::{Sums, reduce};
use super::terms::TileTerms;
use crate::families::rows::{AuxLanes, LANES, Lane};
use crate::likelihood::whole_block;
use crate::numerics::arithmetic::{Arithmetic, SimdLevel, at_level};
use crate::numerics::vector::{Vector as _, aligned};
use crate::{Rows, Scratch};

/// Tiles handled together; more would need more registers than there are. The rows of the next as many are prefetched.
pub const GROUP: usize = 4;

/// Covariates and responses of all rows, and the instructions that loops over them use.
#[derive(Debug)]
pub struct TiledRows {
    /// P.
    pub num_columns: usize,
    /// Their numbers.
    pub store: RowStore,
    /// See [`SimdLevel`].
    pub level: SimdLevel,
}

/// What a pass over rows computes besides the gradient.
#[derive(Clone, Copy)]
pub enum Pass<'a> {
    Gradient,
    Value,
    /// Derivatives minus these, 1 + [`TileTerms::num_aux`] per row of the data.
    Difference(&'a [f64]),
}

// Loops are functions of the terms alone: within one of a family they would be compiled for each family, also where they only call it.
impl TiledRows {
    /// A pass over rows: ADDS the gradient to `grad` (D); the summed log likelihood where the pass asks for it, else 0.
    pub fn pass(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        at_level!(self.level, A => self.pass_at::<A>(terms, u, rows, pass, scratch, grad))
    }

    #[inline(always)]
    fn pass_at<A: Arithmetic>(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        self.store.make_tiles_for(rows);
        let view = self.store.view();
        // In functions of their own, so that the loop over single rows, of which small minibatches need few rounds, stays short.
        let start = rows.start().filter(|it| it.is_multiple_of(LANES));
        if let Some(source) = start.and_then(|start| view.kept(InOrder(start))) {
            return A::apart(
                #[inline(always)]
                || self.pass_of::<A>(terms, u, source, rows, pass, scratch, grad),
            );
        }
        if let Rows::Blocks(numbers) = rows
            && let Some(source) = view.kept(Numbered(numbers))
        {
            return A::apart(
                #[inline(always)]
                || self.pass_of::<A>(terms, u, source, rows, pass, scratch, grad),
            );
        }
        // Stretches and blocks that are not read as they are kept are rare: they go by the loop over single rows instead of one of their own.
        let mut stretch = std::mem::take(&mut scratch.stretch);
        let picked = match rows {
            Rows::Pick(picked) => picked,
            Rows::All | Rows::Span { .. } | Rows::Blocks(_) => {
                stretch.clear();
                stretch.extend((0..rows.len(self.store.num_obs())).map(|k| rows.get(k) as u32));
                &stretch
            }
        };
        let source = Picked {
            view,
            row: |k: usize| picked[k] as usize,
            block: |k: usize| whole_block(&picked[k..][..LANES]),
            len: picked.len(),
        };
        let value = self.pass_of::<A>(terms, u, source, Rows::Pick(picked), pass, scratch, grad);
        scratch.stretch = stretch;
        value
    }

    /// One loop per combination of rows and pass, so that the inner loop has no branches.
    #[inline(always)]
    fn pass_of<A: Arithmetic>(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        source: impl TileSource,
        rows: Rows<'_>,
        pass: Pass<'_>,
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let len = rows.len(self.store.num_obs());
        match pass {
            Pass::Gradient => {
                self.tiles::<A, _, false, false>(terms, u, len, source, &[], scratch, grad)
            }
            Pass::Value => {
                self.tiles::<A, _, true, false>(terms, u, len, source, &[], scratch, grad)
            }
            Pass::Difference(c) => {
                self.tiles::<A, _, false, true>(terms, u, len, source, c, scratch, grad)
            }
        }
    }

    /// The pass over the `len` rows of `source`.
    #[inline(always)]
    fn tiles<A: Arithmetic, S: TileSource, const VALUE: bool, const DIFFERENCE: bool>(
        &self,
        terms: impl TileTerms,
        u: &[f64],
        len: usize,
        source: S,
        centre: &[f64],
        scratch: &mut Scratch,
        grad: &mut [f64],
    ) -> f64 {
        let columns = self.num_columns;
        let (tile, lanes) = (aligned(&mut scratch.tile), aligned(&mut scratch.lanes));
        let mut sums = Sums::new(&mut lanes[..columns]);
        let pass = TilePass {
            source,
            beta: &u[..columns],
            terms,
            len,
            centre,
        };
        let mut first = 0;
        // The order of additions does not depend on how many tiles make a group.
        let in_groups = S::groups_fit(self.store.stride());
        // Each group asks for the next one, and nobody has asked for the first.
        if in_groups && GROUP * LANES <= len {
            source.prefetch::<GROUP>(0, centre, 1 + terms.num_aux());
        }
        while in_groups && first + GROUP * LANES <= len {
            self.group::<A, _, _, GROUP, VALUE, DIFFERENCE>(&pass, first, LANES, tile, &mut sums);
            first += GROUP * LANES;
        }
        while first < len {
            let live = LANES.min(len - first);
            self.group::<A, _, _, 1, VALUE, DIFFERENCE>(&pass, first, live, tile, &mut sums);
            first += LANES;
        }
        for (grad, sum) in grad.iter_mut().zip(&*sums.gradient) {
            *grad += reduce(sum);
        }
        for m in 0..terms.num_aux() {
            grad[columns + m] += reduce(&sums.aux.lanes()[m]);
        }
        if !VALUE {
            return 0.0;
        }
        let (of_log, log) = (terms.of_log(), sums.log_of_factors());
        for (m, times) in of_log.aux.iter().enumerate().take(terms.num_aux()) {
            grad[columns + m] += times * log;
        }
        reduce(&sums.value) + of_log.value * log
    }

    /// Adds what `T` tiles from row `first` of a pass say; `live` rows count in each.
    #[inline(always)]
    fn group<
        A: Arithmetic,
        K: TileTerms,
        S: TileSource,
        const T: usize,
        const VALUE: bool,
        const DIFFERENCE: bool,
    >(
        &self,
        pass: &TilePass<'_, K, S>,
        first: usize,
        live: usize,
        buffer: &mut [Lane],
        sums: &mut Sums<'_, K::Aux>,
    ) {
        let (columns, num_aux) = (self.num_columns, pass.terms.num_aux());
        let width = 1 + num_aux;
        // Only single tiles are ever cut short; the compiler is to know that.
        let live = if T > 1 { LANES } else { live };
        let tiles = self.tiles_at::<A, T, DIFFERENCE>(pass, first, live, buffer);
        let predictors = predictors::<A, _, _, T, true>(pass, first, &tiles);
        let z = self.with_offsets::<A, T>(pass.terms, &predictors, &tiles);
        let mut residuals = [A::V::splat(0.0); T];
        pass.terms.each_terms::<A, T, VALUE>(
            &z,
            &tiles,
            #[inline(always)]
            |t, mut terms| {
                let at = first + t * LANES;
                if DIFFERENCE {
                    let (mut centre, mut aux_centre) = ([0.0; LANES], K::Aux::ZERO);
                    for k in 0..live {
                        let of_row = &pass.centre[pass.source.row(at + k) * width..][..width];
                        centre[k] = of_row[0];
                        for m in 0..num_aux {
                            aux_centre.lanes_mut()[m][k] = of_row[1 + m];
                        }
                    }
                    terms.residual = (A::V::load(&terms.residual) - A::V::load(&centre)).lane();
                    let aux = terms.aux.lanes_mut().iter_mut();
                    for (aux, centre) in aux.zip(aux_centre.lanes()).take(num_aux) {
                        *aux = (A::V::load(aux) - A::V::load(centre)).lane();
                    }
                }
                if live < LANES {
                    terms.drop_from(live);
                }
                sums.add::<A, VALUE>(&terms, num_aux, pass.terms.factors());
                residuals[t] = A::V::load(&terms.residual);
            },
        );
        if VALUE {
            sums.take_logs(T);
        }
        let covariates = covariates(&tiles, columns);
        let ahead = if S::EVENLY {
            pass.source.ahead::<T>(first)
        } else {
            Ahead::Nothing
        };
        Columns::<_, _, T>::new(
            sums.gradient[..columns].iter_mut(),
            Part::Rest,
            tiles[0].len(),
            #[inline(always)]
            |j, sum| {
                let mut total = A::V::load(sum);
                for t in 0..T {
                    total = residuals[t].mul_add(A::V::load(&covariates[t][j]), total);
                }
                *sum = total.lane();
            },
        )
        .each(ahead);
    }

    /// The tiles of `T` times eight rows of a pass from row `first` on, of which `live` count in each: kept ones, or put together in
    /// `buffer`. Asks for the next as many.
    #[inline(always)]
    pub fn tiles_at<'a, A: Arithmetic, const T: usize, const DIFFERENCE: bool>(
        &self,
        pass: &'a TilePass<'_, impl TileTerms, impl TileSource>,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> [&'a [Lane]; T] {
        let stride = self.store.stride();
        if first + 2 * T * LANES <= pass.len {
            let stored: &[f64] = if DIFFERENCE { pass.centre } else { &[] };
            pass.source
                .prefetch::<T>(first + T * LANES, stored, 1 + pass.terms.num_aux());
        }
        pass.source.tiles::<A, T>(first, live, stride, buffer)
    }

    /// Linear predictors with the offsets of these tiles.
    #[inline(always)]
    pub fn with_offsets<A: Arithmetic, const T: usize>(
        &self,
        terms: impl TileTerms,
        predictors: &[A::V; T],
        tiles: &[&[Lane]; T],
    ) -> [Lane; T] {
        let mut z = [[0.0; LANES]; T];
        for t in 0..T {
            z[t] = if terms.has_offset() {
                (predictors[t] + A::V::load(self.store.offsets(tiles[t]))).lane()
            } else {
                predictors[t].lane()
            };
        }
        z
    }

    /// The rows from blocks where there are some. None are made: models that only go row by row need no rows twice.
    pub fn as_kept<'a>(&'a self, rows: Rows<'a>) -> impl TileSource + 'a {
        Picked {
            view: self.store.view(),
            row: move |k| rows.get(k),
            block: move |k| rows.block(k),
            len: rows.len(self.store.num_obs()),
        }
    }

    /// Linear predictors, shifted, of `T` tiles from the `first` of these rows on, and a quantity at them. A function, so that it is not
    /// compiled for each of its uses.
    pub fn row_group<K: TileTerms, Q: RowQuantity<K::Aux>, const T: usize>(
        &self,
        terms: K,
        u: &[f64],
        rows: Rows<'_>,
        first: usize,
        shifts: &[Lane; T],
        buffer: &mut [Lane],
    ) -> [(Lane, Q::Lanes); T] {
        let len = rows.len(self.store.num_obs());
        let pass = TilePass {
            source: self.as_kept(rows),
            beta: &u[..self.num_columns],
            terms,
            len,
            centre: &[],
        };
        let live = if T > 1 { LANES } else { LANES.min(len - first) };
        let mut out = [(<[f64; LANES]>::default(), Q::Lanes::default()); T];
        at_level!(self.level, A => {
            let tiles = self.tiles_at::<A, T, false>(&pass, first, live, buffer);
            let predictors = predictors::<A, _, _, T, false>(&pass, first, &tiles);
            let mut z = self.with_offsets::<A, T>(terms, &predictors, &tiles);
            for (z, shift) in z.iter_mut().zip(shifts) {
                *z = with_shift::<A>(z, shift);
            }
            let quantities = Q::of::<A, T>(terms, &z, &tiles);
            for t in 0..T {
                out[t] = (z[t], quantities[t]);
            }
        });
        out
    }
}

/// What all tiles of a pass share.
pub struct TilePass<'a, K, S> {
    pub source: S,
    pub beta: &'a [f64],
    pub terms: K,
    pub len: usize,
    pub centre: &'a [f64],
}

/// Linear predictors of the rows from `first` on of a pass, in tiles, without offset. Meanwhile the next tiles are asked for; `HALF` of
/// them where the gradient, which reads the same tiles, asks for the rest: evenly is faster where they follow each other and where they are
/// put together of rows, and slower with blocks here and there.
#[inline(always)]
pub fn predictors<A: Arithmetic, K, S: TileSource, const T: usize, const HALF: bool>(
    pass: &TilePass<'_, K, S>,
    first: usize,
    tiles: &[&[Lane]; T],
) -> [A::V; T] {
    let mut z = [A::V::splat(0.0); T];
    let covariates = covariates(tiles, pass.beta.len());
    let part = if HALF && S::EVENLY {
        Part::Half
    } else {
        Part::All
    };
    Columns::<_, _, T>::new(
        pass.beta.iter(),
        part,
        tiles[0].len(),
        #[inline(always)]
        |j, &beta| {
            let beta = A::V::splat(beta);
            for t in 0..T {
                z[t] = A::V::load(&covariates[t][j]).mul_add(beta, z[t]);
            }
        },
    )
    .each(pass.source.ahead::<T>(first));
    z
}

#[inline(always)]
fn with_shift<A: Arithmetic>(z: &Lane, shift: &Lane) -> Lane {
    (A::V::load(z) + A::V::load(shift)).lane()
}

/// The covariates of tiles as slices of one known length: no bounds are checked where they are read.
#[inline(always)]
fn covariates<'a, const T: usize>(tiles: &[&'a [Lane]; T], columns: usize) -> [&'a [Lane]; T] {
    let mut own = [&[][..]; T];
    for (own, tile) in own.iter_mut().zip(tiles) {
        *own = &tile[..columns];
    }
    own
}
