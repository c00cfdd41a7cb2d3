//! A fit that is watched while it runs: progress by callback, and a handle that stops it early.
//!
//! `cargo run --release -p ergodic-core --example live_progress`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::time::Duration;

use ergodic_core::models::density_of;
use ergodic_core::{Fit, FitError};

/// A normal density with standard deviations 1 and 100.
fn uneven() -> impl ergodic_core::models::LogDensity + 'static {
    density_of(2, |u: &[f64], grad: &mut [f64]| {
        grad[0] = -u[0];
        grad[1] = -u[1] / 1e4;
        -0.5 * (u[0] * u[0] + u[1] * u[1] / 1e4)
    })
}

fn main() -> Result<(), FitError> {
    let fit = Fit::new(uneven())
        .draws(5000)
        .on_progress(|view| println!("{} draws per chain", view.draws_per_chain()))
        .run()?;
    println!("{}\n", fit.summary());

    // The handle of a run: views, diagnostics and steering, as the window has them.
    let mut run = Fit::new(uneven()).draws(100_000_000).start()?;
    while run.view().draws_per_chain() < 2000 {
        std::thread::sleep(Duration::from_millis(5));
    }
    run.stop();
    run.join();
    println!(
        "stopped after {} draws per chain",
        run.view().draws_per_chain()
    );
    Ok(())
}
