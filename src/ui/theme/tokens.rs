//! Sizes, strokes, text and motion of the window, read from `assets/tokens.toml`.
//!
//! Every field here must be in the file; the tests read it, so a missing token never reaches a user.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

/// The design tokens, as the file gives them. Unit: egui points, seconds for motion.
#[derive(Debug, Deserialize)]
pub struct Tokens {
    /// Colour roles by theme name, still as text; [`super::Palette`] parses them.
    pub(super) color: BTreeMap<String, BTreeMap<String, ColorToken>>,
    /// Words, icons and colour roles of the verdicts by name.
    pub(super) verdict: BTreeMap<String, VerdictToken>,
    /// Dashes and markers that tell chains apart without colour.
    pub chains: Chains,
    /// Distances on the 4-point grid.
    pub space: Space,
    /// Heights and widths of controls and bars.
    pub size: Size,
    /// Default and limiting sizes of the docked panels.
    pub panel: Panels,
    /// Corner radii.
    pub radius: Radius,
    /// Line widths.
    pub stroke: Strokes,
    /// Opacities of plot marks.
    pub alpha: Alpha,
    /// Dash patterns, on and off lengths.
    pub dash: Dashes,
    /// Text roles.
    pub text: Texts,
    /// Icon sizes.
    pub icon: Icons,
    /// Durations in seconds.
    pub motion: Motion,
    /// The shadow of floating things.
    pub shadow: Shadow,
}

/// One colour or a list of colours, as `#RRGGBB`.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum ColorToken {
    One(String),
    Many(Vec<String>),
}

/// How one verdict is shown.
#[derive(Debug, Deserialize)]
pub(super) struct VerdictToken {
    pub word: String,
    pub color: String,
}

/// Dashes of chains and compared runs.
#[derive(Debug, Deserialize)]
pub struct Chains {
    /// On and off lengths of chain 1, 2, …; empty is solid.
    pub dash: Vec<Vec<f32>>,
}

/// Distances on the 4-point grid; the number is the multiple of 4.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the name is the multiple")]
pub struct Space {
    pub x1: f32,
    pub x2: f32,
    pub x3: f32,
    pub x4: f32,
    pub x6: f32,
    pub x8: f32,
    pub x12: f32,
}

/// Heights of bars, rows and controls; widths where the name says so.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says which thing it measures")]
pub struct Size {
    pub top_bar: f32,
    pub run_bar: f32,
    pub progress_line: f32,
    pub status_bar: f32,
    pub tab_strip: f32,
    pub section_head: f32,
    pub row_tree: f32,
    pub row_table: f32,
    pub row_table_roomy: f32,
    pub row_prior: f32,
    pub button: f32,
    pub button_small: f32,
    pub field: f32,
    pub chip: f32,
    pub badge: f32,
    pub segment: f32,
    pub min_target: f32,
    pub tooltip_max: f32,
    pub reading_column: f32,
}

/// Sizes of the docked panels.
#[derive(Debug, Deserialize)]
pub struct Panels {
    /// Width of the left panel.
    pub left: PanelSize,
    /// Width of the right panel.
    pub right: PanelSize,
    /// Height of the bottom panel.
    pub bottom: PanelSize,
    /// Window width from which the wide defaults hold.
    pub wide_from: f32,
    /// Window sizes.
    pub window: WindowSize,
}

/// One panel's default and limits.
#[derive(Debug, Deserialize)]
pub struct PanelSize {
    /// Size in a window narrower than [`Panels::wide_from`].
    pub default: f32,
    /// Size in a wide window.
    pub default_wide: f32,
    /// Smallest size.
    pub min: f32,
    /// Largest size.
    pub max: f32,
}

/// Window sizes, width and height.
#[derive(Debug, Deserialize)]
pub struct WindowSize {
    /// Smallest.
    pub min: [f32; 2],
    /// At the first start.
    pub first: [f32; 2],
}

