//! What zero-variance control variates make of a log predictive density along independent chains.
//!
//! Source: Baker (2018), section 3.4 with figures 3.5.2 and 3.5.4: box plots of the log predictive density of SGLD-CV with and without
//! linear control variates from the gradients of its minibatches, whose coefficients are fitted to the draws that they correct. Here these
//! come from the other half of each chain, and what is compared are standard errors of the mean.

use super::problem::{mean_and_sd, row};
use super::{Cell, Finding, FurtherTable};
use crate::error::BenchError;
use ergodic_base::ParamId;
use ergodic_base::draws::DrawList;
use ergodic_diagnostics::zero_variance::{Order, Points, correct};

/// Chains that are compared: the random runs of the source.
pub const CHAINS: usize = 5;
/// How many times smaller a good reduction makes the variance at least.
const GOOD: f64 = 2.0;

/// The mean log predictive density of each chain, and its Monte Carlo standard error.
#[derive(Default)]
struct Means {
    means: Vec<f64>,
    errors: Vec<f64>,
}

impl Means {
    /// Mean over chains, root mean square of their errors, and standard deviation of their means.
    fn numbers(&self) -> [f64; 3] {
        let [mean, sd] = mean_and_sd(&self.means);
        [mean, self.square().sqrt(), sd]
    }

    fn square(&self) -> f64 {
        let squares = self.errors.iter().map(|error| error * error);
        squares.sum::<f64>() / self.errors.len() as f64
    }
}

