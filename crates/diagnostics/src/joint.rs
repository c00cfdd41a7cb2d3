//! Draws of many parameters together: each as a line over all of them, and all projected on two directions.

use super::Missing;
use ergodic_base::draws::DrawList;
use ergodic_base::linalg::symmetric_eigen;

/// Standard deviations at which ellipses are drawn, as in the figures of Ahn, Korattikara and Welling (2012).
pub const ELLIPSE_SDS: f64 = 3.0;
/// Points of an ellipse.
const POINTS: usize = 96;

/// Why there is no joint picture, and the place of the parameter among those asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Trouble {
    /// Place of the parameter.
    pub place: usize,
    /// What is wrong with its draws.
    pub missing: Missing,
}

/// Mean and standard deviation (divisor n − 1) of each parameter, draws of all chains together with their relative weights.
fn moments(draws: &Draws<'_>) -> Result<Vec<[f64; 2]>, Trouble> {
    let of = |(place, values): (usize, &Vec<f64>)| {
        let trouble = |missing| Trouble { place, missing };
        if values.len() < 2 {
            return Err(trouble(Missing::TooFew));
        }
        if values.iter().any(|value| !value.is_finite()) {
            return Err(trouble(Missing::NotFinite));
        }
        let n = values.len() as f64;
        let weighted = |f: &dyn Fn(f64) -> f64| -> f64 {
            let each = values.iter().enumerate();
            each.map(|(s, &value)| draws.weight(s) * f(value)).sum()
        };
        // About a value of theirs, so that numbers far from 0 lose no digits.
        let first = values[0];
        let mean = first + weighted(&|value| value - first) / n;
        let squares = weighted(&|value| (value - mean) * (value - mean));
        if values.iter().all(|&value| value == first) {
            return Err(trouble(Missing::Constant));
        }
        if squares <= 0.0 {
            return Err(trouble(Missing::Weights));
        }
        Ok([mean, (squares / (n - 1.0)).sqrt()])
    };
    draws.columns.iter().enumerate().map(of).collect()
}

/// Draws of some parameters of all chains.
struct Draws<'a> {
    /// One per parameter, one chain after the other.
    columns: Vec<Vec<f64>>,
    /// Relative weights of the draws, where they matter.
    weights: Option<&'a [f64]>,
}

impl<'a> Draws<'a> {
    /// The first draws of each chain, as many as have weights.
    fn of(lists: &[&DrawList], parameters: &[usize], weights: Option<&'a [f64]>) -> Self {
        let most = weights.map_or(usize::MAX, |weights| weights.len() / lists.len().max(1));
        let column = |&parameter: &usize| -> Vec<f64> {
            let chains = lists.iter().map(|list| list.column(parameter));
            chains
                .flat_map(|chain| chain.into_iter().take(most))
                .collect()
        };
        Self {
            columns: parameters.iter().map(column).collect(),
            weights,
        }
    }

    fn weight(&self, s: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[s])
    }
}

/// Draws as lines over parameters: the value of each in standard deviations from its mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parallel {
    /// Draws evenly spaced over all chains, that ended no divergent transition.
    pub plain: Vec<Vec<f64>>,
    /// Draws that ended a divergent transition, evenly spaced where there are many.
    pub divergent: Vec<Vec<f64>>,
    /// Divergent transitions that there are.
    pub divergences: usize,
}

impl Parallel {
    /// Of `parameters` of `lists`, one per chain; `divergent` says of each draw of each chain whether it ended a divergent transition,
    /// where the sampler knows. At most `most` lines of each kind.
    ///
    /// # Errors
    /// A parameter is constant or not finite.
    pub fn of(
        lists: &[&DrawList],
        parameters: &[usize],
        divergent: Option<&[Vec<bool>]>,
        most: usize,
    ) -> Result<Self, Trouble> {
        let draws = Draws::of(lists, parameters, None);
        let moments = moments(&draws)?;
        let line = |&s: &usize| -> Vec<f64> {
            let columns = draws.columns.iter().zip(&moments);
            columns
                .map(|(values, [mean, sd])| (values[s] - mean) / sd)
                .collect()
        };
        let mut is_divergent = Vec::new();
        for (chain, list) in lists.iter().enumerate() {
            let flags = divergent.and_then(|chains| chains.get(chain));
            let flag = |i: usize| flags.is_some_and(|flags| flags.get(i) == Some(&true));
            is_divergent.extend((0..list.len()).map(flag));
        }
        let some = |wanted: bool| -> (Vec<Vec<f64>>, usize) {
            let all: Vec<usize> = (0..is_divergent.len())
                .filter(|&s| is_divergent[s] == wanted)
                .collect();
            let shown = most.min(all.len());
            let spaced = (0..shown).map(|k| all[k * all.len() / shown]);
            (spaced.map(|s| line(&s)).collect(), all.len())
        };
        let (marked, divergences) = some(true);
        Ok(Self {
            plain: some(false).0,
            divergent: marked,
            divergences,
        })
    }
}

/// Two directions of parameters: those in which the draws of a run spread most and least, every parameter in units of its standard
/// deviation there (principal components of the correlation matrix).
#[derive(Clone, Debug, PartialEq)]
pub struct Components {
    /// Mean and standard deviation of each parameter.
    moments: Vec<[f64; 2]>,
    /// Weights of the parameters in the largest and in the smallest component; the largest of each is positive.
    pub directions: [Vec<f64>; 2],
    /// Variance in these directions; all variances sum to the number of parameters.
    pub variances: [f64; 2],
}

