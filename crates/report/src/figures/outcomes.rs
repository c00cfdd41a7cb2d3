//! Observed outcomes over replicated ones, one picture for each way to look at them.

use super::{Compares, FigureEntry, OtherShown, Takes, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};
use ergodic_analysis::check::Check;
use ergodic_analysis::check::drawing::Drawing;

pub const ECDF: FigureEntry = FigureEntry {
    id: "ecdf",
    title: "Check: distribution function",
    about: "The distribution function of observed numbers in the band of those that the model makes",
    make: |chains, _| make(chains, ECDF.id, Check::ecdf_drawn, NO_NUMBERS),
    ..OF_CHECK
};

pub const SURVIVAL: FigureEntry = FigureEntry {
    id: "survival",
    title: "Check: Kaplan-Meier curve",
    about: "The share of censored numbers above each value in the band of those that the model makes",
    make: |chains, _| {
        let why = "no outcome is censored; `ecdf` shows numbers that were all seen";
        make(chains, SURVIVAL.id, Check::survival_drawn, why)
    },
    ..OF_CHECK
};

pub const DENSITY: FigureEntry = FigureEntry {
    id: "outcomes",
    title: "Check: density of outcomes",
    about: "The density of observed numbers in the band of those that the model makes",
    make: |chains, _| make(chains, DENSITY.id, Check::density_drawn, NO_NUMBERS),
    ..OF_CHECK
};

pub const ROOTOGRAM: FigureEntry = FigureEntry {
    id: "rootogram",
    title: "Check: rootogram",
    about: "How often every count occurs beside how often the model expects it, as square roots",
    make: |chains, _| {
        let why = "the outcomes are no counts; `ecdf` is for numbers, `calibration` for yes or no";
        make(chains, ROOTOGRAM.id, Check::rootogram_drawn, why)
    },
    ..OF_CHECK
};

pub const CALIBRATION: FigureEntry = FigureEntry {
    id: "calibration",
    title: "Check: calibration",
    about: "Observed shares along predicted probabilities, in the band of calibrated predictions",
    make: |chains, _| {
        let why = "the outcomes are not yes or no; `ecdf` is for numbers, `rootogram` for counts";
        make(chains, CALIBRATION.id, Check::calibration_drawn, why)
    },
    ..OF_CHECK
};

/// What these have in common.
const OF_CHECK: FigureEntry = FigureEntry {
    id: "",
    title: "",
    about: "",
    takes: Takes::NONE,
    needs: Needs::Check,
    other: OtherShown::Never,
    compares: Compares::Nothing,
    make: |_, _| Err(Trouble::Nothing("")),
};

const NO_NUMBERS: &str =
    "the outcomes are no numbers; `rootogram` is for counts, `calibration` for yes or no";

/// The picture that `drawn` gives of the checks; `why` says of which outcomes there is none.
fn make(
    chains: &Chains<'_>,
    id: &'static str,
    drawn: fn(&Check) -> Option<Drawing>,
    why: &'static str,
) -> Result<Figure, Trouble> {
    let drawing = drawn(predictive::check(chains)?).ok_or(Trouble::Nothing(why))?;
    Ok(predictive::figure(id, &drawing))
}
