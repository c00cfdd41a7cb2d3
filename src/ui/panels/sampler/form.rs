//! The form of a sampler's settings, made from its fields; then its formula and source.

use std::collections::BTreeMap;

use eframe::egui::{Align, Layout, Sense, Ui, vec2};

use crate::app::{AppState, DraftChange};
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, tokens};
use crate::ui::widgets::{self, Field, Segments, paint};
use ergodic_analysis::Recipe;
use ergodic_base::settings::{Default as FieldDefault, Field as Setting, Kind, Settings, Value};
use ergodic_core::samplers::{SamplerEntry, SamplerSpec, Target};

/// Width of the labels.
pub const LABEL: f32 = 190.0;
/// Width of the way back to a default; where less is left of the line it stands below.
const RESET: f32 = 120.0;
/// Width of a field of a number.
const FIELD: f32 = 150.0;
/// Least width of a field with what is wrong with it below.
const ERROR: f32 = 260.0;
/// Width of a field of a text.
const TEXT_FIELD: f32 = 360.0;
/// What leaves a setting to the sampler.
const LEFT_TO_SAMPLER: &str = "auto";

/// Texts being typed, by sampler and setting.
#[derive(Default)]
pub struct FormView {
    drafts: BTreeMap<(&'static str, &'static str), String>,
}

/// Whose settings a form shows, and how a change is sent.
pub struct Owner<'a> {
    /// Identifier of the sampler or optimiser.
    pub id: &'static str,
    /// Section of the recipe.
    pub section: &'static str,
    /// What the draft sets.
    pub settings: &'a Settings,
    /// Makes the command of a change.
    pub send: fn(String, Option<Value>) -> DraftChange,
    /// What is wrong with the text of a setting alone, if anything is.
    pub refuse: &'a dyn Fn(&Settings) -> Option<String>,
    /// The setting whose default is another one for this draft.
    pub usual: Option<Usual>,
}

impl Owner<'_> {
    fn usual(&self, field: &Setting) -> Option<&Usual> {
        self.usual.as_ref().filter(|usual| usual.key == field.key)
    }

    /// Whether the draft has the default of `field`.
    fn has_default(&self, field: &Setting) -> bool {
        let set = self.settings.get(field.key);
        match (self.usual(field), set) {
            (Some(usual), Some(set)) => *set == usual.value,
            (Some(usual), None) => field.is_default(&usual.value),
            (None, set) => set.is_none_or(|set| field.is_default(set)),
        }
    }

    /// The default of `field` in words.
    fn default_text(&self, field: &Setting) -> String {
        match self.usual(field) {
            Some(Usual {
                value: Value::Text(word),
                ..
            }) => field.say(word).to_owned(),
            Some(usual) => usual.value.to_string(),
            None => default_text(field),
        }
    }
}

/// A default that depends on the draft, in place of the one that its setting has for all.
pub struct Usual {
    /// Key of the setting.
    pub key: &'static str,
    /// The value.
    pub value: Value,
    /// Why, as what can follow "because".
    pub why: String,
}

