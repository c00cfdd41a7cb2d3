//! The experiment of Baker (2018), section 3.5.2 and appendix A.3: ratings held out are predicted by Bayesian matrix factorisation as
//! the number of users grows, with SGLD, SGLD with control variates, and SAGA.
//!
//! The source's ratings are those of MovieLens (ml-100k): 100,000 ratings of 1,682 films by 943 users, 20 factors, minibatches of 5,000;
//! `--data` names a file with the columns `user`, `item` and `rating`. Without one, ratings are drawn from factors ([`SHAPE`]), a
//! smaller world of the same kind, in which the best error is known. Gamma(1, 300) priors of precisions and τ = 3 are the source's.
//!
//! As in the source a step is h/√S for each of the four blocks, S the mean of its squared gradients (`block_steps` = gradient), here
//! over the first quarter of a chain, and h is chosen for each method and size from a grid, by the log predictive density at the end of a
//! chain of its own. Control variates are centred where a search ended that takes a quarter of the passes (`sgld` at a temperature of a thousandth),
//! as the posterior has no mode. SAGA's table has all
//! coordinates for each row; where it is too large, SAGA is left out and the table says so.
//!
//! The log predictive density of SGLD-CV is corrected by zero-variance control variates ([`super::corrected`], figure 3.5.4) from the
//! gradients of the effects of users and items over all rows: coefficients of all coordinates, 3,000 here and more than 50,000 in the
//! source, could not be told from as many draws.

use std::collections::BTreeSet;
use std::sync::Arc;

use rand::RngExt as _;
use rand::seq::SliceRandom as _;
use rand_distr::StandardNormal;
use rayon::prelude::*;

use super::chain::{self, Chain};
use super::corrected::{self, Corrected};
use super::problem::{is_above, mean_with_error};
use super::{BenchOptions, BenchTable, Cell, Finding, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Labels, ObservationRows, Values};
use ergodic_core::models::Model;
use ergodic_core::oracle::Oracle;
use ergodic_core::samplers::{self, Refusal};
use ergodic_data::{ImportOptions, Table, load};
use ergodic_diagnostics::zero_variance::{Order, Points};

/// Seeds per line, those of the source.
const SEEDS: usize = 5;
/// Shares of users: the columns of the source's table of steps.
const SHARES: [f64; 3] = [0.1, 0.5, 1.0];
/// Share of ratings held out.
const HELD_OUT: f64 = 0.1;
/// Share of rows in a minibatch: the source's 5,000 of 100,000.
const BATCH: f64 = 0.05;
/// K of the source, for data that are named.
const FACTORS: usize = 20;
/// τ of the source.
const PRECISION: f64 = 3.0;
/// Temperature of the search for a centre: the least.
const COLD: f64 = 1e-3;
/// Lines of a chain.
const LINES: usize = 8;
/// Draws that predictions of a line are averaged over.
const DRAWS: usize = 20;
/// h that are tried: the source's are 1e-3 to 1e-2, in its units twice ours.
const STEPS: [f64; 5] = [5e-4, 1.5e-3, 5e-3, 1.5e-2, 5e-2];

/// What is drawn where no file is named.
#[derive(Clone, Copy, Debug)]
struct Shape {
    users: usize,
    items: usize,
    ratings: usize,
    factors: usize,
    /// Passes of a chain.
    passes: usize,
}

/// A third of the source's users, an eighth of its films, a seventh of its ratings, a quarter of its factors.
const SHAPE: Shape = Shape {
    users: 300,
    items: 200,
    ratings: 15_000,
    factors: 5,
    passes: 400,
};
/// The shape for a glance.
const SMALL: Shape = Shape {
    users: 60,
    items: 40,
    ratings: 1_500,
    factors: 2,
    passes: 120,
};

/// A rating of an item by a user.
type Rating = (u32, u32, f64);

/// Methods, in the order of the source's legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Method {
    Sgld,
    ControlVariates,
    Saga,
}

impl Method {
    const ALL: [Self; 3] = [Self::Sgld, Self::ControlVariates, Self::Saga];

    fn sampler(self) -> &'static str {
        match self {
            Self::Sgld => "sgld",
            Self::ControlVariates => "sgld-cv",
            Self::Saga => "saga-ld",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Sgld => "SGLD",
            Self::ControlVariates => "SGLD-CV",
            Self::Saga => "SAGA",
        }
    }
}

