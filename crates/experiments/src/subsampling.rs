//! HMC on subsamples beside its rivals: relative computational time, bias and predictions.
//!
//! Source: Dang, Quiroz, Kohn, Tran and Villani (2019), section 6 with tables 1 to 4 and figures 1 to 6: logistic regressions of HIGGS (10.5
//! million rows and 500,000 more to predict, 29 columns with the intercept) and of Swedish bankruptcies (4.7 million firm-years, 81 columns
//! of splines, not public). Times are numbers of densities and gradients of single rows per effective draw, by parameter, over those of the
//! perturbed HMC-ECS; the source counts training and warm-up of its own samplers and not those of SGLD and SG-HMC, and so is it here. With
//! `--data` the rows are those of that file, whose last column is the outcome and whose last rows are predicted; without it there are fewer
//! rows than in the source, simulated.
//!
//! Rivals have control variates at the mode of all rows, and their steps by default, where the source has trial and error. Those with
//! control variates of second order, which the source has, take batch, step, friction and steps per draw of those of first order; their rows
//! have equal chances and nothing is taken off the injected noise, as in the source. Their defaults would reckon with the noise of first
//! order from rows with equal chances, for which a rare outcome leaves batches of all rows.

use super::problem::{Problem, info, row};
use super::tall::{Shape, Tall};
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_analysis::Run;
use ergodic_analysis::comparison::{Measured, measure};
use ergodic_analysis::hold_out::HoldOut;
use ergodic_analysis::predict::Fitted;
use ergodic_core::design::Columns as _;
use ergodic_core::formula::quote_name;
use ergodic_core::samplers::N_LEAPFROG;
use ergodic_diagnostics::quantiles;
use ergodic_diagnostics::scores::Roc;

mod predictions;

/// Samplers; the second is the unit of cost, the first the truth.
const SAMPLERS: [&str; 9] = [
    "hmc",
    "hmc-ecs",
    "hmc-ecs-signed",
    "sghmc",
    "sghmc-cv",
    SGHMC_SECOND,
    "sgld",
    "sgld-cv",
    SGLD_SECOND,
];
/// Those with trajectories of a given length.
const ECS: [&str; 2] = ["hmc-ecs", "hmc-ecs-signed"];
const SGHMC_SECOND: &str = "sghmc-cv:order=2";
const SGLD_SECOND: &str = "sgld-cv:order=2";
/// What tells these from those with control variates of first order.
const SECOND: &str = ":order=2";
/// Draws per chain, and in the quick version, of samplers whose draws are cheap, and of those that take passes over many rows.
const DRAWS: [u64; 2] = [1_000, 250];
const DEAR_DRAWS: [u64; 2] = [150, 250];
const DEAR: [&str; 3] = ["hmc", "sghmc", "sgld"];
/// Warm-up of HMC with all rows.
const WARMUP: u64 = 200;
/// One row in eleven is predicted, and at most as many as in the source.
const ONE_IN: usize = 11;
const MOST_PREDICTED: usize = 500_000;
/// What HMC with all rows costs at least where subsamples cost a small part of it.
const CHEAP: f64 = 5.0;
/// Largest error of a standard deviation, as a share, and shift of a mean in standard deviations, of an accurate run.
const ACCURATE: f64 = 0.15;
/// What is little more: the source's larger median and as much again.
const LITTLE: f64 = 3.0;
/// Largest vertical distance of curves that lie on each other in a figure of the source's size.
const LINE: f64 = 0.02;
/// Groups of rows of which realised and predicted shares are compared, as in the source, and in the quick version.
const GROUPS: [usize; 2] = [100, 20];
/// Largest difference of predicted probabilities, in standard errors of a realised share, that a figure of both does not show.
const HIDDEN: f64 = 0.25;

/// Many rows of few columns.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn higgs(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let shape = Shape {
        rows: options.sized(11_000, 550_000),
        numbers: options.sized(5, 28),
        flags: 0,
        intercept: 0.0,
    };
    let tall = Tall::of(options, shape)?;
    let formula = tall.formula.clone();
    let trial = Trial::new(tall, &formula, options)?;
    let mut table = trial.table();
    table.findings.push(trial.gain());
    table.findings.push(trial.same_curves());
    Ok(table)
}

