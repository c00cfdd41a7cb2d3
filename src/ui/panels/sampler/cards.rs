//! The list of samplers: what each is for, whether it is exact, and why or why not here.

use eframe::egui::{Align, Frame, Layout, Margin, Role, Sense, Stroke, Ui, WidgetInfo, vec2};

use crate::app::{AppState, Command, DraftChange, DraftCommand, Page};
use crate::ui::outbox::Outbox;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::{self, Button, Chip, Field, badge_with, number, paint};
use crate::ui::{icons, tasks};
use ergodic_analysis::{AUTO, Recipe};
use ergodic_core::samplers::{self, SamplerFamily, SamplerSpec, recommend};

/// What a card says.
struct Card<'a> {
    id: &'static str,
    title: &'a str,
    about: &'a str,
    /// `Some(reason)` for approximate samplers, `None` for exact ones and for auto.
    bias: Option<&'a str>,
    exact: bool,
    /// Whether the sampler is there to be seen failing.
    control: bool,
    reason: Option<String>,
    /// Why the sampler cannot be chosen for this model, if it cannot.
    refusal: Option<String>,
    recommended: bool,
}

/// What the list keeps for itself.
#[derive(Default)]
pub struct ListView {
    filter: String,
    /// Whether samplers that cannot sample this model are shown.
    unfolded: bool,
}

/// Shows all cards: the recommended one first, the others by family, those that cannot sample this model folded last.
pub fn cards_ui(
    ui: &mut Ui,
    state: &AppState,
    recipe: &Recipe,
    view: &mut ListView,
    out: &mut Outbox,
) {
    let t = tokens();
    ui.spacing_mut().item_spacing.y = t.space.x2;
    let advice = advice(state, recipe);
    let recommended = advice.as_ref().map(|advice| advice.sampler);
    let chosen = recipe.sampler.id.as_str();
    Field::new("Filter samplers", &mut view.filter)
        .label_hidden()
        .icon(icons::FUNNEL)
        .hint("Filter samplers")
        .width(ui.available_width())
        .show(ui);
    let wanted = view.filter.trim().to_lowercase();
    if wanted.is_empty() {
        let auto = Card {
            id: AUTO,
            title: "Choose for me",
            about: "An exact sampler if there is time, otherwise the least biased one",
            bias: None,
            exact: false,
            control: false,
            reason: Some(auto_reason(state, recipe)),
            refusal: None,
            recommended: false,
        };
        card_ui(ui, &auto, chosen, out);
        compare_ui(ui, state, advice.is_some(), out);
    }
    let card = |spec: &'static SamplerSpec| -> Card<'static> {
        let reason = advice.as_ref().and_then(|advice| {
            advice
                .alternatives
                .iter()
                .find(|candidate| candidate.sampler == spec.id)
                .map(|candidate| candidate.reason.clone())
        });
        Card {
            id: spec.id,
            title: spec.title,
            about: spec.about,
            bias: spec.bias,
            exact: spec.bias.is_none(),
            control: spec.negative_control,
            reason,
            refusal: state.check.as_ref().and_then(|check| {
                let refusal = check.unsuitable.iter().find(|it| it.sampler == spec.id)?;
                Some(format!("Not for this model: it {}", refusal.reason))
            }),
            recommended: recommended == Some(spec.id),
        }
    };
    let (suitable, unsuitable): (Vec<_>, Vec<_>) = samplers::REGISTRY
        .iter()
        .map(|entry| &entry.spec)
        .filter(|spec| matches(spec, &wanted))
        .map(|spec| (spec, card(spec)))
        .partition(|(_, card)| card.refusal.is_none());
    if let Some((_, card)) = suitable.iter().find(|(_, card)| card.recommended) {
        group_ui(ui, "Recommended");
        card_ui(ui, card, chosen, out);
    }
    for family in SamplerFamily::ALL {
        let mut cards = suitable
            .iter()
            .filter(|(spec, card)| spec.family == family && !card.recommended)
            .peekable();
        if cards.peek().is_some() {
            group_ui(ui, family.title());
        }
        for (_, card) in cards {
            card_ui(ui, card, chosen, out);
        }
    }
    if suitable.is_empty() && unsuitable.is_empty() {
        widgets::hint(ui, "No sampler has these words in its name or purpose");
    }
    // What is chosen or looked for is in sight.
    let forced = !wanted.is_empty() || unsuitable.iter().any(|(spec, _)| spec.id == chosen);
    if unsuitable.is_empty() {
        return;
    }
    let open = view.unfolded || forced;
    let words = format!("Not for this model: {}", unsuitable.len());
    let icon = if open {
        icons::CARET_DOWN
    } else {
        icons::CARET_RIGHT
    };
    ui.add_space(t.space.x1);
    if ui
        .add_enabled(!forced, Button::new(&words).icon(icon).quiet())
        .on_hover_text("Samplers that cannot sample this model, and why")
        .clicked()
    {
        view.unfolded = !view.unfolded;
    }
    if open {
        for (_, card) in &unsuitable {
            card_ui(ui, card, chosen, out);
        }
    }
}

