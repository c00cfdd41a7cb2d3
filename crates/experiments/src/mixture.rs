//! The experiment of Baker, Fearnhead, Fox and Nemeth (2018), section 5.2 and appendix E.1: users of a web site are clustered by
//! the pages they visited, and users held out are predicted.
//!
//! The paper's data are the Anonymous Microsoft Web Data (UCI), 32,711 users for training and 5,000 for testing, 3 visits
//! each; `--data` names a CSV file with the columns `user` and `page`. Without one, data of that shape are simulated: eight
//! kinds of users with Dirichlet(0.05) probabilities of 200 pages each.
//!
//! Unlike the paper, which chose priors by the score for each sampler, all run under the same ones: under a = 0.5, its choice
//! for SCIR and Gibbs, and under a = 0.001, its choice for SGRLD; α ~ Gamma(2, 4). The score is the perplexity per visit of
//! users held out, from their predictive density averaged over the second half of the draws: exactly given the partition for
//! `dp-gibbs` and `dp-slice`, by the draw's own weights and components for the stochastic samplers.
//!
//! Stochastic samplers run 5,000 minibatches of 1,000 users with each of three step sizes, of which a reader takes the best,
//! as the paper does; the first is the paper's own. SGRLD runs at both paces: `common` is the source's, one step for all
//! components.

use std::sync::Arc;
use std::time::Instant;

use rand::RngExt as _;
use rand_distr::{Distribution as _, Poisson};
use rayon::prelude::*;

use super::chain::{self, Chain};
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::Values;
use ergodic_core::models::Model;
use ergodic_core::samplers::cir::log_gamma;
use ergodic_core::samplers::{self, Output};
use ergodic_data::{ImportOptions, Table, load};

/// Share of users held out: the paper's 5,000 of 37,711.
const HELD_OUT: f64 = 0.1326;
/// Seeds per line.
const SEEDS: usize = 5;
/// Clusters of starts with many: K of the paper's tables.
const START_CLUSTERS: i64 = 20;
/// Simulated users, kinds and pages, and users of the quick version.
const USERS: usize = 37_711;
const QUICK_USERS: usize = 500;
const KINDS: usize = 8;
const PAGES: usize = 200;
/// Concentration of the simulated probabilities: most pages are rare for most kinds.
const RARE: f64 = 0.05;
/// Visits of a user beyond the first.
const VISITS: f64 = 2.0;
/// Parameters of the Dirichlet prior of a component: those that the paper chose for SCIR and for SGRLD.
const PRIORS: [f64; 2] = [0.5, 0.001];
/// Step sizes of probabilities and weights that stochastic samplers try, in units of the time in which they relax.
const STEPS: [[f64; 2]; 3] = [[0.1, 0.1], [0.03, 0.03], [0.01, 0.01]];
/// Langevin times of probabilities and weights, which SGRLD at the source's pace takes.
const COMMON_STEPS: [[f64; 2]; 3] = [[1e-3, 5e-3], [1e-3, 5e-5], [3e-4, 5e-5]];

/// Users are units.
pub(super) const FORMULA: &str = "~ page + (1 | user)";

/// A line of the table.
#[derive(Clone, Copy)]
struct Entrant {
    id: &'static str,
    start: &'static str,
    prior: f64,
    split_merge: Option<f64>,
    step: Option<[f64; 2]>,
    pace: Option<&'static str>,
    draws: u64,
}

/// Most partitions kept of a chain: enough for a point partition, little memory for 100,000 units.
const PARTITIONS: u64 = 10;

/// What one chain found.
pub(super) struct Found {
    /// Mean predictive density of each unit held out, logarithms.
    held_out: Vec<f64>,
    /// Number of clusters of each draw of the second half.
    pub clusters: Vec<f64>,
    /// Partitions of draws of the second half, evenly spaced up to the last.
    pub partitions: Vec<Vec<u32>>,
    /// Log density of each draw, and the seconds until then.
    pub trace: Vec<[f64; 2]>,
    /// Seconds of all draws.
    pub secs: f64,
}