/// A rare outcome and splines of every column.
///
/// # Errors
/// The file cannot be read or a run cannot be prepared.
pub fn bankruptcy(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    /// Functions of a spline, as in the source.
    const FUNCTIONS: usize = 10;
    const QUICK_FUNCTIONS: usize = 4;
    let shape = Shape {
        rows: options.sized(11_000, 220_000),
        numbers: options.sized(2, 8),
        flags: 0,
        // One row in a hundred.
        intercept: -5.0,
    };
    let tall = Tall::of(options, shape)?;
    let functions = options.sized(QUICK_FUNCTIONS, FUNCTIONS);
    let mut names: Vec<String> = tall.table.names().map(quote_name).collect();
    let outcome = names.pop().unwrap_or_default();
    let splines: Vec<String> = names
        .iter()
        .map(|name| format!("bs({name}, {functions})"))
        .collect();
    let formula = format!("{outcome} ~ {}", splines.join(" + "));
    let trial = Trial::new(tall, &formula, options)?;
    let mut table = trial.table();
    trial.add_groups(GROUPS[usize::from(options.quick)], &mut table)?;
    Ok(table)
}

/// A sampler, and what came of it.
struct Entrant {
    id: &'static str,
    run: Run,
    /// `None` if no chain ended well.
    measured: Option<Measured>,
    roc: Option<Roc>,
}

/// All samplers on one problem.
struct Trial {
    problem: Problem,
    fitted: Fitted,
    entrants: Vec<Entrant>,
    /// Where the rows come from, for people.
    source: String,
}

impl Trial {
    fn new(tall: Tall, formula: &str, options: &BenchOptions) -> Result<Self, BenchError> {
        let quick = usize::from(options.quick);
        let count = tall.table.num_rows();
        let predicted = (count / ONE_IN).min(MOST_PREDICTED);
        // Rows are counted from 1.
        let last = (count - predicted) as u32 + 1..=count as u32;
        let problem = Problem::new(("logistic", formula), tall.table, options.seed, |recipe| {
            recipe.model.hold_out = Some(HoldOut::Rows(last.collect()));
        })?;
        let fitted = Fitted::of(problem.job()).map_err(BenchError::unknown)?;
        let mut truth = None;
        let mut entrants = Vec::new();
        for (k, id) in SAMPLERS.into_iter().enumerate() {
            let count = SAMPLERS.len();
            options.control.enter(format!("{id}, {} of {count}", k + 1));
            let run = problem.run(&variant(&problem, id)?, |run| {
                let draws = if DEAR.contains(&id) {
                    DEAR_DRAWS
                } else {
                    DRAWS
                };
                run.draws = draws[quick];
                if id == "hmc" {
                    run.warmup = Some(WARMUP);
                }
            })?;
            let truth = truth.get_or_insert_with(|| run.report().summary.clone());
            entrants.push(Entrant {
                id,
                measured: measure(&run, truth),
                roc: predictions::roc(&fitted, &run)?,
                run,
            });
        }
        Ok(Self {
            problem,
            fitted,
            entrants,
            source: tall.source,
        })
    }

    fn of(&self, id: &str) -> &Entrant {
        let place = SAMPLERS.iter().position(|it| *it == id);
        &self.entrants[place.unwrap_or(0)]
    }

    /// The least, the median and the largest relative cost of a parameter.
    fn cost(&self, id: &str) -> [f64; 3] {
        let unit = self.of("hmc-ecs").measured.as_ref();
        relative(self.of(id).measured.as_ref(), unit, !id.contains("hmc-ecs"))
    }

    fn median(&self, id: &str) -> f64 {
        self.cost(id)[1]
    }

    /// The largest shift of a mean or error of a standard deviation.
    fn error(&self, id: &str) -> f64 {
        self.of(id).measured.as_ref().map_or(f64::NAN, |it| {
            let low = 1.0 - it.sd_ratio.0;
            it.mean_shift.max(low).max(it.sd_ratio.1 - 1.0)
        })
    }

