//! Effects of groups by likelihood.

use super::intervals::ROW;
use super::{FigureEntry, Trouble, columns_for, in_rows};
use crate::figure::{Figure, Interval, Intervals};
use crate::{Chains, Needs};
use ergodic_base::numerals::thousands;
use ergodic_core::estimators::mixed::{GroupEffects, MixedFit};
use ergodic_diagnostics::quantiles::{NORMAL_50, NORMAL_95};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "likelihood",
    title: "Likelihood: groups",
    about: "Effects of groups of the likelihood fit, as lme4 has them, with 50 % and 95 % intervals given its estimates, sorted",
    needs: Needs::Likelihood,
    make,
    ..FigureEntry::ORDINARY
};

/// Groups drawn of each effect, at most: of more, those furthest from 0.
const MOST: usize = 80;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let fit = chains
        .inputs()
        .and_then(|inputs| inputs.likelihood.as_ref());
    let figure = fit.and_then(|done| group_intervals(&done.fit));
    figure.ok_or(Trouble::Nothing(
        "this model has no effects that vary by group",
    ))
}

/// Effects of groups of a likelihood fit with 50 % and 95 % intervals, a panel per effect: conditional modes and standard deviations given
/// the estimates. `None` without groups.
pub fn group_intervals(fit: &MixedFit) -> Option<Figure> {
    let mut figure = Figure::new(
        ENTRY.id,
        "Effects of groups by likelihood, with intervals".to_owned(),
    );
    let (mut longest, mut most) = (0, 0);
    for effects in &fit.effects {
        for (place, name) in effects.names.iter().enumerate() {
            let rows = rows(effects, place);
            (longest, most) = (longest.max(rows.len()), most.max(effects.levels.len()));
            let labels = rows.iter().map(|row| row.name.clone()).collect();
            let title = format!("{name} by {}", effects.group);
            let centre = "mode";
            let groups = ("groups", Intervals { rows, centre });
            let panel = in_rows(title, labels, ("all groups", 0.0), groups);
            figure.panels.push(Some(panel));
        }
    }
    if longest == 0 {
        return None;
    }
    figure.columns = columns_for(figure.panels.len());
    figure.panel_height = ROW * longest as f64 + 4.0;
    figure.note(format!(
        "Circles are conditional modes given the estimates ({}, {}), thick lines their 50 % and thin lines their 95 % intervals; the dashed \
         line is the average group",
        fit.method.spec().title,
        fit.criterion
    ));
    if most > MOST {
        figure.note(format!(
            "Of {} groups the {MOST} furthest from 0 are drawn",
            thousands(most as u64)
        ));
    }
    Some(figure)
}

/// The groups of one effect, the largest first.
fn rows(effects: &GroupEffects, place: usize) -> Vec<Interval> {
    let width = effects.names.len();
    let row = |(group, name): (usize, &String)| {
        let [centre, sd] = [&effects.mode, &effects.sd].map(|of| of[group * width + place]);
        let around = |half: f64| [centre - half * sd, centre + half * sd];
        Interval {
            name: name.clone(),
            inner: around(NORMAL_50),
            outer: around(NORMAL_95),
            centre,
        }
    };
    let mut rows: Vec<Interval> = effects.levels.iter().enumerate().map(row).collect();
    rows.sort_by(|a, b| b.centre.abs().total_cmp(&a.centre.abs()));
    rows.truncate(MOST);
    rows.sort_by(|a, b| b.centre.total_cmp(&a.centre));
    rows
}
