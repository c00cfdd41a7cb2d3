//! Energy conserving subsampling of rows that no single linear predictor tells of.

use super::*;
use ergodic_base::settings::Value;
use ergodic_core::Fit;
use statrs::function::gamma::ln_gamma;

/// Stretches of a chain.
const STRETCHES: usize = 25;

/// Rows around a mean that depart by an unknown spread, both under flat priors.
const SPREAD: &str = "parameters\n m: real\n s: positive\nrows\n y ~ normal(m, s)";

fn heights() -> Vec<f64> {
    let wave = |i: f64| 3.0 + 2.0 * (1.7 * i).sin() + (2.3 * i * i).cos();
    (0..400).map(|i| wave(f64::from(i))).collect()
}

/// The mean is Student-t with n − 2 degrees of freedom, and σ² inverse χ² with as many.
#[test]
fn mean_and_spread_have_their_closed_form() {
    let y = heights();
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let squares: f64 = y.iter().map(|y| (y - mean).powi(2)).sum();
    let df = n - 2.0;
    let variance = squares / (df - 2.0);
    let spread = (0.5 * squares).sqrt() * (ln_gamma(0.5 * (df - 1.0)) - ln_gamma(0.5 * df)).exp();
    let exact = [
        ("m", mean, (variance / n).sqrt()),
        ("s", spread, (variance - spread * spread).sqrt()),
    ];
    let model = model(SPREAD, &[numbers("y", &y)]);
    assert!(model.linear_rows().is_none());
    let subsample = Value::Text("subsample".to_owned());
    let first = ("order", Value::Int(1));
    let runs: [(&str, &[(&str, Value)]); 7] = [
        ("hmc-ecs", &[]),
        ("nuts-ecs", &[]),
        ("hmc-ecs-signed", &[]),
        ("pseudo-marginal", &[]),
        ("hmc-ecs", std::slice::from_ref(&first)),
        ("hmc-ecs", &[("order", Value::Int(2))]),
        ("nuts-ecs", &[first.clone(), ("metric_rows", subsample)]),
    ];
    for (id, settings) in runs {
        let fit = Fit::of_model(Arc::clone(&model));
        let fit = fit.sampler_called(id).unwrap().chains(4).seed(3);
        let fit = settings
            .iter()
            .fold(fit, |fit, (key, value)| fit.set(key, value.clone()));
        let draws = if id == "pseudo-marginal" {
            12_000
        } else {
            3000
        };
        let fit = fit.warmup(500).draws(draws).run().unwrap();
        for (name, mean, sd) in exact {
            let values = fit.draws(name).unwrap();
            for (power, expected) in [(1, mean), (2, sd * sd)] {
                let around = if power == 1 { 0.0 } else { mean };
                let of_draw = |value: &f64| (value - around).powi(power);
                // Means of long stretches of each chain tell the Monte Carlo error.
                let stretches: Vec<f64> = (values.rows().into_iter())
                    .flat_map(|chain| {
                        let series: Vec<f64> = chain.iter().map(of_draw).collect();
                        let stretches = series.chunks_exact(series.len() / STRETCHES);
                        let means = stretches.map(|it| it.iter().sum::<f64>() / it.len() as f64);
                        means.collect::<Vec<f64>>()
                    })
                    .collect();
                let count = stretches.len() as f64;
                let found = stretches.iter().sum::<f64>() / count;
                let departures = stretches.iter().map(|it| (it - found).powi(2));
                let error = (departures.sum::<f64>() / (count * (count - 1.0))).sqrt();
                let largest = 0.05 * sd.powi(power);
                assert!(
                    (found - expected).abs() < 4.0 * error && error < largest,
                    "{id}, {settings:?}, {name}, power {power}: {found} ± {error} and {expected}"
                );
            }
        }
    }
}
