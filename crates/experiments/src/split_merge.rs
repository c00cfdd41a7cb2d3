//! What split-merge moves are worth (Jain and Neal 2004): exact samplers of a Dirichlet-process mixture with and without them,
//! from one cluster and from many.
//!
//! The level that chains should reach is that of the log density in the second half of the chains with split-merge moves, both
//! starts together: its mean less twice its standard deviation. Chains that sample the posterior reach it whichever start
//! they have, and then agree: R-hat of log density and number of clusters over the second halves of all chains, and the
//! distance (variation of information) of the last partitions of chains from either start.

use std::sync::Arc;

use rand_distr::{Distribution as _, StandardNormal};
use rayon::prelude::*;

use super::mixture::{FORMULA, Found, chain, model};
use super::{BenchOptions, BenchTable, Cell, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Control, Purpose, stream};
use ergodic_core::design::{Columns as _, Values};
use ergodic_core::formula::quote_name;
use ergodic_core::models::Model;
use ergodic_data::{ImportOptions, Table, load};
use ergodic_diagnostics::partition::variation_of_information;
use ergodic_diagnostics::rhat;

/// Seeds per start.
const SEEDS: usize = 5;
/// Clusters of starts with many.
const START_CLUSTERS: i64 = 30;
/// Simulated clusters of points in the plane, far apart, and points of each.
const CLUSTERS: usize = 5;
const POINTS: usize = 200;
/// Standard deviations of their centres in units of those within.
const APART: f64 = 12.0;

/// Chains of one sampler: by start, then by seed.
struct Entrant {
    id: &'static str,
    split_merge: f64,
    chains: [Vec<Found>; 2],
}

/// Runs the experiment.
///
/// # Errors
/// The data cannot be read or cannot be clustered.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let table = match &options.data {
        Some(path) => load(path, &ImportOptions::default(), &Control::default())?.table,
        None => simulated(options.sized(POINTS / 4, POINTS))?,
    };
    let model = model(&table, &formula_of(&table), 0.0, None)?;
    let (seeds, draws) = options.sized((2, 150), (SEEDS, 600));
    let mut rows = Vec::new();
    for id in ["dp-gibbs", "dp-slice"] {
        let entrants = [0.0, 1.0]
            .map(|split_merge| entrant(id, split_merge, &model, options.seed, seeds, draws));
        let [without, with] = entrants;
        let (without, with) = (without?, with?);
        let level = level(&with);
        rows.push(row(&without, level));
        rows.push(row(&with, level));
    }
    Ok(BenchTable {
        columns: vec![
            "sampler",
            "split_merge",
            "level",
            "reached_from_one",
            "sweeps_from_one",
            "seconds_from_one",
            "reached_from_many",
            "sweeps_from_many",
            "seconds_from_many",
            "clusters_from_one",
            "clusters_from_many",
            "rhat_log_density",
            "rhat_clusters",
            "distance",
        ],
        rows,
        notes: vec![
            format!(
                "{seeds} seeds from {} and {draws} sweeps per start; level: mean - 2 sd of the log density that chains with split-merge \
                 moves have in their second half",
                options.seed
            ),
            "reached: share of chains; sweeps and seconds until then: means of those; distance: variation of information between \
             last partitions from one cluster and from many, 0 if they agree"
                .to_owned(),
            match &options.data {
                Some(path) => format!("data: {}", path.display()),
                None => "data: simulated; name your own with --data".to_owned(),
            },
        ],
        plots: vec![
            Plot::points("sampler", &["sweeps_from_one", "sweeps_from_many"])
                .by(&["split_merge"])
                .named("sweeps"),
            Plot::points("sampler", &["clusters_from_one", "clusters_from_many"])
                .by(&["split_merge"])
                .named("clusters"),
        ],
        ..BenchTable::default()
    })
}

/// All columns, or users by their pages.
fn formula_of(table: &Table) -> String {
    if ["user", "page"]
        .iter()
        .all(|name| table.column(name).is_some())
    {
        return FORMULA.to_owned();
    }
    let names: Vec<String> = table.names().map(quote_name).collect();
    format!("~ {}", names.join(" + "))
}

fn entrant(
    id: &'static str,
    split_merge: f64,
    model: &Arc<dyn Model>,
    seed: u64,
    seeds: usize,
    draws: u64,
) -> Result<Entrant, BenchError> {
    let of_start = |start: &str| {
        let mut settings = Settings::default();
        settings.set("start", Value::Text(start.to_owned()));
        settings.set("start_clusters", Value::Int(START_CLUSTERS));
        settings.set("split_merge", Value::Real(split_merge));
        (0..seeds)
            .into_par_iter()
            .map(|k| chain(id, &settings, model, (seed, k), draws))
            .collect::<Result<Vec<Found>, _>>()
    };
    Ok(Entrant {
        id,
        split_merge,
        chains: [of_start("one")?, of_start("many")?],
    })
}

