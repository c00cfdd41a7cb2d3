//! What is computed of tiles and then used row by row.

use super::terms::TileTerms;
use crate::families::rows::{AuxLanes, CurvatureWith, Lane, TermsWith};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::ln_1p_of;
use crate::numerics::vector::Vector as _;

/// What is computed of eight rows at a time and then used row by row.
pub trait RowQuantity<X: AuxLanes> {
    /// Of eight rows.
    type Lanes: Copy + Default;
    /// At the linear predictors `z`, which have their offsets, of tiles.
    fn of<A: Arithmetic, const T: usize>(
        terms: impl TileTerms<Aux = X>,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [Self::Lanes; T];
}

/// [`TileTerms::terms`].
#[derive(Clone, Copy, Debug)]
pub struct TermsOf<const VALUE: bool>;

/// log p and ∂ log p/∂z.
#[derive(Clone, Copy, Debug)]
pub struct ValueOf;

/// [`TileTerms::curvature`].
#[derive(Clone, Copy, Debug)]
pub struct CurvatureOf;

impl<X: AuxLanes, const VALUE: bool> RowQuantity<X> for TermsOf<VALUE> {
    type Lanes = TermsWith<X>;

    #[inline(always)]
    fn of<A: Arithmetic, const T: usize>(
        terms: impl TileTerms<Aux = X>,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [TermsWith<X>; T] {
        terms.terms::<A, T, VALUE>(z, tiles)
    }
}

impl<X: AuxLanes> RowQuantity<X> for ValueOf {
    type Lanes = [Lane; 2];

    #[inline(always)]
    fn of<A: Arithmetic, const T: usize>(
        terms: impl TileTerms<Aux = X>,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [[Lane; 2]; T] {
        let of_tiles = terms.terms::<A, T, true>(z, tiles);
        let mut out = [<[Lane; 2]>::default(); T];
        for (out, of_tile) in out.iter_mut().zip(&of_tiles) {
            *out = value_and_slope::<A, X>(of_tile, terms.has_factors());
        }
        out
    }
}

/// log p and ∂ log p/∂z of terms.
#[inline(always)]
pub fn value_and_slope<A: Arithmetic, X>(terms: &TermsWith<X>, has_factors: bool) -> [Lane; 2] {
    let mut value = terms.sum;
    if has_factors {
        // Factors are between 1 and 2, so 1 is taken off without rounding.
        let beyond = A::V::load(&terms.factor) - A::V::splat(1.0);
        value = (A::V::load(&value) - ln_1p_of(beyond)).lane();
    }
    [value, terms.residual]
}

impl<X: AuxLanes> RowQuantity<X> for CurvatureOf {
    type Lanes = CurvatureWith<X>;

    #[inline(always)]
    fn of<A: Arithmetic, const T: usize>(
        terms: impl TileTerms<Aux = X>,
        z: &[Lane; T],
        tiles: &[&[Lane]; T],
    ) -> [CurvatureWith<X>; T] {
        terms.curvature::<A, T>(z, tiles)
    }
}