/// Runs the experiment.
///
/// # Errors
/// The data cannot be read or lack a column.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let table = match &options.data {
        Some(path) => load(path, &ImportOptions::default(), &Control::default())?.table,
        None => simulated(options.sized(QUICK_USERS, USERS))?,
    };
    let models: Vec<Arc<dyn Model>> = PRIORS
        .iter()
        .map(|&prior| model(&table, FORMULA, HELD_OUT, Some(prior)))
        .collect::<Result<_, _>>()?;
    let seeds = options.sized(2, SEEDS);
    let draws = options.sized(10, 200);
    let visits = visits_held_out(models[0].as_ref());
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    for (model, entrant) in (PRIORS.iter().zip(&models))
        .flat_map(|(&prior, model)| entrants(prior, draws).into_iter().map(move |e| (model, e)))
    {
        let settings = settings(&entrant);
        let found: Vec<Found> = (0..seeds)
            .into_par_iter()
            .map(|k| {
                chain(
                    entrant.id,
                    &settings,
                    model,
                    (options.seed, k),
                    entrant.draws,
                )
            })
            .collect::<Result<_, _>>()?;
        rows.push(row(&entrant, &found, visits));
        lines.push((entrant, mean_perplexity(&found, visits)));
    }
    Ok(BenchTable {
        columns: vec![
            "prior",
            "sampler",
            "start",
            "split_merge",
            "pace",
            "step_size",
            "stick_step",
            "draws",
            "perplexity_mean",
            "perplexity_min",
            "perplexity_max",
            "log_predictive_per_user",
            "clusters_mean",
            "seconds_per_chain",
        ],
        rows,
        notes: vec![
            format!(
                "perplexity per visit of the users held out, {seeds} seeds from {}, second half of the draws; lower is better",
                options.seed
            ),
            match &options.data {
                Some(path) => format!("data: {}", path.display()),
                None => "data: simulated; name the paper's with --data".to_owned(),
            },
        ],
        findings: findings(&lines),
        plots: vec![
            Plot::points("sampler", &["perplexity_mean"])
                .between("perplexity_min", "perplexity_max")
                .by(&["prior", "start", "split_merge"]),
        ],
        ..BenchTable::default()
    })
}

/// Perplexity per visit of the users held out, mean over seeds.
fn mean_perplexity(found: &[Found], visits: f64) -> f64 {
    let scores = found.iter().map(|found| found.held_out.iter().sum::<f64>());
    scores.map(|score| (-score / visits).exp()).sum::<f64>() / found.len() as f64
}

/// The claims of the source: each sampler with the prior that the source chose for it, and the step that serves it best.
fn findings(lines: &[(Entrant, f64)]) -> Vec<Finding> {
    let [dense, sparse] = PRIORS;
    let least = |id: &str, prior: f64, pace: Option<&str>| {
        let mine = lines
            .iter()
            .filter(|(it, _)| it.id == id && it.prior.total_cmp(&prior).is_eq() && it.pace == pace);
        mine.map(|(_, perplexity)| *perplexity)
            .fold(f64::INFINITY, f64::min)
    };
    let gibbs = least("dp-gibbs", dense, None);
    let scir = least("dp-scir", dense, None);
    let sgrld = least("dp-sgrld", sparse, Some("common"));
    let because = format!(
        "perplexities are {gibbs:.2} by Gibbs sampling, {scir:.2} by SCIR and {sgrld:.2} by SGRLD with one step for all components, each \
         with the best of its starts or steps"
    );
    vec![
        Finding {
            claim: "SCIR predicts users held out better than SGRLD (section 5.2)",
            reproduced: scir < sgrld,
            because: because.clone(),
        },
        Finding {
            claim: "Gibbs sampling predicts users held out better than both (appendix E.1)",
            reproduced: gibbs < scir.min(sgrld),
            because,
        },
    ]
}

fn entrants(prior: f64, draws: u64) -> Vec<Entrant> {
    let plain = Entrant {
        id: "dp-gibbs",
        start: "many",
        prior,
        split_merge: None,
        step: None,
        pace: None,
        draws,
    };
    let mut all = Vec::new();
    for (id, draws) in [("dp-gibbs", draws), ("dp-slice", 2 * draws)] {
        for start in ["one", "many"] {
            all.extend([0.0, 1.0].map(|split_merge| Entrant {
                id,
                start,
                split_merge: Some(split_merge),
                draws,
                ..plain
            }));
        }
    }
    for (id, pace, steps) in [
        ("dp-scir", None, STEPS),
        ("dp-sgrld", Some("own"), STEPS),
        ("dp-sgrld", Some("common"), COMMON_STEPS),
    ] {
        all.extend(steps.map(|step| Entrant {
            id,
            step: Some(step),
            pace,
            draws: 5 * draws,
            ..plain
        }));
    }
    all
}

fn settings(entrant: &Entrant) -> Settings {
    let mut settings = Settings::default();
    settings.set("start", Value::Text(entrant.start.to_owned()));
    settings.set("start_clusters", Value::Int(START_CLUSTERS));
    if let Some(moves) = entrant.split_merge {
        settings.set("split_merge", Value::Real(moves));
    }
    if let Some([step, stick_step]) = entrant.step {
        settings.set("step_size", Value::Real(step));
        settings.set("stick_step", Value::Real(stick_step));
    }
    if let Some(pace) = entrant.pace {
        settings.set("pace", Value::Text(pace.to_owned()));
    }
    settings
}