/// Ratings of some users: the model of most, and the others.
struct Trial {
    model: Arc<dyn Model>,
    held_out: Arc<dyn ObservationRows>,
    rows: usize,
    users: usize,
    /// Users and items: each has an effect, and these are the first coordinates.
    effects: usize,
    /// Passes of a chain.
    passes: usize,
    control: Arc<Control>,
}

/// Passes, and after them the root mean squared error of mean predictions and the log predictive density of a rating.
type Line = [f64; 3];

/// Runs the experiment.
///
/// # Errors
/// The data cannot be read or lack a column.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let shape = options.sized(SMALL, SHAPE);
    let ratings = match &options.data {
        Some(path) => read(&load(path, &ImportOptions::default(), &Control::default())?.table)?,
        None => drawn(shape, options.seed),
    };
    let factors = match (&options.data, options.quick) {
        (Some(_), false) => FACTORS,
        _ => shape.factors,
    };
    let (seeds, shares) = match options.quick {
        true => (2, &SHARES[2..]),
        false => (SEEDS, &SHARES[..]),
    };
    let steps = options.sized(&STEPS[2..], &STEPS[..]);
    let (mut rows, mut notes, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    let mut corrections = Vec::new();
    options.expect_runs(shares.len() * Method::ALL.len() * (steps.len() + seeds));
    for &share in shares {
        let trial = Trial::new(&ratings, share, factors, shape.passes, &options.control)?;
        for method in Method::ALL {
            if let Some(why) = refusal(method, trial.model.as_ref()) {
                notes.push(format!("{} users: {why}", trial.users));
                continue;
            }
            let best = best_step(&trial, method, steps, options.seed)?;
            let shorter = steps.iter().copied().filter(|step| *step <= best);
            let (step, found) = of_seeds(&trial, method, shorter.collect(), (options.seed, seeds))?;
            rows.extend(lines(&trial, method, step, &found));
            ends.push((trial.users, method, found));
            if method == Method::ControlVariates {
                match Order::Linear.check(trial.effects) {
                    Ok(()) => {
                        corrections.push((trial.users, correct(&trial, step, options.seed)?));
                    }
                    Err(_) => notes.push(format!(
                        "{} users: {} effects of users and items are too many for control variates",
                        trial.users, trial.effects
                    )),
                }
            }
        }
    }
    notes.insert(
        0,
        format!(
            "{} ratings in all, a tenth held out, {factors} factors, minibatches of a twentieth of the rows; {seeds} seeds from {}; each line \
             is of predictions averaged over {DRAWS} draws; passes are those over the rows, the search for the centre of SGLD-CV among them",
            ratings.len(),
            options.seed
        ),
    );
    notes.push(match &options.data {
        Some(path) => format!("data: {}", path.display()),
        None => format!(
            "data: drawn from {factors} factors with noise of {:.3}, which no error can be below in the long run; a stand-in for MovieLens with {} of \
             943 users, {} of 1,682 films and {} of 100,000 ratings; name others with --data",
            PRECISION.sqrt().recip(),
            shape.users,
            shape.items,
            shape.ratings
        ),
    });
    let mut findings = findings(&ends);
    if let Some((_, found)) = corrections.last() {
        notes.push(corrected::note());
        findings.push(found.finding());
    }
    Ok(BenchTable {
        columns: vec![
            "users",
            "method",
            "step",
            "passes",
            "rmse_mean",
            "rmse_min",
            "rmse_max",
            "log_predictive",
        ],
        rows,
        notes,
        further: vec![corrected::table(
            "users",
            corrections.iter().map(|(users, it)| (*users, it)),
        )],
        findings,
        plots: vec![
            Plot::lines("passes", &["rmse_mean"])
                .between("rmse_min", "rmse_max")
                .by(&["users", "method"]),
            Plot::lines("passes", &["log_predictive"]).by(&["users", "method"]),
        ],
    })
}

/// Why a sampler refuses the model; nothing where it does not.
fn refusal(method: Method, model: &dyn Model) -> Option<Refusal> {
    let entry = samplers::find(method.sampler())?;
    (entry.suits)(model).err()
}