/// Shows the form.
pub fn form_ui(
    ui: &mut Ui,
    entry: &'static SamplerEntry,
    state: &AppState,
    recipe: &Recipe,
    view: &mut FormView,
    out: &mut Outbox,
) {
    let t = tokens();
    let spec = &entry.spec;
    let title = format!("Settings of {}", spec.title);
    widgets::heading(ui, &title);
    if spec.fields.is_empty() {
        widgets::hint(ui, "It has none.");
    }
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.spacing_mut().item_spacing.y = t.space.x3;
        let owner = Owner {
            id: spec.id,
            section: "sampler",
            settings: &recipe.sampler.settings,
            send: DraftChange::Setting,
            refuse: &|settings| {
                // What a text names is known once the model is.
                let parts = &state.check.as_ref()?.parts;
                let refused = (entry.check)(settings, &Target::default(), parts).err();
                refused
                    .filter(|_| !parts.is_empty())
                    .map(|error| error.to_string())
            },
            usual: None,
        };
        let shown =
            (spec.fields.iter()).filter(|field| field.is_shown(owner.settings, spec.fields));
        for field in shown {
            setting_ui(ui, &owner, field, view, out);
        }
    });
    ui.add_space(t.space.x2);
    widgets::heading(ui, "What it does");
    widgets::card(ui, |ui| {
        ui.set_width(ui.available_width());
        let colors = Palette::of(ui);
        ui.spacing_mut().item_spacing.y = t.space.x2;
        let width = ui.available_width();
        let galley = paint::paragraph(ui, spec.formula, Text::Code, colors.text_primary, width);
        ui.add(eframe::egui::Label::new(galley));
        let source = format!("Source: {}", spec.cite);
        widgets::hint(ui, &source);
        if let Some(bias) = spec.bias {
            let text = format!(
                "Approximate: {bias}. After the run, check its bias: an exact sampler runs as a control."
            );
            widgets::hint(ui, &text);
        }
        if spec.needs_mode {
            widgets::hint(ui, mode_hint(spec));
        }
    });
}

/// What the sampler takes from the posterior's mode, and what it does without.
fn mode_hint(spec: &SamplerSpec) -> &'static str {
    match (spec.own_steps, spec.centres_at_start) {
        (true, true) => {
            "It takes its steps from the posterior's mode, which is found when the run is prepared, and centres its gradients there. Where \
             there is none, give the step size yourself: chains then start where an optimiser has climbed to, and centre gradients there."
        }
        (true, false) => {
            "It takes its steps from the posterior's mode, which is found when the run is prepared. Where there is none, give the step size \
             yourself."
        }
        _ => "It starts from the posterior's mode, which is found when the run is prepared.",
    }
}

fn default_text(field: &Setting) -> String {
    match field.default {
        None => LEFT_TO_SAMPLER.to_owned(),
        Some(FieldDefault::Int(value)) => value.to_string(),
        Some(FieldDefault::Real(value)) => value.to_string(),
        Some(FieldDefault::Text(value)) => field.say(value).to_owned(),
        Some(FieldDefault::Bool(value)) => if value { "on" } else { "off" }.to_owned(),
    }
}

/// One setting: label and control on a line, the reason for its default below.
pub fn setting_ui(
    ui: &mut Ui,
    owner: &Owner<'_>,
    field: &'static Setting,
    view: &mut FormView,
    out: &mut Outbox,
) {
    let t = tokens();
    let colors = Palette::of(ui);
    let set = owner.settings.get(field.key);
    let height = t.size.field;
    ui.vertical(|ui| {
        ui.spacing_mut().item_spacing.y = t.space.x1;
        let mut can_reset = false;
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = t.space.x3;
            let (rect, label) = ui.allocate_exact_size(vec2(LABEL, height), Sense::hover());
            let galley = paint::line(ui, field.label, Text::Label, colors.text_primary, LABEL);
            paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
            label.on_hover_ui(|ui| help_ui(ui, owner.section, field));
            let sent = match field.kind {
                Kind::Int { .. } | Kind::Real { .. } | Kind::Rows | Kind::Text { .. } => {
                    typed_ui(ui, owner, field, set, (view, out));
                    None
                }
                Kind::Choice(words) => choice_ui(ui, field, words, set),
                Kind::Bool => bool_ui(ui, field, set),
            };
            if let Some(value) = sent {
                out.send((owner.send)(field.key.to_owned(), value));
            }
            can_reset = !owner.has_default(field);
            if can_reset && ui.available_width() >= RESET {
                can_reset = false;
                ui.allocate_ui_with_layout(
                    vec2(RESET, height),
                    Layout::left_to_right(Align::Center),
                    |ui| reset_ui(ui, owner, field, view, out),
                );
            }
        });
        ui.horizontal(|ui| {
            ui.add_space(LABEL + t.space.x3);
            ui.vertical(|ui| {
                if can_reset {
                    reset_ui(ui, owner, field, view, out);
                }
                let why = owner
                    .usual(field)
                    .map_or(field.why, |usual| usual.why.as_str());
                let mut text = format!("Default {}: {why}", owner.default_text(field));
                if let Kind::Text { words, example } = field.kind {
                    // What may be typed cannot be seen otherwise.
                    text.push_str(&format!(
                        "; also {}, or such as `{example}`",
                        words[1..].join(", ")
                    ));
                }
                let width = ui.available_width();
                let galley =
                    paint::paragraph(ui, &text, Text::Caption, colors.text_secondary, width);
                ui.add(eframe::egui::Label::new(galley))
                    .on_hover_ui(|ui| help_ui(ui, owner.section, field));
            });
        });
    });
}