/// One line of the table.
fn row(entrant: &Entrant, found: &[Found], visits: f64) -> Vec<Cell> {
    let scores: Vec<f64> = found
        .iter()
        .map(|found| found.held_out.iter().sum::<f64>())
        .collect();
    let perplexities: Vec<f64> = scores.iter().map(|score| (-score / visits).exp()).collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let clusters: Vec<f64> = found.iter().map(|found| mean(&found.clusters)).collect();
    let secs: Vec<f64> = found.iter().map(|found| found.secs).collect();
    let users = found.first().map_or(0, |found| found.held_out.len()) as f64;
    let extreme =
        |pick: fn(f64, f64) -> f64, from: f64| perplexities.iter().copied().fold(from, pick);
    let step = entrant.step.unwrap_or([f64::NAN; 2]);
    vec![
        Cell::Number(entrant.prior),
        Cell::Text(entrant.id.to_owned()),
        Cell::Text(entrant.start.to_owned()),
        Cell::Number(entrant.split_merge.unwrap_or(f64::NAN)),
        Cell::Text(entrant.pace.unwrap_or("").to_owned()),
        Cell::Number(step[0]),
        Cell::Number(step[1]),
        Cell::Count(entrant.draws),
        Cell::Number(mean(&perplexities)),
        Cell::Number(extreme(f64::min, f64::INFINITY)),
        Cell::Number(extreme(f64::max, f64::NEG_INFINITY)),
        Cell::Number(mean(&scores) / users),
        Cell::Number(mean(&clusters)),
        Cell::Number(mean(&secs)),
    ]
}

/// The mixture of a table.
pub(super) fn model(
    table: &Table,
    formula: &str,
    held_out: f64,
    prior: Option<f64>,
) -> Result<Arc<dyn Model>, BenchError> {
    let mut given = Settings::default();
    given.set("held_out", Value::Real(held_out));
    let priors = prior.map(|a| ("probabilities".to_owned(), format!("dirichlet({a})")));
    chain::model(
        table,
        ("dp-mixture", &given),
        formula,
        priors.into_iter().collect(),
    )
}

fn visits_held_out(model: &dyn Model) -> f64 {
    let Some(mixture) = model.partition() else {
        return f64::NAN;
    };
    let units = mixture.num_units()..mixture.num_units() + mixture.num_held_out();
    let visits = |unit| {
        let counts = mixture.counts.as_ref();
        counts.map_or(0, |counts| counts.observations(unit))
    };
    units.map(visits).sum::<u64>() as f64
}

/// One chain of `draws` draws; its second half counts.
pub(super) fn chain(
    id: &str,
    settings: &Settings,
    model: &Arc<dyn Model>,
    key: (u64, usize),
    draws: u64,
) -> Result<Found, BenchError> {
    let mut chain = Chain::start(id, settings, model, key)?;
    let (mut held_out, mut clusters, mut partitions) = (Vec::new(), Vec::new(), Vec::new());
    let stride = draws.div_ceil(2 * PARTITIONS);
    let mut trace = Vec::with_capacity(draws as usize);
    let mut params = model.params().iter();
    let density = params.position(|param| param.name == "log_density");
    let begun = Instant::now();
    for iter in 0..draws {
        chain.draw()?;
        let kernel = &chain.kernel;
        let log_density = density.map_or(f64::NAN, |place| kernel.position()[place]);
        trace.push([log_density, begun.elapsed().as_secs_f64()]);
        if iter < draws / 2 {
            continue;
        }
        clusters.push(kernel.position()[0]);
        if (draws - 1 - iter).is_multiple_of(stride) {
            partitions.extend(kernel.labels().map(<[u32]>::to_vec));
        }
        if let Some(Output::Numbers(logs)) = kernel.output_called(samplers::HELD_OUT) {
            held_out.resize(logs.len(), 0.0);
            for (sum, log) in held_out.iter_mut().zip(logs) {
                *sum += log.exp();
            }
        }
    }
    let count = clusters.len() as f64;
    Ok(Found {
        held_out: held_out.iter().map(|sum| (sum / count).ln()).collect(),
        clusters,
        partitions,
        trace,
        secs: begun.elapsed().as_secs_f64(),
    })
}

