//! What the priors expect of the outcome, and what the data are.

use super::predictive::{broken, discs, thick};
use super::{FigureEntry, Trouble, columns_for, roomy};
use crate::figure::{Axis, Bars, Figure, Ink, Key, Line, Panel, Rule, Swatch};
use crate::{Chains, Needs};
use ergodic_analysis::prior_predictive::{Category, Cells, Expected, Outcomes, PriorPredictive};
use ergodic_base::numerals::thousands;

pub const ENTRY: FigureEntry = FigureEntry {
    id: "prior-predictive",
    title: "Prior: outcomes",
    about: "Outcomes that the priors expect before the data are seen, and those of the data",
    needs: Needs::Prior,
    make,
    ..FigureEntry::ORDINARY
};

/// Names of what is drawn.
const PRIOR: &str = "prior";
const DATA: &str = "data";

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let found = chains.inputs().and_then(|inputs| inputs.prior.as_ref());
    let found = found.ok_or(Trouble::Nothing("the priors of the model are not known"))?;
    Ok(outcomes_of_priors(found))
}

/// The picture of what priors expect, with a sentence for each outcome.
pub fn outcomes_of_priors(found: &PriorPredictive) -> Figure {
    let mut figure = Figure::new(ENTRY.id, "Outcomes that the priors expect".to_owned());
    figure.panel_height = 110.0;
    figure.panels = found.outcomes.iter().flat_map(panels).map(Some).collect();
    figure.columns = columns_for(figure.panels.len());
    figure.legend = vec![
        Key::new(PRIOR, Ink::Band, Swatch::Dense),
        Key::new(DATA, Ink::Posterior, Swatch::Dense),
    ];
    let which = match found.one_by_one {
        true => ", each with average predictors but one,",
        false => "",
    };
    figure.note(format!(
        "Outcomes of {} rows{which} from {} draws of the priors",
        thousands(found.rows as u64),
        thousands(found.draws as u64)
    ));
    let sentences = found.outcomes.iter().map(|it| it.sentence.clone());
    figure.notes.extend(sentences);
    figure
}

fn panels(expected: &Expected) -> Vec<Panel> {
    match &expected.outcomes {
        Outcomes::Success {
            success,
            shares,
            chances,
            trials,
        } => {
            let (share, chance) = match trials {
                true => (
                    format!("share of trials that are successes ({})", expected.name),
                    "chance of a trial in a single row",
                ),
                false => (
                    format!("share of rows where {} is {}", expected.name, success.name),
                    "chance of a single row",
                ),
            };
            let mut of_share = cells(shares, &share);
            of_share.add(DATA, Ink::Posterior, Rule::Up(success.data));
            vec![of_share, cells(chances, chance)]
        }
        Outcomes::Numbers { cells: it, .. } => vec![cells(it, &expected.name)],
        Outcomes::Categories { levels } => vec![categories(levels)],
    }
}

/// Shares of outcomes by cell: bars of the prior, and an outline of the data.
fn cells(cells: &Cells, name: &str) -> Panel {
    let count = cells.prior.len();
    let width = (cells.to - cells.from) / count.max(1) as f64;
    let edges: Vec<f64> = (0..=count).map(|k| cells.from + k as f64 * width).collect();
    let name = match cells.logarithmic {
        true => format!("log10(1 + {name})"),
        false => name.to_owned(),
    };
    let x = Axis::numbers(name, (cells.from, cells.to));
    let mut panel = Panel::new("", x, Axis::hidden((0.0, 1.0)));
    let heights = cells.prior.clone();
    let bars = Bars {
        edges: edges.clone(),
        heights,
    };
    panel.add(PRIOR, Ink::Band, bars);
    if !cells.data.is_empty() {
        let steps = edges.windows(2).zip(&cells.data);
        let steps = steps.flat_map(|(ends, &share)| [[ends[0], share], [ends[1], share]]);
        panel.add(DATA, Ink::Posterior, Line::dense(steps.collect()));
    }
    panel.y.range = (0.0, 1.05 * panel.extent().y.1.max(f64::MIN_POSITIVE));
    panel
}

/// Shares of levels.
fn categories(levels: &[Category]) -> Panel {
    let row = |k: usize| k as f64 + 0.5;
    let names = levels.iter().map(|level| level.name.clone()).collect();
    let mut panel = Panel::new("", Axis::hidden((0.0, 1.0)), Axis::rows(names));
    let numbered = || levels.iter().enumerate();
    let ranges = numbered().flat_map(|(k, level)| {
        let [low, _, high] = level.interval;
        broken([low, high].map(|end| [end, row(k)]))
    });
    panel.add(PRIOR, Ink::Band, thick(ranges.collect()));
    let data = numbered().map(|(k, level)| [level.data, row(k)]);
    panel.add(DATA, Ink::Posterior, discs(data.collect()));
    panel.x = Axis::numbers("share of rows", roomy(panel.extent().x));
    panel
}
