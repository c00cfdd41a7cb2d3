//! The pane of principal components: draws projected on the directions in which they spread most and least, with ellipses at three
//! standard deviations, that of another run of the same parameters among them.

use eframe::egui::{Shape, Stroke, Ui, vec2};

use super::curves::{Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use super::parallel::{cut, shown};
use crate::app::RunEntry;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::axes::{self, Axes, faded};
use crate::ui::plots::data_table::{PlotData, data_table_ui};
use crate::ui::plots::legend::{Sign, legend_line};
use crate::ui::plots::marks::{self, Marks};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, Chip, number};
use ergodic_base::draws::DrawList;
use ergodic_core::engine::RunView;
use ergodic_core::samplers::weight_column;
use ergodic_diagnostics::joint::{Components, Projected, Trouble};
use ergodic_diagnostics::{Missing, weights};

/// Most parameters: a matrix of their correlations is decomposed while the window waits.
const MOST: usize = 60;
/// Points of the picture: more lie over each other.
const POINTS: usize = 4000;
/// Radius of a point.
const DOT: f32 = 1.75;

/// What is shown.
struct Picture {
    parameters: usize,
    variances: [f64; 2],
    own: Projected,
    /// Title and ellipse of another run.
    other: Option<(String, Vec<[f64; 2]>)>,
    step: usize,
}

/// Draws on two components.
#[derive(Default)]
pub(super) struct ComponentsPane {
    picture: Memo<Option<Result<Picture, Trouble>>>,
    /// The run whose draws are shown too.
    other: Option<u64>,
}

impl Pane for ComponentsPane {
    const ID: &'static str = "components";
    const TITLE: &'static str = "Components";
    const ICON: char = icons::GRID_FOUR;
    const ABOUT: &'static str = "Draws on the directions in which they spread most and least";
    const HOME: Home = Home::Left;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.names.len() > 1 {
            Ok(())
        } else {
            Err("Principal components need two parameters, and this run has one")
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, _out: &mut Outbox) {
        if !of.has_draws(ui, 20) {
            return;
        }
        self.choice_ui(ui, of);
        let other = self.other.and_then(|id| of.state.run(id));
        // The same whichever variable is selected.
        let key = Key {
            variable: other.map_or(0, |other| other.id as usize + 1),
            ..of.key
        };
        let picture = self.picture.get(ui, key, || Some(picture(of, other)));
        match picture {
            Some(Ok(picture)) => picture_ui(ui, of, picture),
            Some(Err(trouble)) => {
                let text = format!("There is no picture: draws are {}", trouble.missing);
                widgets::empty_state(ui, Self::ICON, &text, None);
            }
            None => {}
        }
    }
}

impl ComponentsPane {
    /// Lets another run be chosen, where there is one with the same parameters.
    fn choice_ui(&mut self, ui: &mut Ui, of: &Variable<'_>) {
        let t = tokens();
        let fits = |other: &&RunEntry| {
            other.id != of.entry.id && other.view().is_some() && other.variables() == of.names
        };
        let others: Vec<&RunEntry> = of.state.runs.iter().filter(fits).collect();
        if !others.iter().any(|other| Some(other.id) == self.other) {
            self.other = None;
        }
        if others.is_empty() {
            return;
        }
        widgets::inset(ui, [t.space.x4, t.space.x1], |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing = vec2(t.space.x1, t.space.x1);
                widgets::hint(ui, "Ellipse of");
                for other in others {
                    let is_on = self.other == Some(other.id);
                    if ui.add(Chip::toggle(&other.title(), is_on)).clicked() {
                        self.other = (!is_on).then_some(other.id);
                    }
                }
            });
        });
    }
}