/// Corner radii.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says which thing it rounds")]
pub struct Radius {
    pub small: f32,
    pub control: f32,
    pub button: f32,
    pub card: f32,
}

/// Line widths.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says which line it measures")]
pub struct Strokes {
    pub hair: f32,
    pub focus: f32,
    pub trace: f32,
    pub trace_warmup: f32,
    pub curve_chain: f32,
    pub curve_pooled: f32,
    pub curve_selected: f32,
    pub curve_other: f32,
    pub prior: f32,
    pub threshold: f32,
    pub interval_50: f32,
    pub interval_90: f32,
    pub interval_density: f32,
}

/// Opacities of plot marks on the plot background.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says which mark it fades")]
pub struct Alpha {
    pub trace: f32,
    pub trace_warmup: f32,
    pub curve_other: f32,
    pub area_interval: f32,
    pub histogram: f32,
    pub disabled: f32,
}

/// Dash patterns: on and off lengths.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says which line it dashes")]
pub struct Dashes {
    pub prior: [f32; 2],
    pub threshold: [f32; 2],
    pub warmup_edge: [f32; 2],
}

/// Text roles.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "described at super::Text")]
pub struct Texts {
    pub caption: TextToken,
    pub label: TextToken,
    pub body: TextToken,
    pub button: TextToken,
    pub number: TextToken,
    pub code: TextToken,
    pub code_small: TextToken,
    pub verdict: TextToken,
    pub heading: TextToken,
    pub title: TextToken,
    /// Zoom factors of Ctrl − and Ctrl +.
    pub scale_steps: Vec<f32>,
}

/// Size and line height of one text role.
#[derive(Debug, Deserialize)]
pub struct TextToken {
    /// Font size.
    pub size: f32,
    /// Height of a line.
    pub line: f32,
}

/// Icon sizes.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "the names order the sizes")]
pub struct Icons {
    pub tiny: f32,
    pub small: f32,
    pub medium: f32,
    pub large: f32,
    pub hero: f32,
}

/// Durations, in seconds.
#[derive(Debug, Deserialize)]
#[expect(missing_docs, reason = "each name says what it times")]
pub struct Motion {
    pub expand: f32,
    pub panel: f32,
    pub toast_stay: f32,
    pub tooltip_delay: f32,
    pub reduced: f32,
}

/// The shadow of menus, tooltips and dialogs.
#[derive(Debug, Deserialize)]
pub struct Shadow {
    /// Right and down.
    pub offset: [i8; 2],
    /// Width of the soft edge.
    pub blur: u8,
    /// Growth before blurring.
    pub spread: u8,
    /// Opacity of the black in the light theme.
    pub alpha_light: f32,
    /// Opacity of the black in the dark theme.
    pub alpha_dark: f32,
    /// Opacity of the black in the high-contrast theme.
    pub alpha_high_contrast: f32,
}

/// The design tokens.
pub fn tokens() -> &'static Tokens {
    static TOKENS: LazyLock<Tokens> = LazyLock::new(|| {
        parse(include_str!("../../../assets/tokens.toml"))
            .expect("the file is part of the program and a test reads it")
    });
    &TOKENS
}

fn parse(text: &str) -> Result<Tokens, toml::de::Error> {
    toml::from_str(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_has_every_token_and_eight_dashes() {
        let tokens = parse(include_str!("../../../assets/tokens.toml")).unwrap();
        assert_eq!(tokens.chains.dash.len(), 8);
        assert!(tokens.chains.dash[0].is_empty());
        assert_eq!(tokens.size.button, 28.0);
        assert!(tokens.panel.left.min < tokens.panel.left.default);
    }

    #[test]
    fn a_missing_token_is_an_error_that_names_it() {
        let text = include_str!("../../../assets/tokens.toml").replace("top_bar = 40", "");
        assert!(parse(&text).unwrap_err().to_string().contains("top_bar"));
    }
}
