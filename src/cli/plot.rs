//! `plot`: a picture of a run as a file.

use std::path::PathBuf;

use clap::Parser;

use super::{Failure, output, results};
use ergodic_analysis::check::MOST_BINS;
use ergodic_analysis::predict::Fitted;
use ergodic_base::control::Control;
use ergodic_export::RunFolder;
use ergodic_export::trajectories::trajectories;
use ergodic_report::{
    Access, FIGURES, FollowChains, PictureFormat, Pictured, ReadModel, ReportError, choose, find,
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
    /// Another run folder or file of draws: `moments` compares with it, `components` draws its ellipse too
    #[arg(long = "with", value_name = "RUN")]
    pub other: Option<PathBuf>,
    /// Bins that pictures of checks divide numbers in; as many as suit the rows if absent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(2..=MOST_BINS as u64))]
    pub bins: Option<u64>,
    /// File: .svg for a vector picture, .png for one of dots (300 per inch), .csv for a table of what is drawn
    #[arg(long, value_name = "PATH")]
    pub out: PathBuf,
}

/// Draws a picture.
pub fn plot(args: &PlotArgs) -> Result<(), Failure> {
    let entry = find(&args.what).map_err(Failure::request)?;
    PictureFormat::of(&args.out).map_err(Failure::request)?;
    let read = [&args.run].into_iter().chain(&args.other);
    ergodic_export::check_place(&args.out, read).map_err(Failure::request)?;
    if args.other.is_some() && !entry.shows_another_run() {
        let of_two = FIGURES.iter().filter(|it| it.shows_another_run());
        let of_two: Vec<String> = of_two.map(|it| format!("`{}`", it.id)).collect();
        return Err(Failure::request(format!(
            "Figure `{}` shows one run; leave --with out, or choose one of two runs: {}",
            entry.id,
            of_two.join(", ")
        )));
    }
    let results = results::any(&args.run)?;
    let other = args.other.as_deref().map(results::any).transpose()?;
    let parameters = choose(&results.variables, &args.parameters).map_err(Failure::request)?;
    // A file of draws has no model.
    let known = match args.run.is_dir() {
        true => {
            let folder = RunFolder::open(&args.run).map_err(Failure::request)?;
            let recipe = folder.recipe().map_err(Failure::request)?;
            Some((folder, recipe))
        }
        false => None,
    };
    let read = known
        .as_ref()
        .map(|(folder, recipe)| |control: &Control| Fitted::open(recipe, folder.path(), control));
    let follow = known
        .as_ref()
        .map(|(folder, _)| |control: &Control| trajectories(folder, control));
    let pictured = Pictured {
        results: &results,
        parameters: &parameters,
        access: Access {
            model: read.as_ref().map(|read| read as ReadModel<'_>),
            trajectories: follow.as_ref().map(|follow| follow as FollowChains<'_>),
            bins: args.bins.map(|bins| bins as usize),
        },
        other: other.as_ref(),
    };
    let caption = write_picture(entry, &pictured, &args.out, &Control::default());
    let caption = caption.map_err(|error| match error {
        ReportError::Export(_) => Failure::run(error),
        error => Failure::request(error),
    })?;
    output::note(&caption);
    Ok(())
}
