//! Momentum with noisy gradients: without friction, with friction, with friction and a correction, and with a thermostat.
//!
//! Source: Chen (2016), slides on SGHMC ("a naive approach", "adding a friction term", "the friction coefficient should be set to
//! A + B") and on SGNHT. The pictures show U = θ²/2 and a Gaussian in the plane with noise added to gradients; step sizes and noise
//! are not printed. Here the noise is that of minibatches of [`BATCH`] of [`ROWS`] rows: the mean of normal numbers, and the centre of
//! normal pairs with correlation 0.9, whose posteriors are normal with known moments. In units in which the curvature is 1, gradients
//! then have noise of variance N/n = 100, so that a step ε acts as an additional ½ε·100 of injected noise (B).

use rand_distr::{Distribution as _, StandardNormal};

use super::problem::{Problem, draws, mean_and_sd, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_base::settings::Value;
use ergodic_base::{Purpose, stream};

/// Rows, and rows of a minibatch.
const ROWS: usize = 1000;
const BATCH: usize = 10;
/// The step ε: B is then 1, half of critical friction.
const STEP: f64 = 0.02;
/// Correlation of the pairs.
const CORRELATION: f64 = 0.9;
/// Draws per chain, and in the quick version; draws are two units of time apart.
const DRAWS: [u64; 2] = [10_000, 2_000];
const STEPS_PER_DRAW: usize = 100;
/// Largest error of a standard deviation of a run that is said to sample the posterior.
const ALIKE: f64 = 0.1;

/// Without and with friction.
///
/// # Errors
/// A run cannot be prepared.
pub fn friction(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let common = common();
    let entrants = [
        ("no friction", format!("sghmc-naive:{common}")),
        (
            "friction",
            format!("sghmc:friction=2:friction_correction=off:integrator=euler:{common}"),
        ),
        (
            "corrected friction",
            format!("sghmc:friction=2:integrator=euler:{common}"),
        ),
    ];
    let (line, plane) = (
        Potential::line(options.seed)?,
        Potential::plane(options.seed)?,
    );
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for (name, variant) in &entrants {
        for potential in [&line, &plane] {
            let run = potential.run(variant, options)?;
            let numbers = potential.measured(&run);
            rows.push(row(&[potential.name, name], &numbers));
            found.push(numbers);
        }
    }
    let worst = |k: usize| {
        found[2 * k..2 * k + 2]
            .iter()
            .map(|it| (it[1] - 1.0).abs())
            .fold(0.0, f64::max)
    };
    let [naive, plain, corrected] = [0, 1, 2].map(worst);
    Ok(BenchTable {
        columns: vec![
            "potential",
            "dynamics",
            "sd_ratio_first_tenth",
            "sd_ratio",
            "correlation",
        ],
        rows,
        notes: vec![format!(
            "{ROWS} rows in minibatches of {BATCH}, step {STEP}, friction 2, four chains; sd_ratio: largest standard deviation over the \
             true one, of the first tenth of the draws and of all; the correlation of the pair is {CORRELATION} in the posterior"
        )],
        findings: vec![
            Finding {
                claim: "without friction, noise drives the chain away from its stationary distribution, which friction prevents",
                reproduced: naive > 10.0 * plain,
                because: format!(
                    "standard deviations are {:.0} times too large without friction and grow with the run, and {:.0} % too large with it",
                    naive + 1.0,
                    100.0 * plain
                ),
            },
            Finding {
                claim: "to sample the posterior, friction has to balance the noise of gradients too: A + B instead of A",
                reproduced: corrected < ALIKE && plain > ALIKE,
                because: format!(
                    "standard deviations are off by {:.1} % where gradient noise is taken off the injected noise, and by {:.0} % where not, \
                     for which theory says sqrt(1 + B/A) − 1 = 22 %",
                    100.0 * corrected,
                    100.0 * plain
                ),
            },
        ],
        plots: vec![
            Plot::points("dynamics", &["sd_ratio"])
                .by(&["potential"])
                .log_y(),
        ],
        ..BenchTable::default()
    })
}

/// Friction 0.1, 1 and 10 without correction, and a thermostat that injects as much.
///
/// # Errors
/// A run cannot be prepared.
pub fn thermostat(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let line = Potential::line(options.seed)?;
    let common = common();
    let mut rows = Vec::new();
    let mut found = Vec::new();
    for a in [0.1, 1.0, 10.0] {
        let entrants = [
            (
                "sghmc",
                format!("sghmc:friction={a}:friction_correction=off:integrator=euler:{common}"),
            ),
            (
                "sgnht",
                format!("sgnht:diffusion={a}:thermostat=scalar:integrator=euler:{common}"),
            ),
        ];
        for (name, variant) in entrants {
            let run = line.run(&variant, options)?;
            let variance = line.measured(&run)[1].powi(2);
            let predicted = match name {
                "sghmc" => 1.0 + 0.5 * STEP * (ROWS / BATCH) as f64 / a,
                _ => 1.0,
            };
            rows.push(row(&[name], &[a, variance, predicted]));
            found.push(variance);
        }
    }
    let off = |k: usize| (found[k].sqrt() - 1.0).abs();
    let thermostat = [1, 3, 5].map(off).into_iter().fold(0.0, f64::max);
    Ok(BenchTable {
        columns: vec!["sampler", "a", "variance_ratio", "predicted"],
        rows,
        notes: vec![format!(
            "a: friction and injected noise of sghmc, injected noise of sgnht; variance_ratio: over the true variance; predicted: 1 + B/A \
             with the noise B = {} of minibatches of {BATCH} of {ROWS} rows at step {STEP}",
            0.5 * STEP * (ROWS / BATCH) as f64
        )],
        findings: vec![Finding {
            claim: "SGHMC is right only where its friction suits the noise, while SGNHT adapts to it and samples the posterior for every A \
                    (a picture, without numbers)",
            reproduced: thermostat < ALIKE && off(0) > 2.0 * off(2) && off(2) > 2.0 * off(4),
            because: format!(
                "standard deviations of SGHMC are off by {:.0} %, {:.0} % and {:.0} % with A = 0.1, 1 and 10, those of SGNHT by at most \
                 {:.1} %",
                100.0 * off(0),
                100.0 * off(2),
                100.0 * off(4),
                100.0 * thermostat
            ),
        }],
        plots: vec![
            Plot::lines("a", &["variance_ratio", "predicted"])
                .by(&["sampler"])
                .named("variance over the true one")
                .log_x()
                .log_y(),
        ],
        ..BenchTable::default()
    })
}

fn common() -> String {
    format!("batch={BATCH}:step_size={STEP}:steps_per_draw={STEPS_PER_DRAW}")
}

/// A normal posterior.
struct Potential {
    name: &'static str,
    problem: Problem,
    parameters: &'static [&'static str],
    /// The true standard deviation of every parameter.
    sd: f64,
}

