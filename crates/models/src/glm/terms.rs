//! The likelihood of tiles as row loops take it: compiled into the loop, or called by it.

use super::store::RowStore;
use crate::families::rows::{AuxLanes, CurvatureWith, Factors, Lane, OfLog, RowFamily, TermsWith};
use crate::numerics::arithmetic::{Arithmetic, SimdLevel, at_level};

/// What a family says of tiles, with what all rows of a pass share.
pub trait TileTerms: Copy {
    /// [`RowFamily::Aux`].
    type Aux: AuxLanes;
    /// [`RowFamily::num_aux`].
    fn num_aux(self) -> usize;
    /// [`RowFamily::FACTORS`].
    fn factors(self) -> Factors;
    /// [`RowFamily::of_log`].
    fn of_log(self) -> OfLog;
    /// [`RowFamily::OFFSET`].
    fn has_offset(self) -> bool;
    /// Shows `visit` [`RowFamily::terms`] at the linear predictors `z`, which have their offsets, of each tile. Not as an array, which
    /// would be filled with zeros first: a tenth of a pass.
    fn each_terms<A: Arithmetic, const T: usize, const VALUE: bool>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
        visit: impl FnMut(usize, TermsWith<Self::Aux>),
    );
    /// [`RowFamily::curvature`] at the linear predictors `z`, which have their offsets, of tiles.
    fn curvature<A: Arithmetic, const T: usize>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [CurvatureWith<Self::Aux>; T];
}

/// Terms that are compiled into the loop.
#[derive(Debug)]
pub struct Within<'a, F: RowFamily> {
    pub family: &'a F,
    pub shared: &'a F::Shared,
    pub store: &'a RowStore,
}

impl<F: RowFamily> Clone for Within<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: RowFamily> Copy for Within<'_, F> {}

impl<F: RowFamily> Within<'_, F> {
    #[inline(always)]
    fn terms_of<A: Arithmetic, const VALUE: bool>(
        &self,
        z: &Lane,
        tile: &[Lane],
    ) -> TermsWith<F::Aux> {
        F::terms::<A, VALUE>(z, self.store.extra_lanes::<F>(tile), self.shared)
    }

    #[inline(always)]
    fn curvature_of<A: Arithmetic>(&self, z: &Lane, tile: &[Lane]) -> CurvatureWith<F::Aux> {
        F::curvature::<A>(z, self.store.extra_lanes::<F>(tile), self.shared)
    }
}

impl<F: RowFamily> TileTerms for Within<'_, F> {
    type Aux = F::Aux;

    #[inline(always)]
    fn num_aux(self) -> usize {
        self.family.num_aux()
    }

    #[inline(always)]
    fn factors(self) -> Factors {
        F::FACTORS
    }

    #[inline(always)]
    fn of_log(self) -> OfLog {
        F::of_log(self.shared)
    }

    #[inline(always)]
    fn has_offset(self) -> bool {
        F::OFFSET
    }

    #[inline(always)]
    fn each_terms<A: Arithmetic, const T: usize, const VALUE: bool>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
        mut visit: impl FnMut(usize, TermsWith<F::Aux>),
    ) {
        for t in 0..T {
            visit(t, self.terms_of::<A, VALUE>(&z[t], tiles[t]));
        }
    }

    #[inline(always)]
    fn curvature<A: Arithmetic, const T: usize>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [CurvatureWith<F::Aux>; T] {
        let mut out = [CurvatureWith::default(); T];
        for t in 0..T {
            out[t] = self.curvature_of::<A>(&z[t], tiles[t]);
        }
        out
    }
}

/// Terms that a loop calls, so that it is compiled once for all families.
pub struct Called<'a, X> {
    of: &'a dyn Callable<X>,
    level: SimdLevel,
    num_aux: usize,
    factors: Factors,
    of_log: OfLog,
    has_offset: bool,
}

