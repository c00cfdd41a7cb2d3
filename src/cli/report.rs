//! `report`: a finished run in words, tables and pictures.

use super::args::ReportArgs;
use super::{Failure, output, results};
use ergodic_base::Control;
use ergodic_export::RunFolder;
use ergodic_report::Report;
use ergodic_report::report::find;

/// Writes a report.
pub fn report(args: &ReportArgs) -> Result<(), Failure> {
    let format = find(&args.format).map_err(Failure::request)?;
    if let Some(path) = &args.out {
        ergodic_export::check_place(path, [&args.run]).map_err(Failure::request)?;
    }
    let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
    let found = results::of_folder(&folder)?;
    let report = Report::read(&folder, &found, &Control::default()).map_err(Failure::request)?;
    if let Err(why) = &report.description {
        output::note(&format!(
            "note: The report does not describe the model: {why}"
        ));
    }
    let text = (format.write)(&report);
    match &args.out {
        Some(path) => ergodic_export::write_file("The report could not be written", path, |out| {
            out.write_all(text.as_bytes())
        })
        .map_err(Failure::run),
        None => {
            output::data(text.as_bytes());
            Ok(())
        }
    }
}