    /// The area under the ROC curve with its standard error.
    fn area(&self, id: &str) -> [f64; 2] {
        let area = self.of(id).roc.as_ref().map(|roc| roc.area);
        area.map_or([f64::NAN; 2], |area| {
            [area.value, area.se.unwrap_or(f64::NAN)]
        })
    }

    /// The largest vertical distance of the ROC curve from that of HMC.
    fn gap(&self, id: &str) -> f64 {
        let curves = self.of("hmc").roc.as_ref().zip(self.of(id).roc.as_ref());
        curves.map_or(f64::NAN, |(truth, other)| predictions::gap(truth, other))
    }

    fn row(&self, it: &Entrant) -> Vec<Cell> {
        let numbers = it.measured.as_ref().map_or([f64::NAN; 9], |it| {
            [
                it.mean_shift,
                it.sd_ratio.0,
                it.sd_ratio.1,
                it.accept.unwrap_or(f64::NAN),
                it.accept_rows.unwrap_or(f64::NAN),
                it.inefficiency,
                it.ess,
                it.positive.unwrap_or(f64::NAN),
                100.0 * it.rows_share,
            ]
        });
        let predicted = [self.area(it.id)[0], self.gap(it.id)];
        let steps = [steps(&it.run)];
        let numbers = [self.cost(it.id).as_slice(), &steps, &numbers, &predicted].concat();
        row(&[it.id], &numbers)
    }

    /// The table with the claims that the source makes of both sets of rows.
    fn table(&self) -> BenchTable {
        let (error, median) = (|id| self.error(id), |id| self.median(id));
        let curves = self.entrants.iter().map(|it| (it.id, it.roc.as_ref()));
        let curves: Vec<_> = curves.collect();
        BenchTable {
            columns: vec![
                "sampler",
                "rct_min",
                "rct_median",
                "rct_max",
                "steps",
                "mean_shift_sd",
                "sd_ratio_least",
                "sd_ratio_most",
                "accept",
                "accept_rows",
                "inefficiency",
                "ess",
                "positive",
                "rows_percent",
                "auc",
                "roc_gap",
            ],
            rows: self.entrants.iter().map(|it| self.row(it)).collect(),
            further: vec![predictions::curves(&curves)],
            plots: vec![
                Plot::points("sampler", &["rct_median"])
                    .between("rct_min", "rct_max")
                    .log_y(),
                predictions::roc_plot(&curves),
            ],
            notes: self.notes(),
            findings: vec![
                Finding {
                    claim: "HMC-ECS is as accurate as HMC on all rows at a small part of its cost",
                    reproduced: error("hmc-ecs") < ACCURATE && median("hmc") > CHEAP,
                    because: format!(
                        "means and standard deviations are off by at most {:.2}, and HMC costs {:.0} times as much (the source: 642.8 and \
                         478.7 with more rows, in proportion to which this grows)",
                        error("hmc-ecs"),
                        median("hmc")
                    ),
                },
                Finding {
                    claim: "the signed variant costs little more than the perturbed one: 1.15 and 1.6 times, in the median",
                    reproduced: median("hmc-ecs-signed") < LITTLE,
                    because: signed(
                        self.of("hmc-ecs-signed").measured.as_ref(),
                        median("hmc-ecs-signed"),
                    ),
                },
                Finding {
                    claim: "SG-HMC and SGLD with control variates cost more than HMC-ECS: 3 and 12 times and more, in the median",
                    reproduced: median(SGHMC_SECOND) > 1.0 && median(SGLD_SECOND) > 1.0,
                    because: format!(
                        "{:.2} and {:.2} times with control variates of second order, as in the source, and {:.2} and {:.2} with those of \
                         first, the warm-up of all left out; steps by default, chosen from the predicted bias, are longer than those that \
                         the source found by trial and error",
                        median(SGHMC_SECOND),
                        median(SGLD_SECOND),
                        median("sghmc-cv"),
                        median("sgld-cv")
                    ),
                },
                Finding {
                    claim: "SGLD is biased, with control variates and without",
                    reproduced: error("sgld") > ACCURATE && error(SGLD_SECOND) > ACCURATE,
                    because: format!(
                        "means and standard deviations are off by at most {:.2} with control variates of second order, {:.2} with those of \
                         first and {:.2} without, at steps that are chosen by the bias they bring",
                        error(SGLD_SECOND),
                        error("sgld-cv"),
                        error("sgld")
                    ),
                },
            ],
        }
    }

