//! Observed outcomes over replicated ones, one picture for each way to look at them.

use super::{FigureEntry, Trouble, predictive};
use crate::figure::Figure;
use crate::{Chains, Needs};
use ergodic_analysis::check::drawing::Drawing;
use ergodic_analysis::check::{Check, Picture};

pub const ECDF: FigureEntry = FigureEntry {
    id: "ecdf",
    title: "Check: distribution function",
    about: "The distribution function of observed numbers in the band of those that the model makes",
    needs: Needs::Check,
    make: |chains, _| make(chains, ECDF.id, Check::ecdf_drawn),
    ..FigureEntry::ORDINARY
};

pub const SURVIVAL: FigureEntry = FigureEntry {
    id: "survival",
    title: "Check: Kaplan-Meier or Turnbull curve",
    about: "The share of censored numbers above each value in the band of those that the model makes",
    needs: Needs::Check,
    make: |chains, _| make(chains, SURVIVAL.id, Check::survival_drawn),
    ..FigureEntry::ORDINARY
};

pub const DENSITY: FigureEntry = FigureEntry {
    id: "outcomes",
    title: "Check: density of outcomes",
    about: "The density of observed numbers in the band of those that the model makes",
    needs: Needs::Check,
    make: |chains, _| make(chains, DENSITY.id, Check::density_drawn),
    ..FigureEntry::ORDINARY
};

pub const ROOTOGRAM: FigureEntry = FigureEntry {
    id: "rootogram",
    title: "Check: rootogram",
    about: "How often every count occurs beside how often the model expects it, as square roots",
    needs: Needs::Check,
    make: |chains, _| make(chains, ROOTOGRAM.id, Check::rootogram_drawn),
    ..FigureEntry::ORDINARY
};

pub const CALIBRATION: FigureEntry = FigureEntry {
    id: "calibration",
    title: "Check: calibration",
    about: "Observed shares along predicted probabilities, in the band of calibrated predictions",
    needs: Needs::Check,
    make: |chains, _| make(chains, CALIBRATION.id, Check::calibration_drawn),
    ..FigureEntry::ORDINARY
};

/// What outcomes of the kind of `check` are, and the picture that shows them.
fn instead(check: &Check) -> &'static str {
    match check.picture {
        Picture::Overlay(_) => {
            "the outcomes are numbers, all of them seen; `ecdf` and `outcomes` show them"
        }
        Picture::Survival(_) => {
            "some outcomes are censored; `survival` shows the share of them above each value"
        }
        Picture::Rootogram(_) => {
            "the outcomes are counts or levels; `rootogram` shows how often each occurs"
        }
        Picture::Calibration(_) => {
            "the outcomes are yes or no, or successes among trials; `calibration` shows their shares"
        }
    }
}

/// The picture that `drawn` gives of the checks.
fn make(
    chains: &Chains<'_>,
    id: &'static str,
    drawn: fn(&Check) -> Option<Drawing>,
) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    let drawing = drawn(check).ok_or_else(|| Trouble::Nothing(instead(check)))?;
    Ok(predictive::figure(id, &drawing))
}
