//! Draws of a fit as predictions need them: what rows follow from each.

use ndarray::ArrayView1;
use rand_distr::{Distribution as _, StandardNormal};

use super::RowPrediction;
use ergodic_base::rng::{ChainRng, Purpose, stream};
use ergodic_core::design::coding::NewRows;
use ergodic_core::families::Outcome;
use ergodic_core::formula::Elementwise;
use ergodic_core::models::predicts::Point;
use ergodic_diagnostics::{quantiles, weights};

/// Draws, and what rows follow from them.
#[derive(Debug)]
pub(crate) struct Posterior {
    pub(super) rule: Rule,
    /// Whether outcomes are whole numbers.
    pub(crate) is_whole: bool,
    /// S.
    pub(super) len: usize,
    /// Draws of each chain; they stand one chain after the other.
    pub(super) chains: Vec<usize>,
    /// The function of the outcome that the model explains.
    pub(crate) function: Option<Elementwise>,
    /// Relative weights (S), where they matter.
    pub(crate) weights: Option<Vec<f64>>,
}

/// How rows follow from draws. Either way a row is some numbers per draw, its distribution, and outcomes are expected and drawn from
/// these.
#[derive(Debug)]
pub(super) enum Rule {
    /// By one linear predictor, which is the only number.
    Linear(Linear),
    /// As the model reads the rows ([`NewRows::read`]), from these draws.
    Read(Vec<Vec<f64>>),
}

/// Draws by parameter, so that a row's predictors under all of them are sums of whole vectors.
#[derive(Debug)]
pub(crate) struct Linear {
    /// One per draw (S).
    pub(crate) outcomes: Vec<Outcome>,
    /// P × S.
    pub(crate) coefficients: Vec<Vec<f64>>,
    pub(crate) terms: Vec<PosteriorTerm>,
}

#[derive(Debug)]
pub(crate) struct PosteriorTerm {
    /// q.
    width: usize,
    /// (groups × q) × S.
    pub(crate) effects: Vec<Vec<f64>>,
    /// (q × q) × S.
    factor: Vec<Vec<f64>>,
}

impl PosteriorTerm {
    /// Adds z'r of a `group` under the draws from `first` on.
    fn add(&self, z: &ArrayView1<'_, f64>, group: usize, first: usize, eta: &mut [f64]) {
        for (z, effects) in z.iter().zip(&self.effects[group * self.width..]) {
            add(*z, &effects[first..], eta);
        }
    }
}

/// Adds a multiple of the first of `values` to as many of `eta`.
fn add(factor: f64, values: &[f64], eta: &mut [f64]) {
    if factor != 0.0 {
        ergodic_base::linalg::axpy(factor, &values[..eta.len()], eta);
    }
}

/// Working memory of one thread.
pub(crate) struct Work {
    /// Distributions of a row (W × S).
    distribution: Vec<f64>,
    expected: Vec<f64>,
    outcome: Vec<f64>,
    noise: Vec<f64>,
    order: Vec<u32>,
    cdf: Vec<f64>,
}

impl Work {
    pub(crate) fn new(draws: usize) -> Self {
        Self {
            distribution: Vec::new(),
            expected: vec![0.0; draws],
            outcome: vec![0.0; draws],
            noise: Vec::new(),
            order: Vec::new(),
            cdf: Vec::new(),
        }
    }
}

impl Linear {
    pub(super) fn of(points: &[Point]) -> Self {
        let first = &points[0];
        let by_draw = |len: usize, pick: &dyn Fn(&Point, usize) -> f64| -> Vec<Vec<f64>> {
            (0..len)
                .map(|j| points.iter().map(|point| pick(point, j)).collect())
                .collect()
        };
        let terms = first
            .terms
            .iter()
            .enumerate()
            .map(|(t, term)| PosteriorTerm {
                width: term.factor.len().isqrt(),
                effects: by_draw(term.effects.len(), &|point, j| point.terms[t].effects[j]),
                factor: by_draw(term.factor.len(), &|point, j| point.terms[t].factor[j]),
            });
        Self {
            outcomes: points.iter().map(|point| point.outcome).collect(),
            coefficients: by_draw(first.coefficients.len(), &|p, j| p.coefficients[j]),
            terms: terms.collect(),
        }
    }

