//! A quantity: a field for the exact value and a slider beside it.

use std::ops::RangeInclusive;

use eframe::egui::{Id, Ui};

use super::field::Field;
use super::slider::Slider;
use crate::ui::theme::tokens;

/// A number with its field and, unless switched off, a slider over the same range.
///
/// A text that is not a number of the range changes nothing: it stays in the field with a sentence that says so.
#[must_use = "call show"]
pub struct NumberField<'a> {
    label: &'a str,
    value: &'a mut f64,
    range: RangeInclusive<f64>,
    integer: bool,
    logarithmic: bool,
    slider: bool,
    unit: &'a str,
    field_width: f32,
    label_hidden: bool,
}

impl<'a> NumberField<'a> {
    /// A number within `range`, both ends included.
    pub fn new(label: &'a str, value: &'a mut f64, range: RangeInclusive<f64>) -> Self {
        Self {
            label,
            value,
            range,
            integer: false,
            logarithmic: false,
            slider: true,
            unit: "",
            field_width: 96.0,
            label_hidden: false,
        }
    }

    /// Only whole numbers.
    pub fn integer(self) -> Self {
        Self {
            integer: true,
            ..self
        }
    }

    /// The slider moves over orders of magnitude.
    pub fn logarithmic(self) -> Self {
        Self {
            logarithmic: true,
            ..self
        }
    }

    /// Only the field.
    pub fn without_slider(self) -> Self {
        Self {
            slider: false,
            ..self
        }
    }

    /// The label is only for screen readers, because the place says what the number is.
    pub fn label_hidden(self) -> Self {
        Self {
            label_hidden: true,
            ..self
        }
    }

    /// The unit, after the number.
    pub fn unit(self, unit: &'a str) -> Self {
        Self { unit, ..self }
    }

    /// Width of the field.
    pub fn field_width(self, width: f32) -> Self {
        Self {
            field_width: width,
            ..self
        }
    }

    /// Shows the field; returns whether the value changed.
    pub fn show(self, ui: &mut Ui) -> bool {
        let Self {
            label,
            value,
            range,
            integer,
            logarithmic,
            slider,
            unit,
            field_width,
            label_hidden,
        } = self;
        // Text that is being typed, or that could not be used.
        let draft_id: Id = ui.make_persistent_id(("number", label));
        let draft: Option<String> = ui.data(|data| data.get_temp(draft_id));
        let before = *value;
        let mut text = draft.clone().unwrap_or_else(|| value.to_string());
        let error = draft
            .as_deref()
            .and_then(|draft| parse(label, draft, &range, integer).err());
        ui.horizontal(|ui| {
            ui.spacing_mut().item_spacing.x = tokens().space.x3;
            let width = if slider {
                field_width
            } else {
                field_width.max(60.0)
            };
            let field = ui
                .scope(|ui| {
                    ui.set_width(if error.is_some() {
                        width.max(220.0)
                    } else {
                        width
                    });
                    let field = Field::new(label, &mut text)
                        .number()
                        .unit(unit)
                        .error(error.as_deref())
                        .width(width);
                    let field = if label_hidden {
                        field.label_hidden()
                    } else {
                        field
                    };
                    field.show(ui)
                })
                .inner;
            if field.response.changed() {
                if let Ok(number) = parse(label, &text, &range, integer) {
                    *value = number;
                }
                ui.data_mut(|data| data.insert_temp(draft_id, text.clone()));
            }
            if field.restored {
                if let Ok(number) = parse(label, &text, &range, integer) {
                    *value = number;
                }
                ui.data_mut(|data| data.remove::<String>(draft_id));
            } else if field.response.lost_focus() && parse(label, &text, &range, integer).is_ok() {
                ui.data_mut(|data| data.remove::<String>(draft_id));
            }
            let drawable = range.start().is_finite() && range.end().is_finite();
            if slider && drawable {
                let name = format!("{label}, slider");
                let control = Slider::new(&name, value, range.clone());
                let logarithmic = logarithmic && *range.start() > 0.0;
                if control
                    .logarithmic(logarithmic)
                    .integer(integer)
                    .show(ui)
                    .changed()
                {
                    ui.data_mut(|data| data.remove::<String>(draft_id));
                }
            }
        });
        *value != before
    }
}

