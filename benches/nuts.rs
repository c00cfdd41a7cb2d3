//! NUTS on N = 100,000, D = 10: seconds, leapfrogs, and smallest bulk effective sample size per second, four chains.
//!
//! `cargo bench --bench nuts`. The posterior means and standard deviations are printed so that speed is never read
//! without correctness.

use std::path::Path;
use std::sync::Arc;

use ergodic_analysis::{Job, Recipe, Run};
use ergodic_base::Control;
use ergodic_core::models::DefaultPriors;
use ergodic_data::samples;

mod support;

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn main() {
    let (id, rows) = match support::is_test() {
        true => ("synthetic-2000x3", 2000.0),
        false => ("synthetic-100000x10", 100_000.0),
    };
    let formula = samples::formula(id).expect("the shape is sound");
    let mut recipe = Recipe::new(&format!("{}{id}", samples::PREFIX), "logistic", &formula);
    recipe.set_default_priors(DefaultPriors::Papers);
    for sampler in ["nuts", "sgld-cv", "osgfs-cv"] {
        sampler.clone_into(&mut recipe.sampler.id);
        let job = Job::prepare(&recipe, Path::new(""), None, &Control::default())
            .expect("the recipe is sound");
        let mut run = Run::start(Arc::new(job), None, None).expect("threads");
        run.join();
        let (view, report) = (run.view(), run.report());
        let least = report
            .summary
            .iter()
            .filter_map(|row| row.ess_bulk)
            .fold(f64::INFINITY, f64::min);
        let rhat = report
            .summary
            .iter()
            .filter_map(|row| row.rhat)
            .fold(0.0, f64::max);
        let grads: u64 = view.chains.iter().map(|chain| chain.datum_grads).sum();
        println!(
            "{sampler}: {:.2} s with warm-up, min bulk ESS {least:.0}, {:.1} per second, R-hat {rhat:.4}, {:.1} passes over the data per effective draw",
            view.elapsed_secs,
            least / view.elapsed_secs,
            grads as f64 / rows / least,
        );
        for row in &report.summary {
            println!(
                "  {} {:.5} sd {:.5}",
                row.variable,
                row.mean.unwrap_or(f64::NAN),
                row.sd.unwrap_or(f64::NAN)
            );
        }
    }
}
