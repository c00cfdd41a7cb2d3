//! Diagnostics against the numbers of the R package posterior; `tests/reference/README.md` says how they are made.

#![expect(
    clippy::unwrap_used,
    reason = "a damaged reference file is a failed test"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;

use ergodic_base::draws::DrawList;
use ergodic_diagnostics::energy::ebfmi;
use ergodic_diagnostics::quantiles::{mad, mean, median, quantile, sd};
use ergodic_diagnostics::{
    Estimate, SummaryRow, ess_between, ess_bulk, ess_mean, ess_quantile, ess_sd, ess_tail,
    mcse_mean, mcse_quantile, mcse_sd, rhat, rhat_basic, rhat_nested, summarise,
};

const TOLERANCE: f64 = 1e-8;

/// R-hat above this is infinite up to rounding.
const INFINITE: f64 = 1e12;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference")
}

fn lines(file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join(file)).unwrap();
    text.lines()
        .filter(|line| !line.starts_with('#'))
        .map(str::to_owned)
        .collect()
}

/// Chains of a set: columns of its file.
fn chains(set: &str) -> Vec<Vec<f64>> {
    let mut chains: Vec<Vec<f64>> = Vec::new();
    for line in lines(&format!("draws_{set}.csv")) {
        for (j, cell) in line.split(',').enumerate() {
            if chains.len() <= j {
                chains.push(Vec::new());
            }
            chains[j].push(cell.parse().unwrap());
        }
    }
    chains
}

/// Statistic and value by set.
fn reference() -> BTreeMap<String, Vec<(String, Option<f64>)>> {
    let mut sets: BTreeMap<String, Vec<(String, Option<f64>)>> = BTreeMap::new();
    for line in lines("posterior.csv").iter().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let value = (cells[2] != "NA").then(|| cells[2].parse().unwrap());
        sets.entry(cells[0].to_owned())
            .or_default()
            .push((cells[1].to_owned(), value));
    }
    sets
}

fn compute(statistic: &str, chains: &[&[f64]]) -> Estimate {
    match statistic {
        "mean" => mean(chains),
        "sd" => sd(chains),
        "median" => median(chains),
        "mad" => mad(chains),
        "q5" => quantile(chains, 0.05),
        "q50" => quantile(chains, 0.5),
        "q95" => quantile(chains, 0.95),
        "q1" => quantile(chains, 0.01),
        "q975" => quantile(chains, 0.975),
        "rhat" => rhat(chains),
        "rhat_basic" => rhat_basic(chains),
        "ess_bulk" => ess_bulk(chains),
        "ess_tail" => ess_tail(chains),
        "ess_mean" | "ess_basic" => ess_mean(chains),
        "ess_sd" => ess_sd(chains),
        "ess_q5" => ess_quantile(chains, 0.05),
        "ess_q50" => ess_quantile(chains, 0.5),
        "ess_q95" => ess_quantile(chains, 0.95),
        "mcse_mean" => mcse_mean(chains),
        "mcse_sd" => mcse_sd(chains),
        "mcse_q5" => mcse_quantile(chains, 0.05),
        "mcse_q50" => mcse_quantile(chains, 0.5),
        "mcse_q95" => mcse_quantile(chains, 0.95),
        "ess_q25" => ess_quantile(chains, 0.25),
        "inefficiency" => {
            let draws: usize = chains.iter().map(|chain| chain.len()).sum();
            ess_mean(chains).map(|ess| draws as f64 / ess)
        }
        "ebfmi1" => ebfmi(chains[0]),
        other => {
            let number = |name: &str| Some(other.strip_prefix(name)?.parse::<usize>().unwrap());
            if let Some(k) = number("ess_local") {
                let k = k as f64;
                ess_between(chains, (k - 1.0) / 20.0, k / 20.0)
            } else if let Some(groups) = number("rhat_nested") {
                rhat_nested(chains, groups)
            } else {
                panic!("no diagnostic called {other}")
            }
        }
    }
}

fn agrees(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (None, None) => true,
        (Some(found), Some(expected)) if expected > INFINITE => found > INFINITE,
        (Some(found), Some(expected)) => (found - expected).abs() <= TOLERANCE * expected.abs(),
        _ => false,
    }
}

#[test]
fn every_statistic_of_every_set_agrees_with_posterior() {
    let mut compared = 0;
    let mut failures = Vec::new();
    for (set, statistics) in reference().iter().filter(|(set, _)| *set != "qnorm") {
        let chains = chains(set);
        let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
        for (statistic, expected) in statistics {
            let found = compute(statistic, &chains);
            compared += 1;
            if !agrees(found.ok(), *expected) {
                failures.push(format!(
                    "{set} {statistic}: {found:?}, posterior {expected:?}"
                ));
            }
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {compared} differ:\n{}",
        failures.len(),
        failures.join("\n")
    );
    assert!(compared > 500);
}

#[test]
fn the_summary_shares_work_without_changing_numbers() {
    for (set, statistics) in reference().iter().filter(|(set, _)| *set != "qnorm") {
        let lists: Vec<DrawList> = chains(set)
            .iter()
            .map(|chain| {
                // A second column keeps the first honest: work of one parameter must not leak into another.
                let mut list = DrawList::new(2);
                for (i, &x) in chain.iter().enumerate() {
                    list.push(&[x, (i as f64).sin()]);
                }
                list
            })
            .collect();
        let names = vec!["x".into(), "y".into()];
        let rows = summarise(&names, &lists.iter().collect::<Vec<_>>(), &[], 2.0);
        let row = &rows[0];
        let field = |name: &str| -> fn(&SummaryRow) -> Option<f64> {
            match name {
                "mean" => |row| row.mean,
                "mcse_mean" => |row| row.mcse_mean,
                "sd" => |row| row.sd,
                "mad" => |row| row.mad,
                "q5" => |row| row.q5,
                "q50" => |row| row.q50,
                "q95" => |row| row.q95,
                "ess_bulk" => |row| row.ess_bulk,
                "ess_tail" => |row| row.ess_tail,
                "rhat" => |row| row.rhat,
                other => panic!("no column called {other}"),
            }
        };
        let columns = [
            "mean",
            "mcse_mean",
            "sd",
            "mad",
            "q5",
            "q50",
            "q95",
            "ess_bulk",
            "ess_tail",
            "rhat",
        ];
        for column in columns {
            let expected = statistics
                .iter()
                .find(|(name, _)| name == column)
                .unwrap()
                .1;
            assert!(
                agrees(field(column)(row), expected),
                "{set} {column}: {row:?}, posterior {expected:?}"
            );
        }
        assert_eq!(row.ess_bulk_per_s, row.ess_bulk.map(|ess| ess / 2.0));
        assert_eq!(rows[1].variable, "y");
    }
}