/// Whether a sampler is meant by all words of a filter.
fn matches(spec: &SamplerSpec, wanted: &str) -> bool {
    let text = [spec.id, spec.title, spec.about, spec.family.title()]
        .join(" ")
        .to_lowercase();
    wanted.split_whitespace().all(|word| text.contains(word))
}

/// The head of a group of cards.
fn group_ui(ui: &mut Ui, title: &str) {
    let p = Palette::of(ui);
    ui.add_space(tokens().space.x1);
    let label = ui.label(Text::Label.rich(title, p.text_secondary));
    label.widget_info(|| WidgetInfo::labeled(Role::Heading, true, title));
}

/// The buttons that rank all samplers for these data, and what that is doing, and that run some to compare them.
fn compare_ui(ui: &mut Ui, state: &AppState, known: bool, out: &mut Outbox) {
    let t = tokens();
    let document = state.document.as_ref();
    let able = document.is_some_and(|document| document.is_runnable());
    let going = state.advice.working();
    if let Some(going) = going {
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = t.space.x2;
            if ui.add(Button::new("Cancel").icon(icons::X)).clicked() {
                out.send(DraftCommand::CancelAdvice);
            }
            widgets::hint(ui, &tasks::words(going, None));
        });
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(t.space.x2, t.space.x2);
        if going.is_none() {
            rank_ui(ui, able, known, out);
        }
        let words = if state.comparison.is_some() {
            "Show the comparison"
        } else {
            "Run and compare…"
        };
        let button = Button::new(words).icon(icons::CHART_BAR_HORIZONTAL);
        let about = "Choose samplers, run them one after the other beside an exact one, and see bias and cost";
        if ui
            .add_enabled(able, button)
            .on_hover_text(about)
            .on_disabled_hover_text(UNABLE)
            .clicked()
        {
            out.send(Command::GoTo(Page::Compare));
        }
    });
}

/// Why samplers can be neither ranked nor run.
const UNABLE: &str = "Choose an outcome and predictors first";

/// The button that ranks samplers. It stays where it is once the rank is known, so that nothing else comes to stand under the pointer.
fn rank_ui(ui: &mut Ui, able: bool, known: bool, out: &mut Outbox) {
    let (words, why) = match known {
        true => (
            "Ranked for these data",
            "Each sampler below says why or why not",
        ),
        false => ("Rank for these data", UNABLE),
    };
    let button = Button::new(words).icon(icons::SCALES);
    let about =
        "Finds the posterior's mode and its curvature, and says of each sampler why or why not";
    if ui
        .add_enabled(able && !known, button)
        .on_hover_text(about)
        .on_disabled_hover_text(why)
        .clicked()
    {
        out.send(DraftCommand::Advise);
    }
}

/// The advice for this model once it was asked for or a run of it has been prepared; before, rows and curvature are not
/// known together.
pub(super) fn advice(state: &AppState, recipe: &Recipe) -> Option<recommend::Advice> {
    let asked = state
        .advice
        .done()
        .filter(|advised| advised.holds_for(recipe));
    if let Some(advised) = asked {
        return Some(advised.advice.clone());
    }
    state
        .runs
        .iter()
        .rev()
        .filter(|entry| !entry.is_stale(recipe))
        .find_map(|entry| entry.job())
        .map(|job| job.advice())
}