/// Ratings of a table.
fn read(table: &Table) -> Result<Vec<Rating>, BenchError> {
    let labels =
        |name: &str| Ok::<_, BenchError>(table.labels(table.index_of(name, "The experiment")?));
    let (users, items) = (labels("user")?, labels("item")?);
    let col = table.index_of("rating", "The experiment")?;
    let ratings = table.numbers(col).ok_or(BenchError::Text("rating"))?;
    let rows = users.codes.iter().zip(&items.codes).zip(ratings);
    Ok(rows
        .filter(|((user, item), rating)| {
            **user != Labels::MISSING && **item != Labels::MISSING && rating.is_finite()
        })
        .map(|((user, item), rating)| (*user, *item, *rating))
        .collect())
}

/// Ratings drawn from factors, popular items more often than others.
fn drawn(shape: Shape, seed: u64) -> Vec<Rating> {
    let mut rng = stream(seed, 0, Purpose::Data);
    let mut normals = |count: usize, sd: f64| -> Vec<f64> {
        (0..count)
            .map(|_| sd * rng.sample::<f64, _>(StandardNormal))
            .collect()
    };
    // Spreads as those of films: users and items add about half a star each, and so does taste.
    let (a, b) = (normals(shape.users, 0.45), normals(shape.items, 0.5));
    let sd = (0.5 / (shape.factors as f64).sqrt()).sqrt();
    let [u, v] = [shape.users, shape.items].map(|count| normals(count * shape.factors, sd));
    let noise = normals(shape.ratings, PRECISION.sqrt().recip());
    let mut rng = stream(seed, 1, Purpose::Data);
    noise
        .into_iter()
        .map(|noise| {
            let user = rng.random_range(0..shape.users);
            let place: f64 = rng.random();
            let item = (place * place * shape.items as f64) as usize;
            let products = (0..shape.factors)
                .map(|k| u[user * shape.factors + k] * v[item * shape.factors + k]);
            let rating = 3.5 + a[user] + b[item] + products.sum::<f64>() + noise;
            (user as u32, item as u32, rating)
        })
        .collect()
}

fn tabulated(ratings: &[Rating]) -> Result<Table, BenchError> {
    let texts = |pick: fn(&Rating) -> u32, letter: &str| {
        let text = |rating: &Rating| Some(format!("{letter}{}", pick(rating)));
        Values::Texts(ratings.iter().map(text).collect())
    };
    let columns = vec![
        ("user".to_owned(), texts(|it| it.0, "u")),
        ("item".to_owned(), texts(|it| it.1, "i")),
        (
            "rating".to_owned(),
            Values::Numbers(ratings.iter().map(|it| it.2).collect()),
        ),
    ];
    Ok(Table::from_columns("ratings", columns)?)
}

impl Trial {
    /// Of a share of the users, chosen at random the same way always.
    fn new(
        ratings: &[Rating],
        share: f64,
        factors: usize,
        passes: usize,
        control: &Arc<Control>,
    ) -> Result<Self, BenchError> {
        let mut users: Vec<u32> = ratings.iter().map(|it| it.0).collect();
        users.sort_unstable();
        users.dedup();
        let mut rng = stream(0, 0, Purpose::Data);
        users.shuffle(&mut rng);
        users.truncate((share * users.len() as f64).ceil() as usize);
        users.sort_unstable();
        let is_in = |it: &&Rating| users.binary_search(&it.0).is_ok();
        let mut own: Vec<Rating> = ratings.iter().filter(is_in).copied().collect();
        own.shuffle(&mut rng);
        let (held_out, rest) = own.split_at((HELD_OUT * own.len() as f64) as usize);
        let mut given = Settings::default();
        given.set("factors", Value::Int(factors as i64));
        given.set("precision", Value::Real(PRECISION));
        let formula = "rating ~ (1 | user) + (1 | item)";
        let table = tabulated(rest)?;
        let (model, coding) =
            chain::model_and_coding(&table, ("factorization", &given), formula, Vec::new())?;
        let raters: BTreeSet<u32> = rest.iter().map(|it| it.0).collect();
        let items: BTreeSet<u32> = rest.iter().map(|it| it.1).collect();
        let coded = coding.code(&tabulated(held_out)?, None, true)?;
        let read = coded.read.ok_or(BenchError::Lacking(
            "The model does not read ratings held out",
        ))?;
        Ok(Self {
            rows: rest.len(),
            users: users.len(),
            effects: raters.len() + items.len(),
            model,
            held_out: read,
            passes,
            control: Arc::clone(control),
        })
    }

