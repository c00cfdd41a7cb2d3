//! Numeric columns of a mixture: normal components with the normal-inverse-Wishart prior, or independent columns with the
//! normal-inverse-χ² prior each.
//!
//! Σ ~ IW(ν₀, Ψ₀), μ | Σ ~ N(0, Σ/κ₀) on centred and scaled columns, Ψ₀ = diag(ψ), ν₀ = d + p − 1, so that a variance is
//! scaled-inverse-χ²(d, ψ_j/d) whatever the number p of columns and whether they are independent. After n units with sum s
//! and squares S: κ = κ₀ + n, m = s/κ, ν = ν₀ + n, Ψ = Ψ₀ + S − κ m m' (Murphy 2007, "Conjugate Bayesian analysis of the
//! Gaussian distribution", section 9). A further unit is Student-t with ν − p + 1 degrees of freedom around m.

use std::f64::consts::PI;

use ergodic_base::numerals::rounded;
use statrs::function::gamma::ln_gamma;

/// Numeric columns of all units and the prior of their components.
#[derive(Clone, Debug)]
pub struct Numeric {
    /// Names of the columns (p).
    pub names: Vec<String>,
    /// What was subtracted from each column (p).
    pub center: Vec<f64>,
    /// What each column was divided by (p).
    pub scale: Vec<f64>,
    /// Centred and scaled values, units × p, row-major.
    x: Vec<f64>,
    /// Whether columns are independent within a component.
    diagonal: bool,
    /// κ₀.
    kappa: f64,
    /// d.
    df: f64,
    /// ψ (p).
    psi: Vec<f64>,
    /// What of the log predictive density depends on the number of units only.
    log_constant: Vec<f64>,
}

/// Prior of the components of numeric columns, in units of each column's standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NormalPrior {
    /// κ₀: a component's mean varies by its standard deviation over the square root of this.
    pub kappa: f64,
    /// d: degrees of freedom of a variance.
    pub df: f64,
    /// Typical standard deviation within a component.
    pub scale: f64,
}

/// Numbers of one cluster: sum (p), squares (q), then what [`Numeric::settle`] makes of them: mean (p), inverse factor (q),
/// constant, power and half log determinant of the predictive density.
struct Layout {
    squares: usize,
    mean: usize,
    factor: usize,
    constant: usize,
    width: usize,
}

/// Posterior of a component's mean and covariance given its cluster.
#[derive(Clone, Copy, Debug)]
pub struct NormalPosterior<'a> {
    /// κ.
    pub kappa: f64,
    /// Degrees of freedom of the variance of the last of p columns alone given the others: ν, or d + n if independent.
    pub df: f64,
    /// m (p).
    pub mean: &'a [f64],
    /// Inverse of the lower factor of Ψ (packed rows), or 1/sqrt(Ψ_jj) (p) if columns are independent, but for the factor
    /// `inverse_scale`.
    pub inverse: &'a [f64],
    /// Factor of `inverse`.
    pub inverse_scale: f64,
}

/// Posterior of mean and variance of one column alone: Σ_jj ~ psi/χ²(df), μ_j ~ N(mean, Σ_jj/kappa).
#[derive(Clone, Copy, Debug)]
pub struct ColumnPosterior {
    /// m_j.
    pub mean: f64,
    /// κ.
    pub kappa: f64,
    /// d + n.
    pub df: f64,
    /// Ψ_jj.
    pub psi: f64,
}

/// Numbers in the lower triangle of a p × p matrix.
const fn triangle(p: usize) -> usize {
    p * (p + 1) / 2
}

impl Numeric {
    /// Columns with `x` (units × p, row-major) under `prior`; `largest` is the largest size of a cluster.
    pub fn new(
        (names, center, scale): (Vec<String>, Vec<f64>, Vec<f64>),
        x: Vec<f64>,
        diagonal: bool,
        prior: NormalPrior,
        psi_scale: &[f64],
        largest: usize,
    ) -> Self {
        let p = names.len();
        let psi = psi_scale
            .iter()
            .map(|sd| prior.df * (prior.scale * sd).powi(2))
            .collect();
        let mut numeric = Self {
            names,
            center,
            scale,
            x,
            diagonal,
            kappa: prior.kappa,
            df: prior.df,
            psi,
            log_constant: Vec::new(),
        };
        numeric.log_constant = (0..=largest)
            .map(|n| {
                let (power, lower) = (numeric.power(n as f64), numeric.df + n as f64);
                let one = ln_gamma(power) - ln_gamma(0.5 * lower);
                if diagonal {
                    p as f64 * (one - 0.5 * PI.ln())
                } else {
                    one - 0.5 * p as f64 * PI.ln()
                }
            })
            .collect();
        numeric
    }

    /// p.
    pub fn dim(&self) -> usize {
        self.names.len()
    }

    /// Logarithm of the product of what columns were divided by: by so much a log density of scaled columns is above that of the columns as
    /// they are.
    pub fn log_scale(&self) -> f64 {
        self.scale.iter().map(|scale| scale.ln()).sum()
    }

