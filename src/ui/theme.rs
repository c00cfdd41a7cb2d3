//! How the window looks: fonts, styles and colours, all from `assets/tokens.toml` and `assets/fonts/`.
//!
//! Call [`install`] once at start; afterwards widgets ask [`Palette::of`] for colours, [`tokens()`] for sizes and
//! [`Text`] for fonts. No other module names a colour.

use std::collections::BTreeMap;
use std::sync::Arc;

use eframe::egui::style::{
    HandleShape, ScrollAnimation, ScrollStyle, Selection, WidgetVisuals, Widgets,
};
use eframe::egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, FontTweak, Id,
    Margin, RichText, Shadow, Stroke, Style, TextStyle, Theme, ThemePreference, Visuals, vec2,
};
use serde::{Deserialize, Serialize};

pub mod colors;
pub mod tokens;

pub use colors::{Palette, VerdictKind, VerdictLook, chain_dash, choice};
pub use tokens::tokens;

/// What the user chose in the theme menu.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThemeChoice {
    /// Light or dark as the system says.
    #[default]
    System,
    /// Always light.
    Light,
    /// Always dark.
    Dark,
    /// White and yellow on black.
    HighContrast,
}

/// Text roles: a size and a font that belong together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Text {
    /// Ticks, hints, table heads.
    Caption,
    /// A caption that heads a group.
    CaptionStrong,
    /// Tabs, field labels, panel heads.
    Label,
    /// Running text.
    Body,
    /// Words on buttons.
    Button,
    /// Numbers in tables, figures of one width.
    Number,
    /// A number past its limit.
    NumberStrong,
    /// Variable names, formulas, the command line.
    Code,
    /// Code in captions.
    CodeSmall,
    /// The verdict sentence.
    Verdict,
    /// Heads of pages and cards.
    Heading,
    /// At most one on a screen.
    Title,
}

const UI_500: &str = "ui-500";
const UI_600: &str = "ui-600";
const NUM: &str = "num";
const NUM_600: &str = "num-600";
const ICON: &str = "icon";
const ICON_FILL: &str = "icon-fill";

impl Text {
    /// The font and size of this role.
    pub fn font(self) -> FontId {
        let texts = &tokens().text;
        let named = |name: &str| FontFamily::Name(name.into());
        match self {
            Self::Caption => FontId::new(texts.caption.size, FontFamily::Proportional),
            Self::CaptionStrong => FontId::new(texts.caption.size, named(UI_600)),
            Self::Label => FontId::new(texts.label.size, named(UI_500)),
            Self::Body => FontId::new(texts.body.size, FontFamily::Proportional),
            Self::Button => FontId::new(texts.button.size, named(UI_500)),
            Self::Number => FontId::new(texts.number.size, named(NUM)),
            Self::NumberStrong => FontId::new(texts.number.size, named(NUM_600)),
            Self::Code => FontId::new(texts.code.size, FontFamily::Monospace),
            Self::CodeSmall => FontId::new(texts.code_small.size, FontFamily::Monospace),
            Self::Verdict => FontId::new(texts.verdict.size, named(UI_500)),
            Self::Heading => FontId::new(texts.heading.size, named(UI_600)),
            Self::Title => FontId::new(texts.title.size, named(UI_600)),
        }
    }

    /// Height of a line of this role.
    pub fn line(self) -> f32 {
        let texts = &tokens().text;
        match self {
            Self::Caption | Self::CaptionStrong => texts.caption.line,
            Self::Label => texts.label.line,
            Self::Body => texts.body.line,
            Self::Button => texts.button.line,
            Self::Number | Self::NumberStrong => texts.number.line,
            Self::Code => texts.code.line,
            Self::CodeSmall => texts.code_small.line,
            Self::Verdict => texts.verdict.line,
            Self::Heading => texts.heading.line,
            Self::Title => texts.title.line,
        }
    }

    /// `text` in this role and `color`, for labels.
    pub fn rich(self, text: impl Into<String>, color: Color32) -> RichText {
        RichText::new(text)
            .font(self.font())
            .line_height(Some(self.line()))
            .color(color)
    }
}

/// The font of icons at `size` points; `filled` for verdicts.
pub fn icon_font(size: f32, filled: bool) -> FontId {
    FontId::new(
        size,
        FontFamily::Name(if filled { ICON_FILL } else { ICON }.into()),
    )
}

/// The families that text is set in.
pub fn text_families() -> [FontFamily; 6] {
    let named = |name: &str| FontFamily::Name(name.into());
    [
        FontFamily::Proportional,
        FontFamily::Monospace,
        named(UI_500),
        named(UI_600),
        named(NUM),
        named(NUM_600),
    ]
}

