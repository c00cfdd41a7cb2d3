//! Running sums of a pass over rows.

use std::f64::consts::LN_2;

use crate::families::rows::{AuxLanes, Factors, LANES, Lane, TermsWith};
use crate::numerics::arithmetic::Arithmetic;
use crate::numerics::elementary::split;
use crate::numerics::vector::Vector as _;

/// Products of factors, each at most 2, before their logarithm is taken; 2^512 is finite.
const TILES_PER_LOG: usize = 512;

/// Running sums of a pass, lane by lane.
pub(super) struct Sums<'a, X> {
    pub gradient: &'a mut [Lane],
    pub aux: X,
    pub value: Lane,
    /// The product of factors since the last logarithm, without the powers of two of those that are not [`Factors::UpToTwo`].
    factors: Lane,
    /// The exponents of these powers, summed.
    exponents: Lane,
    /// Tiles in that product.
    pending: usize,
    /// The logarithms of former products.
    log: f64,
}

impl<'a, X: AuxLanes> Sums<'a, X> {
    pub fn new(gradient: &'a mut [Lane]) -> Self {
        gradient.fill([0.0; LANES]);
        Self {
            gradient,
            aux: X::ZERO,
            value: [0.0; LANES],
            factors: [1.0; LANES],
            exponents: [0.0; LANES],
            pending: 0,
            log: 0.0,
        }
    }

    /// Adds what a tile says, with `num_aux` auxiliary coordinates, but for the gradient in coefficients; without `VALUE` no values.
    #[inline(always)]
    pub fn add<A: Arithmetic, const VALUE: bool>(
        &mut self,
        terms: &TermsWith<X>,
        num_aux: usize,
        factors: Factors,
    ) {
        let sums = self.aux.lanes_mut().iter_mut();
        for (sum, aux) in sums.zip(terms.aux.lanes()).take(num_aux) {
            *sum = (A::V::load(sum) + A::V::load(aux)).lane();
        }
        if !VALUE {
            return;
        }
        self.value = (A::V::load(&self.value) + A::V::load(&terms.sum)).lane();
        let mut factor = A::V::load(&terms.factor);
        if factors == Factors::Any {
            let exponent;
            (exponent, factor) = split(factor);
            self.exponents = (A::V::load(&self.exponents) + exponent).lane();
        }
        self.factors = (A::V::load(&self.factors) * factor).lane();
    }

    /// Takes the logarithm of the product of factors before it could overflow, after each group of `tiles` tiles, which divides
    /// [`TILES_PER_LOG`].
    #[inline(always)]
    pub fn take_logs(&mut self, tiles: usize) {
        self.pending += tiles;
        if self.pending == TILES_PER_LOG {
            self.log += sum_of_logs(&self.factors);
            self.factors = [1.0; LANES];
            self.pending = 0;
        }
    }

    /// The logarithm of the product of all factors.
    #[inline(always)]
    pub fn log_of_factors(&self) -> f64 {
        self.log + sum_of_logs(&self.factors) + LN_2 * reduce(&self.exponents)
    }
}

/// Sum over lanes in a fixed order.
#[inline(always)]
pub(super) fn reduce(lane: &Lane) -> f64 {
    ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]))
}

fn sum_of_logs(factors: &Lane) -> f64 {
    reduce(&factors.map(f64::ln))
}
