//! Clusters of normal points in the plane, far apart and overlapping, 100,000 of them: is the number of clusters found, which
//! points belong together, and how long does a step take.
//!
//! `tests/reference/mixture_sklearn.py` gives the same points to scikit-learn's `BayesianGaussianMixture`, which is
//! variational.

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use super::mixture::{chain, model};
use super::{BenchOptions, BenchTable, Cell, Plot};
use crate::error::BenchError;
use ergodic_base::settings::{Settings, Value};
use ergodic_base::{Purpose, stream};
use ergodic_core::design::Values;
use ergodic_data::Table;
use ergodic_diagnostics::partition::{point_partition, variation_of_information};

/// Distance of the centres of two clusters, in their standard deviations.
const DISTANCES: [(&str, f64); 2] = [("separated", 8.0), ("overlapping", 2.5)];

/// Runs the experiment.
///
/// # Errors
/// None that a caller could cause.
pub fn run(options: &BenchOptions) -> Result<BenchTable, BenchError> {
    let (points, draws) = options.sized((5_000, 60), (100_000, 200));
    let mut rows = Vec::new();
    for (words, distance) in DISTANCES {
        let Points {
            table,
            truth,
            nearest,
        } = Points::at(distance, points)?;
        let best = variation_of_information(&nearest, &truth);
        let model = model(&table, "~ x + y", 0.0, None)?;
        // Units are in the shuffled order of the rows; their names are row numbers.
        let truth: Vec<u32> = model.partition().map_or_else(Vec::new, |mixture| {
            let rows = mixture.unit_names.iter();
            rows.map(|name| truth[name.parse::<usize>().map_or(0, |row| row - 1)])
                .collect()
        });
        for (id, start) in [
            ("dp-slice", "many"),
            ("dp-slice", "one"),
            ("dp-gibbs", "many"),
        ] {
            let mut settings = Settings::default();
            settings.set("start", Value::Text(start.to_owned()));
            let found = chain(id, &settings, &model, (options.seed, 0), draws)?;
            let count = found.clusters.len() as f64;
            let draws_kept: Vec<&[u32]> = found.partitions.iter().map(Vec::as_slice).collect();
            let point = point_partition(&draws_kept);
            let (k_point, to_truth) = point.map_or((0, f64::NAN), |point| {
                let to_truth = variation_of_information(&point.labels, &truth);
                (point.clusters, to_truth)
            });
            let two = found.clusters.iter().filter(|&&k| k == 2.0).count() as f64;
            rows.push(vec![
                Cell::Text(words.to_owned()),
                Cell::Text(id.to_owned()),
                Cell::Text(start.to_owned()),
                Cell::Count(points as u64),
                Cell::Number(found.clusters.iter().sum::<f64>() / count),
                Cell::Number(two / count),
                Cell::Count(k_point as u64),
                Cell::Number(to_truth),
                Cell::Number(best),
                Cell::Number(1000.0 * found.secs / draws as f64),
                Cell::Number(found.secs),
            ]);
        }
    }
    Ok(BenchTable {
        columns: vec![
            "clusters",
            "sampler",
            "start",
            "points",
            "k_mean",
            "share_k_2",
            "k_point",
            "distance_to_truth",
            "nearest_centre",
            "ms_per_draw",
            "seconds",
        ],
        rows,
        notes: vec![format!(
            "two clusters of equal size; k of the second half of {draws} draws; k_point and distance_to_truth are those of \
             the point partition: variation of information, in natural units, at most ln n; nearest_centre is the distance \
             of the best rule there is, which knows both clusters; one chain, one thread"
        )],
        plots: vec![
            Plot::points("sampler", &["k_mean"]).by(&["clusters", "start"]),
            Plot::points("sampler", &["ms_per_draw"])
                .by(&["clusters", "start"])
                .log_y(),
        ],
        ..BenchTable::default()
    })
}

/// Points of two clusters.
struct Points {
    table: Table,
    /// The cluster of each row.
    truth: Vec<u32>,
    /// The cluster with the nearer centre, the best guess there is.
    nearest: Vec<u32>,
}

impl Points {
    /// `count` points, each of one of two clusters whose centres are `distance` apart.
    fn at(distance: f64, count: usize) -> Result<Self, BenchError> {
        let mut rng = stream(0, 0, Purpose::Data);
        let (mut x, mut y, mut truth) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..count {
            let cluster = u32::from(rng.random::<bool>());
            let [a, b]: [f64; 2] = std::array::from_fn(|_| StandardNormal.sample(&mut rng));
            x.push(a + distance * f64::from(cluster));
            y.push(b);
            truth.push(cluster);
        }
        let nearest = x.iter().map(|&x| u32::from(x > 0.5 * distance)).collect();
        let columns = vec![
            ("x".to_owned(), Values::Numbers(x)),
            ("y".to_owned(), Values::Numbers(y)),
        ];
        Ok(Self {
            table: Table::from_columns("points", columns)?,
            truth,
            nearest,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// From one cluster. From many, and where clusters overlap, the slice sampler needs hundreds of draws, which no test has
    /// time for.
    #[test]
    fn clusters_far_apart_are_found() {
        let Points { table, truth, .. } = Points::at(8.0, 600).unwrap();
        let model = model(&table, "~ x + y", 0.0, None).unwrap();
        let mixture = model.partition().unwrap();
        let truth: Vec<u32> = (mixture.unit_names.iter())
            .map(|name| truth[name.parse::<usize>().unwrap() - 1])
            .collect();
        for (id, number) in [("dp-slice", 0), ("dp-gibbs", 0)] {
            let found = chain(id, &Settings::default(), &model, (1, number), 120).unwrap();
            let distance = variation_of_information(found.partitions.last().unwrap(), &truth);
            assert!(distance < 0.05, "{id} {number}: {distance}");
            // The first half finds them.
            let late = &found.clusters[found.clusters.len() / 2..];
            let mean = late.iter().sum::<f64>() / late.len() as f64;
            assert!((1.9..3.5).contains(&mean), "{id} {number}: {mean}");
        }
    }
}
