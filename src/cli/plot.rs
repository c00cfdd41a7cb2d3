//! `plot`: a picture of a run as a file.

use std::path::PathBuf;

use clap::Parser;

use super::{Failure, output, results};
use ergodic_base::control::Control;
use ergodic_report::{PictureFormat, ReportError, choose, find, write_picture};

/// `plot`.
#[derive(Debug, Parser)]
pub struct PlotArgs {
    /// Run folder, or a CSV file of draws
    #[arg(value_name = "RUN")]
    pub run: PathBuf,
    /// Figure; `ergodic list figures` shows them
    #[arg(long, value_name = "ID")]
    pub what: String,
    /// Such as 'b[age],sigma', or b for all of b; the main ones if absent
    #[arg(long, value_name = "NAME,NAME")]
    pub parameters: Vec<String>,
    /// File: .svg for a vector picture, .png for one of dots (300 per inch), .csv for a table of what is drawn
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
}

/// Draws a picture.
pub fn plot(args: &PlotArgs) -> Result<(), Failure> {
    let entry = find(&args.what).map_err(Failure::request)?;
    PictureFormat::of(&args.out).map_err(Failure::request)?;
    ergodic_export::check_place(&args.out).map_err(Failure::request)?;
    let results = results::any(&args.run)?;
    let parameters = choose(&results.variables, &args.parameters).map_err(Failure::request)?;
    let caption = write_picture(
        entry,
        (&results, &parameters),
        &args.out,
        &Control::default(),
    );
    let caption = caption.map_err(|error| match error {
        ReportError::Export(_) => Failure::run(error),
        error => Failure::request(error),
    })?;
    output::note(&caption);
    Ok(())
}
