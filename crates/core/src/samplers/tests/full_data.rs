//! The exact samplers of full data on targets that are hard in different ways, with known moments.

use std::sync::Arc;

use crate::estimators::find_mode;
use crate::models::Model;
use crate::oracle::Centre;
use crate::samplers::testing::{
    Chain, Density, Run, Session, assert_moments, assert_moments_known_to, correlated, estimate,
    exact_oracle, gaussian_with_centre, grid_moments, small_logistic,
};
use crate::samplers::{StateVisitor, find};
use ergodic_base::Control;
use ergodic_base::settings::Value;

/// Samplers and the draws per chain that give each about the same precision; `gibbs` with one coordinate per block,
/// because the targets declare a single block.
const EXACT: [(&str, usize); 4] = [
    ("hmc", 8000),
    ("mala", 12_000),
    ("slice", 5000),
    ("gibbs", 5000),
];

fn text(word: &str) -> Value {
    Value::Text(word.to_owned())
}

fn run_of(id: &'static str) -> Run {
    let run = Run::new(id);
    if id == "gibbs" {
        run.set("blocks", text("single"))
    } else {
        run
    }
}

/// Four chains with default settings, for every sampler.
fn run_all(
    model: &Arc<dyn Model>,
    centre: Option<&Arc<Centre>>,
    mut check: impl FnMut(&str, &[Chain]),
) {
    for (id, draws) in EXACT {
        let warmup = find(id).unwrap().spec.default_warmup;
        let chains: Vec<Chain> = (1..=4)
            .map(|seed| {
                let oracle = exact_oracle(Arc::clone(model), centre.cloned());
                run_of(id).seed(seed).go(oracle, warmup, draws)
            })
            .collect();
        check(id, &chains);
    }
}

fn series(chains: &[Chain], f: impl Fn(&[f64]) -> f64) -> Vec<Vec<f64>> {
    chains
        .iter()
        .map(|chain| chain.draws.chunks_exact(chain.dim).map(&f).collect())
        .collect()
}

fn centred_at(model: &Arc<dyn Model>, u: &[f64]) -> Arc<Centre> {
    Arc::new(Centre::at(model.density().unwrap(), u).unwrap())
}

#[test]
fn a_banana_has_the_right_shape() {
    // u₁ ~ N(0, 1), u₂ ~ N((u₁² − 1)/2, 1/4): means 0, Var u₂ = 3/4; the curvature at the mode misses the bend.
    // E u₂ exp(−u₁²/2) = (E v² − 1)/(2 sqrt 2) with v ~ N(0, 1/2).
    let model = Density::model(2, |u, grad| {
        let off = 4.0 * (u[1] - 0.5 * (u[0] * u[0] - 1.0));
        grad[0] = -u[0] + off * u[0];
        grad[1] = -off;
        -0.5 * u[0] * u[0] - off * off / 8.0
    });
    let centre = centred_at(&model, &[0.0, -0.5]);
    for centre in [None, Some(&centre)] {
        run_all(&model, centre, |id, chains| {
            // Far along the bend chains turn slowly; the bounded number below is known better.
            let known = |k, variance| {
                let what = format!("{id} {}", k + 1);
                assert_moments_known_to(0.6, &what, &series(chains, |u| u[k]), 0.0, variance);
            };
            known(0, 1.0);
            known(1, 0.75);
            let bend = series(chains, |u| u[1] * (-0.5 * u[0] * u[0]).exp());
            let (found, mcse) = estimate(&bend);
            let expected = -0.25 / 2.0_f64.sqrt();
            assert!(
                (found - expected).abs() < 4.0 * mcse && mcse < 0.02,
                "{id}: {found} ± {mcse}"
            );
        });
    }
}

#[test]
fn heavy_tails_are_right_to_their_probabilities() {
    // Student t with 10 degrees of freedom: variance 10/8, P(|x| > 2.2281) = 0.05.
    let df = 10.0;
    let model = Density::model(1, move |u, grad| {
        grad[0] = -(df + 1.0) * u[0] / (df + u[0] * u[0]);
        -0.5 * (df + 1.0) * (u[0] * u[0] / df).ln_1p()
    });
    let centre = centred_at(&model, &[0.0]);
    for centre in [None, Some(&centre)] {
        run_all(&model, centre, |id, chains| {
            assert_moments(id, &series(chains, |u| u[0]), 0.0, 1.25);
            let beyond = series(chains, |u| f64::from(u8::from(u[0].abs() > 2.228_139)));
            let (found, mcse) = estimate(&beyond);
            assert!((found - 0.05).abs() < 4.0 * mcse, "{id}: {found} ± {mcse}");
        });
    }
}