    /// Error and log predictive density of draws.
    fn score(&self, draws: Vec<Vec<f64>>) -> [f64; 2] {
        let Some(observation) = self.model.observation() else {
            return [f64::NAN; 2];
        };
        let count = draws.first().map_or(0, Vec::len);
        let draws = observation.prepare(draws);
        let (mut squares, mut logs) = (0.0, 0.0);
        let mut distribution = vec![0.0; self.held_out.width() * count];
        let mut densities = vec![0.0; count];
        let observed = self.held_out.observed();
        for (i, y) in observed.iter().enumerate() {
            self.held_out.distribution(i, &draws, 0, &mut distribution);
            let mean = distribution[..count].iter().sum::<f64>() / count as f64;
            squares += (y - mean) * (y - mean);
            self.held_out.log_density(i, &draws, 0, &mut densities);
            let density = densities.iter().map(|log| log.exp()).sum::<f64>() / count as f64;
            logs += density.ln();
        }
        let n = observed.len() as f64;
        [(squares / n).sqrt(), logs / n]
    }
}

fn settings_of(trial: &Trial, step: f64) -> Settings {
    let mut settings = Settings::default();
    let batch = ((BATCH * trial.rows as f64).ceil() as i64).max(1);
    settings.set("batch", Value::Int(batch));
    settings.set("step_size", Value::Real(step));
    settings.set("block_steps", Value::Text("gradient".to_owned()));
    settings
}

/// One chain: what its predictions are worth at [`LINES`] times.
fn follow(
    trial: &Trial,
    method: Method,
    step: f64,
    key: (u64, usize),
) -> Result<Vec<Line>, BenchError> {
    let (mut chain, spent) = start(trial, method, step, key)?;
    let (model, quarter) = (&trial.model, trial.passes as f64 / 4.0);
    // A search for a centre takes as much.
    let from = if spent > 0 { quarter } else { 0.0 };
    let passes = |chain: &Chain| (spent + chain.datum_grads()) as f64 / trial.rows as f64;
    let mut lines = Vec::new();
    for line in 1..=LINES {
        let until = trial.passes as f64 * line as f64 / LINES as f64;
        if until <= from {
            continue;
        }
        let begun = passes(&chain);
        let mut draws: Vec<Vec<f64>> = vec![Vec::with_capacity(DRAWS); model.dim()];
        while passes(&chain) < until {
            match passes(&chain) < quarter + from {
                true => chain.warm_up()?,
                false => chain.draw()?,
            }
            let kept = draws[0].len() as f64;
            if passes(&chain) >= begun + (until - begun) * (kept + 1.0) / DRAWS as f64
                && draws[0].len() < DRAWS
            {
                for (draws, u) in draws.iter_mut().zip(chain.kernel.position()) {
                    draws.push(*u);
                }
            }
        }
        let [error, log] = trial.score(draws);
        lines.push([passes(&chain), error, log]);
    }
    trial.control.advance(1);
    Ok(lines)
}

/// A chain from a draw of the model's starts, or from where a search for a centre ended, and the rows that this took.
fn start(
    trial: &Trial,
    method: Method,
    step: f64,
    key: (u64, usize),
) -> Result<(Chain, u64), BenchError> {
    let model = &trial.model;
    let density = model
        .density()
        .ok_or(BenchError::Lacking("The model has no density"))?;
    let mut u = vec![0.0; model.dim()];
    density.init(&mut stream(key.0, key.1, Purpose::Init), &mut u);
    let mut spent = 0;
    if method == Method::ControlVariates {
        let mut settings = settings_of(trial, SEARCH_STEP);
        settings.set("temperature", Value::Real(COLD));
        let mut search = Chain::start_at("sgld", &settings, model, key, &u)?;
        while search.datum_grads() as f64 / trial.rows as f64 <= trial.passes as f64 / 4.0 {
            search.warm_up()?;
        }
        u.copy_from_slice(search.kernel.position());
        spent = search.datum_grads();
    }
    let settings = settings_of(trial, step);
    let chain = Chain::start_at(method.sampler(), &settings, model, key, &u)?;
    Ok((chain, spent))
}

/// What zero-variance control variates make of the log predictive density of SGLD-CV.
fn correct(trial: &Trial, step: f64, seed: u64) -> Result<Corrected, BenchError> {
    let found: Vec<(Vec<f64>, Points)> = (0..corrected::CHAINS)
        .into_par_iter()
        .map(|k| along(trial, step, (seed, k)))
        .collect::<Result<_, _>>()?;
    let (series, points): (Vec<_>, Vec<_>) = found.into_iter().unzip();
    Corrected::of(&series, &[("all rows", &points[..])])
}