    fn notes(&self) -> Vec<String> {
        vec![
            format!(
                "{} rows and {} more to predict: {}; rct: densities and gradients of rows per effective draw of a parameter over those of \
                 hmc-ecs, least, median and largest over parameters, with the warm-up of hmc-ecs and hmc-ecs-signed only; shifts and ratios \
                 against hmc; rows_percent: of the rows, used by a step",
                self.problem.job().model.num_obs(),
                self.fitted.num_held_out(),
                self.source
            ),
            "steps: L, mean steps of the integrator from one draw to the next; inefficiency and ess, draws per effective draw and effective draws \
             of all chains: of the parameter that mixes worst, where the source has means over parameters; positive: share of draws with \
             positive weights, τ of the source"
                .to_owned(),
            "order=2: control variates of second order, with batch and step of those of first; a row costs about twice as much, which rct \
             does not count"
                .to_owned(),
            "auc: area under the ROC curve of mean predictions of the rows kept out of the fit; roc_gap: largest vertical distance of that \
             curve from that of hmc; the further table roc has the curves, the share of yes found for each share of false positives"
                .to_owned(),
        ]
    }

    /// Whether control variates help SG-HMC.
    fn gain(&self) -> Finding {
        let errors = [SGHMC_SECOND, "sghmc-cv", "sghmc"].map(|id| self.error(id));
        Finding {
            claim: "SG-HMC is accurate with control variates and not without",
            reproduced: errors[0] < ACCURATE && errors[2] > ACCURATE,
            because: format!(
                "means and standard deviations are off by at most {:.2} with control variates of second order, {:.2} with those of first and \
                 {:.2} without, at steps that are chosen by the bias they bring",
                errors[0], errors[1], errors[2]
            ),
        }
    }

    /// Whether subsamples predict as all rows do.
    fn same_curves(&self) -> Finding {
        let gaps = ECS.map(|id| self.gap(id));
        let [exact, se] = self.area("hmc");
        Finding {
            claim: "ROC curves of HMC-ECS, perturbed and signed, are indistinguishable from that of HMC",
            reproduced: gaps.iter().all(|gap| *gap < LINE),
            because: format!(
                "curves are at most {:.4} and {:.4} apart; the areas under them are {:.4} and {:.4}, that of HMC is {exact:.4} with a \
                 standard error of {se:.4}",
                gaps[0],
                gaps[1],
                self.area("hmc-ecs")[0],
                self.area("hmc-ecs-signed")[0]
            ),
        }
    }

    /// Adds realised and predicted shares along the first predictor, and whether subsamples predict them as all rows do.
    fn add_groups(&self, count: usize, table: &mut BenchTable) -> Result<(), BenchError> {
        const PAIR: [&str; 2] = ["hmc", "hmc-ecs"];
        let rows = &self.problem.job().table;
        let Some(values) = rows.numbers(0) else {
            return Err(BenchError::FirstColumn);
        };
        let [exact, other] =
            PAIR.map(|id| predictions::of_fitted_rows(&self.fitted, &self.of(id).run));
        let groups = predictions::groups([&exact?, &other?], values, count);
        let largest =
            |of: fn(&predictions::Group) -> f64| groups.iter().map(of).fold(0.0, f64::max);
        let relative = largest(predictions::Group::relative_difference);
        let name = rows.names().next().unwrap_or_default();
        table.notes.push(format!(
            "the further table realised has groups of equally many rows of the fit in the order of `{name}`: mean of the predictor, share of \
             yes, and mean predicted probability by hmc and by hmc-ecs"
        ));
        table.further.push(predictions::realised(&groups, PAIR));
        table.plots.push(predictions::realised_plot(PAIR));
        table.findings.push(Finding {
            claim: "probabilities predicted along a predictor by HMC-ECS are indistinguishable from those by HMC",
            reproduced: relative < HIDDEN,
            because: format!(
                "in {} groups of rows along `{name}` they differ by at most {:.5}, and by at most {relative:.2} standard errors of a realised \
                 share",
                groups.len(),
                largest(predictions::Group::difference)
            ),
        });
        Ok(())
    }
}

