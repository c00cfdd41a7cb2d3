//! The table of priors: shape, text, where it comes from; and the scale that they and the report are on.

use eframe::egui::text::TextWrapping;
use eframe::egui::{
    Align, Frame, Layout, Margin, Rect, Role, Sense, Ui, UiBuilder, WidgetInfo, pos2, vec2,
};

use crate::app::{AppState, Command, Depth, Document, ModelCheck};
use crate::data::response::ResponseUse;
use crate::engine::recipe::Scale;
use crate::models::{self, ParamInfo, PriorSpec};
use crate::ui::icons;
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{
    Button, Chip, Field, Segments, hint, paint, sentence_line, small_curve, table,
};

/// Width of a prior's picture.
const CURVE_WIDTH: f32 = 88.0;
/// Width of the field of a prior being typed.
const FIELD_WIDTH: f32 = 192.0;

/// A prior being typed.
#[derive(Default)]
pub struct PriorsView {
    editing: Option<Edit>,
}

/// What priors the draft's template takes; those of the first where there is no such template.
fn spec(document: &Document) -> &'static PriorSpec {
    let entry = models::find(&document.recipe.model.template).unwrap_or(&models::REGISTRY[0]);
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

/// Columns of the table: left edges of parameter, shape, prior and because.
struct Columns {
    name: f32,
    shape: f32,
    prior: f32,
    because: f32,
    end: f32,
}