/// The second half of a chain's log density.
fn second_half(found: &Found) -> Vec<f64> {
    let half = &found.trace[found.trace.len() / 2..];
    half.iter().map(|[log_density, _]| *log_density).collect()
}

/// What chains with split-merge moves come down to.
fn level(with: &Entrant) -> f64 {
    let all: Vec<f64> = with.chains.iter().flatten().flat_map(second_half).collect();
    let n = all.len() as f64;
    let mean = all.iter().sum::<f64>() / n;
    let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    mean - 2.0 * variance.sqrt()
}

fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    values.iter().sum::<f64>() / values.len() as f64
}

/// Share of chains that reach `level`, and their mean sweeps and seconds until then; NaN if none does.
fn reached(chains: &[Found], level: f64) -> [f64; 3] {
    let at: Vec<[f64; 2]> = chains
        .iter()
        .filter_map(|found| {
            let sweep = found.trace.iter().position(|[log, _]| *log >= level)?;
            Some([(sweep + 1) as f64, found.trace[sweep][1]])
        })
        .collect();
    [
        at.len() as f64 / chains.len() as f64,
        mean(at.iter().map(|at| at[0])),
        mean(at.iter().map(|at| at[1])),
    ]
}

/// R-hat of log density and of the number of clusters, and the mean distance of last partitions between starts.
fn agreement(entrant: &Entrant) -> [f64; 3] {
    let all = || entrant.chains.iter().flatten();
    let densities: Vec<Vec<f64>> = all().map(second_half).collect();
    let rhat = |chains: Vec<&[f64]>| rhat(&chains).unwrap_or(f64::NAN);
    let [one, many] = &entrant.chains;
    let pairs = one.iter().flat_map(|a| many.iter().map(move |b| (a, b)));
    [
        rhat(densities.iter().map(Vec::as_slice).collect()),
        rhat(all().map(|found| found.clusters.as_slice()).collect()),
        mean(pairs.filter_map(|(a, b)| {
            let (a, b) = (a.partitions.last()?, b.partitions.last()?);
            Some(variation_of_information(a, b))
        })),
    ]
}

/// One line of the table.
fn row(entrant: &Entrant, level: f64) -> Vec<Cell> {
    let clusters = |chains: &[Found]| {
        mean(
            chains
                .iter()
                .map(|found| mean(found.clusters.iter().copied())),
        )
    };
    let [one, many] = &entrant.chains;
    let mut row = vec![
        Cell::Text(entrant.id.to_owned()),
        Cell::Number(entrant.split_merge),
        Cell::Number(level),
    ];
    let numbers = [reached(one, level), reached(many, level)].concat();
    row.extend(numbers.into_iter().map(Cell::Number));
    row.extend([one, many].map(|chains| Cell::Number(clusters(chains))));
    row.extend(agreement(entrant).map(Cell::Number));
    row
}

/// Points in the plane around centres that are far apart, `points` for each.
fn simulated(points: usize) -> Result<Table, BenchError> {
    let mut rng = stream(0, 0, Purpose::Data);
    let mut normal = || -> f64 { StandardNormal.sample(&mut rng) };
    let mut columns = [Vec::new(), Vec::new()];
    for _ in 0..CLUSTERS {
        let centre = [APART * normal(), APART * normal()];
        for _ in 0..points {
            for (column, centre) in columns.iter_mut().zip(centre) {
                column.push(centre + normal());
            }
        }
    }
    let columns = ["x1", "x2"].into_iter().zip(columns);
    let columns = columns.map(|(name, values)| (name.to_owned(), Values::Numbers(values)));
    Ok(Table::from_columns("points", columns.collect())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Units that leave one by one do not open the clusters that are missing, and chains stay where they started; split-merge
    /// moves take all chains to the same partition.
    #[test]
    fn without_split_merge_chains_disagree_and_with_it_they_agree() {
        let table = simulated(60).unwrap();
        let model = model(&table, &formula_of(&table), 0.0, None).unwrap();
        let of = |split_merge| entrant("dp-gibbs", split_merge, &model, 1, 2, 100).unwrap();
        let (without, with) = (of(0.0), of(1.0));
        let level = level(&with);
        let found = [&without, &with].map(|it| (reached(&it.chains[0], level), agreement(it)));
        let [(stuck, apart), (free, together)] = found;
        assert!(free[0] == 1.0 && stuck[0] < 1.0, "{found:?}");
        assert!(apart[0] > 1.5 && together[0] < 1.1, "{found:?}");
        assert!(apart[2] > 10.0 * together[2], "{found:?}");
        assert_eq!(row(&with, level).len(), 14);
    }
}
