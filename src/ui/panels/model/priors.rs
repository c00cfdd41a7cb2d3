//! The table of priors: shape, text, where it comes from; and the scale that they and the report are on.

use eframe::egui::text::TextWrapping;
use eframe::egui::{
    Align, Frame, Layout, Margin, Rect, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};
use ergodic_analysis::templates;

use crate::app::{AppState, Depth, Document, DraftChange, DraftCommand, ModelCheck};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{
    Button, Chip, Field, Segments, hint, inset, name, paint, small_curve, table,
};
use ergodic_analysis::Scale;
use ergodic_base::{ParamId, varying_words};
use ergodic_core::design::ResponseUse;
use ergodic_core::models::{self, DefaultPriors, ParamInfo, PriorOf, PriorSpec, default_priors};

/// Width of a prior's picture.
const CURVE_WIDTH: f32 = 88.0;
/// Width of the field of a prior being typed.
const FIELD_WIDTH: f32 = 192.0;
/// Least room for names, and for why a prior is what it is, in points.
const NAME_WIDTH: f32 = 120.0;
const REASON_WIDTH: f32 = 64.0;
/// What of that the field itself takes; the rest keeps it from its neighbour.
const FIELD_SHOWN: f32 = FIELD_WIDTH - 8.0;

/// A prior being typed.
#[derive(Default)]
pub struct PriorsView {
    editing: Option<Edit>,
}

/// What priors the draft's template takes; those of the first where there is no such template.
fn spec(document: &Document) -> &'static PriorSpec {
    let entry = templates::find(&document.recipe.model.template).unwrap_or(&models::REGISTRY[0]);
    &entry.spec.priors
}

/// Whether the template has coefficients of predictors.
fn has_coefficients(document: &Document) -> bool {
    !matches!(
        document.roles.response_use,
        ResponseUse::Categories | ResponseUse::Absent
    )
}

struct Edit {
    key: String,
    text: String,
    begun: bool,
}

/// Columns of the table: left edges of parameter, shape, prior and because. Where there is no room for all, there is no shape, and then
/// no reason: names and priors are what the table is for.
struct Columns {
    name: f32,
    shape: Option<f32>,
    prior: f32,
    because: Option<f32>,
    end: f32,
}

impl Columns {
    /// Names take `names` points where there is room for so much.
    fn of(rect: Rect, names: f32) -> Self {
        let t = tokens();
        let name = rect.left() + t.space.x4;
        let end = rect.right() - t.space.x4;
        let names_of = |most: f32| name + names.clamp(NAME_WIDTH, most.max(NAME_WIDTH));
        let left = names_of((rect.width() - CURVE_WIDTH - FIELD_WIDTH) * 0.5);
        let has_room = |because: f32| end - because >= REASON_WIDTH;
        let because_of = |prior: f32| prior + FIELD_WIDTH + t.space.x3;
        let behind_shape = left + CURVE_WIDTH + t.space.x4;
        let shape = has_room(because_of(behind_shape)).then_some(left);
        let prior = match shape {
            Some(_) => behind_shape,
            None if has_room(because_of(left)) => left,
            None => names_of(end - FIELD_WIDTH - name),
        };
        Self {
            name,
            shape,
            prior,
            because: Some(because_of(prior)).filter(|it| has_room(*it)),
            end,
        }
    }

    /// The left edge of the column behind names.
    fn names_end(&self) -> f32 {
        self.shape.unwrap_or(self.prior)
    }
}

