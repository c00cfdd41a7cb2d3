//! The synthetic experiments of Baker, Fearnhead, Fox and Nemeth (2018), sections 2.3 and 3.2, figures 1 and 2.
//!
//! 1000 observations of ten categories under dirichlet(0.1): sparse, with counts 800, 100, 100 and seven times 0, and dense,
//! with about 100 each. SCIR and SGRLD run 1000 iterations after 1000 of burn-in, for every share of rows in a minibatch,
//! five seeds, and with the step size that serves each seed best, of the paper's lists. The distance from the exact
//! posterior is the paper's (appendix E.1): Rosenblatt's transform turns draws of a Dirichlet distribution into independent
//! uniform variables, and the Kolmogorov-Smirnov distances of these from uniform are averaged. The transform of coordinate k
//! given those before it is the distribution function of Beta(a_k, Σ_{j>k} a_j) at p_k/Σ_{j≥k} p_j, which is σ(u_k).
//!
//! Not in the paper: `scir-cv`, with the steps of `scir`.

use std::sync::Arc;

use rayon::prelude::*;
use statrs::function::beta::checked_beta_reg;

use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::Streams;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::special::logistic;
use ergodic_core::design::{Design, ModelFrame, ResponseUse, Values};
use ergodic_core::engine::dispersed_start;
use ergodic_core::engine::start::SPREAD;
use ergodic_core::formula::Formula;
use ergodic_core::models::{self, Model, ModelOptions, SimplexCounts};
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{self, Phase, SamplerEntry, Target, Tick};
use ergodic_data::Table;
use ergodic_diagnostics::kolmogorov::distance_from_uniform;

/// Counts of the sparse experiment.
const SPARSE: [usize; 10] = [800, 100, 100, 0, 0, 0, 0, 0, 0, 0];
/// Counts of the dense experiment, from the posterior that appendix E.1 prints.
const DENSE: [usize; 10] = [112, 119, 92, 98, 95, 96, 102, 92, 91, 103];
/// Burn-in, and draws.
const ITERATIONS: usize = 1000;
/// Shares of rows in a minibatch: the paper varies them from 0.001 to 0.5.
const SHARES: [f64; 6] = [0.001, 0.005, 0.01, 0.05, 0.1, 0.5];
/// Seeds per setting.
const SEEDS: usize = 5;
/// Share of rows in a minibatch of figure 1.
const FIGURE_SHARE: f64 = 0.01;
/// Distances up to this factor apart look alike in a figure whose axis goes from 0 to 1.
const ALIKE: f64 = 1.5;
/// Difference of logarithms to base 10 that shows at once in a figure of probabilities that small.
const ORDER_OF_MAGNITUDE: f64 = 1.0;
/// The category of figure 1, which was never seen in the sparse experiment.
const FIFTH: usize = 4;
/// Step sizes of the paper's table 1 (h).
const SCIR_STEPS: &[f64] = &[1.0, 5e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3];
/// Step sizes of SGRLD: ε of Patterson and Teh.
const SGRLD_STEPS: &[f64] = &[5e-1, 1e-1, 5e-2, 1e-2, 5e-3, 1e-3, 5e-4, 1e-4];

/// A sampler, its step sizes as the paper lists them, and their factor to our `step_size`.
struct Entrant {
    id: &'static str,
    steps: &'static [f64],
    factor: fn(&dyn SimplexCounts) -> f64,
}

const ENTRANTS: &[Entrant] = &[
    Entrant {
        id: "scir",
        steps: SCIR_STEPS,
        factor: |_view| 1.0,
    },
    Entrant {
        id: "scir-cv",
        steps: SCIR_STEPS,
        factor: |_view| 1.0,
    },
    Entrant {
        id: "sgrld-simplex",
        steps: SGRLD_STEPS,
        factor: |view| {
            let prior: f64 = view.concentration().iter().sum();
            0.5 * (1.0 + view.totals().iter().sum::<f64>() / prior)
        },
    },
];

/// Distance and median of log10 of the fifth probability, over one chain.
#[derive(Clone, Copy, Debug)]
struct Score {
    step: f64,
    distance: f64,
    fifth: f64,
}