/// Log predictive density of each draw of SGLD-CV in the second half of a chain, with the effects of users and items and their gradients.
fn along(trial: &Trial, step: f64, key: (u64, usize)) -> Result<(Vec<f64>, Points), BenchError> {
    let model = &trial.model;
    let (mut chain, spent) = start(trial, Method::ControlVariates, step, key)?;
    let mut oracle = Oracle::new(Arc::clone(model), None, false, Arc::default());
    let mut grad = vec![0.0; model.dim()];
    let (mut series, mut points) = (Vec::new(), Points::default());
    let passes = |chain: &Chain| (spent + chain.datum_grads()) as f64 / trial.rows as f64;
    while passes(&chain) < trial.passes as f64 {
        if passes(&chain) < 0.5 * trial.passes as f64 {
            chain.warm_up()?;
            continue;
        }
        chain.draw()?;
        let u = chain.kernel.position();
        series.push(trial.score(u.iter().map(|u| vec![*u]).collect())[1]);
        oracle.exact(u, &mut grad).map_err(BenchError::unknown)?;
        points.positions.extend(&u[..trial.effects]);
        points.gradients.extend(&grad[..trial.effects]);
    }
    Ok((series, points))
}

/// h of the search: in the source that of all sizes, 1e-2 in its units.
const SEARCH_STEP: f64 = 5e-3;

/// The log predictive density at the end of a chain.
fn end(lines: &[Line]) -> f64 {
    lines.last().map_or(f64::NEG_INFINITY, |line| line[2])
}

/// The step of the grid with the largest log predictive density at the end of a chain of another seed; one with which a chain explodes
/// has none.
fn best_step(trial: &Trial, method: Method, steps: &[f64], seed: u64) -> Result<f64, BenchError> {
    let tried: Vec<(f64, f64)> = steps
        .par_iter()
        .map(|&step| {
            let found = follow(trial, method, step, (seed, SEEDS));
            let log = found.map_or(f64::NEG_INFINITY, |lines| end(&lines));
            (step, if log.is_nan() { f64::NEG_INFINITY } else { log })
        })
        .collect();
    let best = tried.iter().max_by(|a, b| a.1.total_cmp(&b.1));
    match best {
        Some((step, log)) if log.is_finite() => Ok(*step),
        _ => Err(leads_nowhere(method)),
    }
}

/// The chains of a number of seeds at the longest of these steps with which none explodes, and that step.
fn of_seeds(
    trial: &Trial,
    method: Method,
    mut steps: Vec<f64>,
    (seed, seeds): (u64, usize),
) -> Result<(f64, Vec<Vec<Line>>), BenchError> {
    steps.sort_by(|a, b| b.total_cmp(a));
    let chains = |step| -> Result<_, BenchError> {
        let all = (0..seeds).into_par_iter();
        all.map(|k| follow(trial, method, step, (seed, k)))
            .collect()
    };
    let mut tried = steps
        .iter()
        .filter_map(|&step| Some((step, chains(step).ok()?)));
    tried.next().ok_or_else(|| leads_nowhere(method))
}

fn leads_nowhere(method: Method) -> BenchError {
    BenchError::LeadsNowhere(method.title())
}

/// The lines of one method.
fn lines(trial: &Trial, method: Method, step: f64, found: &[Vec<Line>]) -> Vec<Vec<Cell>> {
    let count = found.iter().map(Vec::len).min().unwrap_or(0);
    let line = |line: usize| {
        let column = |k: usize| found.iter().map(move |lines| lines[line][k]);
        let mean = |k: usize| column(k).sum::<f64>() / found.len() as f64;
        vec![
            Cell::from(trial.users),
            Cell::from(method.title()),
            Cell::from(step),
            Cell::from(mean(0)),
            Cell::from(mean(1)),
            Cell::from(column(1).fold(f64::INFINITY, f64::min)),
            Cell::from(column(1).fold(f64::NEG_INFINITY, f64::max)),
            Cell::from(mean(2)),
        ]
    };
    (0..count).map(line).collect()
}

/// What one method came to with n users: its chains.
type End = (usize, Method, Vec<Vec<Line>>);