/// Draws the strip with the scales, the classes and the table.
pub fn priors_ui(
    ui: &mut Ui,
    state: &AppState,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut PriorsView,
    out: &mut Outbox,
) {
    strip_ui(ui, document, out);
    classes_ui(ui, document, check, view, out);
    if state.preferences.depth == Depth::Verdict {
        return;
    }
    let params = check.map_or(&[][..], |check| &check.params);
    if params.is_empty() {
        stray_priors_ui(ui, document, view, out);
        return;
    }
    let longest = params.iter().filter(|param| !param.name.is_varying());
    let longest = longest.map(|param| param.name.chars().count()).max();
    let names = table::name_width(ui, longest.unwrap_or(0)) + tokens().space.x2;
    head_ui(ui, names);
    let is_effect = |param: &ParamInfo| param.name.is_varying();
    let shown = || {
        let params = params.iter().enumerate();
        params.filter(|(_, param)| !is_effect(param))
    };
    let curves: Vec<Vec<[f64; 2]>> = shown()
        .map(|(i, _)| {
            let curve = check.and_then(|check| check.prior_curves.get(i));
            let points = curve.map(|curve| curve.iter().map(|&(x, y)| [x, y]).collect());
            points.unwrap_or_default()
        })
        .collect();
    let full: Vec<&ParamId> = shown().map(|(_, param)| &param.name).collect();
    let axes = axes_of(&full, &curves);
    let at = Columns::of(ui.available_rect_before_wrap(), names);
    let short = name::short_names(&full, table::name_chars(ui, at.names_end() - at.name));
    for (row, (_, param)) in shown().enumerate() {
        let shape = (curves[row].as_slice(), axes[row]);
        row_ui(ui, document, (param, &short[row]), names, shape, view, out);
    }
    if let Some(effect) = params.iter().find(|param| is_effect(param)) {
        let count = params.iter().filter(|param| is_effect(param)).count();
        let what = varying_words(params.iter().map(|param| &param.name));
        inset(ui, [tokens().space.x4, tokens().space.x1], |ui| {
            hint(
                ui,
                &format!("{count} {what}, such as {}: {}", effect.name, effect.prior),
            );
        });
    }
    if !has_coefficients(document) {
        return;
    }
    let t = tokens();
    Frame::NONE
        .inner_margin(Margin::same(t.space.x4 as i8))
        .show(ui, |ui| {
            let text = match document.recipe.report.scale {
                Scale::Original => {
                    "Scaling inside the sampler never changes these priors; coefficients are \
                     reported per unit of the columns as they are"
                }
                Scale::Standardised => {
                    "Scaling inside the sampler never changes these priors; coefficients are \
                     reported per standard deviation of their columns"
                }
            };
            hint(ui, text);
        });
}

/// What the width of each picture stands for. Parameters of one class, such as coefficients, have one axis in common, so
/// that a wide prior looks wider than a narrow one, unless the narrow one would be no more than a line.
fn axes_of(names: &[&ParamId], curves: &[Vec<[f64; 2]>]) -> Vec<(f64, f64)> {
    const THINNEST: f64 = 1.0 / 30.0;
    let range = |curve: &[[f64; 2]]| Some((curve.first()?[0], curve.last()?[0]));
    let common = |of: &ParamId| {
        let alike = names
            .iter()
            .zip(curves)
            .filter(|(name, _)| name.word() == of.word());
        let ranges: Vec<(f64, f64)> = alike.filter_map(|(_, curve)| range(curve)).collect();
        let ends = ranges
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |all, one| {
                (all.0.min(one.0), all.1.max(one.1))
            });
        let is_wide = |one: &(f64, f64)| one.1 - one.0 >= THINNEST * (ends.1 - ends.0);
        (!ranges.is_empty() && ranges.iter().all(is_wide)).then_some(ends)
    };
    names
        .iter()
        .zip(curves)
        .map(|(name, curve)| common(name).or_else(|| range(curve)).unwrap_or((0.0, 1.0)))
        .collect()
}