/// Runs the experiments.
///
/// # Errors
/// None that a caller could cause.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let (shares, seeds): (&[f64], usize) = options.sized((&SHARES[2..], 2), (&SHARES[..], SEEDS));
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (name, counts) in [("sparse", SPARSE), ("dense", DENSE)] {
        let model = model(&counts)?;
        let exact: Vec<Score> = (0..seeds)
            .into_par_iter()
            .filter_map(|k| {
                let entry = samplers::find("conjugate")?;
                chain(entry, &Settings::default(), &model, options.seed, k)
            })
            .collect();
        rows.push(row(name, "conjugate", 1.0, &exact));
        lines.push(Line::of(name, "conjugate", 1.0, &exact));
        let settings: Vec<(&Entrant, f64)> = ENTRANTS
            .iter()
            .flat_map(|entrant| shares.iter().map(move |&share| (entrant, share)))
            .collect();
        let found: Vec<Vec<Score>> = settings
            .par_iter()
            .map(|(entrant, share)| {
                let seeds = (0..seeds).into_par_iter();
                seeds
                    .filter_map(|k| best(entrant, *share, &model, options.seed, k))
                    .collect()
            })
            .collect();
        for ((entrant, share), scores) in settings.iter().zip(&found) {
            rows.push(row(name, entrant.id, *share, scores));
            lines.push(Line::of(name, entrant.id, *share, scores));
        }
    }
    Ok(BenchTable {
        columns: vec![
            "posterior",
            "sampler",
            "share",
            "rows",
            "step_median",
            "d_ks_mean",
            "d_ks_min",
            "d_ks_max",
            "log10_p5_median",
        ],
        rows,
        notes: vec![
            format!(
                "d_ks is the mean over coordinates of the Kolmogorov-Smirnov distance from the exact posterior, for the best step \
                 size of the paper's lists; {seeds} seeds from {}, {ITERATIONS} iterations after {ITERATIONS}",
                options.seed
            ),
            "log10_p5_median is the median of log10 of the fifth probability, of which the sparse data have no observation"
                .to_owned(),
        ],
        findings: findings(&lines),
        plots: vec![Plot::lines("share", &["d_ks_mean"]).between("d_ks_min", "d_ks_max").by(&["posterior", "sampler"]).log_x()],
        ..BenchTable::default()
    })
}

/// What a sampler found of a posterior with minibatches of one size.
struct Line {
    posterior: &'static str,
    sampler: &'static str,
    share: f64,
    /// Mean over seeds.
    distance: f64,
    /// Median over seeds.
    fifth: f64,
}

impl Line {
    fn of(posterior: &'static str, sampler: &'static str, share: f64, scores: &[Score]) -> Self {
        let distances = scores.iter().map(|score| score.distance).sum::<f64>();
        let mut fifths: Vec<f64> = scores.iter().map(|score| score.fifth).collect();
        fifths.sort_by(f64::total_cmp);
        Self {
            posterior,
            sampler,
            share,
            distance: distances / scores.len() as f64,
            fifth: median(&fifths),
        }
    }
}

/// The claims of the source.
fn findings(lines: &[Line]) -> Vec<Finding> {
    let of = |posterior: &'static str, sampler: &'static str| {
        let all = lines.iter().filter(move |line| line.posterior == posterior);
        all.filter(move |line| line.sampler == sampler)
    };
    let sparse = |sampler| of("sparse", sampler);
    // The least and the largest ratio of distances, SGRLD over SCIR.
    let ratios = |posterior| {
        let pairs = of(posterior, "scir").zip(of(posterior, "sgrld-simplex"));
        let ratios = pairs.map(|(scir, sgrld)| sgrld.distance / scir.distance);
        ratios.fold([f64::INFINITY, 0.0], |[least, most], ratio| {
            [ratio.min(least), ratio.max(most)]
        })
    };
    let [least, most] = ratios("sparse");
    let [dense_least, dense_most] = ratios("dense");
    let fifth = |sampler, share: f64| {
        sparse(sampler)
            .find(|line| line.share >= share)
            .map_or(f64::NAN, |line| line.fifth)
    };
    let exact = fifth("conjugate", 0.0);
    let [scir, sgrld] = ["scir", "sgrld-simplex"].map(|it| fifth(it, FIGURE_SHARE));
    vec![
        Finding {
            claim: "with sparse data SCIR is nearer to the posterior than SGRLD, whatever the size of minibatches (section 3.2, figure 2)",
            reproduced: least > 1.0,
            because: format!("distances of SGRLD are {least:.1} to {most:.1} times those of SCIR"),
        },
        Finding {
            claim: "with dense data SCIR and SGRLD have similar distances from the posterior (section 3.2, figure 2)",
            reproduced: dense_least > 1.0 / ALIKE && dense_most < ALIKE,
            because: format!(
                "distances of SGRLD are {dense_least:.1} to {dense_most:.1} times those of SCIR"
            ),
        },
        Finding {
            claim: "SGRLD holds the probability of a category that was never seen away from 0, and SCIR does not (section 2.3, figure 1)",
            reproduced: (scir - exact).abs() < ORDER_OF_MAGNITUDE
                && sgrld - exact > ORDER_OF_MAGNITUDE,
            because: format!(
                "its median is 10^{exact:.1} by independent draws, 10^{scir:.1} by SCIR and 10^{sgrld:.1} by SGRLD, with minibatches of \
                 {:.0} % of the rows",
                100.0 * FIGURE_SHARE
            ),
        },
    ]
}

