//! Accuracy and time of every sampler with default settings on Skin Segmentation, against reference moments.
//!
//! The data are not part of the repository: `ERGODIC_SKIN` names the CSV file (columns B, G, R, skin) and
//! `ERGODIC_SKIN_REFERENCE` the JSON with `parameters_standardised` (mean and sd per variable). Without them it does
//! nothing. `cargo bench --bench skin`.

use std::path::Path;
use std::sync::Arc;

use ergodic_analysis::{Job, Recipe, Run, Scale};
use ergodic_base::Control;
use ergodic_core::models::DefaultPriors;
use ergodic_core::samplers::REGISTRY;

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn main() {
    let (Ok(data), Ok(reference)) = (
        std::env::var("ERGODIC_SKIN"),
        std::env::var("ERGODIC_SKIN_REFERENCE"),
    ) else {
        println!("ERGODIC_SKIN and ERGODIC_SKIN_REFERENCE are not set: nothing to measure");
        return;
    };
    let text = std::fs::read_to_string(reference).expect("the reference is readable");
    let reference: serde_json::Value = serde_json::from_str(&text).expect("the reference is JSON");
    let reference = &reference["parameters_standardised"];
    println!(
        "{:<11} {:>8} {:>22} {:>15} {:>7} {:>8} {:>10}",
        "sampler", "seconds", "worst mean shift, sd", "sd ratio", "R-hat", "min ESS", "ESS/s"
    );
    for entry in REGISTRY {
        let mut recipe = Recipe::new(&data, "logistic", "skin ~ B + G + R");
        entry.spec.id.clone_into(&mut recipe.sampler.id);
        recipe.report.scale = Scale::Standardised;
        recipe.set_default_priors(DefaultPriors::Papers);
        let control = Control::default();
        let job =
            Job::prepare(&recipe, Path::new(""), None, &control).expect("the recipe is sound");
        let mut run = Run::start(Arc::new(job), None, None).expect("threads");
        run.join();
        let (view, report) = (run.view(), run.report());
        let (mut shift, mut low, mut high) = (0.0_f64, f64::INFINITY, 0.0_f64);
        let (mut rhat, mut ess) = (0.0_f64, f64::INFINITY);
        for row in &report.summary {
            let expected = |key: &str| {
                reference[row.variable.as_str()][key]
                    .as_f64()
                    .unwrap_or(f64::NAN)
            };
            let (mean, sd) = (row.mean.unwrap_or(f64::NAN), row.sd.unwrap_or(f64::NAN));
            shift = shift.max((mean - expected("mean")).abs() / expected("sd"));
            low = low.min(sd / expected("sd"));
            high = high.max(sd / expected("sd"));
            rhat = rhat.max(row.rhat.unwrap_or(f64::NAN));
            ess = ess.min(row.ess_bulk.unwrap_or(f64::NAN));
        }
        println!(
            "{:<11} {:>8.2} {shift:>22.3} {:>15} {rhat:>7.4} {ess:>8.0} {:>10.0}",
            entry.spec.id,
            view.elapsed_secs,
            format!("{low:.3} to {high:.3}"),
            ess / view.elapsed_secs,
        );
    }
}