fn strip_ui(ui: &mut Ui, document: &Document, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), t.size.tab_strip + t.space.x1);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, p.bg_strip);
    let inner = rect.shrink2(vec2(t.space.x4, 0.0));
    ui.scope_builder(
        UiBuilder::new()
            .max_rect(inner)
            .layout(Layout::left_to_right(Align::Center)),
        |ui| {
            icons::icon_ui(
                ui,
                icons::SLIDERS_HORIZONTAL,
                t.icon.small,
                false,
                p.text_secondary,
            );
            ui.label(Text::Label.rich("Priors", p.text_primary));
            if !has_coefficients(document) {
                return;
            }
            ui.add_space(t.space.x2);
            let on = document.recipe.model.standardize;
            let chip = ui.add(Chip::toggle("Priors per standard deviation", on)).on_hover_text(
                "On: priors hold for effects per standard deviation of a predictor, so one prior \
                 fits all columns. Off: they hold per unit of each column",
            );
            if chip.clicked() {
                out.send(DraftChange::Standardize(!on));
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let mut scale = document.recipe.report.scale;
                let changed = Segments::new("Scale of reported coefficients", &mut scale)
                    .option(Scale::Original, "per unit")
                    .option(Scale::Standardised, "per sd")
                    .show(ui)
                    .on_hover_text("Scale on which coefficients are reported")
                    .changed();
                if changed {
                    out.send(DraftChange::Scale(scale));
                }
                let word =
                    paint::line(ui, "report", Text::Caption, p.text_secondary, f32::INFINITY);
                if word.size().x <= ui.available_width() {
                    ui.label(Text::Caption.rich("report", p.text_secondary));
                }
            });
        },
    );
}

/// Whether a regression has parameters that the prior of a class is for; one that is set shows always.
fn is_used(document: &Document, check: Option<&ModelCheck>, key: &str) -> bool {
    let params = check.map_or(&[][..], |check| &check.params);
    if params.is_empty() || !has_coefficients(document) || document.recipe.priors.contains_key(key)
    {
        return true;
    }
    matches!(key, "intercept" | "b") || params.iter().any(|param| param.name.word() == key)
}

/// Whether a parameter has a prior of its own; what follows from others says so in words.
fn is_settable(param: &ParamInfo) -> bool {
    !matches!(param.prior, PriorOf::Follows(_))
}

/// How wide the priors are of coefficients that have none of their own.
fn defaults_ui(ui: &mut Ui, document: &Document, out: &mut Outbox) {
    let classes = spec(document).classes;
    if !(classes.iter()).any(|(key, _)| matches!(*key, "b" | "mu")) {
        return;
    }
    let mut defaults = document.recipe.default_priors();
    let mut segments = Segments::new("Priors where none is set", &mut defaults);
    for each in DefaultPriors::ALL {
        segments = segments.option(each, each.title());
    }
    let changed = segments.show(ui);
    let about = DefaultPriors::ALL.map(|each| format!("{}: {}", each.title(), each.about()));
    if changed.on_hover_text(about.join("\n")).changed() {
        let chosen = Some(defaults.id().to_owned());
        out.send(DraftChange::Prior(default_priors::KEY.to_owned(), chosen));
    }
    ui.end_row();
}

/// Priors of classes: one for the intercept, one for all coefficients that have none of their own.
fn classes_ui(
    ui: &mut Ui,
    document: &Document,
    check: Option<&ModelCheck>,
    view: &mut PriorsView,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    Frame::NONE
        .inner_margin(Margin::symmetric(t.space.x4 as i8, t.space.x2 as i8))
        .show(ui, |ui| {
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().item_spacing.y = t.space.x1;
                defaults_ui(ui, document, out);
                for &(key, name) in spec(document).classes {
                    if !is_used(document, check, key) {
                        continue;
                    }
                    // A name stays on the line of its prior.
                    let word = paint::line(ui, name, Text::Number, p.text_secondary, f32::INFINITY);
                    if word.size().x + CURVE_WIDTH > ui.available_size_before_wrap().x {
                        ui.end_row();
                    }
                    let size = vec2(word.size().x, t.size.chip);
                    let (place, label) = ui.allocate_exact_size(size, Sense::hover());
                    label.widget_info(|| WidgetInfo::labeled(Role::Label, true, name));
                    paint::left_center(ui.painter(), place.left(), place.center().y, word);
                    let set = document.recipe.priors.get(key);
                    let text = set.map_or("default", String::as_str);
                    prior_ui(
                        ui,
                        spec(document),
                        key,
                        name,
                        text,
                        set.is_some(),
                        view,
                        out,
                    );
                    ui.add_space(t.space.x4);
                }
            });
        });
}

