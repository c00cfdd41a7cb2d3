//! How far the estimates of an approximate sampler are off, as its bias check found.

use super::intervals::ROW;
use super::{FigureEntry, Trouble, roomy};
use crate::Chains;
use crate::figure::{Axis, Extent, Figure, Ink, Interval, Intervals, Panel, Rule};
use ergodic_analysis::bias_check;
use ergodic_base::numerals::thousands;
use ergodic_diagnostics::bias::{BiasRow, TOLERANCE};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "bias",
    title: "Bias check",
    about: "How far the posterior means of an approximate sampler are off, in posterior standard deviations with 95 % intervals, the largest \
            first: from the control run and, where it was made, extrapolated from half the step",
    make,
    ..FigureEntry::ORDINARY
};

/// Most quantities drawn.
const MOST: usize = 60;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let bias = chains.bias().ok_or(Trouble::Nothing(
        "the bias of the run was not checked; `ergodic resume RUN --check-bias` does that for approximate samplers",
    ))?;
    let by_control = ("from the control run", bias.rows.as_slice());
    let by_step = bias.evidence.by_step.as_ref();
    let by_step = by_step.map(|it| ("extrapolated from half the step", it.rows.as_slice()));
    let mut figure = Figure::new(
        ENTRY.id,
        "Shifts of posterior means found by the bias check".to_owned(),
    );
    let (mut longest, mut most) = (0, 0);
    for (title, rows) in std::iter::once(by_control).chain(by_step) {
        let rows = shifts(rows);
        most = most.max(rows.len());
        let drawn: Vec<Interval> = rows.into_iter().take(MOST).collect();
        if drawn.is_empty() {
            continue;
        }
        longest = longest.max(drawn.len());
        figure.panels.push(Some(panel(title, drawn)));
    }
    if figure.panels.is_empty() {
        return Err(Trouble::Nothing(
            "no parameter has a shift: there are too few draws, or nothing varies",
        ));
    }
    figure.panel_height = ROW * longest as f64 + 4.0;
    figure.note(format!(
        "Circles are shifts in posterior standard deviations, lines their 95 % Monte Carlo intervals; dashed lines are the tolerance of \
         {TOLERANCE}"
    ));
    if most > MOST {
        figure.note(format!(
            "Of {} parameters the {MOST} with the largest shifts are drawn",
            thousands(most as u64)
        ));
    }
    let said = bias_check::sentence(bias);
    figure.note(format!("The check found: {said}"));
    Ok(figure)
}

/// Shifts of means, the largest first.
fn shifts(rows: &[BiasRow]) -> Vec<Interval> {
    let shifts = rows.iter().filter_map(|row| {
        let shift = row.shift?;
        Some(Interval {
            name: row.variable.to_string(),
            inner: [f64::NAN; 2],
            outer: [shift.low, shift.high],
            centre: shift.value,
        })
    });
    let mut rows: Vec<Interval> = shifts.collect();
    rows.sort_by(|a, b| b.centre.abs().total_cmp(&a.centre.abs()));
    rows
}

fn panel(title: &str, rows: Vec<Interval>) -> Panel {
    let names = rows.iter().map(|row| row.name.clone()).collect();
    let mut panel = Panel::new(title, Axis::hidden((0.0, 1.0)), Axis::rows(names));
    let tolerance = [-TOLERANCE, TOLERANCE];
    for end in tolerance {
        panel.add("tolerance", Ink::Threshold, Rule::Up(end));
    }
    let shifts = Intervals {
        rows,
        centre: "shift",
    };
    panel.add("shifts", Ink::Posterior, shifts);
    let limits = Extent::of(tolerance.map(|end| [end, 0.5]));
    let range = panel.extent().and(limits).x;
    panel.x = Axis::numbers("posterior standard deviations", roomy(range));
    panel
}