/// Corrections by gradients of one or several kinds.
pub struct Corrected {
    plain: Means,
    kinds: Vec<(&'static str, Means)>,
}

impl Corrected {
    /// Of log predictive densities `series` of chains, with each kind of gradients and the positions at the same draws.
    ///
    /// # Errors
    /// Too few draws, too many parameters, or gradients that are not finite.
    pub fn of(
        series: &[Vec<f64>],
        gradients: &[(&'static str, &[Points])],
    ) -> Result<Self, BenchError> {
        let mut found = Self {
            plain: Means::default(),
            kinds: Vec::new(),
        };
        for &(name, points) in gradients {
            let (plain, corrected) = means(series, points)?;
            found.plain = plain;
            found.kinds.push((name, corrected));
        }
        Ok(found)
    }

    /// How many times smaller the squared errors of means are with each kind of gradients.
    fn gains(&self) -> Vec<f64> {
        let kinds = self.kinds.iter();
        let gains = kinds.map(|(_, means)| self.plain.square() / means.square());
        gains.collect()
    }

    /// A line for each kind of gradients; `size` says what the model is of.
    fn rows(&self, size: usize) -> Vec<Vec<Cell>> {
        let plain = ("none", &self.plain, 1.0);
        let kinds = self.kinds.iter().zip(self.gains());
        let kinds = kinds.map(|((name, means), gain)| (*name, means, gain));
        let line = |(name, means, gain): (&str, &Means, f64)| {
            let numbers = means.numbers().into_iter().chain([gain]);
            let cells = row(&[name], &numbers.collect::<Vec<_>>());
            std::iter::once(Cell::from(size)).chain(cells).collect()
        };
        std::iter::once(plain).chain(kinds).map(line).collect()
    }

    /// Whether the first kind of gradients reduces the variance well.
    pub fn finding(&self) -> Finding {
        let kinds = self.kinds.iter().zip(self.gains());
        let said = kinds.map(|((name, means), gain)| {
            format!(
                "{gain:.1} times smaller with gradients of {name} (standard deviation between {CHAINS} chains {:.1e})",
                means.numbers()[2]
            )
        });
        let said: Vec<String> = said.collect();
        Finding {
            claim: "zero-variance control variates reduce the variance of the log predictive density of SGLD-CV well",
            reproduced: self.gains().first().is_some_and(|gain| *gain > GOOD),
            because: format!(
                "the squared standard error of its mean is {}, without them the standard deviation is {:.1e}",
                said.join(" and "),
                self.plain.numbers()[2]
            ),
        }
    }
}

/// The table of corrections, of models of several sizes, which `size` names.
pub fn table<'a>(
    size: &'static str,
    all: impl Iterator<Item = (usize, &'a Corrected)>,
) -> FurtherTable {
    FurtherTable {
        name: "corrected",
        columns: vec![
            size,
            "gradients",
            "log_predictive",
            "standard_error",
            "sd_between_chains",
            "gain",
        ],
        rows: all.flat_map(|(size, it)| it.rows(size)).collect(),
    }
}

/// What the table says, for people.
pub fn note() -> String {
    format!(
        "the further table corrected: mean log predictive density of a row held out over the second half of {CHAINS} chains of SGLD-CV, plain \
         and with linear zero-variance control variates, whose coefficients come from the other half of the draws; gradients: whose gradients \
         these are of; standard_error: root mean square over chains; gain: by how much its square is smaller than the plain one"
    )
}

/// Means of chains, plain and corrected.
fn means(series: &[Vec<f64>], points: &[Points]) -> Result<(Means, Means), BenchError> {
    let names = [ParamId::from("log_predictive")];
    let (mut plain, mut corrected) = (Means::default(), Means::default());
    for (series, points) in series.iter().zip(points) {
        let mut list = DrawList::new(1);
        series.iter().for_each(|value| list.push(&[*value]));
        let dim = points.positions.len() / series.len().max(1);
        let points = std::slice::from_ref(points);
        let found = correct(&names, &[&list], &[], points, dim, Order::Linear)?;
        let missing = f64::NAN;
        let [mean, error, gain] = found.rows.first().map_or([missing; 3], |row| {
            [row.mean, row.mcse_mean, row.gain].map(|it| it.unwrap_or(missing))
        });
        plain
            .means
            .push(series.iter().sum::<f64>() / series.len() as f64);
        plain.errors.push(error * gain.sqrt());
        corrected.means.push(mean);
        corrected.errors.push(error);
    }
    Ok((plain, corrected))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ergodic_base::{Purpose, stream};
    use rand::RngExt as _;
    use rand_distr::StandardNormal;

    /// Of independent draws of N(0, 1) the quantity 1 + 2x is known but for nothing given exact gradients, −x, and but for noise of variance
    /// r given gradients with such: linear regression leaves r/(1 + r) of its variance.
    #[test]
    fn what_is_left_is_the_noise_of_gradients() {
        const DRAWS: usize = 2000;
        const NOISE: f64 = 0.25;
        let (mut series, mut exact, mut noisy) = (Vec::new(), Vec::new(), Vec::new());
        for chain in 0..CHAINS {
            let mut rng = stream(1, chain, Purpose::Data);
            let mut normals =
                || -> Vec<f64> { (0..DRAWS).map(|_| rng.sample(StandardNormal)).collect() };
            let (positions, noise) = (normals(), normals());
            series.push(
                positions
                    .iter()
                    .map(|x| 1.0 + 2.0 * x)
                    .collect::<Vec<f64>>(),
            );
            let points = |sd: f64| Points {
                gradients: (positions.iter().zip(&noise))
                    .map(|(x, noise)| -x + sd * noise)
                    .collect(),
                positions: positions.clone(),
            };
            exact.push(points(0.0));
            noisy.push(points(NOISE.sqrt()));
        }
        let found = Corrected::of(
            &series,
            &[("minibatches", &noisy[..]), ("all rows", &exact[..])],
        );
        let found = found.unwrap();
        let [some, all]: [f64; 2] = found.gains().try_into().unwrap();
        // Two standard deviations of 10,000 draws each are known to 0.01.
        let expected = (1.0 + NOISE) / NOISE;
        assert!((some / expected - 1.0).abs() < 0.1, "{some} {expected}");
        assert!(all > 1e6, "{all}");
        let [mean, error, _] = found.plain.numbers();
        assert!(
            (error / (2.0 / (DRAWS as f64).sqrt()) - 1.0).abs() < 0.1,
            "{error}"
        );
        assert!((mean - 1.0).abs() < 4.0 * error / (CHAINS as f64).sqrt());
        assert!((found.kinds[1].1.numbers()[0] - 1.0).abs() < 1e-6);
        assert!(found.finding().reproduced);
        let rows = table("rows", [(10, &found)].into_iter()).rows;
        assert_eq!(rows.len(), 3);
        assert_eq!(rows[0][1].plain(), "none");
    }
}
