//! The hierarchical experiment of the OSGFS report (section 3.2, figure 3): Skin Segmentation in 25 groups.
//!
//! Each group has a logistic regression of its own, θ_g ~ N(μ, Σ), and the posterior is sampled group by group: with OSGFS,
//! with a normal approximation (the report's yardstick), and exactly. The report compares pictures; here are times per
//! effective draw, and distances from the exact sampler. How the report split the rows is not said: here every row gets a
//! group at random, from the seed. With `--data` the columns B, G, R and skin are read from that file; without it rows of the
//! same number are simulated: three skewed, correlated predictors and a logistic response.
//!
//! One chain on one thread, so that times compare; the exact sampler runs with two of its updates.

use std::sync::Arc;
use std::time::Instant;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::problem::mean_and_sd;
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::special::logistic;
use ergodic_base::{ChainRng, Control, Purpose, Streams, stream};
use ergodic_core::design::{Design, GroupDesign, GroupFactor, ModelFrame, Values};
use ergodic_core::engine::dispersed_start;
use ergodic_core::engine::start::SPREAD;
use ergodic_core::formula::Formula;
use ergodic_core::models::{self, Model, ModelOptions};
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{self, Phase, Target, Tick};
use ergodic_data::{ImportOptions, Table, load};
use ergodic_diagnostics::ess_bulk;

/// Groups of the report.
const GROUPS: usize = 25;
/// Rows simulated where no file is given: those of Skin Segmentation.
const ROWS: usize = 245_057;
/// Rows simulated in the small version.
const QUICK_ROWS: usize = 2_500;
/// Draws of the report.
const DRAWS: usize = 5000;
/// Draws of the small version.
const QUICK_DRAWS: usize = 150;

/// Largest shift of a mean, in standard deviations, and error of a standard deviation, as a share, that pictures of both hide.
const HIDDEN: f64 = 0.15;

/// A sampler with its settings, and draws as a multiple of the exact sampler's.
struct Entrant {
    name: &'static str,
    id: &'static str,
    setting: Option<(&'static str, &'static str)>,
    draws: usize,
}

const ENTRANTS: &[Entrant] = &[
    Entrant {
        name: "exact (independence)",
        id: "gibbs-groups",
        setting: Some(("update", "independence")),
        draws: 1,
    },
    Entrant {
        name: "exact (nuts)",
        id: "gibbs-groups",
        setting: Some(("update", "nuts")),
        draws: 1,
    },
    Entrant {
        name: "normal approximation",
        id: "gibbs-gaussian",
        setting: None,
        draws: 1,
    },
    Entrant {
        name: "OSGFS",
        id: "gibbs-osgfs",
        setting: None,
        // Minibatches leave draws dependent: as many effective ones need more.
        draws: 10,
    },
];

/// What one chain gave.
struct Chain {
    /// By reported quantity.
    columns: Vec<Vec<f64>>,
    secs: f64,
    datum_grads: u64,
}