fn head_ui(ui: &mut Ui, names: f32) {
    let t = tokens();
    let p = Palette::of(ui);
    let size = vec2(ui.available_width(), t.size.row_table);
    let (rect, _) = ui.allocate_exact_size(size, Sense::hover());
    ui.painter().rect_filled(rect, 0.0, p.bg_strip);
    let at = Columns::of(rect, names);
    let heads = [
        ("parameter", Some(at.name)),
        ("shape", at.shape),
        ("prior", Some(at.prior)),
        ("because", at.because),
    ];
    let heads = heads.into_iter().filter_map(|(word, x)| Some((word, x?)));
    for (word, x) in heads {
        let galley = paint::line(ui, word, Text::Caption, p.text_secondary, f32::INFINITY);
        paint::left_center(ui.painter(), x, rect.center().y, galley);
    }
}

fn row_ui(
    ui: &mut Ui,
    document: &Document,
    (param, short): (&ParamInfo, &str),
    names: f32,
    (curve, axis): (&[[f64; 2]], (f64, f64)),
    view: &mut PriorsView,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let editing = view
        .editing
        .as_ref()
        .is_some_and(|edit| param.name == edit.key);
    let height = match editing {
        true => t.size.row_prior.max(height_typed(ui, spec(document), view)),
        false => t.size.row_prior,
    };
    let (rect, _) = ui.allocate_exact_size(vec2(ui.available_width(), height), Sense::hover());
    if !ui.is_rect_visible(rect) && !editing {
        return;
    }
    if editing {
        ui.painter().rect_filled(rect, 0.0, p.selection_bg);
    }
    paint::hair_below(ui, rect);
    let at = Columns::of(rect, names);
    let line = Rect::from_min_max(rect.min, pos2(rect.right(), rect.top() + t.size.row_prior));
    let mut cell = |left: f32, right: f32, contents: &mut dyn FnMut(&mut Ui)| {
        let place =
            Rect::from_min_max(pos2(left, line.top()), pos2(right.max(left), line.bottom()));
        ui.scope_builder(
            UiBuilder::new()
                .id_salt((&param.name, left as i32))
                .max_rect(place)
                .layout(Layout::left_to_right(Align::Center)),
            |ui| contents(ui),
        );
    };
    cell(at.name, at.names_end() - t.space.x2, &mut |ui| {
        let (place, response) = ui.allocate_exact_size(ui.available_size(), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &param.name));
        let galley = paint::line(ui, short, Text::Code, p.text_primary, place.width());
        paint::left_center(ui.painter(), place.left(), place.center().y, galley);
        let mut about = format!("{}: {}", param.name, param.meaning);
        if at.because.is_none() {
            about.push_str(&format!(
                "\n{}",
                paint::words(&param.prior_source.to_string())
            ));
        }
        response.on_hover_text(about);
    });
    let mut shape_ui = |ui: &mut Ui| {
        let name = format!("Density of the prior of {}", param.name);
        if curve.is_empty() {
            let (word, why) = if param.prior == PriorOf::Flat {
                (
                    "flat",
                    "This prior is the same everywhere, so it has no shape to show",
                )
            } else {
                (
                    "no curve",
                    "On this scale the parameter mixes several priors, so its own prior has no simple curve",
                )
            };
            ui.label(Text::Caption.rich(word, p.text_secondary))
                .on_hover_text(why);
        } else {
            let size = vec2(CURVE_WIDTH, t.size.row_prior - 2.0);
            small_curve(ui, size, curve, axis, &name)
                .on_hover_text("The prior on the scale that is reported; parameters of one kind have the same axis where they can");
        }
    };
    if let Some(left) = at.shape {
        cell(left, at.prior, &mut shape_ui);
    }
    let own = document.recipe.priors.contains_key(param.name.as_str());
    let prior_end = at.because.map_or(at.end, |because| because - t.space.x2);
    cell(at.prior, prior_end, &mut |ui| {
        if !own && !is_settable(param) {
            ui.label(Text::Number.rich(param.prior.as_str(), p.text_secondary));
            return;
        }
        prior_ui(
            ui,
            spec(document),
            &param.name,
            &param.name,
            param.prior.as_str(),
            own,
            view,
            out,
        );
    });
    if let Some(because) = at.because {
        cell(because, at.end, &mut |ui| {
            // Where one line is too short there are two, which the row has room for.
            let source = param.prior_source.to_string();
            let (text, width) = (source.as_str(), at.end - because);
            let short = !paint::line(ui, text, Text::Number, p.text_secondary, width).elided;
            let role = if short { Text::Number } else { Text::Caption };
            let mut job = paint::job(text, role, p.text_secondary);
            job.wrap = TextWrapping {
                max_width: width,
                max_rows: 2,
                ..TextWrapping::default()
            };
            let galley = ui.painter().layout_job(job);
            let about = match galley.elided {
                true => format!("{}\n{}", paint::words(text), param.meaning),
                false => param.meaning.clone(),
            };
            let (place, response) =
                ui.allocate_exact_size(vec2(width, line.height()), Sense::hover());
            response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(text)));
            paint::left_center(ui.painter(), place.left(), place.center().y, galley);
            response.on_hover_text(about);
        });
    }
    // Cells are one line high: without this the next row would begin below them, and not below the sentence of a wrong prior.
    ui.advance_cursor_after_rect(rect);
}

