//! The sampler `exact-transition` on conjugate posteriors of every family that it knows, written as text.

use super::*;
use ergodic_core::Fit;
use ergodic_core::samplers::{Unsuitable, find};

/// Rows of a minibatch where it is not all rows.
const BATCH: usize = 2;
const DRAWS: usize = 20_100;
const CHAINS: usize = 4;
/// Stretches of a chain whose means tell the Monte Carlo error.
const STRETCHES: usize = 30;

const X: [f64; 6] = [0.4, 2.0, -1.0, 1.3, 0.2, -0.7];
const Y: [f64; 6] = [1.2, 0.3, 2.5, 0.9, 4.0, 1.7];
const COUNT: [f64; 6] = [2.0, 0.0, 1.0, 4.0, 3.0, 1.0];

fn columns() -> Vec<(String, Predictor)> {
    vec![numbers("x", &X), numbers("y", &Y), numbers("count", &COUNT)]
}

/// A conjugate model: its natural parameters by hand, those of the prior and of each row.
struct Conjugate {
    text: &'static str,
    /// From the reported parameter to what has the named distribution.
    to: fn(f64) -> f64,
    is_gamma: bool,
    /// Of a gamma variable shape and rate, of a normal one precision times mean and precision.
    prior: [f64; 2],
    row: fn(usize) -> [f64; 2],
}

fn models() -> Vec<Conjugate> {
    vec![
        Conjugate {
            text: "t ~ normal(1, 3)\nrows\n y ~ normal(t, 2)",
            to: |t| t,
            is_gamma: false,
            prior: [1.0 / 9.0, 1.0 / 9.0],
            row: |i| [Y[i] / 4.0, 0.25],
        },
        Conjugate {
            text: "t ~ normal(0, 2)\nrows\n y ~ normal(1 + t * x, 1.5)",
            to: |t| t,
            is_gamma: false,
            prior: [0.0, 0.25],
            row: |i| [X[i] * (Y[i] - 1.0) / 2.25, X[i] * X[i] / 2.25],
        },
        Conjugate {
            text: "t ~ lognormal(0.5, 1)\nrows\n y ~ lognormal(log(t), 0.8)",
            to: f64::ln,
            is_gamma: false,
            prior: [0.5, 1.0],
            row: |i| [Y[i].ln() / 0.64, 1.0 / 0.64],
        },
        Conjugate {
            text: "t ~ gamma(2, 0.5)\nrows\n count ~ poisson(t)",
            to: |t| t,
            is_gamma: true,
            prior: [2.0, 0.5],
            row: |i| [COUNT[i], 1.0],
        },
        Conjugate {
            text: "t ~ gamma(2, 0.5)\nrows\n y ~ exponential(t)",
            to: |t| t,
            is_gamma: true,
            prior: [2.0, 0.5],
            row: |i| [1.0, Y[i]],
        },
        Conjugate {
            text: "t ~ gamma(3, 2)\nrows\n y ~ normal(1, 1 / sqrt(t))",
            to: |t| t,
            is_gamma: true,
            prior: [3.0, 2.0],
            row: |i| [0.5, 0.5 * (Y[i] - 1.0).powi(2)],
        },
        // A Weibull scale, whose power −1.5 is a gamma variable: t^(−k) has the density of shape 3 − 1 over k.
        Conjugate {
            text: "t: positive\nrows\n y ~ weibull(1.5, t)\ntarget\n -4 * log(t) - 2 * t^(-1.5)",
            to: |t| t.powf(-1.5),
            is_gamma: true,
            prior: [2.0, 2.0],
            row: |i| [1.0, Y[i].powf(1.5)],
        },
    ]
}

impl Conjugate {
    fn model(&self) -> Arc<dyn Model> {
        model(&format!("parameters\n {}\n", self.text), &columns())
    }

    /// Natural parameters where each of these rows stands for equally many.
    fn natural(&self, rows: &[usize]) -> [f64; 2] {
        let each = Y.len() as f64 / rows.len() as f64;
        let mut sum = self.prior;
        for &row in rows {
            for (sum, part) in sum.iter_mut().zip((self.row)(row)) {
                *sum += each * part;
            }
        }
        sum
    }

