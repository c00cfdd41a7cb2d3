//! A log density of one's own through NUTS: Neal's funnel, which shows what diagnostics are for.
//!
//! v ~ N(0, 3²) is the log of a variance, and x_1 … x_9 ~ N(0, exp(v)). Where v is small the funnel is so narrow that no step
//! size fits both ends: transitions diverge, and the summary of v is wrong in a way that only they tell. The same density with
//! x_i = exp(v/2) z_i has no neck.
//!
//! `cargo run --release -p ergodic-core --example own_density`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use ergodic_core::models::LogDensity;
use ergodic_core::samplers::Nuts;
use ergodic_core::{Fit, FitError};

/// Coordinates v, then nine x.
struct Funnel;

impl LogDensity for Funnel {
    fn dim(&self) -> usize {
        10
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        let (v, x) = (u[0], &u[1..]);
        let precision = (-v).exp();
        let squares: f64 = x.iter().map(|x| x * x).sum();
        let count = x.len() as f64;
        grad[0] = -v / 9.0 - 0.5 * count + 0.5 * precision * squares;
        for (grad, x) in grad[1..].iter_mut().zip(x) {
            *grad = -precision * x;
        }
        -v * v / 18.0 - 0.5 * count * v - 0.5 * precision * squares
    }

    fn names(&self) -> Vec<String> {
        let x = (1..self.dim()).map(|j| format!("x[{j}]"));
        std::iter::once("v".to_owned()).chain(x).collect()
    }
}

/// The density with standard normal z in place of x.
struct WithoutNeck;

impl LogDensity for WithoutNeck {
    fn dim(&self) -> usize {
        10
    }

    fn log_density(&self, u: &[f64], grad: &mut [f64]) -> f64 {
        grad[0] = -u[0] / 9.0;
        for (grad, z) in grad[1..].iter_mut().zip(&u[1..]) {
            *grad = -z;
        }
        -u[0] * u[0] / 18.0 - 0.5 * u[1..].iter().map(|z| z * z).sum::<f64>()
    }

    fn names(&self) -> Vec<String> {
        let z = (1..self.dim()).map(|j| format!("z[{j}]"));
        std::iter::once("v".to_owned()).chain(z).collect()
    }
}

fn main() -> Result<(), FitError> {
    let funnel = Fit::new(Funnel)
        .sampler::<Nuts>()
        .chains(4)
        .draws(1000)
        .run()?;
    println!("The funnel as it is\n{}\n", funnel.summary());
    println!(
        "{} of 4000 transitions diverged; v should have mean 0 and standard deviation 3.",
        funnel.divergences()
    );
    for warning in &funnel.report().warnings {
        println!("- {}", warning.message);
    }
    let mended = Fit::new(WithoutNeck).chains(4).draws(1000).run()?;
    println!("\nWith x = exp(v/2) z\n{}", mended.summary());
    Ok(())
}
