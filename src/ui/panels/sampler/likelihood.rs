//! The likelihood fit of a regression, with effects of groups or without: what lme4 would say, beside the posterior.

use eframe::egui::Ui;

use crate::app::draft_pictures::DraftPicture;
use crate::app::{AppState, DraftCommand, PathCommand, Product, likelihood};
use crate::ui::outbox::Outbox;
use crate::ui::panels::draft_picture;
use crate::ui::panels::likelihood_method::MethodChoice;
use crate::ui::plots::{IntervalRow, interval_ui};
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::table::{Cell, Column, Table, Tone};
use crate::ui::widgets::{self, Button, Segments, number};
use crate::ui::{icons, tasks};
use ergodic_analysis::Recipe;
use ergodic_analysis::likelihood::{LikelihoodFit, LikelihoodOptions, has_fit};
use ergodic_base::ParamId;
use ergodic_core::estimators::mixed::{FixedEffect, GroupEffects, VarianceComponent};
use ergodic_core::families::Family;
use ergodic_core::formula::Formula;
use ergodic_diagnostics::quantiles::{NORMAL_50, NORMAL_95};

/// Groups shown of each effect: those furthest from 0, in order.
const MOST_GROUPS: usize = 40;
/// Widths of numbers, and of columns with long heads or several numbers.
const NUMBER: f32 = 88.0;
const CORRELATION: f32 = 120.0;

/// What the section keeps.
#[derive(Default)]
pub struct LikelihoodView {
    /// The family chosen here, instead of the draft's.
    family: Option<Family>,
    method: MethodChoice,
}

/// Shows the section, for models that have a likelihood fit.
pub fn likelihood_ui(
    ui: &mut Ui,
    state: &AppState,
    recipe: &Recipe,
    view: &mut LikelihoodView,
    out: &mut Outbox,
) {
    if !has_fit(recipe) {
        return;
    }
    let t = tokens();
    widgets::heading(ui, "Likelihood fit");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x3;
        widgets::hint(
            ui,
            "Maximum likelihood, without priors and chains, as lm, glm, polr and lme4 fit: a quick check of a posterior, or all \
             that large data allow",
        );
        let formula = recipe.model.formula.parse::<Formula>();
        let has_groups = formula.is_ok_and(|formula| !formula.groups.is_empty());
        let has_curves =
            (state.document.as_ref()).is_some_and(|document| document.roles.has_curves());
        options_ui(ui, (recipe, has_groups && !has_curves), view, out, state);
        let done = state
            .estimated
            .done()
            .filter(|done| likelihood::holds_for(done, recipe));
        if let Some(done) = done {
            result_ui(ui, done);
            if !done.fit.effects.is_empty() {
                draft_picture::save_ui(ui, DraftPicture::Groups, out);
            }
            let export = Button::new("Export the fit").icon(icons::EXPORT);
            let clicked = ui
                .add(export)
                .on_hover_text("fit.json, effects.csv and fitted.csv in a new folder")
                .clicked();
            if clicked {
                out.send(PathCommand::Pick(Product::Fit(None)));
            }
        }
    });
}

fn options_ui(
    ui: &mut Ui,
    (recipe, by_groups): (&Recipe, bool),
    view: &mut LikelihoodView,
    out: &mut Outbox,
    state: &AppState,
) {
    let t = tokens();
    let mut options = LikelihoodOptions::of(recipe);
    let mut family = view.family.unwrap_or(match options.family {
        Family::Binomial => Family::Bernoulli,
        of_draft => of_draft,
    });
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = t.space.x3;
        let mut segments = Segments::new("Outcome", &mut family);
        // The data tell successes among trials from yes and no.
        for &one in Family::ALL {
            if one != Family::Binomial {
                segments = segments.option(one, one.definition().title);
            }
        }
        if segments.wrapping().show(ui).changed() {
            view.family = Some(family);
            view.method.reset();
        }
        options.family = family;
        view.method.show(ui, by_groups, &mut options);
    });
    if let Some(going) = state.estimated.working() {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = t.space.x2;
            if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                out.send(DraftCommand::CancelEstimate);
            }
            widgets::hint(ui, &tasks::words(going, None));
        });
        ui.ctx()
            .request_repaint_after(super::super::page::PROGRESS_TIME);
    } else if ui
        .add(Button::new("Fit by likelihood").icon(icons::CHART_LINE_UP))
        .clicked()
    {
        out.send(DraftCommand::Estimate(options));
    }
}

fn result_ui(ui: &mut Ui, done: &LikelihoodFit) {
    let fit = &done.fit;
    let groups: Vec<String> = fit
        .components
        .iter()
        .map(|c| format!(", {} {}", number::integer(c.num_groups as u64), c.group))
        .collect();
    let head = format!(
        "{} ({}), {} rows{}; log likelihood {}{}, AIC {}, BIC {}; {} iterations in {}",
        fit.method.spec().title,
        fit.criterion,
        number::integer(fit.num_obs as u64),
        groups.concat(),
        number::fixed(fit.log_lik, 3),
        fit.log_lik_error.map_or_else(String::new, |error| format!(
            " (Monte Carlo se {})",
            number::significant(error, 2)
        )),
        number::fixed(fit.aic, 2),
        number::fixed(fit.bic, 2),
        fit.iterations,
        number::duration(done.seconds),
    );
    widgets::sentence(ui, &head, Text::Body);
    if let Some(sentence) = fit.monte_carlo_sentence() {
        widgets::sentence(ui, &sentence, Text::Body);
    }
    for warning in &fit.warnings {
        widgets::sentence(ui, &warning.to_string(), Text::Body);
    }
    for (id, title, column, effects) in [
        ("fixed", "Fixed effects", "fixed effect", &fit.fixed),
        ("cuts", "Cut points between levels", "cut point", &fit.cuts),
    ] {
        if !effects.is_empty() {
            fixed_ui(ui, (id, title, column), effects);
        }
    }
    if !(fit.components.is_empty() && fit.curves.is_empty()) || fit.parameters().next().is_some() {
        variance_ui(ui, done);
    }
    for effects in &fit.effects {
        for (j, name) in effects.names.iter().enumerate() {
            caterpillar_ui(ui, effects, j, name);
        }
    }
}