    /// Mean and variance of the exact posterior.
    fn exact(&self) -> [f64; 2] {
        let [first, second] = self.natural(&[0, 1, 2, 3, 4, 5]);
        let square = if self.is_gamma {
            first / (second * second)
        } else {
            1.0 / second
        };
        [first / second, square]
    }

    /// Stationary mean and variance with steps of `time` and [`BATCH`] independent rows each, all batches summed over.
    ///
    /// Scaled, a step is x' = Rx + S + noise with R = e^{−rh}, S = t d, t = (1 − e^{−rh})/r, where d and r follow from the batch, so that the
    /// stationary moments solve m = E[R] m + E[S] and w = E[R²] w + 2 E[RS] m + E[S²] + E[noise²].
    fn stationary(&self, time: f64) -> [f64; 2] {
        let [mean, variance] = self.exact();
        let whole = self.natural(&[0, 1, 2, 3, 4, 5]);
        let (mut r1, mut s1, mut r2, mut rs, mut s2) = (0.0, 0.0, 0.0, 0.0, 0.0);
        // Noise is (constant, multiple of x).
        let mut noise = [0.0; 2];
        let n = Y.len();
        let chance = 1.0 / (n * n) as f64;
        for pair in 0..n * n {
            let [first, second] = self.natural(&[pair / n, pair % n]);
            let rate = second / whole[1];
            let t = -(-rate * time).exp_m1() / rate;
            let kept = (-rate * time).exp();
            let drift = if self.is_gamma {
                first
            } else {
                (first - second * mean) * variance.sqrt()
            };
            r1 += chance * kept;
            r2 += chance * kept * kept;
            s1 += chance * t * drift;
            rs += chance * kept * t * drift;
            s2 += chance * (t * drift).powi(2);
            if self.is_gamma {
                noise[0] += chance * t * t * drift;
                noise[1] += chance * 2.0 * t * kept;
            } else {
                noise[0] += chance * -(-2.0 * rate * time).exp_m1() / rate;
            }
        }
        let m = s1 / (1.0 - r1);
        let w = (2.0 * rs * m + s2 + noise[0] + noise[1] * m) / (1.0 - r2);
        let square = w - m * m;
        if self.is_gamma {
            [m / whole[1], square / (whole[1] * whole[1])]
        } else {
            [mean + variance.sqrt() * m, variance * square]
        }
    }

    /// Draws of what has the named distribution, by chain.
    fn draws(&self, time: f64, batch: usize) -> Vec<Vec<f64>> {
        let fit = Fit::of_model(self.model())
            .sampler_called("exact-transition")
            .unwrap();
        let fit = fit
            .set("step_size", time)
            .set("batch", batch as i64)
            .set("steps_per_draw", 1_i64)
            .chains(CHAINS)
            .warmup(100)
            .draws(DRAWS as u64);
        let fit = fit.run().unwrap();
        let draws = fit.draws("t").unwrap();
        let chains = draws
            .outer_iter()
            .map(|chain| chain.iter().map(|&t| (self.to)(t)).collect());
        chains.collect()
    }

    #[track_caller]
    fn has_moments(&self, chains: &[Vec<f64>], [mean, variance]: [f64; 2]) {
        let (found, error) = average(chains, |x| x);
        let text = self.text;
        assert!(
            (found - mean).abs() < 4.0 * error,
            "{text}: mean {found} ± {error}, not {mean}"
        );
        assert!(error < 0.02 * variance.sqrt(), "{text}: {error}");
        let (found, error) = average(chains, |x| (x - mean).powi(2));
        assert!(
            (found - variance).abs() < 4.0 * error,
            "{text}: variance {found} ± {error}, not {variance}"
        );
        assert!(error < 0.05 * variance, "{text}: {error}");
    }
}