    /// Offset and x'b of row `i` under the draws from `first` on, as many as `eta` has place for.
    fn begin(&self, rows: &NewRows, i: usize, first: usize, eta: &mut [f64]) {
        eta.fill(rows.offset.as_ref().map_or(0.0, |offset| offset[i]));
        for (x, b) in rows.x.row(i).iter().zip(&self.coefficients) {
            add(*x, &b[first..], eta);
        }
    }

    /// Adds the effects of the groups of row `i` under the draws from `first` on; those of a group that the fit did not have are
    /// drawn by `seed`, with `noise` as working memory. Whether there is such a group.
    fn add_groups(
        &self,
        rows: &NewRows,
        i: usize,
        first: usize,
        (seed, noise): (u64, &mut Vec<f64>),
        eta: &mut [f64],
    ) -> bool {
        let mut new_group = false;
        let draws = self.outcomes.len();
        for (t, (term, (factor, z))) in self.terms.iter().zip(&rows.terms).enumerate() {
            let groups = &rows.groups[*factor];
            let group = groups.index[i] as usize;
            let q = term.width;
            if group < groups.num_known {
                term.add(&z.row(i), group, first, eta);
                continue;
            }
            new_group = true;
            let place = (t << 32) + (group - groups.num_known);
            let mut rng = stream(seed, place, Purpose::NewGroups);
            noise.resize(q * draws, 0.0);
            let all = noise.iter_mut();
            all.for_each(|noise| *noise = StandardNormal.sample(&mut rng));
            for j in 0..q {
                for k in 0..=j {
                    let (factor, z) = (&term.factor[j * q + k][first..], z[[i, j]]);
                    let noise = &noise[k * draws + first..][..eta.len()];
                    for ((eta, factor), noise) in eta.iter_mut().zip(factor).zip(noise) {
                        *eta += z * factor * noise;
                    }
                }
            }
        }
        new_group
    }
}

impl Linear {
    /// Turns linear predictors of row `i` under the draws from `first` on into log densities of `y`.
    fn weigh(&self, rows: &NewRows, (i, y): (usize, f64), first: usize, eta: &mut [f64]) {
        let known = rows.known(i);
        for (value, outcome) in eta.iter_mut().zip(&self.outcomes[first..]) {
            *value = outcome.at(*value, y, known).log_p + outcome.constant(y, known);
        }
    }
}

impl Posterior {
    /// S.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The draws of linear predictors, where rows follow from these.
    pub(crate) fn linear(&self) -> Option<&Linear> {
        match &self.rule {
            Rule::Linear(linear) => Some(linear),
            Rule::Read(_) => None,
        }
    }