/// Runs the experiment.
///
/// # Errors
/// The file cannot be read or lacks a column.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let table = match &options.data {
        Some(path) => load(path, &ImportOptions::default(), &Control::default())?.table,
        None => simulated(options.sized(QUICK_ROWS, ROWS), options.seed)?,
    };
    let model = model(&table, options.seed)?;
    let base = options.sized(QUICK_DRAWS, DRAWS);
    let mut exact: Option<Vec<[f64; 2]>> = None;
    let mut rows = Vec::new();
    let mut errors = Vec::new();
    for entrant in ENTRANTS {
        let Some(chain) = chain(entrant, &model, base * entrant.draws, options.seed) else {
            continue;
        };
        let moments: Vec<[f64; 2]> = chain.columns.iter().map(|c| mean_and_sd(c)).collect();
        let exact = exact.get_or_insert_with(|| moments.clone());
        let pairs = || moments.iter().zip(&*exact);
        let shift = pairs()
            .map(|(found, exact)| ((found[0] - exact[0]) / exact[1]).abs())
            .fold(0.0, f64::max);
        let ratios = pairs().map(|(found, exact)| found[1] / exact[1]);
        let (low, high) = ratios.fold((f64::INFINITY, 0.0_f64), |(low, high), ratio| {
            (low.min(ratio), high.max(ratio))
        });
        errors.push((entrant.id, [shift, low, high]));
        let mut ess: Vec<f64> = chain
            .columns
            .iter()
            .map(|column| ess_bulk(&[column]).unwrap_or(f64::NAN))
            .collect();
        ess.sort_by(f64::total_cmp);
        let draws = base * entrant.draws;
        let (least, median) = (ess[0], ess[ess.len() / 2]);
        let millis = 1000.0 * chain.secs;
        let passes = chain.datum_grads as f64 / model.num_obs() as f64;
        rows.push(vec![
            Cell::Text(entrant.name.to_owned()),
            Cell::Count(draws as u64),
            Cell::Number(millis / draws as f64),
            Cell::Number(passes / draws as f64),
            Cell::Number(least),
            Cell::Number(median),
            Cell::Number(millis / least),
            Cell::Number(millis / median),
            Cell::Number(shift),
            Cell::Number(low),
            Cell::Number(high),
        ]);
    }
    let source = options.data.as_ref().map_or_else(
        || "simulated rows".to_owned(),
        |path| format!("the rows of {}", path.display()),
    );
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "draws",
            "ms_per_draw",
            "passes_per_draw",
            "ess_min",
            "ess_median",
            "ms_per_effective_min",
            "ms_per_effective_median",
            "worst_shift_sd",
            "sd_ratio_min",
            "sd_ratio_max",
        ],
        rows,
        notes: vec![
            format!(
                "{source}, {} in {GROUPS} random groups (seed {}), {} variables; one chain on one thread, warm-up not timed",
                model.num_obs(),
                options.seed,
                model.params().len()
            ),
            "ess_min and ess_median are over all variables (bulk); shifts and sd ratios are from the first row, and include \
             Monte Carlo error"
                .to_owned(),
        ],
        findings: vec![finding(&errors)],
        plots: vec![
            Plot::points("sampler", &["ms_per_effective_median"]).log_y(),
            Plot::points("sampler", &["worst_shift_sd"]),
        ],
        ..BenchTable::default()
    })
}

