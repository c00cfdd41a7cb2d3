//! A logistic regression from arrays, by samplers that use the rows: zig-zag, and HMC with energy-conserving subsampling.
//!
//! The data are made here, in the shape of pictures' pixels: three colours, and whether the pixel is skin.
//!
//! `cargo run --release -p ergodic-core --example design_matrix`

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use ergodic_base::{Purpose, stream};
use ergodic_core::design::{MemoryColumns, Values};
use ergodic_core::samplers::{HmcEcs, Nuts, ZigZag};
use ergodic_core::{Fit, FitError};
use ndarray::{Array1, Array2};
use rand::RngExt as _;

/// Rows of the data.
const PIXELS: usize = 20_000;

/// Colours (rows × 3, 0 to 255) and whether each is skin, by known coefficients.
fn pixels() -> (Array2<f64>, Array1<f64>) {
    let mut rng = stream(1, 0, Purpose::Data);
    let mut colours = Array2::zeros((PIXELS, 3));
    let mut skin = Array1::zeros(PIXELS);
    for (mut row, skin) in colours.rows_mut().into_iter().zip(&mut skin) {
        let light: f64 = rng.random_range(0.0..255.0);
        for colour in &mut row {
            *colour = (0.7 * light + 0.3 * rng.random_range(0.0..255.0)).round();
        }
        let odds = -0.5 - 0.02 * row[0] - 0.005 * row[1] + 0.025 * row[2];
        *skin = f64::from(u8::from(rng.random::<f64>() < 1.0 / (1.0 + (-odds).exp())));
    }
    (colours, skin)
}

fn main() -> Result<(), FitError> {
    let (colours, skin) = pixels();
    let mut columns = vec![("skin".to_owned(), Values::Numbers(skin.to_vec()))];
    for (name, column) in ["B", "G", "R"].iter().zip(colours.columns()) {
        columns.push(((*name).to_owned(), Values::Numbers(column.to_vec())));
    }
    let columns = MemoryColumns::new("pixels", columns)?;
    let fit = || Fit::of_columns("logistic", "skin ~ B + G + R", &columns);
    println!(
        "NUTS, every row at every step\n{}\n",
        fit()?.sampler::<Nuts>().run()?.summary()
    );
    println!(
        "zig-zag, a row at a time\n{}\n",
        fit()?.sampler::<ZigZag>().run()?.summary()
    );
    println!(
        "hmc-ecs, subsets of rows\n{}",
        fit()?.sampler::<HmcEcs>().run()?.summary()
    );
    Ok(())
}