/// What is run of an entrant: trajectories of the source's length; with control variates of second order what the one of first order is by
/// default.
fn variant(problem: &Problem, id: &str) -> Result<String, BenchError> {
    if ECS.contains(&id) {
        return Ok(format!("{id}:trajectory=1.2"));
    }
    let Some(first) = id.strip_suffix(SECOND) else {
        return Ok(id.to_owned());
    };
    let mut variant = format!("{id}:scheme=iid");
    for key in ["batch", "step_size", "steps_per_draw", "friction"] {
        if let Some(value) = problem.setting(first, key)? {
            variant += &format!(":{key}={value}");
        }
    }
    if variant.contains("friction") {
        variant += ":friction_correction=off";
    }
    Ok(variant)
}

/// Steps of the integrator from one draw to the next, on average over draws.
fn steps(run: &Run) -> f64 {
    let leapfrogs = info(run, N_LEAPFROG).concat();
    match leapfrogs.len() {
        // Samplers without trajectories make as many between all draws.
        0 => {
            let settings = &run.job().recipe.sampler.settings;
            settings.real("steps_per_draw").unwrap_or(f64::NAN)
        }
        count => leapfrogs.iter().sum::<f64>() / count as f64,
    }
}

/// What the signed variant costs, or why it costs more than can be said.
fn signed(measured: Option<&Measured>, median: f64) -> String {
    let positive = measured.and_then(|it| it.positive).unwrap_or(f64::NAN);
    let signs = 100.0 * positive;
    match median.is_nan() {
        true => format!(
            "{signs:.0} % of its draws have positive weights, so that these cancel and leave no estimate: differences of rows are too large \
             here for the minibatches that it takes by default"
        ),
        false => format!(
            "it costs {median:.2} times as much, and {signs:.0} % of its draws have positive weights"
        ),
    }
}

