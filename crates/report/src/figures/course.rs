//! How scores of rows that were held out came to be what they are.

use super::{FigureEntry, Trouble, columns_for, roc, roomy};
use crate::figure::{Axis, Figure, Ink, Key, Line, Panel, Swatch};
use crate::{Chains, Needs};
use ergodic_analysis::predict::scores::{CoursePoint, PredictionScores};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "course",
    title: "Course of held-out scores",
    about: "Log density (log loss of yes or no) of the rows held out, by draws made and by seconds",
    needs: Needs::Scores,
    make,
    ..FigureEntry::ORDINARY
};

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let scores = roc::scores(chains)?;
    Ok(courses(&[("this run".to_owned(), scores)]))
}

/// Courses of runs, each with its name, in one plot by draws and in one by seconds where these are known of all. Runs are of one
/// outcome.
pub fn courses(runs: &[(String, &PredictionScores)]) -> Figure {
    let first = runs.first().map(|(_, scores)| scores);
    let (what, sign) = first.map_or(("log density", 1.0), |scores| scores.course_measure());
    let outcome = first.map_or("", |scores| scores.response.name.as_str());
    let mut figure = Figure::new(
        ENTRY.id,
        format!("Course of the {what} of {outcome}, rows the fit does not know"),
    );
    figure.panel_height = 120.0;
    let ink = |k: usize| match runs.len() {
        1 => Ink::Posterior,
        _ => Ink::Chain(k),
    };
    let x_of: [fn(&CoursePoint) -> Option<f64>; 2] =
        [|point| Some(point.draws as f64), |point| point.seconds];
    let titles = ["draws of each chain", "seconds, warm-up included"];
    for (title, x) in titles.into_iter().zip(x_of) {
        let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
        let known = runs
            .iter()
            .all(|(_, scores)| scores.course.iter().all(|it| x(it).is_some()));
        if !known {
            continue;
        }
        for (k, (name, scores)) in runs.iter().enumerate() {
            let points = scores
                .course
                .iter()
                .filter_map(|it| Some([x(it)?, sign * it.lpd]));
            panel.add(name.as_str(), ink(k), Line::curve(points.collect(), 1.2));
        }
        let extent = panel.extent();
        panel.x = Axis::numbers(title, roomy(extent.x));
        panel.y = Axis::numbers(what, roomy(extent.y));
        figure.panels.push(Some(panel));
    }
    figure.columns = columns_for(figure.panels.len());
    if runs.len() > 1 {
        let keys = runs
            .iter()
            .enumerate()
            .map(|(k, (name, _))| Key::new(name, ink(k), Swatch::Curve));
        figure.legend = keys.collect();
    }
    figure.note("By the average over all draws made until then, of all chains");
    figure
}
