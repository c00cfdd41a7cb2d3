//! Small mixtures for tests, and all partitions of few units.

use crate::models::Mixture;
use crate::models::dp_mixture::AlphaPrior;
use crate::models::dp_mixture::counts::{Block, Counts};
use crate::models::dp_mixture::numeric::{NormalPrior, Numeric};

/// Numeric columns of units given as rows.
pub fn numeric(rows: &[&[f64]], diagonal: bool) -> Numeric {
    let p = rows[0].len();
    let prior = NormalPrior {
        kappa: 0.2,
        df: 3.0,
        scale: 0.6,
    };
    let names = (1..=p).map(|j| format!("x{j}")).collect();
    Numeric::new(
        (names, vec![0.0; p], vec![1.0; p]),
        rows.concat(),
        diagonal,
        prior,
        &vec![1.0; p],
        rows.len(),
    )
}

/// Categories of units given by their items, blocks by their numbers of levels.
pub fn counts(sizes: &[usize], concentration: f64, units: &[&[u32]]) -> Counts {
    let mut first = 0;
    let blocks = sizes
        .iter()
        .enumerate()
        .map(|(b, &size)| {
            first += size;
            Block {
                name: format!("c{}", b + 1),
                levels: (1..=size).map(|level| level.to_string()).collect(),
                items: first - size..first,
                concentration,
            }
        })
        .collect();
    let units: Vec<Vec<u32>> = units.iter().map(|items| items.to_vec()).collect();
    Counts::new(blocks, &units)
}

/// Names of `n` units.
pub fn names(n: usize) -> Vec<String> {
    (1..=n).map(|unit| unit.to_string()).collect()
}

/// One small mixture of `n` ≤ 6 units of every kind, with words for it.
pub fn small(n: usize, alpha: AlphaPrior) -> Vec<(&'static str, Mixture)> {
    let flat: [&[f64]; 6] = [
        &[-1.2, -0.7],
        &[0.9, 1.4],
        &[-0.8, -1.1],
        &[0.2, 0.1],
        &[1.5, 0.8],
        &[-0.3, 0.9],
    ];
    let deep: [&[f64]; 6] = [
        &[-1.2, -0.7, 0.3],
        &[0.9, 1.4, 0.2],
        &[-0.8, -1.1, -0.4],
        &[0.2, 0.1, 1.9],
        &[1.5, 0.8, 0.0],
        &[-0.3, 0.9, -1.0],
    ];
    let long: [&[u32]; 6] = [
        &[0, 0, 1],
        &[2, 2],
        &[0, 1, 0, 1],
        &[2, 2, 1],
        &[0],
        &[1, 2],
    ];
    let wide: [&[u32]; 6] = [&[0, 2], &[1, 4], &[0, 2], &[1, 3], &[1, 4], &[0, 3]];
    let of = |numeric, counts| Mixture::new(names(n), 0, numeric, counts, alpha);
    vec![
        ("prior", of(None, None)),
        ("full", of(Some(numeric(&flat[..n], false)), None)),
        ("diagonal", of(Some(numeric(&deep[..n], true)), None)),
        ("items", of(None, Some(counts(&[3], 0.5, &long[..n])))),
        (
            "mixed",
            of(
                Some(numeric(&flat[..n], false)),
                Some(counts(&[2, 3], 0.5, &wide[..n])),
            ),
        ),
    ]
}

/// All partitions of `n` units, labels by first appearance.
pub fn partitions(n: usize) -> Vec<Vec<u32>> {
    let mut all = vec![Vec::new()];
    for _ in 0..n {
        all = all
            .into_iter()
            .flat_map(|labels: Vec<u32>| {
                let next = labels.iter().max().map_or(0, |label| label + 1);
                (0..=next).map(move |label| [labels.clone(), vec![label]].concat())
            })
            .collect();
    }
    all
}

/// Settled records of the clusters of a partition.
pub fn records(mixture: &Mixture, labels: &[u32]) -> Vec<Vec<f64>> {
    let count = labels.iter().max().map_or(0, |label| label + 1);
    let mut records = vec![vec![0.0; mixture.width()]; count as usize];
    for (unit, &label) in labels.iter().enumerate() {
        mixture.add(unit, &mut records[label as usize]);
    }
    for record in &mut records {
        mixture.settle(record);
    }
    records
}

/// Posterior probabilities of `partitions`, α integrated out by quadrature.
pub fn posterior(mixture: &Mixture, partitions: &[Vec<u32>]) -> Vec<f64> {
    let grid: Vec<f64> = match mixture.alpha {
        AlphaPrior::Constant(value) => vec![value],
        // Equal steps of ln α, whose Jacobian is α.
        AlphaPrior::Gamma { .. } => (0..4000)
            .map(|k| (f64::from(k) * 0.005 - 14.0).exp())
            .collect(),
    };
    let weights: Vec<f64> = partitions
        .iter()
        .map(|labels| {
            let records = records(mixture, labels);
            let slices = records.iter().map(Vec::as_slice);
            grid.iter()
                .map(|&alpha| alpha * mixture.log_density(alpha, slices.clone()).exp())
                .sum()
        })
        .collect();
    let total: f64 = weights.iter().sum();
    weights.iter().map(|weight| weight / total).collect()
}
