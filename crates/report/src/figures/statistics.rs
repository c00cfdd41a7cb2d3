//! Statistics of the observed data among those of replicated data.

use super::{FigureEntry, Trouble, columns_for, predictive, roomy};
use crate::figure::{Axis, Bars, Figure, Ink, Key, Panel, Rule, Swatch};
use crate::{Chains, Needs};
use ergodic_analysis::check::statistic::TestStatistic;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "statistics",
    title: "Check: statistics",
    about: "Statistics of the observed data among those of data that the model makes",
    needs: Needs::Check,
    make,
    ..FigureEntry::ORDINARY
};

/// Most bars of a histogram.
const BARS: usize = 30;

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let check = predictive::check(chains)?;
    if check.statistics.is_empty() {
        return Err(predictive::missing(check));
    }
    let title = format!("Statistics of {} in replicated data", check.response.name);
    let mut figure = Figure::new(ENTRY.id, title);
    figure.columns = columns_for(check.statistics.len());
    figure.panel_height = 80.0;
    figure.legend = vec![
        Key::new("replicated", Ink::Band, Swatch::Dense),
        Key::new("observed", Ink::Posterior, Swatch::Dense),
    ];
    for statistic in &check.statistics {
        figure.panels.push(Some(panel(statistic)));
    }
    figure.note(
        "Lines are the observed data, bars replicated data sets; p is the share of these at least as far out on the same side",
    );
    Ok(figure)
}

fn panel(statistic: &TestStatistic) -> Panel {
    let title = format!("{}, {}", statistic.statistic.name(), statistic.p_in_words());
    let finite = |value: &&f64| value.is_finite();
    let values: Vec<f64> = statistic.values.iter().filter(finite).copied().collect();
    let (low, high) = match (values.first(), values.last()) {
        (Some(low), Some(high)) => (*low, *high),
        _ => (statistic.observed, statistic.observed),
    };
    let mut panel = Panel::new(title, Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    if high > low {
        let width = (high - low) / BARS as f64;
        let mut heights = vec![0.0; BARS];
        for value in &values {
            let place = ((value - low) / width) as usize;
            heights[place.min(BARS - 1)] += 1.0;
        }
        let edges = (0..=BARS).map(|k| low + k as f64 * width).collect();
        panel.add("replicated", Ink::Band, Bars { edges, heights });
    } else {
        panel.add("replicated", Ink::Muted, Rule::Up(low));
    }
    panel.add("observed", Ink::Posterior, Rule::Up(statistic.observed));
    let range = (low.min(statistic.observed), high.max(statistic.observed));
    panel.x = Axis::numbers("", roomy(range));
    let top = panel.extent().y.1;
    panel.y.range = (0.0, if top > 0.0 { 1.05 * top } else { 1.0 });
    panel
}