/// The posterior of these counts under the template's default prior, which is that of the paper.
fn model(counts: &[usize]) -> Result<Arc<dyn Model>, BenchError> {
    let codes = counts.iter().enumerate();
    let z: Vec<f64> = codes
        .flat_map(|(code, &count)| vec![(code + 1) as f64; count])
        .collect();
    let table = Table::from_columns("simplex", vec![("z".to_owned(), Values::Numbers(z))])?;
    let formula: Formula = "z ~ 1"
        .parse()
        .map_err(ergodic_core::design::DesignError::from)?;
    let frame = ModelFrame {
        response_use: ResponseUse::Categories,
        levels: (1..=counts.len()).map(|code| code.to_string()).collect(),
        ..ModelFrame::new(formula)
    };
    let (design, _report) = Design::build(&table, &frame)?;
    let template = models::find("categorical")?;
    Ok((template.build)(
        Arc::new(design),
        &ModelOptions::default(),
    )?)
}

/// One line of the table.
fn row(posterior: &str, sampler: &str, share: f64, scores: &[Score]) -> Vec<Cell> {
    let of = |pick: fn(&Score) -> f64| -> Vec<f64> {
        let mut values: Vec<f64> = scores.iter().map(pick).collect();
        values.sort_by(f64::total_cmp);
        values
    };
    let distances = of(|score| score.distance);
    let ends = [distances.first(), distances.last()].map(|end| end.copied().unwrap_or(f64::NAN));
    let observations: usize = SPARSE.iter().sum();
    vec![
        Cell::Text(posterior.to_owned()),
        Cell::Text(sampler.to_owned()),
        Cell::Number(share),
        Cell::Count((share * observations as f64).round() as u64),
        Cell::Number(median(&of(|score| score.step))),
        Cell::Number(distances.iter().sum::<f64>() / distances.len() as f64),
        Cell::Number(ends[0]),
        Cell::Number(ends[1]),
        Cell::Number(median(&of(|score| score.fifth))),
    ]
}

