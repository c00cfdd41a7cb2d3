//! The one step-size convention and the conversions from the sources' (methods section 0).
//!
//! Ours is Langevin time h: θ' = θ + h ∇log π + sqrt(2h) ξ. It is printed in 000 section 2.4, 001 and 003.

/// From ε of 000 chapters 3 and 4, of 002, and of the R package `sgmcmc`: θ' = θ + (ε/2) ∇ + N(0, ε).
pub fn from_half_step(epsilon: f64) -> f64 {
    0.5 * epsilon
}

/// To that ε.
pub fn to_half_step(step_size: f64) -> f64 {
    2.0 * step_size
}

/// From k of 004 (10), D = (k/2) H⁻¹ in Δθ = D∇ + N(0, 2D − …): h in units of H⁻¹.
pub fn from_fisher_scoring(k: f64) -> f64 {
    0.5 * k
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drift and injected variance of one step must agree in both parametrisations.
    #[test]
    fn a_converted_step_has_the_same_drift_and_noise() {
        let epsilon = 0.3;
        let h = from_half_step(epsilon);
        assert_eq!(h, epsilon / 2.0);
        assert_eq!(2.0 * h, epsilon);
        assert_eq!(to_half_step(h), epsilon);
        assert_eq!(from_fisher_scoring(2.0), 1.0);
    }
}
