//! Heads of groups, cards, label and value rows, empty panes.

use eframe::egui::{
    Align, Frame, InnerResponse, Margin, Rect, Response, Role, Sense, Stroke, Ui, WidgetInfo, pos2,
    vec2,
};

use super::button::Button;
use super::table::name_room;
use super::{name, paint};
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, tokens};

/// The head of a section in a side panel, with an optional act at its right end (icon and name).
/// Returns whether the act was clicked.
pub fn section_head(ui: &mut Ui, title: &str, act: Option<(char, &str)>) -> bool {
    let t = tokens();
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(
        vec2(ui.available_width(), t.size.section_head),
        Sense::hover(),
    );
    response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, title));
    let text = paint::line(
        ui,
        title,
        Text::CaptionStrong,
        p.text_secondary,
        rect.width(),
    );
    paint::left_center(
        ui.painter(),
        rect.left() + t.space.x3,
        rect.center().y,
        text,
    );
    let Some((icon, name)) = act else {
        return false;
    };
    let size = t.size.button_small;
    let place = Rect::from_center_size(
        pos2(rect.right() - t.space.x3 - 8.0, rect.center().y),
        vec2(size, size),
    );
    ui.put(place, Button::icon_only(icon, name).small())
        .clicked()
}

/// Shows `content` away from the edges of a pane: by the first of `margins` at the sides, by the second above and below.
pub fn inset<R>(
    ui: &mut Ui,
    margins: [f32; 2],
    content: impl FnOnce(&mut Ui) -> R,
) -> InnerResponse<R> {
    let [sides, ends] = margins.map(|margin| margin as i8);
    Frame::NONE
        .inner_margin(Margin::symmetric(sides, ends))
        .show(ui, content)
}

/// The head of a page or a pane.
pub fn heading(ui: &mut Ui, text: &str) -> Response {
    let color = Palette::of(ui).text_primary;
    text_block(ui, text, Text::Heading, color, Role::Heading)
}

/// A sentence in `role`, over as many lines as it needs; identifiers between backticks are set in mono.
pub fn sentence(ui: &mut Ui, text: &str, role: Text) -> Response {
    let color = Palette::of(ui).text_primary;
    text_block(ui, text, role, color, Role::Label)
}

/// A sentence in secondary colour, for hints and reasons.
pub fn hint(ui: &mut Ui, text: &str) -> Response {
    let color = Palette::of(ui).text_secondary;
    text_block(ui, text, Text::Caption, color, Role::Label)
}

fn text_block(
    ui: &mut Ui,
    text: &str,
    role: Text,
    color: eframe::egui::Color32,
    access: Role,
) -> Response {
    let galley = paint::paragraph(ui, text, role, color, ui.available_width());
    let (rect, response) = ui.allocate_exact_size(galley.size(), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(access, true, paint::words(text)));
    ui.painter().galley(rect.min, galley, color);
    response
}

/// A sentence on one line, cut with an ellipsis where the space ends; the full text is the tooltip and the name.
pub fn sentence_line(ui: &mut Ui, text: &str, role: Text, secondary: bool) -> Response {
    let p = Palette::of(ui);
    let color = if secondary {
        p.text_secondary
    } else {
        p.text_primary
    };
    let galley = paint::line(ui, text, role, color, ui.available_width());
    let cut = galley.elided;
    let (rect, response) =
        ui.allocate_exact_size(vec2(galley.size().x, role.line()), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(text)));
    paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
    if cut {
        response.on_hover_text(paint::hover_words(text))
    } else {
        response
    }
}

/// A name of a column on one line. One that is too long loses its middle, because names differ in their ends.
pub fn column_name(ui: &mut Ui, full: &str, role: Text) -> Response {
    let p = Palette::of(ui);
    let room = ui.available_width();
    let shown = name::fit(full, name_room(ui, room));
    let galley = paint::line(ui, &format!("`{shown}`"), role, p.text_primary, room);
    let (rect, response) =
        ui.allocate_exact_size(vec2(galley.size().x, role.line()), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, full));
    paint::left_center(ui.painter(), rect.left(), rect.center().y, galley);
    if shown == full {
        response
    } else {
        response.on_hover_text(full)
    }
}

/// A label at the left and its value at the right, as in the card of the selected variable.
pub fn value_row(ui: &mut Ui, label: &str, value: &str) -> Response {
    let p = Palette::of(ui);
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), 20.0), Sense::hover());
    response.widget_info(|| {
        WidgetInfo::labeled(
            Role::Label,
            true,
            format!("{label}: {}", paint::words(value)),
        )
    });
    let value = paint::line(ui, value, Text::Number, p.text_primary, rect.width() * 0.6);
    let value = paint::right_center(ui.painter(), rect.right(), rect.center().y, value);
    let room = value.left() - rect.left() - tokens().space.x2;
    let label = paint::line(ui, label, Text::Number, p.text_secondary, room);
    paint::left_center(ui.painter(), rect.left(), rect.center().y, label);
    response
}

