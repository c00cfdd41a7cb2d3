//! Short notices at the bottom of the window, one at a time.

use std::collections::VecDeque;
use std::time::Duration;

use eframe::egui::{Align2, Area, Context, Frame, Id, Margin, Order, Stroke, vec2};

use super::badge::verdict_icon;
use super::button::{Button, link};
use super::section::sentence;
use crate::ui::icons;
use crate::ui::theme::{Palette, Text, VerdictKind, tokens};

/// A notice.
#[derive(Clone, Debug, PartialEq)]
pub struct Toast<A> {
    /// How serious it is; `None` for plain information. A bad one stays until it is dismissed.
    pub kind: Option<VerdictKind>,
    /// One sentence.
    pub text: String,
    /// A word and what it does, such as "Undo".
    pub act: Option<(String, A)>,
}

/// The notices that wait, and the one that shows.
#[derive(Debug)]
pub struct Toasts<A> {
    waiting: VecDeque<Toast<A>>,
    /// When the first one appeared, in seconds of the window's clock.
    since: Option<f64>,
}

impl<A> Default for Toasts<A> {
    fn default() -> Self {
        Self {
            waiting: VecDeque::new(),
            since: None,
        }
    }
}

impl<A> Toasts<A> {
    /// Adds a notice behind those that wait.
    pub fn push(&mut self, toast: Toast<A>) {
        self.waiting.push_back(toast);
    }

    /// Shows the first notice; returns its act if it was chosen.
    pub fn show(&mut self, ctx: &Context) -> Option<A> {
        let first = self.waiting.front()?;
        let t = tokens();
        let p = Palette::of(ctx);
        let now = ctx.input(|input| input.time);
        let since = *self.since.get_or_insert(now);
        let stays = first.kind == Some(VerdictKind::Bad);
        let mut acted = false;
        let mut closed = false;
        let area = Area::new(Id::unique("ergodic toast"))
            .order(Order::Foreground)
            .anchor(
                Align2::CENTER_BOTTOM,
                vec2(0.0, -(t.size.status_bar + t.space.x4)),
            )
            .show(ctx, |ui| {
                Frame::new()
                    .fill(p.bg_surface)
                    .stroke(Stroke::new(t.stroke.hair, p.border_subtle))
                    .corner_radius(t.radius.card)
                    .shadow(ui.visuals().popup_shadow)
                    .inner_margin(Margin::symmetric(t.space.x3 as i8, t.space.x2 as i8))
                    .show(ui, |ui| {
                        ui.set_width(t.size.tooltip_max);
                        ui.horizontal(|ui| {
                            match first.kind {
                                Some(kind) => {
                                    verdict_icon(ui, kind);
                                }
                                None => {
                                    icons::icon_ui(
                                        ui,
                                        icons::INFO,
                                        t.icon.small,
                                        false,
                                        p.text_secondary,
                                    );
                                }
                            }
                            let act = first
                                .act
                                .as_ref()
                                .map_or(0.0, |(word, _)| 8.0 * word.chars().count() as f32);
                            ui.scope(|ui| {
                                ui.set_width(
                                    ui.available_width()
                                        - act
                                        - t.size.button_small
                                        - 2.0 * t.space.x2,
                                );
                                sentence(ui, &first.text, Text::Body);
                            });
                            if let Some((word, _)) = &first.act {
                                acted = link(ui, word).clicked();
                            }
                            closed = ui
                                .add(Button::icon_only(icons::X, "Dismiss").small())
                                .clicked();
                        });
                    });
            });
        let stay = f64::from(t.motion.toast_stay);
        // A notice does not leave from under the pointer.
        let over = !stays && now - since >= stay && !area.response.contains_pointer();
        if !stays && !over {
            ctx.request_repaint_after(Duration::from_secs_f64((stay - (now - since)).max(0.1)));
        }
        if !(acted || closed || over) {
            return None;
        }
        self.since = None;
        let done = self.waiting.pop_front()?;
        if !self.waiting.is_empty() {
            ctx.request_repaint();
        }
        if acted {
            done.act.map(|(_, act)| act)
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    type State = (Toasts<u8>, Vec<u8>);

    fn with<'a>(toasts: &[(Option<VerdictKind>, &str, Option<u8>)]) -> Harness<'a, State> {
        let mut state = State::default();
        for (kind, text, act) in toasts {
            let act = act.map(|act| ("Undo".to_owned(), act));
            state.0.push(Toast {
                kind: *kind,
                text: (*text).to_owned(),
                act,
            });
        }
        harness([800.0, 400.0], state, |ui, (toasts, acts)| {
            acts.extend(toasts.show(ui));
        })
    }

    #[test]
    fn one_shows_at_a_time_and_undo_acts() {
        let mut harness = with(&[(None, "Run 3 deleted", Some(7)), (None, "Exported", None)]);
        harness.run_ok();
        assert!(harness.query_by_label("Exported").is_none());
        harness.get_by_label("Undo").click();
        harness.run_ok();
        assert_eq!(harness.state().1, [7]);
        assert!(harness.query_by_label("Run 3 deleted").is_none());
        harness.get_by_label("Exported");
    }

    #[test]
    fn a_notice_leaves_by_itself_and_an_error_stays() {
        let mut harness = with(&[
            (None, "Exported", None),
            (Some(VerdictKind::Bad), "The disk is full", None),
        ]);
        for _ in 0..60 {
            harness.step();
        }
        assert!(harness.query_by_label("Exported").is_none());
        for _ in 0..200 {
            harness.step();
        }
        harness.get_by_label("The disk is full");
        harness.get_by_label("Dismiss").click();
        harness.run_ok();
        assert!(harness.query_by_label("The disk is full").is_none());
    }
}
