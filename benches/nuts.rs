//! NUTS and minibatch samplers on N = 100,000, D = 10: seconds, smallest bulk effective sample size per second, four
//! chains, default settings.
//!
//! `cargo bench --bench nuts`. Means and standard deviations are compared with those of NUTS so that speed is never read
//! without correctness.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use ergodic::engine::{Job, PrepareControl, Recipe, Run};

#[path = "support/synthetic.rs"]
#[expect(dead_code, reason = "other benchmarks use the other sets")]
mod synthetic;

#[expect(
    clippy::print_stdout,
    reason = "a benchmark reports on standard output"
)]
fn main() {
    let data = synthetic::logit_n1e5_d10();
    let columns = data.theta.len();
    let mut text = String::from("y");
    for j in 1..columns {
        write!(text, ",x{j}").expect("a string takes everything");
    }
    for (x, y) in data.x.chunks_exact(columns).zip(&data.y) {
        write!(text, "\n{y}").expect("a string takes everything");
        for x in &x[1..] {
            write!(text, ",{x}").expect("a string takes everything");
        }
    }
    let path = std::env::temp_dir().join("ergodic-bench-logit.csv");
    std::fs::write(&path, text).expect("the temporary folder must take 10 MB");
    let terms: Vec<String> = (1..columns).map(|j| format!("x{j}")).collect();
    let mut recipe = Recipe::new(
        &path.display().to_string(),
        "logistic",
        &format!("y ~ {}", terms.join(" + ")),
    );
    let mut reference: Vec<(f64, f64)> = Vec::new();
    for sampler in [
        "nuts",
        "sgld-cv",
        "osgfs-cv",
        "hmc-ecs",
        "hmc-ecs-signed",
        "nuts-ecs",
    ] {
        sampler.clone_into(&mut recipe.sampler.id);
        let job = Job::prepare(&recipe, Path::new(""), None, &PrepareControl::default())
            .expect("the recipe is sound");
        let mut run = Run::start(Arc::new(job), None, Arc::new(|| {})).expect("threads");
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
            grads as f64 / data.y.len() as f64 / least,
        );
        let moments: Vec<(f64, f64)> = report
            .summary
            .iter()
            .map(|row| (row.mean.unwrap_or(f64::NAN), row.sd.unwrap_or(f64::NAN)))
            .collect();
        if reference.is_empty() {
            for (row, (mean, sd)) in report.summary.iter().zip(&moments) {
                println!("  {} {mean:.5} sd {sd:.5}", row.variable);
            }
            reference = moments;
            continue;
        }
        let (mut shift, mut low, mut high) = (0.0_f64, f64::INFINITY, 0.0_f64);
        for ((mean, sd), (true_mean, true_sd)) in moments.iter().zip(&reference) {
            shift = shift.max((mean - true_mean).abs() / true_sd);
            low = low.min(sd / true_sd);
            high = high.max(sd / true_sd);
        }
        println!("  worst mean shift {shift:.3} sd, sd ratio {low:.3} to {high:.3}");
    }
}
