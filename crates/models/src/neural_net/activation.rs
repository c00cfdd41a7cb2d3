//! What hidden units make of their sums.

ergodic_base::choice! {
    /// What hidden units make of their sums.
    pub enum Activation {
        /// Units share 1 among them: h_k = e^{z_k} / Σ_l e^{z_l}.
        Softmax = "softmax",
        /// Each has its own: h_k = tanh(z_k).
        Tanh = "tanh",
    }
}

impl Activation {
    /// Turns the sums z of all units of a row into what they pass on, h.
    pub fn apply(self, units: &mut [f64]) {
        match self {
            Self::Softmax => {
                let largest = units.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let mut total = 0.0;
                for unit in &mut *units {
                    *unit = (*unit - largest).exp();
                    total += *unit;
                }
                let share = 1.0 / total;
                units.iter_mut().for_each(|unit| *unit *= share);
            }
            Self::Tanh => units.iter_mut().for_each(|unit| *unit = unit.tanh()),
        }
    }

    /// Turns derivatives in h of a row into those in z, in place.
    pub fn pull_back(self, units: &[f64], slopes: &mut [f64]) {
        match self {
            Self::Softmax => {
                let mean = ergodic_base::linalg::dot(units, slopes);
                for (slope, unit) in slopes.iter_mut().zip(units) {
                    *slope = unit * (*slope - mean);
                }
            }
            Self::Tanh => {
                for (slope, unit) in slopes.iter_mut().zip(units) {
                    *slope *= 1.0 - unit * unit;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slopes_are_those_of_differences_and_far_sums_do_not_overflow() {
        let (sums, outer) = ([0.3, -1.1, 2.0], [0.7, -0.4, 1.3]);
        for activation in [Activation::Softmax, Activation::Tanh] {
            let value = |mut z: [f64; 3]| {
                activation.apply(&mut z);
                ergodic_base::linalg::dot(&z, &outer)
            };
            let (mut units, mut slopes) = (sums, outer);
            activation.apply(&mut units);
            activation.pull_back(&units, &mut slopes);
            for (j, slope) in slopes.iter().enumerate() {
                let moved = |by: f64| {
                    let mut z = sums;
                    z[j] += by;
                    value(z)
                };
                let numeric = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - numeric).abs() < 1e-9, "{activation:?} {j}");
            }
            let mut far = [900.0, -900.0, 0.0];
            activation.apply(&mut far);
            assert!(far.iter().all(|unit| unit.is_finite()), "{far:?}");
        }
    }
}
