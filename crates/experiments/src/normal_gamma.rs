//! Gibbs sampling of mean and precision beside their exact marginals.
//!
//! Source: Chen (2016), slides on Gibbs sampling: x_i ~ N(μ, 1/τ), μ|τ ~ N(μ_0, 1/τ), τ ~ Gamma(5, 1), 1000 rows; histograms beside the
//! Student t and the gamma distribution that the marginals are. As in the source, `gibbs` draws each parameter from its conditional
//! distribution, which is normal for μ and a gamma distribution for τ; NUTS stands beside it.

use rand_distr::{Distribution as _, StandardNormal};
use statrs::distribution::{ContinuousCDF as _, Gamma, StudentsT};

use super::problem::{Problem, draws, ess, row, table};
use super::{BenchOptions, BenchTable, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};
use ergodic_core::models::Marginal;
use ergodic_diagnostics::kolmogorov::{distance_from_uniform, p_value};

/// Rows, as in the source.
const ROWS: usize = 1000;
/// Draws per chain, and in the quick version.
const DRAWS: [u64; 2] = [10_000, 4_000];
/// Chance below which draws are said not to be from the marginal.
const LEVEL: f64 = 0.01;
/// Samplers, and how the first one updates what.
const SAMPLERS: [(&str, &[(&str, &str)]); 2] = [
    ("gibbs", &[("blocks", "mu: conjugate; tau: conjugate")]),
    ("nuts", &[]),
];

/// Runs the experiment.
///
/// # Errors
/// A run cannot be prepared.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let mut rng = stream(options.seed, 0, Purpose::Data);
    let x = (0..ROWS).map(|_| StandardNormal.sample(&mut rng)).collect();
    let data = table("normal", vec![("x".to_owned(), x)])?;
    let problem = Problem::new(("normal-gamma", "x ~ 1"), data, options.seed, |_recipe| {})?;
    let model = &problem.job().model;
    let mut rows = Vec::new();
    let mut chances = Vec::new();
    for (id, given) in SAMPLERS {
        let mut settings = Settings::default();
        for (key, text) in given {
            settings.set(key, Value::Text((*text).to_owned()));
        }
        let run = problem.run_with((id, settings), |run| {
            run.draws = DRAWS[usize::from(options.quick)];
        })?;
        for (j, parameter) in ["mu", "tau"].into_iter().enumerate() {
            let Some(share) = model.marginal(j).and_then(share_below) else {
                continue;
            };
            let chains = draws(&run, parameter);
            let mut shares: Vec<f64> = chains.iter().flatten().map(|x| share(*x)).collect();
            let distance = distance_from_uniform(&mut shares);
            let count = ess(&chains);
            let chance = p_value(distance, count as usize);
            rows.push(row(&[id, parameter], &[distance, count, chance]));
            chances.push(chance);
        }
    }
    let gibbs = chances[0].min(chances[1]);
    Ok(BenchTable {
        columns: vec!["sampler", "parameter", "ks", "ess", "chance"],
        rows,
        notes: vec![
            "ks: Kolmogorov-Smirnov distance of the draws of four chains from the exact marginal; chance: of a distance as large for as \
             many independent draws as the effective sample size"
                .to_owned(),
        ],
        findings: vec![Finding {
            claim: "histograms of the draws of a Gibbs sampler agree with the exact marginals, a Student t and a gamma distribution",
            reproduced: gibbs > LEVEL,
            because: format!(
                "distances as large as those found have chances of {:.2} (mu) and {:.2} (tau) if the draws are from the marginals",
                chances[0], chances[1]
            ),
        }],
        plots: vec![Plot::points("sampler", &["ks"]).by(&["parameter"])],
        ..BenchTable::default()
    })
}

/// The distribution function.
fn share_below(marginal: Marginal) -> Option<Box<dyn Fn(f64) -> f64>> {
    match marginal {
        Marginal::StudentT {
            df,
            location,
            scale,
        } => {
            let t = StudentsT::new(location, scale, df).ok()?;
            Some(Box::new(move |x| t.cdf(x)))
        }
        Marginal::Gamma { shape, rate } => {
            let gamma = Gamma::new(shape, rate).ok()?;
            Some(Box::new(move |x| gamma.cdf(x)))
        }
        Marginal::Normal { .. } | Marginal::Beta { .. } => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    #[test]
    fn gibbs_draws_from_the_marginals() {
        let table = quick(run);
        assert_eq!(table.rows.len(), 4);
        assert!(table.findings[0].reproduced);
        for parameter in ["mu", "tau"] {
            // 16,000 independent draws have a distance of 0.87/sqrt(16000) on average; three times that would be a wrong distribution.
            assert!(number(&table, &["gibbs", parameter], "ks") < 0.021);
            // Draws of conditionals are nearly independent, as μ and τ hardly depend on each other given 1000 rows.
            let draws = 4.0 * DRAWS[1] as f64;
            assert!(number(&table, &["gibbs", parameter], "ess") > 0.9 * draws);
        }
    }
}