impl<'a, X: AuxLanes> Called<'a, X> {
    /// The terms of a family, to be called from loops of this level.
    pub fn new<F: RowFamily<Aux = X>>(of: &'a Within<'_, F>, level: SimdLevel) -> Self {
        Self {
            of,
            level,
            num_aux: of.num_aux(),
            factors: F::FACTORS,
            of_log: F::of_log(of.shared),
            has_offset: F::OFFSET,
        }
    }
}

impl<X> Clone for Called<'_, X> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<X> Copy for Called<'_, X> {}

/// [`TileTerms`] as they are called: for several tiles at once, as those that are computed with a call between do not overlap.
trait Callable<X: AuxLanes> {
    /// Without `value` values mean nothing.
    fn call_terms(
        &self,
        level: SimdLevel,
        value: bool,
        z: &[Lane],
        tiles: &[&[Lane]],
        out: &mut [TermsWith<X>],
    );
    fn call_curvature(
        &self,
        level: SimdLevel,
        z: &[Lane],
        tiles: &[&[Lane]],
        out: &mut [CurvatureWith<X>],
    );
}

impl<F: RowFamily> Callable<F::Aux> for Within<'_, F> {
    fn call_terms(
        &self,
        level: SimdLevel,
        value: bool,
        z: &[Lane],
        tiles: &[&[Lane]],
        out: &mut [TermsWith<F::Aux>],
    ) {
        let all = out.iter_mut().zip(z.iter().zip(tiles));
        at_level!(level, A => if value {
            for (out, (z, tile)) in all {
                *out = self.terms_of::<A, true>(z, tile);
            }
        } else {
            for (out, (z, tile)) in all {
                *out = self.terms_of::<A, false>(z, tile);
            }
        });
    }

    fn call_curvature(
        &self,
        level: SimdLevel,
        z: &[Lane],
        tiles: &[&[Lane]],
        out: &mut [CurvatureWith<F::Aux>],
    ) {
        let all = out.iter_mut().zip(z.iter().zip(tiles));
        at_level!(level, A => {
            for (out, (z, tile)) in all {
                *out = self.curvature_of::<A>(z, tile);
            }
        });
    }
}

impl<X: AuxLanes> TileTerms for Called<'_, X> {
    type Aux = X;

    #[inline(always)]
    fn num_aux(self) -> usize {
        self.num_aux
    }

    #[inline(always)]
    fn factors(self) -> Factors {
        self.factors
    }

    #[inline(always)]
    fn of_log(self) -> OfLog {
        self.of_log
    }

    #[inline(always)]
    fn has_offset(self) -> bool {
        self.has_offset
    }

    #[inline(always)]
    fn each_terms<A: Arithmetic, const T: usize, const VALUE: bool>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
        mut visit: impl FnMut(usize, TermsWith<X>),
    ) {
        let mut out = [TermsWith::default(); T];
        self.of.call_terms(self.level, VALUE, z, tiles, &mut out);
        for (t, terms) in out.into_iter().enumerate() {
            visit(t, terms);
        }
    }

    #[inline(always)]
    fn curvature<A: Arithmetic, const T: usize>(
        self,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [CurvatureWith<X>; T] {
        let mut out = [CurvatureWith::default(); T];
        self.of.call_curvature(self.level, z, tiles, &mut out);
        out
    }
}

/// Evaluates an expression with the [`TileTerms`] of a family: within the loop, or called by it.
macro_rules! with_terms {
    ($rows:expr, $shared:expr, $terms:ident => $row_loop:expr) => {{
        let within = $crate::glm::terms::Within {
            family: $rows.family(),
            shared: $shared,
            store: &$rows.tiled.store,
        };
        // Only the branch that is taken is compiled.
        if F::WITHIN_LOOPS {
            let $terms = within;
            $row_loop
        } else {
            let $terms = $crate::glm::terms::Called::new(&within, $rows.level());
            $row_loop
        }
    }};
}
pub(super) use with_terms;