/// The number that `text` says, or one sentence why it cannot be used.
fn parse(
    label: &str,
    text: &str,
    range: &RangeInclusive<f64>,
    integer: bool,
) -> Result<f64, String> {
    let plain: String = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| if c == '\u{2212}' { '-' } else { c })
        .collect();
    let (from, to) = (range.start(), range.end());
    let kind = if integer {
        "a whole number"
    } else {
        "a number"
    };
    let limits = match (from.is_finite(), to.is_finite()) {
        (true, true) => format!("from {from} to {to}"),
        (true, false) => format!("of at least {from}"),
        (false, true) => format!("of at most {to}"),
        (false, false) => String::new(),
    };
    let number = plain
        .parse::<f64>()
        .ok()
        .filter(|number| number.is_finite());
    match number {
        Some(number) if range.contains(&number) && !(integer && number.fract() != 0.0) => {
            Ok(number)
        }
        _ => Err(format!("{label} needs {kind} {limits}")
            .trim_end()
            .to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::testing::harness;
    use eframe::egui::{Key, Modifiers};
    use egui_kittest::Harness;
    use egui_kittest::kittest::Queryable as _;

    fn chains<'a>() -> Harness<'a, (f64, u32)> {
        harness([400.0, 120.0], (4.0, 0), |ui, (value, changes)| {
            *changes += u32::from(
                NumberField::new("Chains", value, 1.0..=64.0)
                    .integer()
                    .show(ui),
            );
        })
    }

    fn retype(harness: &mut Harness<'_, (f64, u32)>, text: &str) {
        harness.get_by_label("Chains").focus();
        harness.run();
        harness.key_press_modifiers(Modifiers::COMMAND, Key::A);
        harness.run();
        harness.get_by_label("Chains").type_text(text);
        harness.run();
    }

    #[test]
    fn typing_a_number_sets_it() {
        let mut harness = chains();
        retype(&mut harness, "12");
        assert_eq!(harness.state().0, 12.0);
    }

    #[test]
    fn a_wrong_text_changes_nothing_and_is_explained() {
        let mut harness = chains();
        retype(&mut harness, "70");
        harness.key_press(Key::Enter);
        harness.run();
        assert_eq!(harness.state().0, 4.0);
        harness.get_by_label("Chains needs a whole number from 1 to 64");
        assert_eq!(
            harness.get_by_label("Chains").value().as_deref(),
            Some("70")
        );
    }

    #[test]
    fn esc_takes_the_typed_number_back() {
        let mut harness = chains();
        retype(&mut harness, "12");
        harness.key_press(Key::Escape);
        harness.run();
        assert_eq!(harness.state().0, 4.0);
        assert_eq!(harness.get_by_label("Chains").value().as_deref(), Some("4"));
    }

    #[test]
    fn the_slider_answers_to_the_keyboard() {
        let mut harness = chains();
        harness.get_by_label("Chains, slider").focus();
        harness.run();
        harness.key_press(Key::ArrowRight);
        harness.run();
        assert_eq!(harness.state().0, 5.0);
        assert_eq!(harness.get_by_label("Chains").value().as_deref(), Some("5"));
    }

    #[test]
    fn numbers_are_read_as_people_write_them() {
        let any = f64::NEG_INFINITY..=f64::INFINITY;
        assert_eq!(parse("x", "1 000", &any, true), Ok(1000.0));
        assert_eq!(parse("x", "\u{2212}0.5", &any, false), Ok(-0.5));
        assert_eq!(parse("x", "3.2e-5", &any, false), Ok(3.2e-5));
        assert_eq!(
            parse("x", "", &any, false),
            Err("x needs a number".to_owned())
        );
        assert_eq!(
            parse("x", "nan", &any, false),
            Err("x needs a number".to_owned())
        );
        assert_eq!(
            parse("x", "-1", &(0.0..=f64::INFINITY), false),
            Err("x needs a number of at least 0".to_owned())
        );
    }
}