/// The lower median of sorted values.
fn median(sorted: &[f64]) -> f64 {
    sorted
        .get(sorted.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(f64::NAN)
}

/// The chain with the step size that serves this seed best.
fn best(
    entrant: &Entrant,
    share: f64,
    model: &Arc<dyn Model>,
    seed: u64,
    number: usize,
) -> Option<Score> {
    let entry = samplers::find(entrant.id)?;
    let factor = model.simplex().map(entrant.factor)?;
    let batch = (share * model.num_obs() as f64).round() as i64;
    let scores = entrant.steps.iter().filter_map(|&step| {
        let mut settings = Settings::default();
        settings.set("batch", Value::Int(batch));
        settings.set("step_size", Value::Real(step * factor));
        settings.set("steps_per_draw", Value::Int(1));
        let score = chain(entry, &settings, model, seed, number)?;
        Some(Score { step, ..score })
    });
    scores.min_by(|a, b| a.distance.total_cmp(&b.distance))
}

/// One chain; `None` if it fails, as with steps that explode.
fn chain(
    entry: &SamplerEntry,
    settings: &Settings,
    model: &Arc<dyn Model>,
    seed: u64,
    number: usize,
) -> Option<Score> {
    let target = Target::new(model, None);
    let mut oracle = Oracle::new(Arc::clone(model), None, false, Arc::default());
    let mut streams = Streams::new(seed, number);
    let dim = model.dim();
    let u = dispersed_start(model.as_ref(), None, SPREAD, (seed, number));
    let mut kernel = (entry.build)(settings, &target, &u, &mut oracle, &mut streams).ok()?;
    let mut info = vec![0.0; entry.spec.info.len()];
    let view = model.simplex()?;
    let mut log_p = vec![0.0; dim + 1];
    let mut transformed = vec![Vec::with_capacity(ITERATIONS); dim];
    let mut fifth = Vec::with_capacity(ITERATIONS);
    for iter in 0..2 * ITERATIONS {
        let at = Tick {
            iter: iter as u64,
            phase: Phase::Draw,
        };
        kernel.step(at, &mut oracle, &mut streams, &mut info).ok()?;
        if iter < ITERATIONS {
            continue;
        }
        view.log_probabilities(kernel.position(), &mut log_p);
        fifth.push(log_p[FIFTH] / std::f64::consts::LN_10);
        rosenblatt(kernel.position(), view, &mut transformed);
    }
    fifth.sort_by(f64::total_cmp);
    let distances = transformed.iter_mut().map(|p| distance_from_uniform(p));
    Some(Score {
        step: f64::NAN,
        distance: distances.sum::<f64>() / dim as f64,
        fifth: median(&fifth),
    })
}

/// Appends the transform of one draw, coordinate by coordinate.
fn rosenblatt(u: &[f64], view: &dyn SimplexCounts, out: &mut [Vec<f64>]) {
    let a = |k: usize| view.concentration()[k] + view.totals()[k];
    let mut after = a(u.len());
    for k in (0..u.len()).rev() {
        // The smaller part of the stick, so that nothing is lost where the other is next to 1.
        let part = logistic(-u[k].abs());
        let p = if u[k] < 0.0 {
            checked_beta_reg(a(k), after, part)
        } else {
            checked_beta_reg(after, a(k), part).map(|rest| 1.0 - rest)
        };
        out[k].push(p.unwrap_or(f64::NAN));
        after += a(k);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distances by sampler and share.
    fn distances(table: &BenchTable, posterior: &str, sampler: &str) -> Vec<(f64, f64)> {
        let word = |cell: &Cell, word: &str| *cell == Cell::Text(word.to_owned());
        let number = |cell: &Cell| match cell {
            Cell::Number(value) => *value,
            _ => panic!("{cell:?}"),
        };
        let rows = table.rows.iter();
        rows.filter(|row| word(&row[0], posterior) && word(&row[1], sampler))
            .map(|row| (number(&row[2]), number(&row[5])))
            .collect()
    }

    /// The claims of the paper's section 3.2; exact draws are near the posterior.
    #[test]
    fn scir_is_nearer_than_sgrld_where_probabilities_are_small() {
        let options = BenchOptions {
            seed: 1,
            quick: true,
            ..BenchOptions::default()
        };
        let table = run(&options).unwrap();
        crate::problem::testing::check_plots(&table);
        assert_eq!(table.rows.len(), 2 * (1 + 3 * 4));
        let [nearer, alike, unseen] = table.findings.as_slice() else {
            panic!("{:?}", table.findings);
        };
        assert!(nearer.reproduced, "{nearer}");
        assert!(alike.reproduced, "{alike}");
        assert!(unseen.because.contains("by SGRLD"), "{unseen}");
        assert!(
            table
                .rows
                .iter()
                .all(|row| row.len() == table.columns.len())
        );
        for posterior in ["sparse", "dense"] {
            // 1000 independent draws: the mean distance is 0.87/sqrt(1000).
            let exact = distances(&table, posterior, "conjugate")[0].1;
            assert!((0.02..0.035).contains(&exact), "{posterior}: {exact}");
        }
        let pairs = |posterior| {
            let sgrld = distances(&table, posterior, "sgrld-simplex");
            distances(&table, posterior, "scir").into_iter().zip(sgrld)
        };
        for ((share, scir), (_, sgrld)) in pairs("sparse") {
            assert!(scir < 0.7 * sgrld, "share {share}: {scir} {sgrld}");
        }
        for ((share, scir), (_, sgrld)) in pairs("dense") {
            assert!(
                (scir / sgrld).ln().abs() < f64::ln(2.0),
                "share {share}: {scir} {sgrld}"
            );
        }
        let header = table.to_csv();
        assert!(header.starts_with("posterior,sampler,share,rows,"));
        assert_eq!(run(&options).unwrap().to_csv(), header);
    }
}
