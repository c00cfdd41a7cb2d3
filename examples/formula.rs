//! A formula and a table: the model is chosen by what the outcome is, as in the window.
//!
//! `cargo run --release -p ergodic-analysis --example formula`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use ergodic_base::Control;
use ergodic_data::{ImportOptions, samples};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let options = ImportOptions::default();
    let schools = samples::load_source("sample:schools", &options, &Control::default())?;
    let fit = ergodic_analysis::fit("passed ~ hours + (1 | school)", &schools.table)?;
    println!("{}", fit.summary());
    let slope = fit.draws("b[hours]").ok_or("no such variable")?;
    let above = slope.iter().filter(|slope| **slope > 0.0).count();
    println!("b[hours] is above 0 in {above} of {} draws", slope.len());
    Ok(())
}
