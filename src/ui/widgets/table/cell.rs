//! What stands in a cell of a table, and how it is painted.

use std::borrow::Cow;

use eframe::egui::{
    Align, Color32, Id, Layout, Rect, Response, Role, Sense, Ui, UiBuilder, WidgetInfo, vec2,
};

use crate::ui::theme::{Palette, Text, VerdictKind, tokens};
use crate::ui::widgets::badge::paint_verdict;
use crate::ui::widgets::{Button, name, paint};

/// How the text of a cell looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Tone {
    /// The main number of the row.
    Primary,
    /// A number that explains another.
    Secondary,
    /// The number of the row itself, and words on what others are.
    Faint,
    /// A value past its limit: the verdict's colour and more weight.
    Past(VerdictKind),
}

type Draw<'a> = Box<dyn FnOnce(&mut Ui) + 'a>;

enum Look<'a> {
    Number(Tone),
    Text(Tone),
    Name { short: Option<&'a str>, indent: f32 },
    Across(f32),
    Verdict(VerdictKind),
    Button { able: bool },
    Drawn(Draw<'a>),
}

/// The contents of a cell. Its text is its accessible name, and what is copied of it.
pub struct Cell<'a> {
    pub(super) text: Cow<'a, str>,
    hover: Cow<'a, str>,
    look: Look<'a>,
}

impl<'a> Cell<'a> {
    fn new(text: impl Into<Cow<'a, str>>, look: Look<'a>) -> Self {
        Self {
            text: text.into(),
            hover: Cow::Borrowed(""),
            look,
        }
    }

    /// A cell with nothing in it.
    pub fn empty() -> Self {
        Self::text("", Tone::Secondary)
    }

    /// A number at the right end of the cell.
    pub fn number(text: impl Into<Cow<'a, str>>, tone: Tone) -> Self {
        Self::new(text, Look::Number(tone))
    }

    /// A word at the left end of the cell.
    pub fn text(text: impl Into<Cow<'a, str>>, tone: Tone) -> Self {
        Self::new(text, Look::Text(tone))
    }

    /// A name in mono. One that is too wide loses its middle, never its end, and is whole in the tooltip.
    pub fn name(full: &'a str) -> Self {
        Self::new(
            full,
            Look::Name {
                short: None,
                indent: 0.0,
            },
        )
    }

    /// A name in the form `short` that the caller made with [`name::short_names`], `indent` points to the right.
    pub fn short_name(full: &'a str, short: &'a str, indent: f32) -> Self {
        let short = Some(short);
        Self::new(full, Look::Name { short, indent })
    }

    /// A sentence over `width` points from the left end of the cell; the cells that it covers are empty.
    pub fn across(text: impl Into<Cow<'a, str>>, width: f32) -> Self {
        Self::new(text, Look::Across(width))
    }

    /// The icon of a verdict.
    pub fn verdict(p: &Palette, kind: VerdictKind) -> Self {
        let word = p.verdict(kind).word;
        Self::new(word, Look::Verdict(kind)).hover(word)
    }

    /// A small button; [`super::Shown::pressed`] says whose was pressed.
    pub fn button(word: &'a str, able: bool) -> Self {
        Self::new(word, Look::Button { able })
    }

    /// Whatever `draw` shows over the cell, which says itself what it is to screen readers.
    pub fn drawn(draw: impl FnOnce(&mut Ui) + 'a) -> Self {
        Self::new("", Look::Drawn(Box::new(draw)))
    }

    /// A tooltip.
    pub fn hover(mut self, text: impl Into<Cow<'a, str>>) -> Self {
        self.hover = text.into();
        self
    }

    /// What is copied: pictures and buttons are not.
    pub(super) fn copied(&self) -> &str {
        match self.look {
            Look::Button { .. } | Look::Drawn(_) => "",
            _ => &self.text,
        }
    }