impl Columns {
    /// Names take `names` points where there is room for so much.
    fn of(rect: Rect, names: f32) -> Self {
        let t = tokens();
        let name = rect.left() + t.space.x4;
        let most = (rect.width() - CURVE_WIDTH - FIELD_WIDTH) * 0.5;
        let shape = name + names.clamp(120.0, most.max(120.0));
        let prior = shape + CURVE_WIDTH + t.space.x4;
        Self {
            name,
            shape,
            prior,
            because: prior + FIELD_WIDTH + t.space.x3,
            end: rect.right() - t.space.x4,
        }
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
    let longest = params
        .iter()
        .filter(|param| models::effect_of(&param.name).is_none());
    let longest = longest.map(|param| param.name.chars().count()).max();
    let names = table::name_width(ui, longest.unwrap_or(0)) + tokens().space.x2;
    head_ui(ui, names);
    let is_effect = |param: &ParamInfo| models::effect_of(&param.name).is_some();
    for (i, param) in params
        .iter()
        .enumerate()
        .filter(|(_, param)| !is_effect(param))
    {
        let curve: Vec<[f64; 2]> = check
            .and_then(|check| check.prior_curves.get(i))
            .map(|curve| curve.iter().map(|&(x, y)| [x, y]).collect())
            .unwrap_or_default();
        row_ui(ui, document, param, names, &curve, view, out);
    }
    if let Some(effect) = params.iter().find(|param| is_effect(param)) {
        let count = params.iter().filter(|param| is_effect(param)).count();
        let inset = Margin::symmetric(tokens().space.x4 as i8, tokens().space.x1 as i8);
        Frame::NONE.inner_margin(inset).show(ui, |ui| {
            hint(
                ui,
                &format!(
                    "{count} effects of groups, such as {}: {}",
                    effect.name, effect.prior
                ),
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
            let chip = ui.add(Chip::toggle("on standardised predictors", on)).on_hover_text(
                "On: priors hold for effects per standard deviation of a predictor, so one prior \
                 fits all columns. Off: they hold per unit of each column",
            );
            if chip.clicked() {
                out.send(Command::SetStandardize(!on));
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
                    out.send(Command::SetScale(scale));
                }
                ui.label(Text::Caption.rich("report", p.text_secondary));
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
    matches!(key, "intercept" | "b")
        || params
            .iter()
            .any(|param| param.name.split('[').next() == Some(key))
}

/// Whether a parameter has a prior of its own; what follows from others says so in words.
fn is_settable(param: &ParamInfo) -> bool {
    param.prior == "flat" || param.prior.contains('(')
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
        ("parameter", at.name),
        ("shape", at.shape),
        ("prior", at.prior),
        ("because", at.because),
    ];
    for (word, x) in heads {
        let galley = paint::line(ui, word, Text::Caption, p.text_secondary, f32::INFINITY);
        paint::left_center(ui.painter(), x, rect.center().y, galley);
    }
}

fn row_ui(
    ui: &mut Ui,
    document: &Document,
    param: &ParamInfo,
    names: f32,
    curve: &[[f64; 2]],
    view: &mut PriorsView,
    out: &mut Outbox,
) {
    let t = tokens();
    let p = Palette::of(ui);
    let editing = view
        .editing
        .as_ref()
        .is_some_and(|edit| edit.key == param.name);
    let height = if editing {
        t.size.row_prior + error_height(spec(document), view)
    } else {
        t.size.row_prior
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
    cell(at.name, at.shape - t.space.x2, &mut |ui| {
        sentence_line(ui, &format!("`{}`", param.name), Text::Body, false)
            .on_hover_text(format!("{}: {}", param.name, param.meaning));
    });
    cell(at.shape, at.prior, &mut |ui| {
        let name = format!("Density of the prior of {}", param.name);
        if curve.is_empty() {
            let (word, why) = if param.prior == "flat" {
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
            let [from, to] = [curve[0][0], curve[curve.len() - 1][0]];
            let range = format!(
                "{} to {}",
                crate::ui::widgets::number::significant(from, 2),
                crate::ui::widgets::number::significant(to, 2)
            );
            small_curve(ui, vec2(CURVE_WIDTH, t.size.row_prior - 8.0), curve, &name)
                .on_hover_text(range);
        }
    });
    let own = document.recipe.priors.contains_key(&param.name);
    cell(at.prior, at.because - t.space.x2, &mut |ui| {
        if !own && !is_settable(param) {
            ui.label(Text::Number.rich(&param.prior, p.text_secondary));
            return;
        }
        prior_ui(
            ui,
            spec(document),
            &param.name,
            &param.name,
            &param.prior,
            own,
            view,
            out,
        );
    });
    cell(at.because, at.end, &mut |ui| {
        // Where one line is too short there are two, which the row has room for.
        let (text, width) = (param.prior_source.as_str(), at.end - at.because);
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
        let (place, response) = ui.allocate_exact_size(vec2(width, line.height()), Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(text)));
        paint::left_center(ui.painter(), place.left(), place.center().y, galley);
        response.on_hover_text(about);
    });
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
            .width(FIELD_WIDTH - 8.0)
            .show(ui);
        if !edit.begun {
            edit.begun = true;
            field.response.request_focus();
            return;
        }
        let given_up = field.response.lost_focus() && !field.committed;
        if given_up {
            out.send(Command::PreviewPrior(None));
        } else if field.response.changed()
            && !edit.text.trim().is_empty()
            && error_of(spec, &edit.text).is_none()
        {
            let prior = (key.to_owned(), edit.text.trim().to_owned());
            out.send(Command::PreviewPrior(Some(prior)));
        }
        if field.committed && error.is_none() {
            let text = edit.text.trim();
            let given = (!text.is_empty()).then(|| text.to_owned());
            if given.is_some() || set {
                out.send(Command::SetPrior(key.to_owned(), given));
            } else {
                out.send(Command::PreviewPrior(None));
            }
            view.editing = None;
        } else if field.committed {
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
            out.send(Command::SetPrior(key.to_owned(), None));
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

/// Room for the sentence below the field of the prior being typed.
fn error_height(spec: &PriorSpec, view: &PriorsView) -> f32 {
    let wrong = view
        .editing
        .as_ref()
        .and_then(|edit| error_of(spec, &edit.text));
    // At this width a line has about 32 characters.
    wrong.map_or(0.0, |error| {
        (error.chars().count() as f32 / 32.0).ceil() * Text::Caption.line()
    })
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
            let others =
                document.recipe.priors.iter().filter(|(key, _)| {
                    !spec(document).classes.iter().any(|(class, _)| class == key)
                });
            for (key, text) in others {
                ui.horizontal(|ui| {
                    ui.label(Text::Code.rich(key, p.text_primary));
                    prior_ui(ui, spec(document), key, key, text, true, view, out);
                });
            }
        });
}
