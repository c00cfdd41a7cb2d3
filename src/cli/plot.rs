//! `plot`: a picture of a run as a file.

use super::args::PlotArgs;
use super::{Failure, output, results};
use ergodic_base::control::Control;
use ergodic_report::{PictureFormat, ReportError, choose, find, write_picture};

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