/// Draws projected on two components.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Projected {
    /// Largest and smallest component of each draw, one chain after the other.
    pub points: Vec<[f64; 2]>,
    /// Mean of the points.
    pub mean: [f64; 2],
    /// Variances of the two components, and between these their covariance.
    pub covariance: [f64; 3],
    /// A closed curve [`ELLIPSE_SDS`] standard deviations from the mean.
    pub ellipse: Vec<[f64; 2]>,
}

impl Components {
    /// Of at least two `parameters` of `lists`, one per chain, with relative weights of all draws where these matter (as
    /// [`super::weights::relative`] gives them).
    ///
    /// # Errors
    /// A parameter is constant or not finite, or weights cancel.
    pub fn of(
        lists: &[&DrawList],
        parameters: &[usize],
        relative: Option<&[f64]>,
    ) -> Result<Self, Trouble> {
        let draws = Draws::of(lists, parameters, relative);
        let moments = moments(&draws)?;
        let dim = parameters.len();
        let rows = draws.columns[0].len();
        let scaled: Vec<Vec<f64>> = (draws.columns.iter().zip(&moments))
            .map(|(values, [mean, sd])| values.iter().map(|value| (value - mean) / sd).collect())
            .collect();
        let mut correlation = vec![0.0; dim * dim];
        for a in 0..dim {
            for b in 0..=a {
                let products = scaled[a].iter().zip(&scaled[b]).enumerate();
                let sum: f64 = products.map(|(s, (x, y))| draws.weight(s) * x * y).sum();
                correlation[a * dim + b] = sum / (rows as f64 - 1.0);
                correlation[b * dim + a] = correlation[a * dim + b];
            }
        }
        let trouble = |missing| Trouble { place: 0, missing };
        let (values, vectors) =
            symmetric_eigen(&correlation, dim).ok_or_else(|| trouble(Missing::NotFinite))?;
        // What rounding leaves below zero is none.
        let tiny = 1e-9 * dim as f64;
        if values[0] < -tiny {
            return Err(trouble(Missing::Weights));
        }
        let direction = |k: usize| -> Vec<f64> {
            let vector = &vectors[k * dim..][..dim];
            let largest = vector
                .iter()
                .copied()
                .fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
            vector
                .iter()
                .map(|value| value * largest.signum())
                .collect()
        };
        Ok(Self {
            moments,
            directions: [direction(dim - 1), direction(0)],
            variances: [values[dim - 1], values[0].max(0.0)],
        })
    }

    /// Draws of the same `parameters`, of the same run or of another one.
    ///
    /// # Errors
    /// A parameter is not finite, or weights cancel.
    pub fn project(
        &self,
        lists: &[&DrawList],
        parameters: &[usize],
        relative: Option<&[f64]>,
    ) -> Result<Projected, Trouble> {
        let draws = Draws::of(lists, parameters, relative);
        let rows = draws.columns.first().map_or(0, Vec::len);
        let on = |direction: &[f64], s: usize| -> f64 {
            let columns = draws.columns.iter().zip(&self.moments).zip(direction);
            columns
                .map(|((values, [mean, sd]), weight)| weight * (values[s] - mean) / sd)
                .sum()
        };
        let [first, last] = &self.directions;
        let points: Vec<[f64; 2]> = (0..rows).map(|s| [on(first, s), on(last, s)]).collect();
        let trouble = |missing| Trouble { place: 0, missing };
        if rows < 2 {
            return Err(trouble(Missing::TooFew));
        }
        if points.iter().flatten().any(|value| !value.is_finite()) {
            return Err(trouble(Missing::NotFinite));
        }
        let n = rows as f64;
        let weighted = |f: &dyn Fn(&[f64; 2]) -> f64| -> f64 {
            let each = points.iter().enumerate();
            each.map(|(s, point)| draws.weight(s) * f(point)).sum()
        };
        let mean = [0, 1].map(|k| weighted(&|point| point[k]) / n);
        let product = |a: usize, b: usize| {
            weighted(&|point| (point[a] - mean[a]) * (point[b] - mean[b])) / (n - 1.0)
        };
        let covariance = [product(0, 0), product(0, 1), product(1, 1)];
        let ellipse = ellipse(mean, covariance).ok_or_else(|| trouble(Missing::Weights))?;
        Ok(Projected {
            points,
            mean,
            covariance,
            ellipse,
        })
    }
}

/// The points at [`ELLIPSE_SDS`] from `mean`: mean + 3 L (cos t, sin t) with the Cholesky factor L. `None` if there is none.
fn ellipse(mean: [f64; 2], [xx, xy, yy]: [f64; 3]) -> Option<Vec<[f64; 2]>> {
    if xx.is_nan() || xx <= 0.0 {
        return None;
    }
    let (a, b) = (xx.sqrt(), xy / xx.sqrt());
    // A parameter that follows from others has no spread in the last component, up to rounding.
    let rest = yy - b * b;
    if rest < -1e-9 * (1.0 + yy.abs()) {
        return None;
    }
    let c = rest.max(0.0).sqrt();
    let point = |k: usize| {
        let (sin, cos) = (std::f64::consts::TAU * k as f64 / POINTS as f64).sin_cos();
        [
            mean[0] + ELLIPSE_SDS * a * cos,
            mean[1] + ELLIPSE_SDS * (b * cos + c * sin),
        ]
    };
    Some((0..=POINTS).map(point).collect())
}

#[cfg(test)]
mod tests;