/// A link that takes a setting back to its default.
fn reset_ui(
    ui: &mut Ui,
    owner: &Owner<'_>,
    field: &'static Setting,
    view: &mut FormView,
    out: &mut Outbox,
) {
    if widgets::link(ui, &format!("Reset to {}", owner.default_text(field))).clicked() {
        view.drafts.remove(&(owner.id, field.key));
        // What is not the default for all has to be said.
        let usual = owner.usual(field).map(|usual| usual.value.clone());
        let value = usual.filter(|value| !field.is_default(value));
        out.send((owner.send)(field.key.to_owned(), value));
    }
}

fn help_ui(ui: &mut Ui, section: &str, field: &Setting) {
    let colors = Palette::of(ui);
    ui.set_max_width(tokens().size.tooltip_max);
    ui.label(Text::CaptionStrong.rich(field.label, colors.text_primary));
    ui.label(Text::Caption.rich(field.help, colors.text_primary));
    let range = match field.kind {
        Kind::Int { min, max } => format!("A whole number from {min} to {max}"),
        Kind::Real { min, max } => format!("A number from {min} to {max}"),
        Kind::Rows => "A whole number of rows, or a share of all rows below 1".to_owned(),
        Kind::Choice(words) => format!("One of {}", words.join(", ")),
        Kind::Text { words, example } => {
            format!("{}, or a text such as {example}", words.join(", "))
        }
        Kind::Bool => "On or off".to_owned(),
    };
    ui.label(Text::Caption.rich(range, colors.text_secondary));
    let key = format!("--set {section}.{}", field.key);
    ui.label(Text::CodeSmall.rich(key, colors.text_secondary));
}

/// A number or a text, or nothing for the default.
fn typed_ui(
    ui: &mut Ui,
    owner: &Owner<'_>,
    field: &'static Setting,
    set: Option<&Value>,
    (view, out): (&mut FormView, &mut Outbox),
) {
    let is_text = matches!(field.kind, Kind::Text { .. });
    let key = (owner.id, field.key);
    let current = set.map(Value::to_string).unwrap_or_default();
    let mut text = view.drafts.get(&key).cloned().unwrap_or(current);
    let read = |text: &str| {
        if is_text {
            read_text(owner, field, text)
        } else {
            read_number(field, text)
        }
    };
    let error = read(&text).err();
    let hint = default_text(field);
    let width = if is_text { TEXT_FIELD } else { FIELD };
    let response = ui
        .scope(|ui| {
            ui.set_width(match &error {
                Some(_) => width.max(ERROR),
                None => width,
            });
            let input = Field::new(field.label, &mut text)
                .id_salt(field.key)
                .label_hidden()
                .hint(&hint)
                .error(error.as_deref())
                .width(width);
            if is_text {
                input.mono()
            } else {
                input.number()
            }
            .show(ui)
        })
        .inner;
    if response.restored {
        view.drafts.remove(&key);
        return;
    }
    if response.response.changed() {
        view.drafts.insert(key, text.clone());
    }
    // Text that cannot be read stays, with the reason below it.
    let Ok(value) = read(&text) else { return };
    let is_typed = view.drafts.contains_key(&key) && value.as_ref() != set;
    let is_going = response.response.has_focus();
    if is_typed && (is_going || response.committed) {
        let change = (owner.send)(field.key.to_owned(), value);
        out.typed(change, response.committed);
    }
    if !is_going {
        view.drafts.remove(&key);
    }
}