impl Potential {
    fn line(seed: u64) -> Result<Self, BenchError> {
        /// So wide that it adds a ten-millionth to the precision.
        const PRIOR_VARIANCE: f64 = 1e4;
        let [x, _] = normal(seed);
        let data = table("line", vec![("x".to_owned(), x)])?;
        let problem = Problem::new(("normal-mean", "x ~ 1"), data, seed, |recipe| {
            let variance = Value::Real(PRIOR_VARIANCE);
            recipe.model.settings.set("prior_variance", variance);
        })?;
        Ok(Self {
            name: "one dimension",
            problem,
            parameters: &["theta"],
            sd: (ROWS as f64 + 1.0 / PRIOR_VARIANCE).sqrt().recip(),
        })
    }

    fn plane(seed: u64) -> Result<Self, BenchError> {
        let [x, noise] = normal(seed);
        let rest = (1.0 - CORRELATION * CORRELATION).sqrt();
        let y = x.iter().zip(&noise);
        let y = y.map(|(x, z)| CORRELATION * x + rest * z).collect();
        let data = table("plane", vec![("x".to_owned(), x), ("y".to_owned(), y)])?;
        let problem = Problem::new(("multivariate-t", "~ x + y"), data, seed, |recipe| {
            // A t distribution of that many degrees of freedom is normal to within a millionth.
            for (key, value) in [("df", 1e9), ("correlation", CORRELATION)] {
                recipe.model.settings.set(key, Value::Real(value));
            }
        })?;
        Ok(Self {
            name: "two dimensions",
            problem,
            parameters: &["theta[x]", "theta[y]"],
            sd: (ROWS as f64).sqrt().recip(),
        })
    }

    fn run(&self, variant: &str, options: &BenchOptions) -> Result<Run, BenchError> {
        self.problem.run(variant, |run| {
            run.draws = DRAWS[usize::from(options.quick)];
        })
    }

    /// Ratio of standard deviations to the true one, of the first tenth of the draws and of all, the largest over parameters;
    /// correlation, 0 of one parameter.
    fn measured(&self, run: &Run) -> [f64; 3] {
        let chains: Vec<Vec<Vec<f64>>> = (self.parameters.iter())
            .map(|name| draws(run, name))
            .collect();
        let ratio = |share: f64| {
            let largest = chains.iter().map(|chains| {
                let part =
                    |chain: &Vec<f64>| chain[..(share * chain.len() as f64) as usize].to_vec();
                let values: Vec<f64> = chains.iter().flat_map(part).collect();
                mean_and_sd(&values)[1] / self.sd
            });
            largest.fold(0.0, f64::max)
        };
        let correlation = match chains.as_slice() {
            [x, y] => {
                let (x, y) = (x.concat(), y.concat());
                let ([mx, sx], [my, sy]) = (mean_and_sd(&x), mean_and_sd(&y));
                let products = x.iter().zip(&y).map(|(x, y)| (x - mx) * (y - my));
                products.sum::<f64>() / (x.len() as f64 * sx * sy)
            }
            _ => f64::NAN,
        };
        [ratio(0.1), ratio(1.0), correlation]
    }
}

/// Two columns of independent normal numbers.
fn normal(seed: u64) -> [Vec<f64>; 2] {
    let mut rng = stream(seed, 0, Purpose::Data);
    let mut column = || {
        let values = (0..ROWS).map(|_| StandardNormal.sample(&mut rng));
        values.collect()
    };
    [column(), column()]
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// Noise is known, so that theory says by how much each is off.
    #[test]
    fn friction_has_to_balance_the_noise_of_gradients() {
        let table = quick(friction);
        assert!(table.findings.iter().all(|it| it.reproduced));
        for potential in ["one dimension", "two dimensions"] {
            let of = |dynamics, column| number(&table, &[potential, dynamics], column);
            // 8,000 draws know a standard deviation to 1 or 2 %.
            let expected = 2.0_f64.sqrt().recip() * 3.0_f64.sqrt();
            assert!(
                (of("friction", "sd_ratio") / expected - 1.0).abs() < 0.06,
                "{expected}"
            );
            assert!((of("corrected friction", "sd_ratio") - 1.0).abs() < 0.06);
            let growth = of("no friction", "sd_ratio") / of("no friction", "sd_ratio_first_tenth");
            assert!(growth > 2.0, "{growth}");
        }
    }

    #[test]
    fn thermostats_absorb_what_friction_does_not() {
        let table = quick(thermostat);
        assert!(table.findings[0].reproduced);
    }
}