/// What `auto` means for this model, as far as that is known.
pub(super) fn auto_reason(state: &AppState, recipe: &Recipe) -> String {
    if let Some(advice) = advice(state, recipe) {
        return advice.reason;
    }
    let check = state.check.as_ref().filter(|check| check.error.is_none());
    if check.is_some_and(|check| check.categories) {
        return recommend::CONJUGATE.to_owned();
    }
    if check.is_some_and(|check| {
        check
            .unsuitable
            .iter()
            .any(|it| it.sampler == samplers::names::NUTS)
    }) {
        return "one of the samplers made for this model. Confirmed when the run starts".to_owned();
    }
    let size = check.map(|check| (check.rows.0, check.params.len()));
    match size {
        Some((rows, params)) => format!(
            "NUTS, exact, {}. Confirmed when the run starts",
            number::about(recommend::nuts_secs(rows, params).max(1.0))
        ),
        None => "decided when the run starts".to_owned(),
    }
}

fn card_ui(ui: &mut Ui, card: &Card<'_>, chosen: &str, out: &mut Outbox) {
    let t = tokens();
    let colors = Palette::of(ui);
    let selected = chosen == card.id;
    // The frame's colours depend on the pointer, which is known from the last frame's place.
    let id = ui.make_persistent_id(("sampler", card.id));
    let enabled = card.refusal.is_none();
    let hovered = enabled && ui.ctx().read_response(id).is_some_and(|old| old.hovered());
    let (fill, stroke) = if selected {
        (
            colors.accent_soft,
            Stroke::new(t.stroke.focus, colors.accent),
        )
    } else if hovered {
        (
            colors.bg_hover,
            Stroke::new(t.stroke.hair, colors.border_button),
        )
    } else {
        (
            colors.bg_surface,
            Stroke::new(t.stroke.hair, colors.border_subtle),
        )
    };
    let shown = Frame::NONE
        .fill(fill)
        .stroke(stroke)
        .corner_radius(t.radius.card)
        .inner_margin(Margin::same(if selected { 11 } else { 12 }))
        .show(ui, |ui| {
            ui.set_width(ui.available_width());
            ui.spacing_mut().item_spacing.y = t.space.x1;
            let line = vec2(ui.available_width(), t.size.chip);
            ui.allocate_ui_with_layout(line, Layout::left_to_right(Align::Center), |ui| {
                ui.spacing_mut().item_spacing.x = t.space.x2;
                let badges = match (card.control, card.recommended) {
                    (true, _) => 150.0,
                    (false, true) => 190.0,
                    (false, false) => 110.0,
                };
                let room = (ui.available_width() - badges).max(80.0);
                let galley = paint::line(ui, card.title, Text::Heading, colors.text_primary, room);
                ui.add(eframe::egui::Label::new(galley).selectable(false));
                if card.control {
                    badge_with(ui, VerdictKind::Bad, "Negative control");
                } else if card.bias.is_some() {
                    badge_with(ui, VerdictKind::NotCertified, "Approximate");
                } else if card.exact {
                    badge_with(ui, VerdictKind::Good, "Exact");
                }
                if card.recommended {
                    ui.add(Chip::fact("chosen automatically"));
                }
            });
            let ink = if enabled {
                colors.text_primary
            } else {
                colors.text_secondary
            };
            paragraph(ui, card.about, Text::Body, ink);
            if let Some(bias) = card.bias {
                paragraph(ui, bias, Text::Caption, colors.text_secondary);
            }
            if let Some(refusal) = &card.refusal {
                paragraph(ui, refusal, Text::Caption, colors.text_secondary);
            } else if let Some(reason) = &card.reason {
                let text = format!("Here: {reason}");
                paragraph(ui, &text, Text::Caption, colors.text_secondary);
            }
        });
    let sense = if enabled {
        Sense::click()
    } else {
        Sense::hover()
    };
    let response = ui.interact(shown.response.rect, id, sense);
    response.widget_info(|| WidgetInfo::selected(Role::RadioButton, enabled, selected, card.title));
    paint::focus_ring(ui, &response, shown.response.rect, t.radius.card);
    if response.clicked() && !selected {
        out.send(DraftChange::Sampler(card.id.to_owned()));
    }
}

/// Text that leaves clicks to the card.
fn paragraph(ui: &mut Ui, text: &str, role: Text, color: eframe::egui::Color32) {
    let galley = paint::paragraph(ui, text, role, color, ui.available_width());
    let (rect, _) = ui.allocate_exact_size(galley.size(), Sense::hover());
    ui.painter().galley(rect.min, galley, color);
}
