//! Pictures as files.

use std::path::Path;

use super::figure::drawn;
use super::{Access, Chains, Figure, FigureEntry, FigureInputs, OtherRun, ReportError};
use ergodic_base::Control;
use ergodic_export::Results;

/// What a picture is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PictureFormat {
    /// Vector graphics.
    Svg,
    /// Dots, 300 to the inch.
    Png,
    /// A table of what is drawn.
    Csv,
}

impl PictureFormat {
    /// The format that the ending of a file's name asks for.
    ///
    /// # Errors
    /// There is none.
    pub fn of(path: &Path) -> Result<Self, ReportError> {
        let ending = path
            .extension()
            .map(|end| end.to_string_lossy().to_lowercase());
        match ending.as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("csv") => Ok(Self::Csv),
            _ => Err(ReportError::Ending(path.to_owned())),
        }
    }

    /// The picture as bytes of a file.
    ///
    /// # Errors
    /// A picture of more dots than a file can have.
    pub fn bytes(self, figure: &Figure) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Svg => Ok(figure.to_svg().into_bytes()),
            Self::Png => figure.to_png(),
            Self::Csv => {
                let mut bytes = Vec::new();
                drawn::write_csv(figure, &mut bytes)?;
                Ok(bytes)
            }
        }
    }
}

/// What a picture is of.
pub struct Pictured<'a> {
    /// The run.
    pub results: &'a Results,
    /// Parameters; those that say most about the model if there are none.
    pub parameters: &'a [usize],
    /// Ways to the model of the run, for figures that need it.
    pub access: Access<'a>,
    /// Another run, for figures that compare.
    pub other: Option<OtherRun<'a>>,
}

/// Draws a picture and writes it to `path`, whose ending says how; what stood there before stays if that fails. Gives its caption.
///
/// # Errors
/// The picture cannot be drawn or written, or somebody cancelled.
pub fn write_picture(
    entry: &FigureEntry,
    of: &Pictured<'_>,
    path: &Path,
    control: &Control,
) -> Result<String, ReportError> {
    let format = PictureFormat::of(path)?;
    entry.check_other(of.other.as_ref())?;
    entry.check_columns(of.access.columns)?;
    let runs = (of.results, of.other.clone());
    let inputs = FigureInputs::find((entry.id, entry.needs), runs, of.access, control)?;
    control.enter("drawing the picture");
    let chains = Chains::of(of.results)?.with(&inputs);
    let figure = entry.draw(&chains, of.parameters)?;
    control.check(ReportError::Cancelled)?;
    save_as(format, &figure, path)
}

/// Writes a figure to `path`, whose ending says how; what stood there before stays if that fails. Gives its caption.
///
/// # Errors
/// The ending is of no format, or the file cannot be written.
pub fn save_figure(figure: &Figure, path: &Path) -> Result<String, ReportError> {
    save_as(PictureFormat::of(path)?, figure, path)
}

fn save_as(format: PictureFormat, figure: &Figure, path: &Path) -> Result<String, ReportError> {
    ergodic_export::write_file("The picture could not be written", path, |out| {
        out.write_all(&format.bytes(figure)?)
    })?;
    Ok(figure.caption())
}