#[test]
fn a_kink_in_the_density_leaves_no_trace() {
    // As a Laplace prior makes it: u₁ ~ Laplace(1), u₂ ~ N(u₁, 1/4).
    let model = Density::model(2, |u, grad| {
        let off = 4.0 * (u[1] - u[0]);
        grad[0] = off - u[0].signum();
        grad[1] = -off;
        -u[0].abs() - off * off / 8.0
    });
    run_all(&model, None, |id, chains| {
        // Squares of Laplace draws have heavy tails.
        let known = |k, variance| {
            let what = format!("{id} {}", k + 1);
            assert_moments_known_to(0.35, &what, &series(chains, |u| u[k]), 0.0, variance);
        };
        known(0, 2.0);
        known(1, 2.25);
        // The half of the mass nearest to the kink: |u₁| < log 2.
        let near = series(chains, |u| f64::from(u8::from(u[0].abs() < 2.0_f64.ln())));
        let (found, mcse) = estimate(&near);
        assert!((found - 0.5).abs() < 4.0 * mcse, "{id}: {found} ± {mcse}");
    });
}

#[test]
fn skewed_and_separated_logistic_posteriors_agree_with_numerical_integration() {
    let x = [-1.5, -1.0, -0.5, -0.2, 0.3, 0.6, 1.0, 1.3];
    let one_failure = [0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0];
    let separated = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    for y in [one_failure, separated] {
        let model = small_logistic(&x, &y, 2.5);
        let mode = find_mode(model.as_ref(), &Control::default()).unwrap();
        let centre = Arc::new(mode.centre);
        let middle = [centre.u[0], centre.u[1]];
        let [a, b, aa, bb, ab] = grid_moments(model.as_ref(), middle, [14.0, 14.0]);
        run_all(&model, Some(&centre), |id, chains| {
            assert_moments(&format!("{id} intercept"), &series(chains, |u| u[0]), a, aa);
            assert_moments(&format!("{id} slope"), &series(chains, |u| u[1]), b, bb);
            let (found, mcse) = estimate(&series(chains, |u| (u[0] - a) * (u[1] - b)));
            assert!((found - ab).abs() < 4.0 * mcse, "{id}: {found} {ab} {mcse}");
        });
    }
}

#[test]
fn correlated_scales_are_found_with_and_without_a_mode() {
    // Sds 0.01, 1 and 100, all correlations 0.6.
    let sds = [0.01, 1.0, 100.0];
    let mut covariance = [0.0; 9];
    for i in 0..3 {
        for j in 0..3 {
            covariance[3 * i + j] = sds[i] * sds[j] * if i == j { 1.0 } else { 0.6 };
        }
    }
    let model = correlated(&covariance, 3);
    let centre = centred_at(&model, &[0.0; 3]);
    for centre in [None, Some(&centre)] {
        run_all(&model, centre, |id, chains| {
            for j in 0..3 {
                let what = format!("{id} {j} {}", centre.is_some());
                let variance = sds[j] * sds[j];
                assert_moments_known_to(0.15, &what, &series(chains, |u| u[j]), 0.0, variance);
            }
            let (found, mcse) = estimate(&series(chains, |u| u[0] * u[2]));
            assert!((found - 0.6).abs() < 4.0 * mcse, "{id}: {found} {mcse}");
        });
    }
}

/// Every number of a state that is not about where the chain is.
#[derive(Default)]
struct Tuned(Vec<u64>);

impl StateVisitor for Tuned {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        if !["position", "gradient", "log_density", "sum_accept"].contains(&name) {
            self.0.extend(values.iter().map(|v| v.to_bits()));
        }
    }
    fn counter(&mut self, name: &'static str, value: &mut u64) {
        if name != "steps" {
            self.0.push(*value);
        }
    }
}

#[test]
fn nothing_adapts_after_warmup() {
    let (model, centre) = gaussian_with_centre(40, 4, 2);
    let tuned = |session: &mut Session| {
        let mut tuned = Tuned::default();
        session.kernel.visit(&mut tuned);
        tuned.0
    };
    let runs = EXACT
        .iter()
        .map(|(id, _draws)| run_of(id))
        .chain(["hmc", "mala", "metropolis"].map(|kernel| {
            Run::new("gibbs")
                .set("kernel", text(kernel))
                .set("single_kernel", text(kernel))
        }))
        .chain([
            Run::new("mala").set("precondition", text("dense")),
            Run::new("ula"),
        ]);
    for run in runs {
        let mut session = run.start(exact_oracle(Arc::clone(&model), Some(Arc::clone(&centre))));
        while session.iter < 60 {
            session.advance(60).unwrap();
        }
        let warm = tuned(&mut session);
        session.draw().unwrap();
        let first = tuned(&mut session);
        assert!(!first.is_empty());
        let adaptive = run.settings().text("precondition") == Some("dense");
        assert!(!adaptive || warm != first);
        for _ in 0..100 {
            session.draw().unwrap();
        }
        assert_eq!(first, tuned(&mut session));
    }
}