/// The chip of a prior; while it is typed, its field.
fn prior_ui(
    ui: &mut Ui,
    spec: &PriorSpec,
    key: &str,
    name: &str,
    text: &str,
    set: bool,
    view: &mut PriorsView,
    out: &mut Outbox,
) {
    if let Some(edit) = view.editing.as_mut().filter(|edit| edit.key == key) {
        let error = error_of(spec, &edit.text);
        let label = format!("Prior of {name}");
        let field = Field::new(&label, &mut edit.text)
            .label_hidden()
            .id_salt(key)
            .hint(spec.example)
            .mono()
            .error(error.as_deref())
            .width(FIELD_SHOWN)
            .show(ui);
        if !edit.begun {
            edit.begun = true;
            field.response.request_focus();
            return;
        }
        let given_up = field.response.lost_focus() && !field.committed;
        if given_up {
            out.send(DraftCommand::PreviewPrior(None));
        } else if field.response.changed()
            && !edit.text.trim().is_empty()
            && error_of(spec, &edit.text).is_none()
        {
            let prior = (key.to_owned(), edit.text.trim().to_owned());
            out.send(DraftCommand::PreviewPrior(Some(prior)));
        }
        let typed = edit.text.trim();
        let given = (!typed.is_empty()).then(|| typed.to_owned());
        let is_other = given.as_ref().map_or(set, |given| given != text);
        let change = DraftChange::Prior(key.to_owned(), given.clone());
        if field.committed && error.is_none() {
            if given.is_some() || set {
                out.typed(change, true);
            } else {
                out.send(DraftCommand::PreviewPrior(None));
            }
            view.editing = None;
            return;
        }
        // Also one that cannot be read, which then is what a run is refused for.
        if is_other && !given_up {
            out.typed(change, false);
        }
        if field.committed {
            // A prior that cannot be read stays open with its sentence until it is put right or given up by Esc.
            edit.begun = false;
        } else if field.response.lost_focus() {
            view.editing = None;
        }
        return;
    }
    let accessible = format!("Prior of {name}");
    let hover = format!("Change it: {}", spec.forms);
    let chip = ui
        .add(Chip::edit(text).named(&accessible))
        .on_hover_text(hover);
    if chip.clicked() {
        let text = if (spec.check)(text).is_ok() || set {
            text
        } else {
            ""
        };
        view.editing = Some(Edit {
            key: key.to_owned(),
            text: text.to_owned(),
            begun: false,
        });
    }
    if set {
        let label = format!("Default prior of {name}");
        let reset = Button::icon_only(icons::ARROW_COUNTER_CLOCKWISE, &label).small();
        if ui.add(reset).clicked() {
            out.send(DraftChange::Prior(key.to_owned(), None));
        }
    }
}