    /// Writes the distributions of row `i` under `len` draws from `first` on (W × len); effects of a group that the fit did not have
    /// are drawn by `seed`, with `noise` as working memory. Whether there is such a group.
    fn distribution(
        &self,
        rows: &NewRows,
        i: usize,
        (first, len): (usize, usize),
        (seed, noise): (u64, &mut Vec<f64>),
        out: &mut Vec<f64>,
    ) -> bool {
        match &self.rule {
            Rule::Linear(linear) => {
                out.resize(len, 0.0);
                linear.begin(rows, i, first, out);
                linear.add_groups(rows, i, first, (seed, noise), out)
            }
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    out.resize(read.width() * len, 0.0);
                    read.distribution(i, draws, first, out);
                }
                false
            }
        }
    }

    /// Writes what is expected where a row has these distributions under the draws from `first` on.
    fn expect(&self, distribution: &[f64], first: usize, out: &mut [f64]) {
        match &self.rule {
            Rule::Linear(linear) => {
                let draws = out.iter_mut().zip(distribution);
                for ((out, eta), outcome) in draws.zip(&linear.outcomes[first..]) {
                    *out = outcome.mean(*eta);
                }
            }
            Rule::Read(_) => out.copy_from_slice(&distribution[..out.len()]),
        }
    }

    /// Draws outcomes of row `i`, which has these distributions.
    fn draw(
        &self,
        rows: &NewRows,
        i: usize,
        distribution: &[f64],
        rng: &mut ChainRng,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => {
                let draws = out.iter_mut().zip(distribution);
                for ((out, eta), outcome) in draws.zip(&linear.outcomes) {
                    *out = outcome.draw(*eta, rows.known(i), rng);
                }
            }
            Rule::Read(_) => {
                if let Some(read) = &rows.read {
                    read.draw(distribution, rng, out);
                }
            }
        }
    }

    /// Writes what is expected of row `i` under the draws from `first` on, as many as there is place for: on the scale of the model.
    pub(crate) fn expected(
        &self,
        rows: &NewRows,
        i: usize,
        first: usize,
        seed: u64,
        work: &mut Work,
        out: &mut [f64],
    ) {
        let draws = (first, out.len());
        let noise = (seed, &mut work.noise);
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        self.expect(&work.distribution, first, out);
    }

    /// Writes what is expected of row `i`, and an outcome of it, under each draw: on the scale of the model. Whether one of its groups
    /// is new.
    pub(crate) fn replicate(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        work: &mut Work,
        (expected, outcome): (&mut [f64], &mut [f64]),
    ) -> bool {
        let noise = (seed, &mut work.noise);
        let draws = (0, self.len());
        let new_group = self.distribution(rows, i, draws, noise, &mut work.distribution);
        let mut rng: ChainRng = stream(seed, rows.row[i] as usize, Purpose::Predictive);
        self.draw(rows, i, &work.distribution, &mut rng, outcome);
        self.expect(&work.distribution, 0, expected);
        new_group
    }

    /// Writes the log density of row `i`, whose outcome is `y` on the scale of the model, under the draws from `first` on, as many as
    /// there is place for.
    pub(super) fn log_density(
        &self,
        rows: &NewRows,
        (i, y): (usize, f64),
        first: usize,
        seed: u64,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => {
                linear.begin(rows, i, first, out);
                linear.add_groups(rows, i, first, (seed, &mut Vec::new()), out);
                linear.weigh(rows, (i, y), first, out);
            }
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    read.log_density(i, draws, first, out);
                }
            }
        }
    }

    /// The same under all draws for a row whose distributions were the last that `work` was used for.
    pub(super) fn log_density_again(
        &self,
        rows: &NewRows,
        (i, y): (usize, f64),
        work: &Work,
        out: &mut [f64],
    ) {
        match &self.rule {
            Rule::Linear(linear) => {
                out.copy_from_slice(&work.distribution);
                linear.weigh(rows, (i, y), 0, out);
            }
            Rule::Read(draws) => {
                if let Some(read) = &rows.read {
                    read.log_density(i, draws, 0, out);
                }
            }
        }
    }

    /// Posterior means of the probabilities of `count` ordered levels in row `i`.
    pub(super) fn chances(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        count: usize,
        work: &mut Work,
    ) -> Vec<f64> {
        let draws = (0, self.len());
        let noise = (seed, &mut work.noise);
        self.distribution(rows, i, draws, noise, &mut work.distribution);
        let (distribution, chances) = (&work.distribution, &mut work.outcome);
        let mut level = |level: usize| {
            match &self.rule {
                Rule::Linear(linear) => {
                    let draws = chances.iter_mut().zip(distribution);
                    for ((chance, eta), outcome) in draws.zip(&linear.outcomes) {
                        let y = level as f64;
                        *chance = (outcome.at(*eta, y, 1.0).log_p + outcome.constant(y, 1.0)).exp();
                    }
                }
                Rule::Read(_) => {
                    if let Some(read) = &rows.read {
                        read.chance(distribution, level, chances);
                    }
                }
            }
            let weight = |s: usize| self.weights.as_ref().map_or(1.0, |weights| weights[s]);
            let weighted = chances
                .iter()
                .enumerate()
                .map(|(s, chance)| weight(s) * chance);
            weighted.sum::<f64>() / self.len() as f64
        };
        (1..=count).map(&mut level).collect()
    }

    pub(super) fn predict(
        &self,
        rows: &NewRows,
        i: usize,
        seed: u64,
        interval: f64,
        work: &mut Work,
    ) -> RowPrediction {
        let mut expected = std::mem::take(&mut work.expected);
        let mut outcome = std::mem::take(&mut work.outcome);
        let both = (expected.as_mut_slice(), outcome.as_mut_slice());
        let new_group = self.replicate(rows, i, seed, work, both);
        if let Some(function) = self.function {
            let values = expected.iter_mut().chain(&mut outcome);
            values.for_each(|value| *value = function.inverse(*value));
        }
        let (mean, sd) = self.moments(&expected);
        let (order, cdf) = (&mut work.order, &mut work.cdf);
        let predicted = RowPrediction {
            row: rows.row[i],
            mean,
            sd,
            expected: self.interval(&mut expected, order, cdf, interval),
            outcome: self.outcome_interval(&mut outcome, order, cdf, interval),
            observed: rows.seen(i),
            trials: rows.trials.as_ref().map_or(1.0, |trials| trials[i]),
            new_group,
        };
        (work.expected, work.outcome) = (expected, outcome);
        predicted
    }

    /// [`Self::interval`] of outcomes.
    pub(super) fn outcome_interval(
        &self,
        values: &mut [f64],
        order: &mut Vec<u32>,
        cdf: &mut Vec<f64>,
        interval: f64,
    ) -> [f64; 2] {
        let [low, high] = self.interval(values, order, cdf, interval);
        // Between two whole numbers the interval takes both.
        match self.is_whole {
            true => [low.floor(), high.ceil()],
            false => [low, high],
        }
    }

    /// Mean and standard deviation (divisor S − 1) over draws.
    pub(super) fn moments(&self, values: &[f64]) -> (f64, f64) {
        let weight = |s: usize| self.weights.as_ref().map_or(1.0, |weights| weights[s]);
        let n = values.len() as f64;
        let sum = |f: &dyn Fn(f64) -> f64| -> f64 {
            values
                .iter()
                .enumerate()
                .map(|(s, &v)| weight(s) * f(v))
                .sum()
        };
        let mean = sum(&|v| v) / n;
        let squares = sum(&|v| (v - mean) * (v - mean));
        // Signed weights can make it negative.
        (mean, (squares / (n - 1.0)).max(0.0).sqrt())
    }

    /// Quantiles that leave the same probability on both sides; the order of `values` is lost.
    fn interval(
        &self,
        values: &mut [f64],
        order: &mut Vec<u32>,
        cdf: &mut Vec<f64>,
        interval: f64,
    ) -> [f64; 2] {
        let probs = [0.5 - 0.5 * interval, 0.5 + 0.5 * interval];
        let Some(weights) = &self.weights else {
            return probs.map(|prob| quantiles::of_unsorted(values, prob));
        };
        order.clear();
        order.extend(0..values.len() as u32);
        order.sort_unstable_by(|a, b| values[*a as usize].total_cmp(&values[*b as usize]));
        weights::cdf(weights, order, cdf);
        values.sort_unstable_by(f64::total_cmp);
        probs.map(|prob| weights::quantile(values, cdf, prob))
    }
}
