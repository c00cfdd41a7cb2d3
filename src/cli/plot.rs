//! `plot`: a picture of a run as a file.

use std::path::PathBuf;

use clap::Parser;

use super::trimmed::name;
use super::{Failure, output, results};
use ergodic_analysis::check::MOST_BINS;
use ergodic_base::Control;
use ergodic_export::label::names_of;
use ergodic_export::{RunFolder, trajectories};
use ergodic_report::{
    Access, FollowChains, OtherRun, PictureFormat, Pictured, ReadModel, ReportError, choose, find,
    write_picture,
};

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
    /// Columns of info.csv that `info` draws, such as 'energy,step_size'; all if absent, but for components of gradients. They are of
    /// kept draws, without the warm-up, of which run folders have none
    #[arg(long, value_name = "NAME,NAME", value_delimiter = ',', value_parser = name())]
    pub columns: Vec<String>,
    /// Another run folder or file of draws: `moments` compares with it, `density` and `components` draw it too
    #[arg(long = "with", value_name = "RUN")]
    pub other: Option<PathBuf>,
    /// Bins that pictures of checks divide numbers in; as many as suit the rows if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_BINS as u64))]
    pub bins: Option<u64>,
    /// File: .svg for a vector picture, .png for one of dots (300 per inch), .csv for a table of what is drawn
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
}

/// What the run and the other one are called.
fn both(args: &PlotArgs) -> [String; 2] {
    let other = args.other.as_deref().unwrap_or(&args.run);
    let mut names = names_of(&[&args.run, other]).into_iter();
    std::array::from_fn(|_| names.next().unwrap_or_default())
}

/// Draws a picture.
pub fn plot(args: &PlotArgs) -> Result<(), Failure> {
    let entry = find(&args.what).map_err(Failure::request)?;
    PictureFormat::of(&args.out).map_err(Failure::request)?;
    let read = [&args.run].into_iter().chain(&args.other);
    ergodic_export::check_place(&args.out, read).map_err(Failure::request)?;
    let results = results::any(&args.run)?;
    let other = args.other.as_deref().map(results::any).transpose()?;
    for (path, of) in [
        (Some(&args.run), Some(&results)),
        (args.other.as_ref(), other.as_ref()),
    ] {
        let caution = of.and_then(|it| it.manifest.as_ref()?.caution());
        if let (Some(path), Some(caution)) = (path, caution) {
            output::note(&format!("{}: {caution}", path.display()));
        }
    }
    let parameters = choose(&results.variables, &args.parameters).map_err(Failure::request)?;
    // A file of draws has no model.
    let folder = (args.run.is_dir().then(|| RunFolder::open(&args.run)))
        .transpose()
        .map_err(Failure::request)?;
    let read = (folder.as_ref()).map(|it| |control: &Control| it.fitted(&results, control));
    let follow = (folder.as_ref()).map(|it| |control: &Control| trajectories(it, control));
    let pictured = Pictured {
        results: &results,
        parameters: &parameters,
        access: Access {
            model: read.as_ref().map(|read| read as ReadModel<'_>),
            trajectories: follow.as_ref().map(|follow| follow as FollowChains<'_>),
            bins: args.bins.map(|bins| bins as usize),
            columns: &args.columns,
        },
        other: other.as_ref().map(|results| OtherRun {
            names: both(args),
            results,
        }),
    };
    let caption = write_picture(entry, &pictured, &args.out, &Control::default());
    let caption = caption.map_err(|error| match error {
        ReportError::Export(_) => Failure::run(error),
        error => Failure::request(error),
    })?;
    output::note(&caption);
    Ok(())
}