/// The text of a setting; `None` for the default.
fn read_text(owner: &Owner<'_>, field: &Setting, text: &str) -> Result<Option<Value>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = Value::Text(text.to_owned());
    let mut settings = Settings::default();
    settings.set(field.key, value.clone());
    (owner.refuse)(&settings).map_or(Ok(Some(value)), Err)
}

/// The number that `text` says; `None` for the default.
fn read_number(field: &Setting, text: &str) -> Result<Option<Value>, String> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(None);
    }
    let value = Value::parse(text);
    field.accepts(&value).map_err(|error| error.to_string())?;
    Ok(Some(value))
}

/// Choices as people say them; recipes and the command line have the codes, which the pointer is told.
fn choice_ui(
    ui: &mut Ui,
    field: &Setting,
    words: &'static [&'static str],
    set: Option<&Value>,
) -> Option<Option<Value>> {
    let standard = match field.default {
        Some(FieldDefault::Text(word)) => word,
        _ => LEFT_TO_SAMPLER,
    };
    let mut chosen = match set {
        Some(Value::Text(word)) => words
            .iter()
            .copied()
            .find(|known| known == word)
            .unwrap_or(standard),
        _ => standard,
    };
    let mut segments = Segments::new(field.label, &mut chosen);
    if standard == LEFT_TO_SAMPLER {
        segments = segments.option(LEFT_TO_SAMPLER, LEFT_TO_SAMPLER);
    }
    for &word in words.iter().filter(|word| **word != LEFT_TO_SAMPLER) {
        segments = segments.option_with(word, field.say(word), word);
    }
    if !segments.wrapping().show(ui).changed() {
        return None;
    }
    Some((chosen != standard).then(|| Value::Text(chosen.to_owned())))
}

fn bool_ui(ui: &mut Ui, field: &Setting, set: Option<&Value>) -> Option<Option<Value>> {
    let standard = match field.default {
        Some(FieldDefault::Bool(on)) => Some(on),
        _ => None,
    };
    let mut chosen = match set {
        Some(Value::Bool(on)) => Some(*on),
        _ => standard,
    };
    let mut segments = Segments::new(field.label, &mut chosen);
    if standard.is_none() {
        segments = segments.option(None, LEFT_TO_SAMPLER);
    }
    let segments = segments.option(Some(true), "On").option(Some(false), "Off");
    if !segments.show(ui).changed() {
        return None;
    }
    Some(chosen.filter(|_| chosen != standard).map(Value::Bool))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_of_rows_are_said_in_words() {
        let mut seen = 0;
        for entry in ergodic_core::samplers::REGISTRY {
            let fields = entry.spec.fields.iter();
            for field in fields
                .filter(|field| matches!(field.kind, Kind::Choice(words) if words.contains(&"iid")))
            {
                assert_eq!(
                    field.say("iid"),
                    "random rows",
                    "{} {}",
                    entry.spec.id,
                    field.key
                );
                seen += 1;
            }
        }
        assert!(seen > 10, "{seen}");
    }

    #[test]
    fn families_have_names_for_people() {
        let fields = ergodic_core::models::find("mixed").unwrap().spec.fields;
        let family = fields.iter().find(|field| field.key == "family").unwrap();
        let Kind::Choice(families) = family.kind else {
            panic!("{family:?}");
        };
        for code in families {
            let name = family.say(code);
            assert!(
                name != *code && name.starts_with(char::is_uppercase),
                "{code}: {name}"
            );
        }
    }
}
