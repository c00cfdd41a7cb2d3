mod stochastic;

use std::sync::Arc;

use super::*;
use crate::oracle::Centre;
use crate::samplers::autoregressive::Moments;
use crate::samplers::testing::{
    Chain, Run, assert_moments, correlated, estimate, exact_oracle, logistic_with_centre, mean,
};
use ergodic_base::ParamId;
use ergodic_base::linalg::Cholesky;
use ergodic_base::settings::Value;

const COVARIANCE: [f64; 9] = [1.0, 0.6, 0.3, 0.6, 2.0, 0.8, 0.3, 0.8, 1.5];

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

#[test]
fn a_view_is_the_conditional_density_and_its_curvature() {
    let (model, centre) = logistic_with_centre();
    let mut oracle = exact_oracle(model, Some(Arc::clone(&centre)));
    let (u, mut whole, mut part) = ([0.3, -0.2], [0.0; 2], [0.0]);
    let joint = oracle.exact(&u, &mut whole).unwrap();
    let mut view = oracle.block_view(vec![1], &[0.3, 9.0]).unwrap();
    oracle.within(&mut view, |oracle| {
        assert_eq!(oracle.dim(), 1);
        assert_eq!(oracle.exact(&u[1..], &mut part).unwrap(), joint);
        assert_eq!(part[0], whole[1]);
        let block = oracle.centre().unwrap();
        assert_eq!(block.hessian, [centre.hessian[3]]);
        assert!((block.covariance[0] * centre.hessian[3] - 1.0).abs() < 1e-12);
    });
    assert_eq!(oracle.dim(), 2);
    assert_eq!(oracle.centre().unwrap().u, centre.u);
    assert_eq!(oracle.exact(&u, &mut whole).unwrap(), joint);
    // Elsewhere the conditional is another.
    view.stand_at(&[-0.5, 0.0]);
    let other = oracle.within(&mut view, |oracle| {
        oracle.exact(&u[1..], &mut part).unwrap()
    });
    assert_eq!(other, oracle.exact(&[-0.5, -0.2], &mut whole).unwrap());
    assert_eq!(part[0], whole[1]);
}

#[test]
fn the_curvature_of_a_block_gives_the_conditional_covariance() {
    let model = correlated(&COVARIANCE, 3);
    let centre = Centre::at(model.density().unwrap(), &[0.0; 3]).unwrap();
    let block = centre.block(None, &[1, 2]).unwrap();
    // Σ_bb − Σ_ba Σ_aa⁻¹ Σ_ab
    let expected = [2.0 - 0.36, 0.8 - 0.18, 0.8 - 0.18, 1.5 - 0.09];
    for (found, expected) in block.covariance.iter().zip(expected) {
        assert!((found - expected).abs() < 1e-6, "{found} {expected}");
    }
    let factor = Cholesky::of(&block.hessian, 2).unwrap();
    assert_eq!(factor.lower(), block.factor.lower());
}

#[test]
fn every_kernel_in_every_partition_leaves_a_correlated_gaussian_alone() {
    let model = correlated(&COVARIANCE, 3);
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0; 3]).unwrap());
    for &kernel in EXACT {
        let apart = format!("u[2]: {kernel}; *: {kernel}");
        // Its draws follow each other more slowly, and cost less.
        let draws = if kernel == "metropolis" { 7000 } else { 3000 };
        for blocks in ["single", "one", &apart] {
            for known in [true, false] {
                let chains: Vec<Chain> = (1..=4)
                    .map(|seed| {
                        let run = Run::new("gibbs")
                            .set("blocks", text(blocks))
                            .set("kernel", text(kernel))
                            .set("single_kernel", text(kernel))
                            .seed(seed);
                        let centre = Some(Arc::clone(&centre)).filter(|_| known);
                        run.go(exact_oracle(Arc::clone(&model), centre), 300, draws)
                    })
                    .collect();
                let what = format!("{kernel} {blocks} {known}");
                for j in 0..3 {
                    let series: Vec<_> = chains.iter().map(|c| c.coordinate(j)).collect();
                    assert_moments(&what, &series, 0.0, COVARIANCE[4 * j]);
                }
                let products: Vec<Vec<f64>> = chains
                    .iter()
                    .map(|c| {
                        let (a, b) = (c.coordinate(1), c.coordinate(2));
                        a.iter().zip(&b).map(|(a, b)| a * b).collect()
                    })
                    .collect();
                let (found, mcse) = estimate(&products);
                assert!((found - 0.8).abs() < 4.0 * mcse, "{what}: {found} {mcse}");
            }
        }
    }
}