/// Loads the fonts, makes the styles and follows the system's theme. Call it before the first frame.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    set(ctx, colors::choice(ctx));
}

/// Changes the theme.
pub fn set(ctx: &Context, choice: ThemeChoice) {
    ctx.data_mut(|data| data.insert_temp(colors::choice_id(), choice));
    let high = choice == ThemeChoice::HighContrast;
    let (light, dark) = if high {
        (Palette::high_contrast(), Palette::high_contrast())
    } else {
        (Palette::light(), Palette::dark())
    };
    let shadow = &tokens().shadow;
    let alpha = |own: f32| {
        if high {
            shadow.alpha_high_contrast
        } else {
            own
        }
    };
    ctx.set_style_of(Theme::Light, style(light, high, alpha(shadow.alpha_light)));
    ctx.set_style_of(Theme::Dark, style(dark, true, alpha(shadow.alpha_dark)));
    let less_motion = ctx.data(|data| data.get_temp(less_motion_id()));
    set_less_motion(ctx, less_motion.unwrap_or(false));
    ctx.set_theme(match choice {
        ThemeChoice::System => ThemePreference::System,
        ThemeChoice::Light => ThemePreference::Light,
        ThemeChoice::Dark | ThemeChoice::HighContrast => ThemePreference::Dark,
    });
    // A frame that has begun keeps its style and takes the new colours: it is drawn again before it is shown.
    ctx.request_discard("the theme changed");
}

/// Takes all motion out of the window, or puts it back. Holds for every theme chosen later.
pub fn set_less_motion(ctx: &Context, less: bool) {
    ctx.data_mut(|data| data.insert_temp(less_motion_id(), less));
    let motion = &tokens().motion;
    let seconds = if less { motion.reduced } else { motion.expand };
    ctx.all_styles_mut(|style| {
        style.animation_time = seconds;
        style.scroll_animation = if less {
            ScrollAnimation::none()
        } else {
            ScrollAnimation::default()
        };
    });
}

fn less_motion_id() -> Id {
    Id::unique("ergodic less motion")
}

/// The next larger (`up`) or smaller zoom factor after `current`.
pub fn zoom_step(current: f32, up: bool) -> f32 {
    let steps = &tokens().text.scale_steps;
    let next = if up {
        steps.iter().find(|&&step| step > current + 0.01)
    } else {
        steps.iter().rev().find(|&&step| step < current - 0.01)
    };
    next.copied().unwrap_or(current)
}

fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::default();
    let files: [(&str, &'static [u8]); 9] = [
        (
            "Inter",
            include_bytes!("../../assets/fonts/Inter-Regular.otf"),
        ),
        (
            "Inter 500",
            include_bytes!("../../assets/fonts/Inter-Medium.otf"),
        ),
        (
            "Inter 600",
            include_bytes!("../../assets/fonts/Inter-SemiBold.otf"),
        ),
        (
            "Inter tabular",
            include_bytes!("../../assets/fonts/Inter-Regular-tabular.otf"),
        ),
        (
            "Inter tabular 600",
            include_bytes!("../../assets/fonts/Inter-SemiBold-tabular.otf"),
        ),
        (
            "JetBrains Mono",
            include_bytes!("../../assets/fonts/JetBrainsMono-Regular.ttf"),
        ),
        (
            "JetBrains Mono 500",
            include_bytes!("../../assets/fonts/JetBrainsMono-Medium.ttf"),
        ),
        (
            "Phosphor",
            include_bytes!("../../assets/fonts/Phosphor.ttf"),
        ),
        (
            "Phosphor fill",
            include_bytes!("../../assets/fonts/Phosphor-Fill.ttf"),
        ),
    ];
    // A narrow space is a share of the space, which is itself narrow in Inter: thousands must stand apart.
    let tweak = FontTweak {
        thin_space_width: 0.9,
        ..FontTweak::default()
    };
    for (name, bytes) in files {
        let data = FontData::from_static(bytes);
        let data = if name.starts_with("Inter") {
            data.tweak(tweak.clone())
        } else {
            data
        };
        fonts.font_data.insert(name.to_owned(), Arc::new(data));
    }
    // The last resort of every family: characters that none of ours has.
    let rest: Vec<String> = fonts
        .families
        .get(&FontFamily::Monospace)
        .cloned()
        .unwrap_or_default();
    let family = |own: &[&str]| {
        let mut list: Vec<String> = own.iter().map(|&name| name.to_owned()).collect();
        list.extend(rest.iter().cloned());
        list
    };
    let named = |name: &str| FontFamily::Name(name.into());
    fonts.families = BTreeMap::from([
        (
            FontFamily::Proportional,
            family(&["Inter", "Phosphor", "JetBrains Mono"]),
        ),
        (FontFamily::Monospace, family(&["JetBrains Mono", "Inter"])),
        (
            named(UI_500),
            family(&["Inter 500", "Phosphor", "JetBrains Mono 500"]),
        ),
        (
            named(UI_600),
            family(&["Inter 600", "Phosphor", "JetBrains Mono 500"]),
        ),
        (named(NUM), family(&["Inter tabular", "Inter"])),
        (named(NUM_600), family(&["Inter tabular 600", "Inter 600"])),
        (named(ICON), family(&["Phosphor"])),
        (named(ICON_FILL), family(&["Phosphor fill"])),
    ]);
    fonts
}

