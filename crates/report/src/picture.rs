//! Pictures as files.

use std::path::Path;

use super::figure::drawn;
use super::{Chains, Figure, FigureEntry, ReportError};
use ergodic_base::control::Control;
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

/// Draws a picture of these parameters and writes it to `path`, whose ending says how; what stood there before stays if that
/// fails. Gives its caption.
///
/// # Errors
/// The picture cannot be drawn or written, or somebody cancelled.
pub fn write_picture(
    entry: &FigureEntry,
    (results, parameters): (&Results, &[usize]),
    path: &Path,
    control: &Control,
) -> Result<String, ReportError> {
    control.enter("drawing the picture");
    let figure = entry.draw(&Chains::of(results)?, parameters)?;
    control.check(ReportError::Cancelled)?;
    save_figure(&figure, path)?;
    Ok(figure.caption())
}

/// Writes `figure` to `path`, whose ending says how; what stood there before stays if that fails.
///
/// # Errors
/// The ending is of no format, or the file cannot be written.
pub fn save_figure(figure: &Figure, path: &Path) -> Result<(), ReportError> {
    let format = PictureFormat::of(path)?;
    ergodic_export::write_file("The picture could not be written", path, |out| {
        out.write_all(&format.bytes(figure)?)
    })?;
    Ok(())
}