/// A card that its rows fill from side to side.
pub fn list_card(ui: &mut Ui, contents: impl FnOnce(&mut Ui)) {
    surface(ui).show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 0.0;
        ui.set_width(ui.available_width());
        contents(ui);
    });
}

/// The frame of a dialog: its contents are inset like those of a card of a page.
pub fn dialog_frame(ui: &Ui) -> Frame {
    Frame::window(ui.style())
}

/// A surface with a hair line around it, for things that stand alone on a page.
pub fn card<R>(ui: &mut Ui, contents: impl FnOnce(&mut Ui) -> R) -> InnerResponse<R> {
    let inset = Margin::same(tokens().space.x3 as i8);
    surface(ui).inner_margin(inset).show(ui, contents)
}

/// The frame of a card.
pub fn surface(ui: &Ui) -> Frame {
    let t = tokens();
    let p = Palette::of(ui);
    Frame::NONE
        .fill(p.bg_surface)
        .stroke(Stroke::new(t.stroke.hair, p.border_subtle))
        .corner_radius(t.radius.card)
}

/// What an empty pane shows: an icon, one sentence that says what will appear, and the act that makes it appear.
/// Returns whether the button was clicked.
pub fn empty_state(ui: &mut Ui, icon: char, sentence: &str, act: Option<&str>) -> bool {
    let t = tokens();
    let p = Palette::of(ui);
    let width = ui.available_width().min(t.size.tooltip_max);
    let mut job = paint::job(sentence, Text::Body, p.text_secondary);
    job.wrap.max_width = width;
    job.halign = Align::Center;
    let text = ui.painter().layout_job(job);
    let gap = t.space.x3;
    let button = if act.is_some() {
        t.size.button + gap
    } else {
        0.0
    };
    let height = t.icon.hero + gap + text.size().y + button;
    let available = ui.available_rect_before_wrap();
    let top = (available.center().y - height / 2.0).max(available.top());
    let center = available.center().x;
    let text_rect = Rect::from_min_size(
        pos2(center - text.size().x / 2.0, top + t.icon.hero + gap),
        text.size(),
    );
    icons::paint(
        ui.painter(),
        pos2(center, top + t.icon.hero / 2.0),
        icon,
        t.icon.hero,
        false,
        p.text_disabled,
    );
    let response = ui.allocate_rect(text_rect, Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, paint::words(sentence)));
    ui.painter()
        .galley(text_rect.center_top(), text, p.text_secondary);
    let Some(act) = act else { return false };
    let at = pos2(center, text_rect.bottom() + gap + t.size.button / 2.0);
    ui.put(
        Rect::from_center_size(at, vec2(width, t.size.button)),
        Button::new(act),
    )
    .clicked()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::kittest::Queryable as _;

    #[test]
    fn dialogs_are_inset_like_cards_of_a_page() {
        let inset = tokens().space.x4 as i8;
        let mut harness = harness([100.0, 100.0], Margin::ZERO, |ui, margin| {
            *margin = dialog_frame(ui).inner_margin;
        });
        harness.run();
        assert_eq!(*harness.state(), Margin::same(inset));
    }

    #[test]
    fn the_act_of_a_section_is_named_and_clicks() {
        let mut harness = harness([224.0, 100.0], false, |ui, clicked| {
            *clicked |= section_head(ui, "Data", Some((icons::PLUS, "Open data")));
        });
        harness.get_by_label("Open data").click();
        harness.run();
        assert!(*harness.state());
        assert_eq!(harness.get_by_label("Data").rect().height(), 28.0);
    }

    #[test]
    fn an_empty_pane_says_what_to_do() {
        let mut harness = harness([400.0, 300.0], 0, |ui, clicks| {
            let sentence = "Draws appear here while chains run";
            *clicks += i32::from(empty_state(
                ui,
                icons::WAVEFORM,
                sentence,
                Some("Start a run"),
            ));
        });
        harness.get_by_label("Draws appear here while chains run");
        harness.get_by_label("Start a run").click();
        harness.run();
        assert_eq!(*harness.state(), 1);
    }

    #[test]
    fn a_sentence_that_is_cut_keeps_its_full_name() {
        let text = "Not usable yet: chains disagree on `sd[school,Intercept]`; about 50 s more";
        let harness = harness([200.0, 60.0], (), move |ui, ()| {
            sentence_line(ui, text, Text::Verdict, false);
        });
        let name = "Not usable yet: chains disagree on sd[school,Intercept]; about 50 s more";
        assert!(harness.get_by_label(name).rect().width() <= 200.0);
    }

    #[test]
    fn a_value_row_reads_as_one_fact() {
        let harness = harness([300.0, 60.0], (), |ui, ()| {
            value_row(ui, "prior", "`normal(0, 10)`");
        });
        harness.get_by_label("prior: normal(0, 10)");
    }
}