/// A mean and its standard error, from the means of stretches.
fn average(chains: &[Vec<f64>], f: impl Fn(f64) -> f64) -> (f64, f64) {
    let stretches: Vec<f64> = (chains
        .iter()
        .flat_map(|chain| chain.chunks_exact(DRAWS / STRETCHES)))
    .map(|stretch| stretch.iter().map(|&x| f(x)).sum::<f64>() / stretch.len() as f64)
    .collect();
    let count = stretches.len() as f64;
    let mean = stretches.iter().sum::<f64>() / count;
    let square: f64 = stretches.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (square / (count - 1.0) / count).sqrt())
}

#[test]
fn minibatches_of_all_rows_give_the_exact_posterior() {
    for one in models() {
        one.has_moments(&one.draws(1.0, Y.len()), one.exact());
    }
}

#[test]
fn minibatches_give_the_closed_form_moments() {
    let mut inflated = 0;
    for one in models() {
        for time in [0.3, 1.5] {
            let wanted = one.stationary(time);
            one.has_moments(&one.draws(time, BATCH), wanted);
            inflated += usize::from(wanted[1] > 1.2 * one.exact()[1]);
        }
        // Small steps forget the noise.
        let [mean, variance] = one.stationary(1e-4);
        let exact = one.exact();
        assert!(
            (mean - exact[0]).abs() < 1e-3 * exact[1].sqrt(),
            "{}",
            one.text
        );
        assert!((variance / exact[1] - 1.0).abs() < 2e-3, "{}", one.text);
    }
    assert!(inflated > 5, "{inflated}");
}

/// With a rate that is known the recursion is the source's: mean a, variance a + tanh(h/2) Var â.
#[test]
fn the_closed_form_is_that_of_the_source() {
    let poisson = &models()[3];
    let time = 1.5;
    let [mean, variance] = poisson.stationary(time);
    let centre = COUNT.iter().sum::<f64>() / 6.0;
    let spread = COUNT.iter().map(|c| (c - centre).powi(2)).sum::<f64>() / 6.0;
    let noise = 36.0 / BATCH as f64 * spread;
    let [a, rate] = poisson.natural(&[0, 1, 2, 3, 4, 5]);
    let wanted = [a / rate, (a + (0.5 * time).tanh() * noise) / (rate * rate)];
    near(&[mean, variance], &wanted, 1e-12, "moments");
}

#[test]
fn other_posteriors_are_refused() {
    let entry = find("exact-transition").unwrap();
    for text in [
        "t ~ student_t(3, 0, 1)\nrows\n y ~ normal(t, 1)",
        "t ~ normal(0, 1)\n s ~ gamma(2, 1)\nrows\n y ~ normal(t, 1 / sqrt(s))",
        "a ~ normal(0, 1)\n b ~ normal(0, 1)\nrows\n y ~ normal(a + b * x, 1)",
    ] {
        let model = model(&format!("parameters\n {text}\n"), &columns());
        let refusal = (entry.suits)(model.as_ref()).unwrap_err();
        assert_eq!(refusal.reason, Unsuitable::NoKnownForms, "{text}");
    }
}

/// Without rows there is no noise, and no reason to refuse.
#[test]
fn densities_without_rows_are_taken_by_their_form() {
    let entry = find("exact-transition").unwrap();
    let suits = |text: &str| {
        let model = model(&format!("parameters\n {text}\n"), &[]);
        (entry.suits)(model.as_ref()).map_err(|refusal| refusal.reason)
    };
    assert_eq!(suits("t ~ gamma(2, 1)"), Ok(()));
    assert_eq!(suits("x: positive\ntarget\n 2 * log(x) - x^3"), Ok(()));
    assert_eq!(
        suits("t ~ student_t(3, 0, 1)"),
        Err(Unsuitable::NoKnownForms)
    );
}

/// A rate that has neither a prior nor counts has no distribution.
#[test]
fn an_improper_posterior_is_told() {
    let text = "parameters\n t: positive\nrows\n t * count\n";
    let fit = Fit::of_model(model(text, &columns())).sampler_called("exact-transition");
    assert!(fit.unwrap().chains(1).draws(10).run().is_err());
}
