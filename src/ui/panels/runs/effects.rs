//! The pane that compares groups: one effect of each, sorted.

use eframe::egui::Ui;

use super::curves::{Key, Memo};
use super::pane::{Home, Pane};
use super::panes::{PaneViews, Variable};
use crate::app::ViewCommand;
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::plots::caterpillar::{CaterpillarData, CaterpillarRow, caterpillar_ui};
use crate::ui::theme::{Palette, tokens};
use crate::ui::widgets::{self, Chip};
use ergodic_base::{Class, GroupEffect, ParamId, group_term};
use ergodic_core::engine::RunView;
use ergodic_diagnostics::quantiles;

/// What the pane shows: rows in the order of their means, and the variable of each.
#[derive(Default)]
struct Effects {
    rows: Vec<CaterpillarRow>,
    variables: Vec<usize>,
    reference: Option<f64>,
}

fn effects(run: &RunView, names: &[ParamId], factor: &str, term: &str) -> Effects {
    let pooled = |variable: usize| -> Vec<f64> {
        let chains = run.chains.iter();
        chains
            .flat_map(|chain| chain.draws.draws.column(variable))
            .collect()
    };
    let mean = |draws: &[f64]| draws.iter().sum::<f64>() / draws.len() as f64;
    let mut found: Vec<(CaterpillarRow, usize)> = Vec::new();
    for (variable, name) in names.iter().enumerate() {
        let Some(effect) = (name.group_effect()).filter(|e| (e.factor, e.term) == (factor, term))
        else {
            continue;
        };
        let mut draws = pooled(variable);
        if draws.is_empty() {
            continue;
        }
        draws.sort_unstable_by(f64::total_cmp);
        let at = |prob| quantiles::of_sorted(&draws, prob);
        let row = CaterpillarRow {
            name: effect.level.to_owned(),
            inner: (at(0.25), at(0.75)),
            outer: (at(0.05), at(0.95)),
            mean: mean(&draws),
        };
        found.push((row, variable));
    }
    found.sort_by(|(a, _), (b, _)| b.mean.total_cmp(&a.mean));
    let mean_of_groups = ParamId::of(Class::Mean, [term]);
    // Effects of mixed models are deviations.
    let reference = match names.iter().position(|name| *name == mean_of_groups) {
        Some(variable) => Some(mean(&pooled(variable))),
        None => Some(0.0),
    };
    let (rows, variables) = found.into_iter().unzip();
    Effects {
        rows,
        variables,
        reference,
    }
}

/// Effects of groups beside each other.
#[derive(Default)]
pub(super) struct Groups {
    effects: Memo<Effects>,
}

impl Pane for Groups {
    const ID: &'static str = "groups";
    const TITLE: &'static str = "Groups";
    const ICON: char = icons::CHART_BAR_HORIZONTAL;
    const ABOUT: &'static str = "One effect of every group, sorted";
    const HOME: Home = Home::Left;

    fn shows(of: &Variable<'_>) -> Result<(), &'static str> {
        if of.has_groups() {
            Ok(())
        } else {
            Err("This model has no effects that vary by group")
        }
    }

    fn ui(&mut self, ui: &mut Ui, of: &Variable<'_>, _views: &mut PaneViews, out: &mut Outbox) {
        effects_pane(ui, of, &mut self.effects, out);
    }
}

fn effects_pane(ui: &mut Ui, of: &Variable<'_>, memo: &mut Memo<Effects>, out: &mut Outbox) {
    let names = of.names;
    let Some((factor, term)) = group_term(names, Some(of.name)) else {
        let text = "This model has no effects that vary by group";
        widgets::empty_state(ui, icons::CHART_BAR_HORIZONTAL, text, None);
        return;
    };
    if !of.has_draws(ui, 20) {
        return;
    }
    let t = tokens();
    let mut first_of: Vec<(GroupEffect<'_>, usize)> = Vec::new();
    for (variable, name) in names.iter().enumerate() {
        if let Some(effect) = name.group_effect()
            && !first_of
                .iter()
                .any(|(e, _)| (e.factor, e.term) == (effect.factor, effect.term))
        {
            first_of.push((effect, variable));
        }
    }
    if first_of.len() > 1 {
        widgets::inset(ui, [t.space.x3, t.space.x1], |ui| {
            ui.horizontal_wrapped(|ui| {
                for (effect, variable) in &first_of {
                    let on = (effect.factor, effect.term) == (factor, term);
                    let label = match effect.factor {
                        "" => effect.term.to_owned(),
                        factor => format!("{factor}: {}", effect.term),
                    };
                    if ui.add(Chip::toggle(&label, on)).clicked() && !on {
                        out.send(ViewCommand::SelectVariable(*variable));
                    }
                }
            });
        });
    }
    let position = first_of
        .iter()
        .position(|(e, _)| (e.factor, e.term) == (factor, term));
    let key = Key {
        variable: position.unwrap_or_default(),
        ..of.key
    };
    let made = memo.get(ui, key, || effects(of.run, names, factor, term));
    let selected = made.variables.iter().position(|&v| names[v] == *of.name);
    let title = format!("{term} by group: mean, 50% and 90% intervals");
    let data = CaterpillarData {
        rows: &made.rows,
        reference: made.reference,
        selected,
        title: &title,
    };
    let height = ui.available_height();
    let shown = caterpillar_ui(ui, Palette::of(ui), data, height);
    if let Some(row) = shown.clicked {
        out.send(ViewCommand::SelectVariable(made.variables[row]));
    }
}