/// Why a prior as typed cannot be used; nothing while it is empty, which asks for the default.
fn error_of(spec: &PriorSpec, text: &str) -> Option<String> {
    if text.trim().is_empty() {
        return None;
    }
    (spec.check)(text.trim())
        .err()
        .map(|error| error.to_string())
}

/// Height of the field of the prior being typed, with the sentence below it.
fn height_typed(ui: &Ui, spec: &PriorSpec, view: &PriorsView) -> f32 {
    let t = tokens();
    let edit = view.editing.as_ref();
    let Some(error) = edit.and_then(|edit| error_of(spec, &edit.text)) else {
        return t.size.field;
    };
    let color = Palette::of(ui).bad;
    let sentence = paint::paragraph(ui, &error, Text::Caption, color, FIELD_SHOWN);
    t.size.field + sentence.size().y + 2.0 * t.space.x1
}

/// Priors of the draft while its model cannot be built: one of them may be the reason.
fn stray_priors_ui(ui: &mut Ui, document: &Document, view: &mut PriorsView, out: &mut Outbox) {
    let t = tokens();
    let p = Palette::of(ui);
    Frame::NONE
        .inner_margin(Margin::same(t.space.x4 as i8))
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = t.space.x2;
            hint(
                ui,
                "Parameters and their priors appear here once the model is complete",
            );
            let others = document
                .recipe
                .own_priors()
                .filter(|(key, _)| !spec(document).classes.iter().any(|(class, _)| class == key));
            for (key, text) in others {
                ui.horizontal(|ui| {
                    ui.label(Text::Code.rich(key, p.text_primary));
                    prior_ui(ui, spec(document), key, key, text, true, view, out);
                });
            }
        });
}

#[cfg(test)]
mod tests {
    use egui_kittest::kittest::Queryable as _;

    use super::*;
    use crate::app::testing::Session;
    use crate::ui::testing::harness;

    #[test]
    fn the_next_row_stands_below_the_sentence_of_a_wrong_prior() {
        let mut session = Session::with_draft("churn");
        session.send(DraftChange::Formula(
            "churned ~ age + tenure_months".to_owned(),
        ));
        let document = session.state.document.unwrap();
        let check = session.state.check.unwrap();
        let edit = Edit {
            key: "b[age]".to_owned(),
            text: "normal(0, -1)".to_owned(),
            begun: true,
        };
        let error = paint::words(&error_of(spec(&document), &edit.text).unwrap());
        let view = PriorsView {
            editing: Some(edit),
        };
        let mut harness = harness([1100.0, 400.0], view, move |ui, view| {
            ui.spacing_mut().item_spacing.y = 0.0;
            let mut out = Outbox::default();
            for param in &check.params {
                let no_curve: &[[f64; 2]] = &[];
                let shape = (no_curve, (0.0, 1.0));
                let named = (param, param.name.as_str());
                row_ui(ui, &document, named, 200.0, shape, view, &mut out);
            }
        });
        harness.run();
        let sentence = harness.get_by_label(&error).rect();
        let next = harness.get_by_label("b[tenure_months]").rect();
        assert!(
            sentence.bottom() <= next.top(),
            "{sentence:?} over {next:?}"
        );
    }

    #[test]
    fn priors_of_one_kind_are_drawn_on_one_axis_where_they_can_be_told_apart() {
        let curve = |half: f64| vec![[-half, 0.0], [0.0, 1.0], [half, 0.0]];
        let names = ["b[x]", "b[z]", "sigma"].map(ParamId::from);
        let names = names.each_ref();
        let near = axes_of(&names, &[curve(3.0), curve(30.0), curve(2.0)]);
        assert_eq!(near, [(-30.0, 30.0), (-30.0, 30.0), (-2.0, 2.0)]);
        // One of them would be a line: each has its own, which the numbers at its ends tell.
        let far = axes_of(&names, &[curve(0.3), curve(30.0), Vec::new()]);
        assert_eq!(far, [(-0.3, 0.3), (-30.0, 30.0), (0.0, 1.0)]);
    }
}
