//! What is computed of tiles and then used row by row.

use super::terms::TileTerms;
use crate::families::rows::{AuxLanes, CurvatureWith, Factors, LANES, Lane, OfLog, TermsWith};
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

/// [`TileTerms::each_terms`] with their logarithms.
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
        let mut out = [TermsWith::default(); T];
        terms.each_terms::<A, T, VALUE>(
            z,
            tiles,
            #[inline(always)]
            |t, mut of_tile| {
                if VALUE {
                    add_logs::<A, X>(&mut of_tile, terms.factors(), terms.of_log());
                }
                out[t] = of_tile;
            },
        );
        out
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
        let mut out = [<[Lane; 2]>::default(); T];
        terms.each_terms::<A, T, true>(
            z,
            tiles,
            #[inline(always)]
            |t, mut of_tile| {
                add_logs::<A, X>(&mut of_tile, terms.factors(), terms.of_log());
                out[t] = [of_tile.sum, of_tile.residual];
            },
        );
        out
    }
}

/// Adds what the logarithms of factors say of each row: the factors are 1 then.
#[inline(always)]
pub fn add_logs<A: Arithmetic, X: AuxLanes>(
    terms: &mut TermsWith<X>,
    factors: Factors,
    of_log: OfLog,
) {
    if factors == Factors::One {
        return;
    }
    // Of a factor up to 2, 1 is taken off without rounding.
    let log = ln_1p_of(A::V::load(&terms.factor) - A::V::splat(1.0));
    let add = |to: &mut Lane, times: f64| {
        *to = log.mul_add(A::V::splat(times), A::V::load(to)).lane();
    };
    add(&mut terms.sum, of_log.value);
    for (aux, times) in terms.aux.lanes_mut().iter_mut().zip(of_log.aux) {
        add(aux, times);
    }
    terms.factor = [1.0; LANES];
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
