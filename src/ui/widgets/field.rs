//! Text fields with their label, and the sentence below them when they are wrong.

use eframe::egui::{
    Align2, Frame, Id, Key, Margin, Response, Role, Sense, Stroke, TextEdit, Ui, Vec2, WidgetInfo,
    vec2,
};

use super::paint;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};

/// What happened to a field in this frame.
pub struct FieldResponse {
    /// The text field's response.
    pub response: Response,
    /// The text was changed and the user left the field or pressed Enter.
    pub committed: bool,
    /// The user pressed Esc and the text of before is back.
    pub restored: bool,
}

/// A text field. Enter commits, Esc restores what was there before.
///
/// With an `error` the edge turns red, an icon shows at the right end and the sentence stands below.
#[must_use = "call show"]
pub struct Field<'a> {
    label: &'a str,
    text: &'a mut String,
    id_salt: Option<&'a str>,
    label_hidden: bool,
    hint: &'a str,
    icon: Option<char>,
    unit: &'a str,
    error: Option<&'a str>,
    mono: bool,
    number: bool,
    focused: bool,
    width: Option<f32>,
}

impl<'a> Field<'a> {
    /// A field named `label`, with the label above it.
    pub fn new(label: &'a str, text: &'a mut String) -> Self {
        Self {
            label,
            text,
            id_salt: None,
            label_hidden: false,
            hint: "",
            icon: None,
            unit: "",
            error: None,
            mono: false,
            number: false,
            focused: false,
            width: None,
        }
    }

    /// Tells two fields of one label apart.
    pub fn id_salt(self, salt: &'a str) -> Self {
        Self {
            id_salt: Some(salt),
            ..self
        }
    }

    /// The label is only for screen readers, because the place says what the field is.
    pub fn label_hidden(self) -> Self {
        Self {
            label_hidden: true,
            ..self
        }
    }

    /// Shown while the field is empty.
    pub fn hint(self, hint: &'a str) -> Self {
        Self { hint, ..self }
    }

    /// An icon at the left end.
    pub fn icon(self, icon: char) -> Self {
        Self {
            icon: Some(icon),
            ..self
        }
    }

    /// The unit, at the right end.
    pub fn unit(self, unit: &'a str) -> Self {
        Self { unit, ..self }
    }

    /// What is wrong with the text and what to do, if anything.
    pub fn error(self, error: Option<&'a str>) -> Self {
        Self { error, ..self }
    }

    /// The text is code: a formula, a path, a prior.
    pub fn mono(self) -> Self {
        Self { mono: true, ..self }
    }

    /// The text is a number: figures of one width.
    pub fn number(self) -> Self {
        Self {
            number: true,
            ..self
        }
    }

    /// Gives the field the focus at once: keys of this frame are for it.
    pub fn focused(self) -> Self {
        Self {
            focused: true,
            ..self
        }
    }

    /// Width of the frame; the available width otherwise.
    pub fn width(self, width: f32) -> Self {
        Self {
            width: Some(width),
            ..self
        }
    }

    /// Shows the field.
    pub fn show(self, ui: &mut Ui) -> FieldResponse {
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = tokens().space.x1;
            if !self.label_hidden {
                let color = Palette::of(ui).text_primary;
                let galley = paint::line(ui, self.label, Text::Label, color, ui.available_width());
                let (rect, _) = ui.allocate_exact_size(galley.size(), Sense::hover());
                ui.painter().galley(rect.min, galley, color);
            }
            self.show_box(ui)
        })
        .inner
    }

    fn show_box(self, ui: &mut Ui) -> FieldResponse {
        let t = tokens();
        let p = Palette::of(ui);
        let width = self.width.unwrap_or_else(|| ui.available_width());
        let id = ui.make_persistent_id(("field", self.id_salt.unwrap_or(self.label)));
        if self.focused && !ui.memory(|memory| memory.has_focus(id)) {
            ui.memory_mut(|memory| memory.request_focus(id));
        }
        let focused = ui.memory(|memory| memory.has_focus(id));
        let shown = self.text.clone();
        let edge = match (self.error, focused) {
            (Some(_), _) => Stroke::new(t.stroke.hair, p.bad),
            (None, true) => Stroke::new(t.stroke.hair, p.focus_ring),
            (None, false) => Stroke::new(t.stroke.hair, p.border_strong),
        };
        let framed = Frame::new()
            .fill(p.bg_surface)
            .stroke(edge)
            .corner_radius(t.radius.control)
            .inner_margin(Margin::symmetric(t.space.x2 as i8 - 1, 0))
            .show(ui, |ui| {
                ui.set_width(width - 2.0 * t.space.x2);
                ui.set_height(t.size.field - 2.0);
                ui.spacing_mut().interact_size.y = t.size.field - 2.0;
                ui.horizontal_centered(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    if let Some(icon) = self.icon {
                        icons::icon_ui(ui, icon, t.icon.small, false, p.text_secondary);
                    }
                    let unit =
                        paint::line(ui, self.unit, Text::Number, p.text_secondary, f32::INFINITY);
                    let mut after = if self.unit.is_empty() {
                        0.0
                    } else {
                        unit.size().x + 6.0
                    };
                    if self.error.is_some() {
                        after += t.icon.small + 6.0;
                    }
                    let role = match (self.mono, self.number) {
                        (true, _) => Text::Code,
                        (_, true) => Text::Number,
                        _ => Text::Body,
                    };
                    let edit = TextEdit::singleline(self.text)
                        .id(id)
                        .frame(Frame::NONE)
                        .font(role.font())
                        .text_color(p.text_primary)
                        .hint_text(Text::Body.rich(self.hint, p.text_secondary))
                        .margin(Margin::ZERO)
                        .align(Align2::LEFT_CENTER)
                        .min_size(Vec2::ZERO)
                        .desired_width(ui.available_width() - after);
                    let response = ui.add(edit);
                    if !self.unit.is_empty() {
                        let (rect, _) = ui.allocate_exact_size(unit.size(), Sense::hover());
                        ui.painter().galley(rect.min, unit, p.text_secondary);
                    }
                    if self.error.is_some() {
                        icons::icon_ui(ui, icons::WARNING_CIRCLE, t.icon.small, false, p.bad);
                    }
                    response
                })
                .inner
            });
        let response = framed.inner;
        ui.ctx().accesskit_node_builder(id, |node| {
            node.set_label(self.label);
            if let Some(error) = self.error {
                node.set_description(error);
                node.set_invalid(eframe::egui::accesskit::Invalid::True);
            }
        });
        paint::focus_ring(ui, &response, framed.response.rect, t.radius.control);
        if let Some(error) = self.error {
            let galley = paint::paragraph(ui, error, Text::Caption, p.bad, width);
            let (rect, below) =
                ui.allocate_exact_size(vec2(width, galley.size().y), Sense::hover());
            below.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(error)));
            ui.painter().galley(rect.min, galley, p.bad);
        }
        finish(ui, response, self.text, shown)
    }
}