    /// Whether columns are independent within a component.
    pub fn is_diagonal(&self) -> bool {
        self.diagonal
    }

    /// The values of a unit (p).
    #[inline]
    pub fn unit(&self, unit: usize) -> &[f64] {
        let p = self.dim();
        &self.x[unit * p..(unit + 1) * p]
    }

    /// Numbers of a factor: p if columns are independent, otherwise p(p+1)/2.
    pub fn factor_len(&self) -> usize {
        if self.diagonal {
            self.dim()
        } else {
            triangle(self.dim())
        }
    }

    fn layout(&self) -> Layout {
        let (p, q) = (self.dim(), self.factor_len());
        Layout {
            squares: p,
            mean: p + q,
            factor: 2 * p + q,
            constant: 2 * (p + q),
            width: 2 * (p + q) + 3,
        }
    }

    /// Numbers per cluster.
    pub fn width(&self) -> usize {
        self.layout().width
    }

    /// The columns and the prior with other rows, centred and scaled as these are (units × p).
    #[must_use]
    pub(super) fn with_rows(&self, x: Vec<f64>) -> Self {
        Self { x, ..self.clone() }
    }

    /// κ₀.
    pub fn kappa(&self) -> f64 {
        self.kappa
    }

    /// d.
    pub(crate) fn variance_df(&self) -> f64 {
        self.df
    }

    /// ψ (p).
    pub fn psi(&self) -> &[f64] {
        &self.psi
    }

    /// ν₀.
    pub fn nu(&self) -> f64 {
        if self.diagonal {
            self.df
        } else {
            self.df + self.dim() as f64 - 1.0
        }
    }

    /// The power of the predictive density of a cluster of `n` units.
    fn power(&self, n: f64) -> f64 {
        0.5 * (self.nu() + n + 1.0)
    }

    /// Adds `sign` times a unit to the sums of a cluster.
    #[inline]
    pub fn add(&self, unit: usize, sign: f64, record: &mut [f64]) {
        let x = self.unit(unit);
        let (sum, rest) = record.split_at_mut(x.len());
        for (sum, x) in sum.iter_mut().zip(x) {
            *sum += sign * x;
        }
        if self.diagonal {
            for (square, x) in rest.iter_mut().zip(x) {
                *square += sign * x * x;
            }
            return;
        }
        let mut squares = rest.iter_mut();
        for (i, a) in x.iter().enumerate() {
            for b in &x[..=i] {
                if let Some(square) = squares.next() {
                    *square += sign * a * b;
                }
            }
        }
    }

    /// Brings the predictive density of a cluster of `n` units up to date with its sums.
    pub fn settle(&self, n: f64, record: &mut [f64]) {
        let (at, p) = (self.layout(), self.dim());
        let (sums, made) = record.split_at_mut(at.mean);
        let (sum, squares) = sums.split_at(at.squares);
        let (mean, made) = made.split_at_mut(p);
        let (factor, made) = made.split_at_mut(at.constant - at.factor);
        let kappa = self.kappa + n;
        let spread = (kappa / (kappa + 1.0)).sqrt();
        for (mean, sum) in mean.iter_mut().zip(sum) {
            *mean = sum / kappa;
        }
        let mut half_log_det = 0.0;
        if self.diagonal {
            for j in 0..p {
                // At least ψ but for rounding.
                let psi = (self.psi[j] + squares[j] - kappa * mean[j] * mean[j]).max(self.psi[j]);
                factor[j] = spread / psi.sqrt();
                half_log_det += 0.5 * psi.ln();
            }
        } else {
            let least = self.psi.iter().copied().fold(f64::INFINITY, f64::min);
            let mut k = 0;
            for i in 0..p {
                for j in 0..=i {
                    factor[k] = squares[k] - kappa * mean[i] * mean[j];
                    k += 1;
                }
                factor[k - 1] += self.psi[i];
            }
            half_log_det = lower_factor(factor, p, least);
            invert_lower(factor, p);
            factor.iter_mut().for_each(|value| *value *= spread);
        }
        let constant = self.log_constant[n as usize];
        made[0] = constant - half_log_det + p as f64 * spread.ln();
        made[1] = self.power(n);
        made[2] = half_log_det;
    }

    /// Log predictive density of a unit given a settled cluster.
    #[inline]
    pub fn log_predictive(&self, unit: usize, record: &[f64]) -> f64 {
        let (at, x) = (self.layout(), self.unit(unit));
        let (mean, factor) = (&record[at.mean..at.factor], &record[at.factor..at.constant]);
        let (constant, power) = (record[at.constant], record[at.constant + 1]);
        if self.diagonal {
            // Products of a few factors, so that one logarithm serves many columns.
            let (mut log, mut product) = (0.0, 1.0);
            for ((x, m), f) in x.iter().zip(mean).zip(factor) {
                let z = f * (x - m);
                product *= 1.0 + z * z;
                if product > 1e200 {
                    log += product.ln();
                    product = 1.0;
                }
            }
            return constant - power * (log + product.ln());
        }
        constant - power * distance(x, mean, factor).ln_1p()
    }