/// The least, the median and the largest cost of a parameter over that of `unit`, of the draws alone where `is_rival`.
fn relative(measured: Option<&Measured>, unit: Option<&Measured>, is_rival: bool) -> [f64; 3] {
    let (Some(measured), Some(unit)) = (measured, unit) else {
        return [f64::NAN; 3];
    };
    let pairs = measured.costs.iter().zip(&unit.costs);
    let mut ratios: Vec<f64> = pairs
        .filter_map(|(own, unit)| {
            let own = (*own)?;
            Some(if is_rival { own[1] } else { own[0] } / (*unit)?[0])
        })
        .collect();
    let middle = quantiles::of_unsorted(&mut ratios, 0.5);
    let least = ratios.iter().copied().fold(f64::NAN, f64::min);
    [
        least,
        middle,
        ratios.iter().copied().fold(f64::NAN, f64::max),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::FurtherTable;
    use super::super::problem::testing::{number, quick};
    use super::*;

    #[track_caller]
    fn further<'a>(table: &'a BenchTable, name: &str) -> &'a FurtherTable {
        let found = table.further.iter().find(|it| it.name == name);
        let found = found.expect("a table of this name");
        let width = found.columns.len();
        assert!(found.rows.iter().all(|row| row.len() == width));
        found
    }

    #[track_caller]
    fn column(table: &FurtherTable, name: &str) -> Vec<f64> {
        let place = table.columns.iter().position(|it| *it == name).unwrap();
        let numbers = table.rows.iter().map(|row| match row[place] {
            Cell::Number(number) => number,
            _ => panic!("{row:?}"),
        });
        numbers.collect()
    }

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn subsamples_are_as_accurate_as_all_rows_and_cheaper() {
        let table = quick(higgs);
        let claims = &table.findings;
        assert!(claims[0].reproduced);
        // ROC curves are those of HMC.
        assert!(claims[5].claim.contains("ROC") && claims[5].reproduced);
        assert_eq!(number(&table, &["hmc"], "roc_gap"), 0.0);
        let roc = further(&table, "roc");
        let shares = column(roc, "false_positives");
        assert_eq!([shares[0], shares[shares.len() - 1]], [0.0, 1.0]);
        for id in SAMPLERS {
            let area = number(&table, &[id], "auc");
            // Log odds as simulated put the area near 0.8.
            assert!((0.75..0.85).contains(&area), "{id}: {area}");
            assert!(number(&table, &[id], "roc_gap") < 0.05, "{id}");
            let curve = column(roc, id);
            assert!(curve.windows(2).all(|pair| pair[0] <= pair[1]), "{id}");
            assert_eq!(curve[curve.len() - 1], 1.0);
            let heights = curve.windows(2).map(|pair| 0.5 * (pair[0] + pair[1]));
            let by_trapezoids = heights.sum::<f64>() / (curve.len() - 1) as f64;
            assert!((by_trapezoids - area).abs() < 0.02, "{id}: {by_trapezoids}");
        }
        // Draws of four chains, whose effective number may be larger where they are antithetic.
        let draws = 4.0 * DRAWS[1] as f64;
        for id in SAMPLERS {
            assert!(number(&table, &[id], "steps") >= 1.0, "{id}");
            let [ess, inefficiency] =
                ["ess", "inefficiency"].map(|column| number(&table, &[id], column));
            assert!(ess > 1.0 && ess <= 3.0 * draws, "{id}: {ess}");
            assert!((ess * inefficiency / draws - 1.0).abs() < 1e-9, "{id}");
        }
        // Otherwise weights would cancel.
        assert!(number(&table, &["hmc-ecs-signed"], "positive") > 0.5);
        assert!(number(&table, &["hmc"], "positive").is_nan());
        // Gradients of the same rows are compared with other expansions, and the draws are as good.
        for (first, second) in [("sghmc-cv", SGHMC_SECOND), ("sgld-cv", SGLD_SECOND)] {
            let [shift, other] = [first, second].map(|id| number(&table, &[id], "mean_shift_sd"));
            assert!(other != shift && other < 0.3, "{second}: {shift}, {other}");
            let rows = [first, second].map(|id| number(&table, &[id], "rows_percent"));
            assert_eq!(rows[0], rows[1]);
        }
    }

    #[test]
    #[ignore = "long: run by .ci/long"]
    fn splines_of_rare_outcomes_are_sampled_from_subsamples() {
        let table = quick(bankruptcy);
        assert_eq!(table.rows.len(), SAMPLERS.len());
        let claim = table.findings.last().unwrap();
        assert!(claim.claim.contains("along a predictor") && claim.reproduced);
        let groups = further(&table, "realised");
        assert_eq!(groups.rows.len(), GROUPS[1]);
        let middles = column(groups, "predictor");
        assert!(middles.windows(2).all(|pair| pair[0] < pair[1]));
        let mean = |name: &str| {
            let shares = column(groups, name);
            shares.iter().sum::<f64>() / shares.len() as f64
        };
        let rows = column(groups, "rows").iter().sum::<f64>();
        let realised = mean("realised");
        let error = (realised * (1.0 - realised) / rows).sqrt();
        for id in ["hmc", "hmc-ecs"] {
            assert!((mean(id) - realised).abs() < 2.0 * error, "{id}");
            // The outcome gets more frequent along the predictor.
            let shares = column(groups, id);
            assert!(shares[shares.len() - 1] > 2.0 * shares[0], "{id}");
        }
        let [exact, subsampled] = ["hmc", "hmc-ecs"].map(|id| column(groups, id));
        assert!(exact != subsampled);
        // Ten rows in a thousand have the outcome, so that the area is rough, but that of the same rows for all.
        let [exact, subsampled] = ["hmc", "hmc-ecs"].map(|id| number(&table, &[id], "auc"));
        assert!((exact - subsampled).abs() < 0.05, "{exact}, {subsampled}");
    }
}