fn style(p: &Palette, dark: bool, shadow_alpha: f32) -> Style {
    let t = tokens();
    let mut style = Style {
        text_styles: text_styles(),
        drag_value_text_style: name("number"),
        visuals: visuals(p, dark, shadow_alpha),
        animation_time: t.motion.expand,
        ..Style::default()
    };
    let spacing = &mut style.spacing;
    spacing.item_spacing = vec2(t.space.x2, t.space.x1);
    spacing.button_padding = vec2(10.0, 5.0);
    spacing.interact_size = vec2(t.size.min_target, t.size.button);
    spacing.indent = t.space.x4;
    spacing.icon_width = t.icon.small;
    spacing.icon_spacing = 6.0;
    // Of tooltips; menus have less, because their rows have an inset of their own.
    spacing.menu_margin = Margin::symmetric(t.space.x2 as i8, 6);
    spacing.window_margin = Margin::same(t.space.x4 as i8);
    spacing.tooltip_width = t.size.tooltip_max;
    spacing.slider_rail_height = 2.0;
    spacing.scroll = ScrollStyle {
        bar_width: 8.0,
        ..ScrollStyle::floating()
    };
    style.interaction.tooltip_delay = t.motion.tooltip_delay;
    style.interaction.selectable_labels = true;
    style
}

fn text_styles() -> BTreeMap<TextStyle, FontId> {
    BTreeMap::from([
        (TextStyle::Small, Text::Caption.font()),
        (TextStyle::Body, Text::Body.font()),
        (TextStyle::Button, Text::Button.font()),
        (TextStyle::Heading, Text::Heading.font()),
        (TextStyle::Monospace, Text::Code.font()),
        (name("label"), Text::Label.font()),
        (name("number"), Text::Number.font()),
        (name("verdict"), Text::Verdict.font()),
        (name("title"), Text::Title.font()),
        (name("code_small"), Text::CodeSmall.font()),
    ])
}

fn name(style: &str) -> TextStyle {
    TextStyle::Name(style.into())
}