    /// Log marginal likelihood of a settled cluster of `n` units.
    pub fn log_marginal(&self, n: f64, record: &[f64]) -> f64 {
        let p = self.dim();
        let half_log_det = record[self.layout().constant + 2];
        let (nu, nu_n) = (self.nu(), self.nu() + n);
        let prior: f64 = self.psi.iter().map(|psi| psi.ln()).sum();
        let gammas: f64 = (0..p)
            .map(|j| {
                let less = if self.diagonal { 0.0 } else { j as f64 };
                ln_gamma(0.5 * (nu_n - less)) - ln_gamma(0.5 * (nu - less))
            })
            .sum();
        gammas + 0.5 * nu * prior - nu_n * half_log_det
            + 0.5 * p as f64 * ((self.kappa / (self.kappa + n)).ln() - n * PI.ln())
    }

    /// Posterior of the component of a settled cluster of `n` units.
    pub fn posterior<'a>(&self, n: f64, record: &'a [f64]) -> NormalPosterior<'a> {
        let at = self.layout();
        let kappa = self.kappa + n;
        NormalPosterior {
            kappa,
            df: self.nu() + n,
            mean: &record[at.mean..at.factor],
            inverse: &record[at.factor..at.constant],
            inverse_scale: ((kappa + 1.0) / kappa).sqrt(),
        }
    }

    /// Posterior of column `j` alone given `n` units whose values have this `sum` and sum of `squares`.
    pub fn column(&self, j: usize, n: f64, sum: f64, squares: f64) -> ColumnPosterior {
        let kappa = self.kappa + n;
        let mean = sum / kappa;
        ColumnPosterior {
            mean,
            kappa,
            df: self.df + n,
            // At least ψ but for rounding.
            psi: self.psi[j] + (squares - kappa * mean * mean).max(0.0),
        }
    }

    /// Mean and standard deviation of column `j` among the `n` units of a cluster, on the column's own scale. The mean has the
    /// digits that centring and scaling leave true, so that one unit's is its value as it was written; units that do not differ
    /// have the standard deviation 0.
    pub fn profile(&self, j: usize, n: f64, record: &[f64]) -> [f64; 2] {
        let square = if self.diagonal {
            j
        } else {
            triangle(j + 1) - 1
        };
        let mean = record[j] / n;
        let variance = record[self.dim() + square] / n - mean * mean;
        // Less is what rounding makes of n equal terms.
        let least = 2.0 * n * f64::EPSILON * mean * mean;
        let away = self.scale[j] * mean;
        [
            rounded_as(self.center[j] + away, self.center[j].abs().max(away.abs())),
            if variance > least {
                self.scale[j] * variance.sqrt()
            } else {
                0.0
            },
        ]
    }
}

/// Digits that a sum of products keeps: numbers have nearly 16, and a few operations spoil the last.
const TRUE_DIGITS: i32 = 14;

/// `x` to the digits that are true where it is a sum whose largest term is `largest`.
fn rounded_as(x: f64, largest: f64) -> f64 {
    if largest.is_normal() {
        rounded(x, largest.log10().floor() as i32 + 1 - TRUE_DIGITS)
    } else {
        x
    }
}

/// |F (x − m)|² for a packed lower triangle F.
#[inline]
pub fn distance(x: &[f64], mean: &[f64], factor: &[f64]) -> f64 {
    let (mut total, mut k) = (0.0, 0);
    for i in 0..x.len() {
        let mut z = 0.0;
        for j in 0..=i {
            z += factor[k + j] * (x[j] - mean[j]);
        }
        k += i + 1;
        total += z * z;
    }
    total
}

/// Replaces a packed symmetric matrix by its lower factor L and returns log|L|. Pivots are held above `least`, the bound
/// that exact arithmetic has. (For the small matrices of components a library's set-up would cost more than the work.)
fn lower_factor(a: &mut [f64], p: usize, least: f64) -> f64 {
    let mut log_det = 0.0;
    for i in 0..p {
        let row = triangle(i);
        for j in 0..=i {
            let other = triangle(j);
            let mut value = a[row + j];
            for k in 0..j {
                value -= a[row + k] * a[other + k];
            }
            if i == j {
                let pivot = value.max(least).sqrt();
                a[row + i] = pivot;
                log_det += pivot.ln();
            } else {
                a[row + j] = value / a[other + j];
            }
        }
    }
    log_det
}

/// Replaces a packed lower triangle by its inverse.
fn invert_lower(a: &mut [f64], p: usize) {
    for i in 0..p {
        let row = triangle(i);
        let pivot = 1.0 / a[row + i];
        for j in 0..i {
            // Row i of the inverse from the rows above, which are inverted already.
            let mut value = 0.0;
            for k in j..i {
                value += a[row + k] * a[triangle(k) + j];
            }
            a[row + j] = -pivot * value;
        }
        a[row + i] = pivot;
    }
}