/// The claim of the report, by the largest shift of a mean and the least and largest ratio of a standard deviation of each sampler.
fn finding(errors: &[(&'static str, [f64; 3])]) -> Finding {
    let of = |id: &str| {
        let found = errors.iter().find(|(sampler, _)| *sampler == id);
        found.map_or([f64::NAN; 3], |(_, errors)| *errors)
    };
    let is_hidden =
        |[shift, low, high]: [f64; 3]| shift < HIDDEN && low > 1.0 - HIDDEN && high < 1.0 + HIDDEN;
    let (osgfs, normal) = (of("gibbs-osgfs"), of("gibbs-gaussian"));
    let words = |[shift, low, high]: [f64; 3]| {
        format!("by at most {shift:.2} and by factors of {low:.2} to {high:.2}")
    };
    Finding {
        claim: "groups drawn by OSGFS have the distribution of those drawn by their normal approximation (section 3.2, figure 3)",
        reproduced: is_hidden(osgfs) && is_hidden(normal),
        because: format!(
            "means in standard deviations, and standard deviations, are off {} with OSGFS, {} with the normal approximation, Monte Carlo \
             error included",
            words(osgfs),
            words(normal)
        ),
    }
}

/// Rows with the columns of Skin Segmentation: light and two others that follow it, skewed.
fn simulated(num_rows: usize, seed: u64) -> Result<Table, BenchError> {
    let mut rng = stream(seed, 0, Purpose::Data);
    let mut columns = [const { Vec::new() }; 4];
    let normal = |rng: &mut ChainRng| -> f64 { StandardNormal.sample(rng) };
    for _ in 0..num_rows {
        let light = normal(&mut rng);
        let [b, g, r]: [f64; 3] =
            std::array::from_fn(|_| (0.4 * light + 0.3 * normal(&mut rng)).exp());
        let z = -2.0 - 1.2 * (b - 1.1) - 0.5 * (g - 1.1) + 1.5 * (r - 1.1);
        let skin = f64::from(u8::from(rng.random::<f64>() < logistic(z)));
        for (column, value) in columns.iter_mut().zip([b, g, r, skin]) {
            column.push(value);
        }
    }
    let names = ["B", "G", "R", "skin"].map(str::to_owned);
    let columns = names
        .into_iter()
        .zip(columns.map(Values::Numbers))
        .collect();
    Ok(Table::from_columns("simulated", columns)?)
}

/// The posterior with every row in a random group.
fn model(table: &Table, seed: u64) -> Result<Arc<dyn Model>, BenchError> {
    let formula: Formula = "skin ~ B + G + R"
        .parse()
        .map_err(ergodic_core::design::DesignError::from)?;
    let frame = ModelFrame {
        shuffle_seed: seed,
        ..ModelFrame::new(formula)
    };
    let (mut design, _report) = Design::build(table, &frame)?;
    let mut rng = stream(seed, 1, Purpose::Data);
    design.groups = vec![GroupFactor {
        name: "group".to_owned(),
        levels: (1..=GROUPS).map(|g| g.to_string()).collect(),
        index: (0..design.num_obs())
            .map(|_| rng.random_range(0..GROUPS as u32))
            .collect(),
    }];
    design.group_terms = vec![GroupDesign {
        factor: 0,
        names: design.terms.iter().map(String::from).collect(),
        z: design.x.clone(),
        scale: design.raw_scale.clone(),
        correlated: true,
    }];
    let template = models::find("hierarchical")?;
    let options = ModelOptions {
        standardize: true,
        report_standardized: true,
        ..ModelOptions::default()
    };
    Ok((template.build)(Arc::new(design), &options)?)
}

/// One chain; `None` if it fails.
fn chain(entrant: &Entrant, model: &Arc<dyn Model>, draws: usize, seed: u64) -> Option<Chain> {
    let entry = samplers::find(entrant.id)?;
    let mut settings = Settings::default();
    if let Some((key, word)) = entrant.setting {
        settings.set(key, Value::Text(word.to_owned()));
    }
    let target = Target::new(model, None);
    let mut oracle = Oracle::new(Arc::clone(model), None, false, Arc::default());
    let mut streams = Streams::new(seed, 0);
    let u = dispersed_start(model.as_ref(), None, SPREAD, (seed, 0));
    let mut kernel = (entry.build)(&settings, &target, &u, &mut oracle, &mut streams).ok()?;
    let mut info = vec![0.0; entry.spec.info.len()];
    let warmup = entry.spec.default_warmup;
    let mut values = vec![0.0; model.params().len()];
    let mut columns = vec![Vec::with_capacity(draws); values.len()];
    let (mut begun, mut grads_before) = (Instant::now(), 0);
    for iter in 0..warmup + draws as u64 {
        if iter == warmup {
            (begun, grads_before) = (Instant::now(), oracle.datum_grads);
        }
        let phase = if iter < warmup {
            Phase::Warmup {
                length: Some(warmup),
            }
        } else {
            Phase::Draw
        };
        let at = Tick { iter, phase };
        kernel.step(at, &mut oracle, &mut streams, &mut info).ok()?;
        if iter >= warmup {
            model.constrain(kernel.position(), &mut values);
            for (column, value) in columns.iter_mut().zip(&values) {
                column.push(*value);
            }
        }
    }
    Some(Chain {
        columns,
        secs: begun.elapsed().as_secs_f64(),
        datum_grads: oracle.datum_grads - grads_before,
    })
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{numbers, quick};
    use super::*;

    #[test]
    fn the_three_samplers_agree_and_osgfs_draws_cost_least() {
        let table = quick(run);
        // Four means, their ten covariances and four coefficients of each group.
        assert!(
            table.notes[0].contains("114 variables"),
            "{}",
            table.notes[0]
        );
        let because = &table.findings[0].because;
        let shift = numbers(&table, &["OSGFS"], "worst_shift_sd")[0];
        assert!(
            because.contains(&format!("at most {shift:.2} and")),
            "{because}"
        );
        let names: Vec<String> = table.rows.iter().map(|row| row[0].plain()).collect();
        assert!(names.iter().eq(ENTRANTS.iter().map(|entrant| entrant.name)));
        let column = |name: &str| numbers(&table, &[], name);
        let passes = column("passes_per_draw");
        assert!(passes[3] < 0.5 * passes[2], "{passes:?}");
        assert!(column("worst_shift_sd").iter().all(|shift| *shift < 1.0));
        let (low, high) = (column("sd_ratio_min"), column("sd_ratio_max"));
        assert!(low[0] == 1.0 && high[0] == 1.0);
        assert!(
            low.iter()
                .zip(&high)
                .all(|(low, high)| 0.0 < *low && low <= high)
        );
        let (least, median) = (column("ess_min"), column("ess_median"));
        assert!(
            least
                .iter()
                .zip(&median)
                .all(|(least, median)| 0.0 < *least && least <= median)
        );
        assert!(column("ms_per_draw").iter().all(|millis| *millis > 0.0));
    }
}
