//! The covariance of the effects of one group in units of the residual variance: Λ Λ', with Λ lower triangular.
//!
//! θ holds the entries of Λ for all terms, by columns of each lower triangle for correlated effects, the diagonal for
//! independent ones, as in lme4, and for what bends a curve the one number that all of its diagonal is. A deviance depends on Λ Λ' only, so flipping the sign of a column of Λ changes nothing:
//! the search for the minimum needs no bounds, and its end is brought to nonnegative diagonals ([`Shape::normalise`]).

use super::data::RandomTerm;

/// Which entries of Λ are free, for all terms.
#[derive(Clone, Debug)]
pub struct Shape {
    terms: Vec<(usize, Free)>,
}

/// Which entries of the lower triangle of a term are free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Free {
    /// All.
    Triangle,
    /// The diagonal.
    Diagonal,
    /// One number for all of the diagonal.
    Multiple,
}

impl Free {
    fn of(term: &RandomTerm) -> Self {
        match (term.is_curve(), term.correlated) {
            (true, _) => Self::Multiple,
            (false, true) => Self::Triangle,
            (false, false) => Self::Diagonal,
        }
    }
}

impl Shape {
    /// The shape of the terms' covariances.
    pub fn of(terms: &[RandomTerm]) -> Self {
        Self {
            terms: terms.iter().map(|t| (t.width(), Free::of(t))).collect(),
        }
    }

    /// Length of θ.
    pub fn len(&self) -> usize {
        self.entries().count()
    }

    /// Term, row and column of each entry of θ; where one is a whole diagonal, those of its first entry.
    pub fn entries(&self) -> impl Iterator<Item = (usize, usize, usize)> + '_ {
        self.terms.iter().enumerate().flat_map(|(t, &(q, free))| {
            let columns = if free == Free::Multiple { q.min(1) } else { q };
            (0..columns).flat_map(move |j| {
                let last = if free == Free::Triangle { q } else { j + 1 };
                (j..last).map(move |i| (t, i, j))
            })
        })
    }

    /// Entries of term `t` that are the same as that at row and column `i`, `j`.
    fn same(&self, t: usize, i: usize, j: usize) -> impl Iterator<Item = usize> {
        let (q, free) = self.terms[t];
        let count = if free == Free::Multiple { q } else { 1 };
        (0..count).map(move |k| (i + k) * q + j + k)
    }

    /// How many effects tell about each entry of θ, for a term of `levels` groups.
    pub fn told_by(&self, t: usize, levels: usize) -> usize {
        match self.terms[t] {
            (q, Free::Multiple) => q * levels,
            _ => levels,
        }
    }

    /// θ of the identity.
    pub fn start(&self) -> Vec<f64> {
        self.entries()
            .map(|(_, i, j)| f64::from(u8::from(i == j)))
            .collect()
    }

    /// One matrix of zeros per term (q×q).
    pub fn zeros(&self) -> Vec<Vec<f64>> {
        self.terms.iter().map(|(q, _)| vec![0.0; q * q]).collect()
    }

    /// Writes Λ of each term (q×q, row-major).
    pub fn lambda(&self, theta: &[f64], lambda: &mut [Vec<f64>]) {
        for ((t, i, j), theta) in self.entries().zip(theta) {
            for place in self.same(t, i, j) {
                lambda[t][place] = *theta;
            }
        }
    }

    /// Picks the entries of θ from one matrix of slopes per term: of one number for a whole diagonal, their sum.
    pub fn pick(&self, matrices: &[Vec<f64>], theta: &mut [f64]) {
        for ((t, i, j), theta) in self.entries().zip(theta) {
            *theta = self.same(t, i, j).map(|place| matrices[t][place]).sum();
        }
    }

    /// Flips signs of columns of Λ so that diagonals are not negative.
    pub fn normalise(&self, theta: &mut [f64]) {
        let mut flip = false;
        for (k, (_, i, j)) in self.entries().enumerate() {
            if i == j {
                flip = theta[k] < 0.0;
            }
            if flip {
                theta[k] = -theta[k];
            }
        }
    }

    /// Positions in θ that are diagonal entries of Λ.
    pub fn diagonal(&self) -> Vec<usize> {
        let entries = self.entries().enumerate();
        entries
            .filter(|(_, (_, i, j))| i == j)
            .map(|(k, _)| k)
            .collect()
    }
}

/// Standard deviations and correlations of the effects of one group, on the scale of the response or link, for columns as
/// they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Variation {
    /// q standard deviations.
    pub sd: Vec<f64>,
    /// q×q correlations, row-major; NaN where a standard deviation is 0.
    pub correlation: Vec<f64>,
}

impl Variation {
    /// From Λ (q×q) in units of `sigma`, for columns that were divided by `scale`.
    pub fn new(lambda: &[f64], sigma: f64, scale: &[f64]) -> Self {
        let q = scale.len();
        let covariance = product_with_transpose(lambda, q);
        let root: Vec<f64> = (0..q).map(|i| covariance[i * q + i].sqrt()).collect();
        let mut correlation = vec![f64::NAN; q * q];
        for i in 0..q {
            for j in 0..q {
                if root[i] > 0.0 && root[j] > 0.0 {
                    let r = covariance[i * q + j] / (root[i] * root[j]);
                    correlation[i * q + j] = r.clamp(-1.0, 1.0);
                }
            }
        }
        Self {
            sd: root.iter().zip(scale).map(|(r, s)| r * sigma / s).collect(),
            correlation,
        }
    }
}

/// Λ Λ' (q×q).
pub fn product_with_transpose(lambda: &[f64], q: usize) -> Vec<f64> {
    let mut out = vec![0.0; q * q];
    for i in 0..q {
        for j in 0..q {
            out[i * q + j] = (0..q).map(|k| lambda[i * q + k] * lambda[j * q + k]).sum();
        }
    }
    out
}