fn visuals(p: &Palette, dark: bool, shadow_alpha: f32) -> Visuals {
    let t = tokens();
    let corner = |radius: f32| CornerRadius::same(radius as u8);
    let shadow = Shadow {
        offset: t.shadow.offset,
        blur: t.shadow.blur,
        spread: t.shadow.spread,
        color: Color32::from_black_alpha((shadow_alpha * 255.0).round() as u8),
    };
    let mut visuals = if dark {
        Visuals::dark()
    } else {
        Visuals::light()
    };
    visuals.panel_fill = p.bg_panel;
    visuals.window_fill = p.bg_surface;
    visuals.extreme_bg_color = p.bg_surface;
    visuals.text_edit_bg_color = Some(p.bg_surface);
    visuals.faint_bg_color = p.bg_panel;
    visuals.code_bg_color = p.bg_strip;
    visuals.selection = Selection {
        bg_fill: p.selection_bg,
        stroke: Stroke::new(1.0, p.text_primary),
    };
    visuals.hyperlink_color = p.link;
    visuals.warn_fg_color = p.watch;
    visuals.error_fg_color = p.bad;
    visuals.weak_text_color = Some(p.text_secondary);
    visuals.window_stroke = Stroke::new(t.stroke.hair, p.border_subtle);
    visuals.window_corner_radius = corner(t.radius.card);
    visuals.menu_corner_radius = corner(t.radius.card);
    visuals.popup_shadow = shadow;
    visuals.window_shadow = shadow;
    visuals.slider_trailing_fill = true;
    visuals.handle_shape = HandleShape::Circle;
    visuals.striped = false;
    visuals.indent_has_left_vline = false;
    visuals.disabled_alpha = t.alpha.disabled;
    visuals.text_cursor.stroke = Stroke::new(2.0, p.accent);
    let state = |fill: Color32, stroke: Stroke| WidgetVisuals {
        bg_fill: fill,
        weak_bg_fill: fill,
        bg_stroke: stroke,
        corner_radius: corner(t.radius.button),
        fg_stroke: Stroke::new(1.0, p.text_primary),
        expansion: 0.0,
    };
    let edge = Stroke::new(t.stroke.hair, p.border_button);
    visuals.widgets = Widgets {
        noninteractive: state(p.bg_panel, Stroke::new(t.stroke.hair, p.border_subtle)),
        inactive: state(p.bg_surface, edge),
        hovered: state(p.bg_hover, edge),
        active: state(p.bg_active, Stroke::new(t.stroke.focus, p.focus_ring)),
        open: state(p.bg_active, edge),
    };
    visuals
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ui::icons;
    use crate::ui::testing::harness;

    #[test]
    fn choosing_a_theme_changes_style_and_palette_together() {
        let state = (ThemeChoice::System, (Color32::BLACK, Color32::WHITE));
        let mut harness = harness([200.0, 100.0], state, |ui, (choice, shown)| {
            if super::choice(ui) != *choice {
                set(ui, *choice);
            }
            ui.label("text");
            *shown = (ui.visuals().panel_fill, Palette::of(ui).bg_panel);
        });
        for (choice, palette) in [
            (ThemeChoice::Light, Palette::light()),
            (ThemeChoice::Dark, Palette::dark()),
            (ThemeChoice::HighContrast, Palette::high_contrast()),
        ] {
            harness.state_mut().0 = choice;
            harness.step();
            // The first frame shown is of one theme, also where no other follows.
            let (style, colors) = harness.state().1;
            assert_eq!((style, colors), (palette.bg_panel, palette.bg_panel));
            harness.run();
            assert!(
                std::ptr::eq(Palette::of(&harness.ctx), palette),
                "{choice:?}"
            );
            assert_eq!(
                harness.ctx.global_style().visuals.panel_fill,
                palette.bg_panel,
                "{choice:?}"
            );
        }
    }

    #[test]
    fn figures_of_tables_share_one_width_in_both_weights() {
        let harness = harness([100.0, 100.0], (), |ui, ()| {
            ui.label("text");
        });
        for role in [Text::Number, Text::NumberStrong] {
            harness.ctx.fonts_mut(|fonts| {
                let widths: Vec<f32> = "0123456789"
                    .chars()
                    .map(|c| fonts.glyph_width(&role.font(), c))
                    .collect();
                assert!(
                    widths.iter().all(|width| *width == widths[0]),
                    "{role:?}: {widths:?}"
                );
                assert!(
                    fonts.has_glyphs(&role.font(), "\u{2212}\u{202f}."),
                    "{role:?}"
                );
            });
        }
    }

    #[test]
    fn every_icon_has_a_glyph_in_both_cuts() {
        let harness = harness([100.0, 100.0], (), |ui, ()| {
            ui.label("text");
        });
        harness.ctx.fonts_mut(|fonts| {
            for &(name, icon) in icons::ALL {
                for filled in [false, true] {
                    let font = icon_font(14.0, filled);
                    assert!(fonts.has_glyph(&font, icon), "{name}");
                    // The missing-glyph box is narrower than an icon, which is one em wide.
                    assert!(
                        (fonts.glyph_width(&font, icon) - 14.0).abs() < 0.1,
                        "{name}"
                    );
                }
            }
        });
    }

    #[test]
    fn text_covers_the_alphabets_and_signs_we_promise() {
        let harness = harness([100.0, 100.0], (), |ui, ()| {
            ui.label("text");
        });
        harness.ctx.fonts_mut(|fonts| {
            for role in [Text::Body, Text::Button, Text::Heading, Text::Code] {
                assert!(
                    fonts.has_glyphs(&role.font(), "aÄßőθΣжЩ±−≤≥≈∞∑→…∈∼"),
                    "{role:?}"
                );
            }
        });
    }

    #[test]
    fn less_motion_survives_a_change_of_theme() {
        let harness = harness([100.0, 100.0], (), |ui, ()| {
            ui.label("text");
        });
        set_less_motion(&harness.ctx, true);
        set(&harness.ctx, ThemeChoice::Light);
        assert_eq!(harness.ctx.global_style().animation_time, 0.0);
        set_less_motion(&harness.ctx, false);
        assert_eq!(
            harness.ctx.global_style().animation_time,
            tokens().motion.expand
        );
    }

    #[test]
    fn zoom_goes_through_the_steps_and_stops_at_the_ends() {
        assert_eq!(zoom_step(1.0, true), 1.15);
        assert_eq!(zoom_step(1.0, false), 0.85);
        assert_eq!(zoom_step(2.0, true), 2.0);
        assert_eq!(zoom_step(0.85, false), 0.85);
    }
}