/// Log predictive density of each seed, at the end and half way.
fn levels(found: &[Vec<Line>]) -> [Vec<f64>; 2] {
    let last = found.iter().map(|lines| end(lines));
    let half = |lines: &Vec<Line>| {
        let last = lines.last().map_or(f64::NAN, |line| line[0]);
        let before = lines.iter().take_while(|line| line[0] < 0.55 * last);
        before.last().map_or(f64::NAN, |line| line[2])
    };
    [last.collect(), found.iter().map(half).collect()]
}

/// What the runs say of the claims.
fn findings(ends: &[End]) -> Vec<Finding> {
    let Some(&most) = ends.iter().map(|(users, ..)| users).max() else {
        return Vec::new();
    };
    let of = |method: Method| {
        let found = ends.iter().find(|it| it.0 == most && it.1 == method);
        found.map(|(_, _, found)| levels(found))
    };
    let (Some(sgld), Some(control)) = (of(Method::Sgld), of(Method::ControlVariates)) else {
        return Vec::new();
    };
    let said = |of: &[f64]| mean_with_error(of, 4);
    let mut all = vec![Finding {
        claim: "With all users SGLD-CV reaches a higher log predictive density than SGLD at equal passes",
        reproduced: is_above(&control[0], &sgld[0]),
        because: format!(
            "at the end {} against {}, half way {} against {}",
            said(&control[0]),
            said(&sgld[0]),
            said(&control[1]),
            said(&sgld[1])
        ),
    }];
    if let Some(saga) = of(Method::Saga) {
        all.push(Finding {
            claim: "SAGA converges slowly, also against SGLD",
            reproduced: is_above(&sgld[1], &saga[1]),
            because: format!(
                "half way its log predictive density is {} against {} of SGLD, at the end {} against {}",
                said(&saga[1]), said(&sgld[1]), said(&saga[0]), said(&sgld[0])
            ),
        });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::super::problem::testing::{number, quick};
    use super::*;

    /// Errors come down to little more than the noise, whatever the method, and what was drawn is what is read.
    #[test]
    fn ratings_held_out_are_predicted() {
        let table = quick(run);
        let spread = {
            let ratings = drawn(SMALL, 1);
            let n = ratings.len() as f64;
            let mean = ratings.iter().map(|it| it.2).sum::<f64>() / n;
            (ratings.iter().map(|it| (it.2 - mean).powi(2)).sum::<f64>() / n).sqrt()
        };
        for method in Method::ALL {
            let last = (table.rows.iter()).rfind(|row| row[1].plain() == method.title());
            let Cell::Number(error) = last.unwrap()[4] else {
                panic!("a number");
            };
            // Half way at least from no knowledge to the noise.
            let noise = PRECISION.sqrt().recip();
            assert!(
                error > 0.9 * noise && error < 0.5 * (noise + spread),
                "{}: {error} {spread}",
                method.title()
            );
        }
        assert!(number(&table, &["60", "SGLD"], "passes") <= 20.0);
        let corrected = &table.further[0];
        assert_eq!((corrected.name, corrected.rows.len()), ("corrected", 2));
        let is_known = |cell: &Cell| matches!(cell, Cell::Number(number) if number.is_finite());
        let mut numbers = corrected.rows.iter().flat_map(|row| &row[2..]);
        assert!(numbers.all(is_known), "{:?}", corrected.rows);
        assert!(
            table
                .findings
                .last()
                .unwrap()
                .claim
                .contains("zero-variance")
        );
        let read = read(&tabulated(&[(3, 4, 2.5), (3, 1, 1.0)]).unwrap()).unwrap();
        assert_eq!(read[0].0, read[1].0);
        assert!(read[0].1 != read[1].1 && read[1].2 == 1.0);
    }

    /// A table too large is refused, with words that the notes have.
    #[test]
    fn what_a_method_refuses_is_said() {
        let ratings: Vec<Rating> = (0..20_000)
            .map(|i| (i % 997, i % 1009, f64::from(i % 5)))
            .collect();
        let trial = Trial::new(&ratings, 1.0, 10, 1, &Arc::default()).unwrap();
        let why = refusal(Method::Saga, trial.model.as_ref()).unwrap();
        assert!(why.to_string().contains("saga-ld"), "{why}");
        assert!(refusal(Method::Sgld, trial.model.as_ref()).is_none());
    }
}
