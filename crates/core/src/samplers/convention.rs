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

/// Step ε and friction γ of underdamped Langevin dynamics with unit mass, our convention for samplers with momentum:
/// dθ = r dt, dr = ∇log π dt − γ r dt + sqrt(2γ) dW, ε the time of one step. The corresponding Langevin time is h = ε²/2.
///
/// 003 algorithms 2 and 3 print it (h for ε, A for γ), and 000 (2.3.7) with β for γ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MomentumStep {
    /// ε.
    pub step: f64,
    /// γ, or the constant A of SGNHT.
    pub friction: f64,
}

impl MomentumStep {
    /// From ε and α of 000 section 4.3.2 and of SGD with momentum (003: ε = h², m = A h): ν' = (1 − α) ν + ε ∇ + N(0, 2αε),
    /// θ' = θ + ν. The a of SGNHT in 000 (4.3.4) converts like α, its thermostat α_t like γ.
    pub fn from_sgd_momentum(epsilon: f64, alpha: f64) -> Self {
        Self {
            step: epsilon.sqrt(),
            friction: alpha / epsilon.sqrt(),
        }
    }

    /// To that (ε, α).
    pub fn to_sgd_momentum(self) -> (f64, f64) {
        (self.step * self.step, self.friction * self.step)
    }

    /// From ε, C and M of 002 section 6.2 in a direction of mass m and friction c: θ' = θ + ε p/m,
    /// p' = p + ε ∇ − ε c p/m + N(0, 2cε). Our unit of θ is then m^{-1/2}: that of a posterior with curvature m.
    pub fn from_mass(epsilon: f64, friction: f64, mass: f64) -> Self {
        Self {
            step: epsilon,
            friction: friction / mass,
        }
    }

    /// h of [`super`]: the Langevin step that a step with entirely renewed momentum makes.
    pub fn langevin_time(self) -> f64 {
        0.5 * self.step * self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One step in our convention, in one dimension, with the gradient `slope` θ: the order of 000, 002 and 003.
    fn ours(at: MomentumStep, theta: f64, r: f64, slope: f64, normal: f64) -> (f64, f64) {
        let MomentumStep { step, friction } = at;
        let theta = theta + step * r;
        let noise = (2.0 * friction * step).sqrt() * normal;
        (
            theta,
            (1.0 - friction * step) * r + step * slope * theta + noise,
        )
    }

    fn assert_close(a: (f64, f64), b: (f64, f64)) {
        assert!(
            (a.0 - b.0).abs() < 1e-13 && (a.1 - b.1).abs() < 1e-13,
            "{a:?} {b:?}"
        );
    }

    /// The same step of drift and noise in all parametrisations of SGHMC.
    #[test]
    fn a_converted_momentum_step_has_the_same_drift_and_noise() {
        let (theta, r, slope, normal) = (0.7, -1.3, -2.1, 0.4);
        // 000 section 4.3.2 and the SGD-M form of 003: ν = ε^{1/2} r.
        let (epsilon, alpha): (f64, f64) = (0.04, 0.3);
        let at = MomentumStep::from_sgd_momentum(epsilon, alpha);
        let nu = r * epsilon.sqrt();
        let theta_new = theta + nu;
        let noise = (2.0 * alpha * epsilon).sqrt() * normal;
        let nu_new = (1.0 - alpha) * nu + epsilon * slope * theta_new + noise;
        let expected = (theta_new, nu_new / epsilon.sqrt());
        assert_close(ours(at, theta, r, slope, normal), expected);
        let back = at.to_sgd_momentum();
        assert_close(back, (epsilon, alpha));
        // 002 section 6.2: p = m^{1/2} r, and θ in units of m^{-1/2}.
        let (epsilon, c, m): (f64, f64, f64) = (0.2, 5.0, 4.0);
        let (theta_2, p) = (theta / m.sqrt(), r * m.sqrt());
        let theta_new = theta_2 + epsilon * p / m;
        let noise = (2.0 * c * epsilon).sqrt() * normal;
        let p_new = p + epsilon * slope * m * theta_new - epsilon * c * p / m + noise;
        let expected = (theta_new * m.sqrt(), p_new / m.sqrt());
        let at = MomentumStep::from_mass(epsilon, c, m);
        assert_close(ours(at, theta, r, slope, normal), expected);
    }

    /// With momentum drawn anew, drift and variance of a step are those of Langevin dynamics.
    #[test]
    fn a_step_with_renewed_momentum_is_a_langevin_step() {
        let at = MomentumStep {
            step: 0.3,
            friction: 1.0,
        };
        let h = at.langevin_time();
        // θ' = θ + ε (r + ε/2 ∇): drift ε²/2 ∇, variance ε².
        assert_eq!(h, 0.5 * at.step * at.step);
        assert!((2.0 * h - at.step.powi(2)).abs() < 1e-15);
    }

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
