//! Fourier transforms of real sequences: plan once, use for every parameter.

use std::sync::Arc;

use realfft::num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftPlanner};

/// Forward and inverse transform of one length.
#[derive(Clone)]
pub(super) struct Plan {
    forward: Arc<dyn RealToComplex<f64>>,
    inverse: Arc<dyn ComplexToReal<f64>>,
    of_pairs: Arc<dyn Fft<f64>>,
}

/// Memory of one transform; one per thread.
pub(super) struct Buffers {
    /// The real sequence, of the plan's length; the transforms destroy it.
    pub real: Vec<f64>,
    /// Spectrum of the sequence, half the length plus one.
    pub spectrum: Vec<Complex<f64>>,
    /// Two real sequences as one complex sequence, of the plan's length; the transform takes its place.
    pub pair: Vec<Complex<f64>>,
    scratch: Vec<Complex<f64>>,
}

impl Plan {
    /// A plan for sequences of length at least `len`: the next even length with no factor above 5.
    pub fn at_least(len: usize) -> Self {
        let len = good_len(len);
        let mut planner = RealFftPlanner::new();
        Self {
            forward: planner.plan_fft_forward(len),
            inverse: planner.plan_fft_inverse(len),
            of_pairs: FftPlanner::new().plan_fft_forward(len),
        }
    }

    /// Length of the real sequence.
    pub fn len(&self) -> usize {
        self.forward.len()
    }

    /// Memory for this plan.
    pub fn buffers(&self) -> Buffers {
        let scratch = self
            .forward
            .get_scratch_len()
            .max(self.inverse.get_scratch_len())
            .max(self.of_pairs.get_inplace_scratch_len());
        Buffers {
            pair: vec![Complex::default(); self.len()],
            real: self.forward.make_input_vec(),
            spectrum: self.forward.make_output_vec(),
            scratch: vec![Complex::default(); scratch],
        }
    }

    /// `buffers.real` to `buffers.spectrum`.
    pub fn forward(&self, buffers: &mut Buffers) {
        self.forward
            .process_with_scratch(
                &mut buffers.real,
                &mut buffers.spectrum,
                &mut buffers.scratch,
            )
            .expect("the buffers were made by this plan");
    }

    /// ADDS the squared absolute values of the transform of `buffers.pair` to `power`, of the plan's length. At frequency k those of the
    /// two sequences a and b are in the mean of what stands at k and at −k: |A + iB|² there is |A|² + |B|² plus a term that changes
    /// its sign.
    pub fn add_power(&self, buffers: &mut Buffers, power: &mut [f64]) {
        let Buffers { pair, scratch, .. } = buffers;
        self.of_pairs.process_with_scratch(pair, scratch);
        for (power, z) in power.iter_mut().zip(pair) {
            *power += z.norm_sqr();
        }
    }

    /// `buffers.spectrum` to `buffers.real`, not divided by the length. The first and last coefficient must be real.
    pub fn inverse(&self, buffers: &mut Buffers) {
        self.inverse
            .process_with_scratch(
                &mut buffers.spectrum,
                &mut buffers.real,
                &mut buffers.scratch,
            )
            .expect("the buffers were made by this plan, and the end coefficients are real");
    }
}

fn good_len(len: usize) -> usize {
    let mut len = len.max(2).next_multiple_of(2);
    loop {
        let mut rest: usize = len;
        for factor in [2, 3, 5] {
            while rest.is_multiple_of(factor) {
                rest /= factor;
            }
        }
        if rest == 1 {
            return len;
        }
        len += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_even_and_smooth() {
        assert_eq!(
            [1, 2, 7, 11, 9999, 10000].map(good_len),
            [2, 2, 8, 12, 10000, 10000]
        );
    }

    #[test]
    fn the_power_of_a_pair_is_that_of_both() {
        let plan = Plan::at_least(30);
        let mut buffers = plan.buffers();
        let [a, b] = [7, 11].map(|m| (0..30).map(|i| (i * i % m) as f64).collect::<Vec<f64>>());
        let mut expected = [0.0; 16];
        for sequence in [&a, &b] {
            buffers.real.copy_from_slice(sequence);
            plan.forward(&mut buffers);
            for (power, z) in expected.iter_mut().zip(&buffers.spectrum) {
                *power += z.norm_sqr();
            }
        }
        for (z, (&a, &b)) in buffers.pair.iter_mut().zip(a.iter().zip(&b)) {
            *z = Complex::new(a, b);
        }
        let mut power = vec![0.0; 30];
        plan.add_power(&mut buffers, &mut power);
        for (k, expected) in expected.iter().enumerate() {
            let both = 0.5 * (power[k] + power[(30 - k) % 30]);
            assert!((both - expected).abs() < 1e-9, "{k}: {both} {expected}");
        }
    }

    #[test]
    fn there_and_back_gives_the_sequence_times_its_length() {
        let plan = Plan::at_least(11);
        let mut buffers = plan.buffers();
        let original: Vec<f64> = (0..plan.len()).map(|i| (i * i % 7) as f64).collect();
        buffers.real.copy_from_slice(&original);
        plan.forward(&mut buffers);
        plan.inverse(&mut buffers);
        for (x, y) in original.iter().zip(&buffers.real) {
            assert!((x * plan.len() as f64 - y).abs() < 1e-12);
        }
    }
}
