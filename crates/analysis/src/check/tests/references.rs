//! Places of outcomes in their predictive distributions and frequencies of counts, from given replicated outcomes, beside those of
//! other programs (`tests/reference/loo_pit.py` and `rootogram.py`).

use serde::Deserialize;

use super::*;

fn near(found: f64, expected: f64, tolerance: f64, what: &str) {
    let error = (found - expected).abs();
    assert!(error < tolerance, "{what}: {found} for {expected}");
}

/// Rows under draws of two chains, one after the other.
#[derive(Deserialize)]
struct Places {
    observed: Vec<f64>,
    log_lik: Vec<Vec<f64>>,
    /// Outcomes; of yes or no probabilities of yes.
    replicates: Vec<Vec<f64>>,
    below: Vec<f64>,
    upto: Vec<f64>,
    k: Vec<f64>,
    curve: Option<Vec<f64>>,
    distance: Option<f64>,
}

#[derive(Deserialize)]
struct AllPlaces {
    numbers: Places,
    counts: Places,
    binary: Places,
}

#[test]
fn transforms_are_those_of_arviz() {
    let text = include_str!("../../../../../tests/reference/loo_pit.json");
    let all: AllPlaces = serde_json::from_str(text).unwrap();
    for (known, name) in [
        (&all.numbers, "numbers"),
        (&all.counts, "counts"),
        (&all.binary, "binary"),
    ] {
        let is_binary = name == "binary";
        let table: String = known.observed.iter().map(|y| format!("{y}\n")).collect();
        // A model that holds the outcomes; what it says of them is replaced.
        let (_folder, fitted) = opened(&format!("y\n{table}"), "linear", "y ~ 1");
        let draws = list(&[vec![0.0, 1.0]]);
        let replicates = fitted.replicates(&[&draws], &[(0, 0)], &Control::default());
        let replicates = replicates.unwrap();
        let count = known.log_lik[0].len();
        let chains = Chains::new(&[count / 2; 2], None).unwrap();
        let mut scorer = Scorer::new(&chains);
        let rows = replicates.log_lik().observed().rows.clone();
        assert_eq!(rows.len(), known.observed.len());
        let found: Vec<RowPit> = (rows.iter().enumerate())
            .map(|(i, &place)| {
                let place = place as usize;
                let mut row = Row::new(count);
                row.log_lik.clone_from(&known.log_lik[place]);
                match is_binary {
                    true => row.mean.clone_from(&known.replicates[place]),
                    false => row.outcome.clone_from(&known.replicates[place]),
                }
                let found = RowPit::of(&replicates, i, (&row, is_binary), &mut scorer);
                near(found.ends[0], known.below[place], 1e-9, name);
                near(found.ends[1], known.upto[place], 1e-9, name);
                near(found.k, known.k[place], 1e-8, name);
                found
            })
            .collect();
        let pit = Pit::of(&found, rows.len(), count);
        if let Some(distance) = known.distance {
            near(pit.distance, distance, 1e-9, name);
        }
        if let Some(curve) = &known.curve {
            assert_eq!(pit.curve.len(), curve.len());
            for (found, expected) in pit.curve.iter().zip(curve) {
                near(*found, *expected, 1e-9, name);
            }
        }
    }
}

/// A case of `tests/reference/rootogram.py`.
#[derive(Deserialize)]
struct Frequencies {
    name: String,
    observed: Vec<f64>,
    /// Data sets × rows.
    replicated: Vec<Vec<f64>>,
    from: Vec<f64>,
    frequency: Vec<f64>,
    expected: Vec<f64>,
    lower: Vec<f64>,
    median: Vec<f64>,
    upper: Vec<f64>,
}

#[test]
fn frequencies_of_counts_are_those_of_numpy() {
    let text = include_str!("../../../../../tests/reference/rootogram.json");
    let cases: Vec<Frequencies> = serde_json::from_str(text).unwrap();
    assert_eq!(cases.len(), 2);
    for case in cases {
        let sets = case.replicated.len();
        let mut counts = Counts::new(Cells::of_counts(&case.observed), sets, sets);
        for i in 0..case.observed.len() {
            let row: Vec<f64> = case.replicated.iter().map(|set| set[i]).collect();
            counts.add(&row);
        }
        let rootogram = Rootogram::of(&case.observed, &counts, &[]);
        assert_eq!(rootogram.bars.len(), case.from.len());
        for (k, bar) in rootogram.bars.iter().enumerate() {
            let name = format!("{} {}", case.name, bar.label());
            for (found, expected) in [
                (bar.from, case.from[k]),
                (bar.observed, case.frequency[k]),
                (bar.expected, case.expected[k]),
                (bar.replicated.lower, case.lower[k]),
                (bar.replicated.median, case.median[k]),
                (bar.replicated.upper, case.upper[k]),
            ] {
                near(found, expected, 1e-12, &name);
            }
        }
    }
}
