//! Coefficients of scaled columns and of the columns as they are.

/// The linear map between coefficients of scaled columns and of the columns as they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// P centres.
    pub center: Vec<f64>,
    /// P scales.
    pub scale: Vec<f64>,
    /// Whether the first coefficient is the intercept.
    pub has_intercept: bool,
}

impl Scaling {
    /// Writes the raw coefficients for sampling-space coefficients `u` into `raw`; both P long.
    /// b_j = u_j / s_j, intercept b_0 = u_0 - Σ u_j c_j / s_j.
    pub fn to_raw(&self, u: &[f64], raw: &mut [f64]) {
        for j in 0..u.len() {
            raw[j] = u[j] / self.scale[j];
        }
        if self.has_intercept {
            raw[0] = u[0] - (1..u.len()).map(|j| raw[j] * self.center[j]).sum::<f64>();
        }
    }

    /// Writes the sampling-space coefficients for `raw` into `u`; the inverse of [`Self::to_raw`].
    pub(crate) fn to_scaled(&self, raw: &[f64], u: &mut [f64]) {
        for j in 0..raw.len() {
            u[j] = raw[j] * self.scale[j];
        }
        if self.has_intercept {
            u[0] = raw[0] + (1..raw.len()).map(|j| raw[j] * self.center[j]).sum::<f64>();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn scaling_keeps_linear_predictors_and_inverts(
            u in prop::collection::vec(-3.0..3.0, 4),
            x in prop::collection::vec(-5.0..5.0, 3),
            center in prop::collection::vec(-5.0..5.0, 3),
            scale in prop::collection::vec(0.1..9.0, 3),
        ) {
            let with_intercept = |first: f64, rest: &[f64]| std::iter::once(first).chain(rest.iter().copied()).collect::<Vec<f64>>();
            let scaling = Scaling { center: with_intercept(0.0, &center), scale: with_intercept(1.0, &scale), has_intercept: true };
            let (mut raw, mut back) = (vec![0.0; 4], vec![0.0; 4]);
            scaling.to_raw(&u, &mut raw);
            let scaled: f64 = u[0] + (0..3).map(|j| u[j + 1] * (x[j] - center[j]) / scale[j]).sum::<f64>();
            let direct: f64 = raw[0] + (0..3).map(|j| raw[j + 1] * x[j]).sum::<f64>();
            prop_assert!((scaled - direct).abs() <= 1e-9 * (1.0 + scaled.abs() + raw[0].abs()));
            scaling.to_scaled(&raw, &mut back);
            for (a, b) in u.iter().zip(&back) {
                prop_assert!((a - b).abs() < 1e-9 * (1.0 + raw[0].abs()));
            }
        }
    }
}