    /// Shows the cell of the column `at` over `rect`. Returns whether its button was pressed.
    pub(super) fn show(self, ui: &mut Ui, rect: Rect, id: Id, at: usize) -> bool {
        let Self { text, hover, look } = self;
        if let Look::Drawn(_) | Look::Button { .. } = look {
            let builder = UiBuilder::new()
                .scope_id(id)
                .max_rect(rect)
                .layout(Layout::left_to_right(Align::Center))
                .accessibility_role(Role::Cell);
            let mut child = ui.new_child(builder);
            child.ctx().accesskit_node_builder(id, |node| {
                node.set_column_index(at);
                node.set_bounds(super::bounds(rect));
            });
            return match look {
                Look::Drawn(draw) => {
                    draw(&mut child);
                    false
                }
                look => {
                    child.add_space(tokens().space.x2);
                    let able = matches!(look, Look::Button { able: true });
                    let button = child.add_enabled(able, Button::new(&text).small());
                    explained(button, &hover).clicked()
                }
            };
        }
        if text.is_empty() {
            return false;
        }
        let reach = match look {
            Look::Across(width) => Rect::from_min_size(rect.min, vec2(width, rect.height())),
            _ => rect,
        };
        let response = ui.interact(reach, id, Sense::hover());
        response.widget_info(|| WidgetInfo::labeled(Role::Cell, true, paint::words(&text)));
        ui.ctx()
            .accesskit_node_builder(id, |node| node.set_column_index(at));
        let p = Palette::of(ui);
        let pad = tokens().space.x1;
        let (left, right, y) = (reach.left() + pad, reach.right() - pad, reach.center().y);
        let room = (right - left).max(0.0);
        // What does not fit is whole in the tooltip.
        let mut is_cut = false;
        match look {
            Look::Number(tone) => {
                let (role, color) = style(p, tone);
                // Words are cut with an ellipsis; a number never is, because a part of it is another number.
                let galley = paint::line(ui, &text, role, color, f32::INFINITY);
                paint::right_center(ui.painter(), right, y, galley);
            }
            Look::Text(_) | Look::Across(_) => {
                let (role, color) = match look {
                    Look::Text(tone) => (Text::Number, style(p, tone).1),
                    _ => (Text::Caption, p.text_secondary),
                };
                let galley = paint::line(ui, &text, role, color, room);
                is_cut = galley.elided;
                paint::left_center(ui.painter(), left, y, galley);
            }
            Look::Name { short, indent } => {
                let fitted = name::fit(short.unwrap_or(&text), name_room(ui, room - indent));
                is_cut = fitted != text;
                let galley = paint::line(ui, &fitted, Text::Code, p.text_primary, f32::INFINITY);
                paint::left_center(ui.painter(), left + indent, y, galley);
            }
            Look::Verdict(kind) => paint_verdict(ui, rect, kind),
            Look::Button { .. } | Look::Drawn(_) => {}
        }
        explained(
            response,
            if is_cut && hover.is_empty() {
                &text
            } else {
                &hover
            },
        );
        false
    }
}

fn explained(response: Response, text: &str) -> Response {
    if text.is_empty() {
        response
    } else {
        let words = paint::words(text);
        response.on_hover_text(&words).on_disabled_hover_text(words)
    }
}

fn style(p: &Palette, tone: Tone) -> (Text, Color32) {
    match tone {
        Tone::Primary => (Text::Number, p.text_primary),
        Tone::Secondary => (Text::Number, p.text_secondary),
        Tone::Faint => (Text::Caption, p.text_secondary),
        Tone::Past(kind) => (Text::NumberStrong, p.verdict(kind).color),
    }
}

/// Characters of a name that fit a column `width` points wide.
pub fn name_chars(ui: &Ui, width: f32) -> usize {
    name_room(ui, width - 2.0 * tokens().space.x1)
}

/// Characters of a name that fit `width` points.
pub fn name_room(ui: &Ui, width: f32) -> usize {
    (width / one_char(ui) + 0.01).max(0.0) as usize
}

/// Points that a column needs for names of `chars` characters.
pub fn name_width(ui: &Ui, chars: usize) -> f32 {
    (chars as f32 * one_char(ui) + 2.0 * tokens().space.x1).ceil()
}

fn one_char(ui: &Ui) -> f32 {
    let font = Text::Code.font();
    ui.fonts_mut(|fonts| fonts.glyph_width(&font, 'm')).max(1.0)
}
