//! How the energy changes along leapfrog trajectories from where the chains ended.

use super::{FigureEntry, Trouble, chain_keys, chain_name, roomy};
use crate::figure::{Axis, Figure, Ink, Line, Panel, Rule, Swatch};
use crate::{Chains, Needs};
use ergodic_base::numerals::significant;
use ergodic_core::engine::trajectories::{FromChain, MOMENTA, STEPS};
use ergodic_core::samplers::{MAX_ENERGY_ERROR, Trajectory};

pub const ENTRY: FigureEntry = FigureEntry {
    id: "trajectory",
    title: "Energy along trajectories",
    about: "How far the energy is from that of the start along leapfrog trajectories from where the chains ended, with their step sizes and \
            metrics",
    needs: Needs::Trajectories,
    make,
    ..FigureEntry::ORDINARY
};

/// Energy errors of a trajectory, if it has those that a panel shows.
type Errors = fn(&Trajectory) -> Option<&[f64]>;

/// Titles of the panels of a sampler that follows an estimate, and what they show.
const OF_ESTIMATE: (&str, Errors) = ("as estimated from the subsample", followed);
const OF_ALL_ROWS: (&str, Errors) = ("with all rows, at the same points", |it| {
    it.of_all_rows.as_deref()
});

fn followed(trajectory: &Trajectory) -> Option<&[f64]> {
    Some(&trajectory.errors)
}

fn make(chains: &Chains<'_>, _parameters: &[usize]) -> Result<Figure, Trouble> {
    let found = chains
        .inputs()
        .and_then(|inputs| inputs.trajectories.as_deref());
    let found = found.ok_or(Trouble::Nothing(
        "trajectories were not followed; they need the model and its data",
    ))?;
    let mut figure = Figure::new(
        ENTRY.id,
        "Energy along leapfrog trajectories from where the chains ended, less that of their start"
            .to_owned(),
    );
    figure.panel_height = 110.0;
    figure.legend = chain_keys(chains, Swatch::Curve);
    let is_estimate = found
        .iter()
        .flat_map(|it| &it.trajectories)
        .any(|it| it.of_all_rows.is_some());
    let shown: &[(&str, Errors)] = match is_estimate {
        true => &[OF_ESTIMATE, OF_ALL_ROWS],
        false => &[("", followed)],
    };
    for (title, errors) in shown {
        figure.panels.push(Some(panel(title, *errors, found)));
    }
    let largest = found.iter().map(FromChain::largest).fold(0.0_f64, f64::max);
    let steps: Vec<String> = (found.iter())
        .filter_map(|it| Some(significant(it.trajectories.first()?.step_size, 3)))
        .collect();
    figure.note(format!(
        "{MOMENTA} momenta for each chain and {STEPS} steps from each; the largest error is {}, and a rise of more than {} is a divergence",
        significant(largest, 3),
        MAX_ENERGY_ERROR
    ));
    figure.note(format!("Step sizes of the chains: {}", steps.join(", ")));
    Ok(figure)
}

fn panel(title: &str, errors: Errors, found: &[FromChain]) -> Panel {
    let mut panel = Panel::new(title, Axis::hidden((0.0, 1.0)), Axis::hidden((0.0, 1.0)));
    panel.add("no error", Ink::Threshold, Rule::Across(0.0));
    for of_chain in found {
        let all = of_chain.trajectories.iter().filter_map(errors);
        for errors in all {
            let points = errors.iter().enumerate();
            let points = points.map(|(k, &error)| [k as f64, error]).collect();
            let ink = Ink::Chain(of_chain.chain);
            panel.add(chain_name(of_chain.chain), ink, Line::curve(points, 0.8));
        }
    }
    let extent = panel.extent();
    panel.x = Axis::numbers("leapfrog step", roomy(extent.x));
    panel.y = Axis::numbers("energy error", roomy(extent.y));
    panel
}
