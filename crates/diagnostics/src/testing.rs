//! Draws for tests.

use rand::RngExt as _;
use rand_distr::StandardNormal;

use ergodic_base::draws::DrawList;
use ergodic_base::{Purpose, stream};

/// Independent normals with mean and standard deviation per column, on four chains.
pub(crate) fn normals(seed: u64, draws: usize, columns: &[(f64, f64)]) -> Vec<DrawList> {
    (0..4)
        .map(|chain| {
            let mut rng = stream(seed, chain, Purpose::Diagnostics);
            let mut list = DrawList::new(columns.len());
            for _ in 0..draws {
                let row: Vec<f64> = columns
                    .iter()
                    .map(|(mean, sd)| mean + sd * rng.sample::<f64, _>(StandardNormal))
                    .collect();
                list.push(&row);
            }
            list
        })
        .collect()
}