fn fixed_ui(ui: &mut Ui, (id, title, column): (&str, &str, &'static str), fixed: &[FixedEffect]) {
    let value = |head, quantile: f64| {
        let of = move |k: usize| fixed[k].estimate + quantile * fixed[k].se;
        Column::number(head, NUMBER, move |k| {
            Cell::number(number::to_sd_digits(of(k), fixed[k].se), Tone::Primary)
        })
        .by(of)
    };
    Table::new(id, title, fixed.len())
        .whole()
        .column(Column::names(ui, column, fixed.len(), |k| {
            fixed[k].name.as_str()
        }))
        .column(value("estimate", 0.0))
        .column(
            Column::number("se", NUMBER, |k| {
                Cell::number(number::sd(fixed[k].se), Tone::Primary)
            })
            .by(|k| fixed[k].se),
        )
        .column(
            Column::number("df", 56.0, |k| {
                let text = fixed[k].df.map_or_else(
                    || number::NOT_AVAILABLE.to_owned(),
                    |df| number::fixed(df, 1),
                );
                Cell::number(text, Tone::Secondary)
            })
            .by(|k| fixed[k].df.unwrap_or(f64::NAN)),
        )
        .column(
            Column::number("p", 72.0, |k| {
                Cell::number(number::significant(fixed[k].p_value(), 2), Tone::Primary)
            })
            .by(|k| fixed[k].p_value()),
        )
        .column(value("2.5 %", -NORMAL_95))
        .column(value("97.5 %", NORMAL_95))
        .show(ui);
}

/// A row of the table of variances: group, effect, standard deviation, correlations and share of the variance.
type Variance<'a> = (&'a str, &'a str, f64, String, Option<f64>);

fn variance_ui(ui: &mut Ui, done: &LikelihoodFit) {
    let fit = &done.fit;
    let mut rows: Vec<Variance<'_>> = Vec::new();
    for component in &fit.components {
        for (i, name) in component.names.iter().enumerate() {
            let share = component.icc.filter(|_| i == 0);
            let correlations = correlations(component, i);
            rows.push((&component.group, name, component.sd[i], correlations, share));
        }
    }
    for curve in &fit.curves {
        let around = "around its line";
        rows.push((&curve.name, around, curve.sd, String::new(), None));
    }
    for (one, value) in fit.parameters() {
        let name = if fit.sigma.is_some() {
            "residual"
        } else {
            one.name
        };
        rows.push((name, "", value, String::new(), None));
    }
    let rows = &rows;
    Table::new(
        "variance",
        "Variation between groups and of curves",
        rows.len(),
    )
    .whole()
    .column(Column::names(ui, "group", rows.len(), |k| rows[k].0))
    .column(Column::names(ui, "effect", rows.len(), |k| rows[k].1))
    .column(
        Column::number("sd", NUMBER, |k| {
            Cell::number(number::significant(rows[k].2, 4), Tone::Primary)
        })
        .by(|k| rows[k].2),
    )
    .column(Column::number("correlation", CORRELATION, |k| {
        Cell::number(rows[k].3.as_str(), Tone::Primary)
    }))
    .column(Column::number("share of variance", CORRELATION, |k| {
        let share = rows[k].4.map(|share| number::fixed(share, 3));
        Cell::number(share.unwrap_or_default(), Tone::Primary)
    }))
    .show(ui);
}

fn correlations(component: &VarianceComponent, i: usize) -> String {
    if !component.correlated {
        return String::new();
    }
    let q = component.names.len();
    let row = (0..i).map(|j| number::fixed(component.correlation[i * q + j], 3));
    row.collect::<Vec<_>>().join("  ")
}

/// Effects of the groups in order with their intervals.
fn caterpillar_ui(ui: &mut Ui, effects: &GroupEffects, j: usize, name: &str) {
    let q = effects.names.len();
    let mut order: Vec<usize> = (0..effects.levels.len()).collect();
    let mode = |g: usize| effects.mode[g * q + j];
    order.sort_by(|a, b| mode(*b).abs().total_cmp(&mode(*a).abs()));
    order.truncate(MOST_GROUPS);
    order.sort_by(|a, b| mode(*b).total_cmp(&mode(*a)));
    let rows: Vec<IntervalRow> = order
        .iter()
        .map(|&g| {
            let (center, sd) = (mode(g), effects.sd[g * q + j]);
            let interval = |half: f64| (center - half * sd, center + half * sd);
            IntervalRow {
                name: ParamId::named(&effects.levels[g]),
                center,
                inner: Some(interval(NORMAL_50)),
                outer: interval(NORMAL_95),
                verdict: None,
                value: number::to_sd_digits(center, sd),
            }
        })
        .collect();
    let all = effects.levels.len();
    let which = if all > rows.len() {
        format!(", the {} furthest from 0 of {all}", rows.len())
    } else {
        String::new()
    };
    let title = format!("{name} by {}: 50 and 95 % intervals{which}", effects.group);
    interval_ui(ui, Palette::of(ui), &rows, None, &title);
}