/// Visits of simulated users, one row each.
fn simulated(users: usize) -> Result<Table, BenchError> {
    let mut rng = stream(0, 0, Purpose::Data);
    let kinds: Vec<Vec<f64>> = (0..KINDS)
        .map(|_| {
            let logs: Vec<f64> = (0..PAGES).map(|_| log_gamma(&mut rng, RARE)).collect();
            let total: f64 = logs.iter().map(|log| log.exp()).sum();
            logs.iter().map(|log| log.exp() / total).collect()
        })
        .collect();
    let (mut user, mut page) = (Vec::new(), Vec::new());
    for number in 0..users {
        // Kind k is twice as frequent as kind k + 1 …, but for the last.
        let kind = kinds[(rng.random::<f64>().log2().abs() as usize).min(KINDS - 1)].as_slice();
        let further = Poisson::new(VISITS).map_or(0.0, |poisson| poisson.sample(&mut rng));
        for _ in 0..=further as usize {
            let mut left = rng.random::<f64>();
            let visited = kind.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            user.push(number as f64);
            page.push(visited.unwrap_or(PAGES - 1) as f64);
        }
    }
    let columns = vec![
        ("user".to_owned(), Values::Numbers(user)),
        ("page".to_owned(), Values::Numbers(page)),
    ];
    Ok(Table::from_columns("visits", columns)?)
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{numbers, quick};
    use super::*;

    #[test]
    fn all_samplers_predict_users_held_out() {
        let table = quick(run);
        assert_eq!(
            table.rows.len(),
            PRIORS.len() * entrants(PRIORS[0], 1).len()
        );
        let claims: Vec<&str> = table.findings.iter().map(|it| it.claim).collect();
        assert!(claims[0].starts_with("SCIR") && claims[1].starts_with("Gibbs"));
        // The numbers of the claims are those of the table.
        let of_table = numbers(&table, &["0.5", "dp-scir"], "perplexity_mean");
        let least = of_table.into_iter().fold(f64::INFINITY, f64::min);
        let because = &table.findings[0].because;
        assert!(
            because.contains(&format!("{least:.2} by SCIR")),
            "{because}"
        );
        for prior in PRIORS {
            let word = prior.to_string();
            let mut best = Vec::new();
            for (id, lines) in [
                ("dp-gibbs", 4),
                ("dp-slice", 4),
                ("dp-scir", 3),
                ("dp-sgrld", 6),
            ] {
                let column = |name: &str| numbers(&table, &[&word, id], name);
                let [mean, least, most] =
                    ["perplexity_mean", "perplexity_min", "perplexity_max"].map(column);
                assert_eq!(mean.len(), lines);
                for ((mean, least), most) in mean.iter().zip(&least).zip(&most) {
                    assert!(1.0 < *least && least <= mean && mean <= most, "{id}");
                }
                assert!(column("clusters_mean").iter().all(|count| *count >= 1.0));
                assert!(column("seconds_per_chain").iter().all(|secs| *secs > 0.0));
                assert!(
                    column("log_predictive_per_user")
                        .iter()
                        .all(|log| *log < 0.0)
                );
                best.push(mean.iter().copied().fold(f64::INFINITY, f64::min));
            }
            // No knowledge is a perplexity of 200, the number of pages. Under the sparse prior a page that no user of a cluster has visited
            // costs as much as chains of this length can hardly make up for.
            if prior == PRIORS[0] {
                assert!(best.iter().all(|it| *it < PAGES as f64), "{best:?}");
                assert!(best[0] < best[2].min(best[3]), "{best:?}");
            }
        }
    }

    /// The paper's appendix E.1; that SCIR is before SGRLD takes more pages than a test has time for.
    #[test]
    fn exact_samplers_predict_better_than_stochastic_ones() {
        let table = simulated(400).unwrap();
        let model = model(&table, FORMULA, 0.2, None).unwrap();
        let visits = visits_held_out(model.as_ref());
        let perplexity = |id, step, draws| {
            let entrant = Entrant {
                id,
                start: "many",
                prior: 0.5,
                split_merge: None,
                step,
                pace: None,
                draws,
            };
            let found = chain(id, &settings(&entrant), &model, (1, 0), draws).unwrap();
            assert!((1..=PARTITIONS).contains(&(found.partitions.len() as u64)));
            assert_eq!(found.partitions[0].len(), model.num_obs());
            (-found.held_out.iter().sum::<f64>() / visits).exp()
        };
        let exact = perplexity("dp-gibbs", None, 30);
        let scir = perplexity("dp-scir", Some(STEPS[0]), 60);
        let sgrld = perplexity("dp-sgrld", Some(STEPS[0]), 60);
        assert!(exact < scir && exact < sgrld, "{exact} {scir} {sgrld}");
        assert!(scir.max(sgrld) < 0.5 * PAGES as f64);
    }
}