/// Draws of the usable chains and their relative weights.
fn draws<'a>(
    entry: &RunEntry,
    run: &'a RunView,
) -> Result<(Vec<&'a DrawList>, Option<Vec<f64>>), Trouble> {
    let lists: Vec<&DrawList> = run.usable().map(|chain| &chain.draws.draws).collect();
    let shortest = lists.iter().map(|list| list.len()).min().unwrap_or(0);
    let weights = run.weights(weight_column(&entry.info_names()));
    let trouble = |missing: Missing| Trouble { place: 0, missing };
    let relative = weights::relative(&weights, shortest).transpose();
    Ok((lists, relative.map_err(trouble)?))
}

fn picture(of: &Variable<'_>, other: Option<&RunEntry>) -> Result<Picture, Trouble> {
    let parameters = shown(of, MOST);
    let (lists, relative) = draws(of.entry, of.run)?;
    let components = Components::of(&lists, &parameters, relative.as_deref())?;
    let own = components.project(&lists, &parameters, relative.as_deref())?;
    let other = match other.and_then(|other| Some((other, other.view()?))) {
        Some((other, view)) => {
            let (lists, relative) = draws(other, &view)?;
            let found = components.project(&lists, &parameters, relative.as_deref())?;
            Some((other.title(), found.ellipse))
        }
        None => None,
    };
    Ok(Picture {
        parameters: parameters.len(),
        variances: components.variances,
        step: own.points.len().div_ceil(POINTS).max(1),
        own,
        other,
    })
}

fn picture_ui(ui: &mut Ui, of: &Variable<'_>, picture: &Picture) {
    let t = tokens();
    let p = Palette::of(ui);
    let name = "Draws on the largest and the smallest principal component";
    let share = |variance: f64| number::fixed(100.0 * variance / picture.parameters as f64, 1);
    let [largest, smallest] = picture.variances.map(share);
    let (x_title, y_title) = (
        format!("largest component, {largest}% of the variance"),
        format!("smallest component, {smallest}%"),
    );
    let ellipses = || {
        let other = picture.other.iter().flat_map(|(_, points)| points);
        picture.own.ellipse.iter().chain(other)
    };
    let all = || picture.own.points.iter().chain(ellipses());
    let mut axes = Axes {
        x_title: &x_title,
        y_title: &y_title,
        ..Axes::new(
            ui.make_persistent_id(("components", of.key.run)),
            name,
            axes::range(all().map(|point| point[0]), 0.03),
            axes::range(all().map(|point| point[1]), 0.03),
        )
    };
    axes.title_line = true;
    let own = Stroke::new(t.stroke.curve_pooled, p.posterior);
    let others = Stroke::new(t.stroke.curve_pooled, p.bad);
    let mut signs = vec![
        (Sign::Dot(p.accent), "draws"),
        (Sign::Line(own, &[]), "3 sd of this run"),
    ];
    if let Some((title, _)) = &picture.other {
        signs.push((Sign::Line(others, &t.dash.prior), title.as_str()));
    }
    ui.spacing_mut().item_spacing.y = 0.0;
    if let Some(cut) = cut(of, picture.parameters) {
        widgets::inset(ui, [t.space.x4, 0.0], |ui| {
            widgets::hint(ui, &format!("Of {cut}"));
        });
    }
    legend_line(ui, &signs);
    let height = ui.available_height();
    let dots = faded(p.accent, 0.45);
    let shown = axes::show(ui, p, &axes, height, move |plot| {
        plot.add(Marks::new(move |_ui, transform, shapes| {
            for point in picture.own.points.iter().step_by(picture.step) {
                let at = marks::at(transform, point[0], point[1]);
                shapes.push(Shape::circle_filled(at, DOT, dots));
            }
            marks::curve(
                &picture.own.ellipse,
                own,
                &[],
                f64::INFINITY,
                transform,
                shapes,
            );
            if let Some((_, ellipse)) = &picture.other {
                marks::curve(
                    ellipse,
                    others,
                    &t.dash.prior,
                    f64::INFINITY,
                    transform,
                    shapes,
                );
            }
        }));
    });
    data_table_ui(ui, &shown.response, name, || {
        PlotData::new(
            ["largest", "smallest"],
            picture.own.points.len(),
            |row, column| picture.own.points[row][column],
        )
    });
}