#[test]
fn independent_draws_of_conditionals_have_the_autocorrelation_of_gibbs_sampling() {
    // Two coordinates with correlation r: u₂ of a systematic scan is a first-order autoregression with coefficient r².
    let r = 0.8;
    let model = correlated(&[1.0, r, r, 1.0], 2);
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0; 2]).unwrap());
    let run = Run::new("gibbs").set("blocks", text("single"));
    let chain = run.go(exact_oracle(model, Some(centre)), 500, 20_000);
    let moments = Moments::of(&chain.coordinate(1));
    // The slice sampler forgets nearly, but not quite, where it began.
    assert!(
        (moments.correlation - r * r).abs() < 0.06,
        "{}",
        moments.correlation
    );
}

#[test]
fn a_random_scan_has_its_autocorrelation_and_leaves_the_target_alone() {
    // Two updates per draw, each of either coordinate: the correlation of successive u₂ is (1 + 3r²)/4.
    let r = 0.8;
    let model = correlated(&[1.0, r, r, 1.0], 2);
    let centre = Arc::new(Centre::at(model.density().unwrap(), &[0.0; 2]).unwrap());
    let run = Run::new("gibbs")
        .set("blocks", text("single"))
        .set("scan", text("random"));
    let chain = run.go(exact_oracle(model, Some(centre)), 500, 20_000);
    let series = [chain.coordinate(0), chain.coordinate(1)];
    for series in series {
        let moments = Moments::of(&series);
        let expected = (1.0 + 3.0 * r * r) / 4.0;
        assert!(
            (moments.correlation - expected).abs() < 0.06,
            "{} for {expected}",
            moments.correlation
        );
        assert_moments("random scan", &[series], 0.0, 1.0);
    }
}

#[test]
fn blocks_follow_the_model_and_kernels_the_size_of_blocks() {
    let (model, centre) = logistic_with_centre();
    // Coefficients are one class, and there is nothing else.
    let blocks = model.blocks();
    assert_eq!((blocks.len(), blocks[0].coordinates.clone()), (1, 0..2));

    // Trajectories are accepted or rejected; slices are not.
    let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    let chain = Run::new("gibbs").go(oracle(), 200, 200);
    assert!((0.6..1.0).contains(&mean(&chain.info(0))));
    let single = Run::new("gibbs").set("blocks", text("single"));
    let chain = single.go(oracle(), 20, 20);
    assert!(chain.info(0).iter().all(|accept| accept.is_nan()));

    // What is reported as the density is that of the draw.
    let mut exact = oracle();
    let mut grad = [0.0; 2];
    let run = single.set("single_kernel", text("metropolis"));
    let chain = run.go(oracle(), 20, 50);
    for (u, log_density) in chain.draws.chunks_exact(2).zip(chain.info(2)) {
        let expected = exact.exact(u, &mut grad).unwrap();
        assert!((expected - log_density).abs() < 1e-9 * expected.abs());
    }
}

#[test]
fn blocks_by_name_have_the_samplers_that_are_named() {
    let (model, centre) = logistic_with_centre();
    let names: Vec<ParamId> = crate::models::parts(model.as_ref())
        .into_iter()
        .map(|part| part.name)
        .collect();
    let oracle = || exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre)));
    // The same blocks and samplers by words and by names are the same chain.
    let run = Run::new("gibbs").set("single_kernel", text("metropolis"));
    let by_word = run
        .clone()
        .set("blocks", text("single"))
        .go(oracle(), 20, 50);
    let written = format!("{}: metropolis; {}: metropolis", names[0], names[1]);
    let by_name = Run::new("gibbs").set("blocks", text(&written));
    assert_eq!(by_name.go(oracle(), 20, 50).draws, by_word.draws);
    // What is not named is a last block with the usual sampler.
    let first = format!("{}: metropolis", names[0]);
    let rest = run.set("blocks", text(&first)).go(oracle(), 20, 50);
    assert_eq!(rest.draws, by_word.draws);
    // A name that the model does not have is refused before anything starts.
    let wrong = Run::new("gibbs").set("blocks", text("nope: hmc"));
    assert!(wrong.try_start(oracle()).is_err());
}