/// Remembers the text at the start of an edit, restores it on Esc and reports a commit. `shown` is the text before
/// this frame.
fn finish(ui: &Ui, response: Response, text: &mut String, shown: String) -> FieldResponse {
    let before_id: Id = response.id.with("before");
    // A field that was taken away while it had the focus has a text of before that is none of this edit.
    if response.gained_focus() {
        ui.data_mut(|data| data.insert_temp(before_id, shown));
    } else if response.has_focus() {
        ui.data_mut(|data| {
            data.get_temp_mut_or_insert_with(before_id, || shown);
        });
    } else if !response.lost_focus() {
        ui.data_mut(|data| data.remove::<String>(before_id));
    }
    let (mut committed, mut restored) = (false, false);
    if response.lost_focus() {
        let before: Option<String> = ui.data_mut(|data| data.remove_temp(before_id));
        if ui.input(|input| input.key_pressed(Key::Escape)) {
            if let Some(before) = before
                && before != *text
            {
                *text = before;
                restored = true;
            }
        } else {
            committed = before.is_some_and(|before| before != *text);
        }
    }
    FieldResponse {
        response,
        committed,
        restored,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    struct State {
        text: String,
        commits: u32,
    }

    fn field(ui: &mut Ui, state: &mut State) {
        let error = (!state.text.contains('~'))
            .then_some("The formula has no ~: write outcome ~ predictors");
        let answer = Field::new("Formula", &mut state.text)
            .mono()
            .error(error)
            .show(ui);
        state.commits += u32::from(answer.committed);
    }

    fn start() -> State {
        State {
            text: "y ~ x".to_owned(),
            commits: 0,
        }
    }

    #[test]
    fn enter_commits_once() {
        let mut harness = harness([300.0, 120.0], start(), field);
        harness.get_by_label("Formula").focus();
        harness.run();
        harness.get_by_label("Formula").type_text(" + z");
        harness.run();
        assert_eq!(harness.state().commits, 0);
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(
            (harness.state().text.as_str(), harness.state().commits),
            ("y ~ x + z", 1)
        );
    }

    #[test]
    fn esc_restores_what_was_there() {
        let mut harness = harness([300.0, 120.0], start(), field);
        harness.get_by_label("Formula").focus();
        harness.run();
        harness.get_by_label("Formula").type_text(" + z");
        harness.run();
        harness.key_press(Key::Escape);
        harness.run();
        assert_eq!(
            (harness.state().text.as_str(), harness.state().commits),
            ("y ~ x", 0)
        );
    }

    #[test]
    fn a_wrong_text_has_its_sentence_below() {
        let mut state = start();
        state.text = "y x".to_owned();
        let harness = harness([300.0, 120.0], state, field);
        harness.get_by_label("The formula has no ~: write outcome ~ predictors");
    }

    #[test]
    fn a_field_is_as_high_as_a_button() {
        let harness = harness([300.0, 120.0], String::new(), |ui, text| {
            let top = ui.cursor().top();
            Field::new("Filter variables", text)
                .label_hidden()
                .icon(icons::FUNNEL)
                .hint("Filter variables")
                .show(ui);
            let bottom = ui.min_rect().bottom();
            assert!(
                (bottom - top - tokens().size.field).abs() < 0.6,
                "{}",
                bottom - top
            );
        });
        harness.get_by_label("Filter variables");
    }
}
