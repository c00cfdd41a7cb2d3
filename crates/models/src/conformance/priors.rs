//! Draws of priors against their densities, and densities with and without the change of variables.

use super::*;
use ergodic_base::Class;
use ergodic_base::linalg::Cholesky;

/// For u with density p, E ∂_j log p = 0 and E u_j ∂_j log p = −1: a wrong scale, shift or dependence breaks one of them.
#[test]
fn draws_of_the_prior_have_its_density() {
    const DRAWS: usize = 2000;
    for_each_density(|model, density, what| {
        let dim = model.dim();
        let mut rng = stream(65, 0, Purpose::Data);
        let (mut u, mut grad) = (vec![0.0; dim], vec![0.0; dim]);
        let mut sums = vec![[0.0; 2]; 2 * dim];
        for _ in 0..DRAWS {
            if let Err(why) = model.prior_draws().unwrap().draw_prior(&mut rng, &mut u) {
                assert!(why.to_string().contains("flat"), "{what}: {why}");
                return;
            }
            density.log_prior(&u, &mut grad);
            for j in 0..dim {
                for (k, value) in [grad[j], 1.0 + u[j] * grad[j]].into_iter().enumerate() {
                    sums[2 * j + k][0] += value;
                    sums[2 * j + k][1] += value * value;
                }
            }
        }
        for (k, [sum, squares]) in sums.iter().enumerate() {
            let (mean, n) = (sum / DRAWS as f64, DRAWS as f64);
            let error = ((squares / n - mean * mean) / n).sqrt();
            // Some thousand comparisons.
            assert!(
                mean.abs() < 5.0 * error,
                "{what}: identity {} of coordinate {}: {mean} ± {error}",
                k % 2,
                k / 2
            );
        }
    });
}

/// Where effects of groups, and what bends curves, are standard normal in u, the rest of the log prior is the density of the parameters and the
/// volume of the map to them.
#[test]
fn densities_of_parameters_leave_out_the_volume_and_the_effects() {
    for_each_density(|model, density, what| {
        let own = |param: &crate::ParamInfo| {
            param.name.group_effect().is_none()
                && !matches!(param.name.class(), Class::VarianceShare | Class::Bend)
        };
        let params = model.params();
        let reported: Vec<usize> = (0..params.len()).filter(|&i| own(&params[i])).collect();
        let blocks = model.blocks().into_iter();
        let bends: Vec<usize> = blocks
            .filter(|block| block.name.class() == Class::Bend)
            .flat_map(|block| block.coordinates)
            .collect();
        let (mut top, mut effects): (Vec<usize>, Vec<usize>) =
            (0..model.dim()).partition(|j| !bends.contains(j));
        effects.extend(top.drain(reported.len().min(top.len())..));
        let reported = &reported[..top.len()];
        let excess = |u: &[f64]| {
            let mut grad = vec![0.0; model.dim()];
            let log_prior = density.log_prior(u, &mut grad);
            let standard = effects.iter().all(|&j| (grad[j] + u[j]).abs() < 1e-9);
            let of_effects: f64 = effects.iter().map(|&j| -0.5 * u[j] * u[j]).sum();
            let own = density.log_prior_density(u)?;
            standard.then(|| log_prior - of_effects - own - log_volume(model, reported, &top, u))
        };
        let positions = positions(model.dim());
        let [Some(first), Some(second)] = [excess(&positions[0]), excess(&positions[1])] else {
            // Centred effects, whose distribution depends on the scales.
            let centred = model
                .params()
                .iter()
                .any(|param| param.name.group_effect().is_some());
            assert!(centred, "{what} does not say the density of its parameters");
            return;
        };
        assert!(
            (first - second).abs() < 1e-5 * first.abs().max(1.0),
            "{what}: {first} {second}"
        );
    });
}

/// log |∂θ/∂u| of these quantities and coordinates, by central differences.
fn log_volume(model: &dyn Model, quantities: &[usize], coordinates: &[usize], u: &[f64]) -> f64 {
    let top = coordinates.len();
    let slopes = slopes_of_all(u, model.params().len(), |u, theta| {
        model.constrain(u, theta);
    });
    let rows: Vec<Vec<f64>> = quantities
        .iter()
        .map(|&i| coordinates.iter().map(|&j| slopes[j][i]).collect())
        .collect();
    // Rows may have very different units.
    let norms: Vec<f64> = rows
        .iter()
        .map(|row| row.iter().map(|x| x * x).sum::<f64>().sqrt())
        .collect();
    let mut gram = vec![0.0; top * top];
    for i in 0..top {
        for j in 0..top {
            let dot: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
            gram[i * top + j] = dot / (norms[i] * norms[j]);
        }
    }
    let scales: f64 = norms.iter().map(|norm| norm.ln()).sum();
    0.5 * Cholesky::of(&gram, top).unwrap().log_det() + scales
}
