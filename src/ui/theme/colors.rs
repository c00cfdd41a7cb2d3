//! Colours by role, for the three themes.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use eframe::egui::{Color32, Context, Id, Theme};

use super::ThemeChoice;
use super::tokens::{ColorToken, tokens};
use crate::ui::icons;

/// Colours by role. Nothing outside the theme names a colour in any other way.
#[derive(Debug)]
#[expect(
    missing_docs,
    reason = "each role is described beside its value in assets/tokens.toml"
)]
pub struct Palette {
    pub bg_app: Color32,
    pub bg_panel: Color32,
    pub bg_surface: Color32,
    pub bg_strip: Color32,
    pub bg_hover: Color32,
    pub bg_active: Color32,
    pub border_subtle: Color32,
    pub border_button: Color32,
    pub border_strong: Color32,
    pub text_primary: Color32,
    pub text_secondary: Color32,
    pub text_disabled: Color32,
    pub text_on_accent: Color32,
    pub accent: Color32,
    pub accent_hover: Color32,
    pub accent_soft: Color32,
    pub selection_bg: Color32,
    pub focus_ring: Color32,
    pub link: Color32,
    pub good: Color32,
    pub good_soft: Color32,
    pub watch: Color32,
    pub watch_soft: Color32,
    pub bad: Color32,
    pub bad_soft: Color32,
    pub early: Color32,
    pub early_soft: Color32,
    pub uncertified: Color32,
    pub uncertified_soft: Color32,
    pub plot_bg: Color32,
    pub grid: Color32,
    pub axis: Color32,
    pub threshold: Color32,
    pub prior: Color32,
    pub warmup: Color32,
    pub band: Color32,
    pub posterior: Color32,
    /// Chains 1 to 8; ask [`Self::chain`].
    pub chains: Vec<Color32>,
}

/// What a run, a row or a message is worth. The words are those of the design tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum VerdictKind {
    /// All criteria hold.
    Good,
    /// Usable with care, or not yet.
    Watch,
    /// Not usable.
    Bad,
    /// Not enough draws to say.
    TooEarly,
    /// The sampler is approximate and its bias is too large or was not measured.
    NotCertified,
    /// A row of an approximate sampler before its bias check: mixing is fine, nothing more is known.
    MixingOnly,
}

/// How a verdict looks: always all of icon, word and colour.
#[derive(Clone, Copy, Debug)]
pub struct VerdictLook {
    /// The word, such as "Not certified".
    pub word: &'static str,
    /// The icon's character.
    pub icon: char,
    /// Whether the icon is the filled one.
    pub filled: bool,
    /// Colour of text and icon.
    pub color: Color32,
    /// Fill of the badge.
    pub soft: Color32,
}

static LIGHT: LazyLock<Palette> = LazyLock::new(|| read("light"));
static DARK: LazyLock<Palette> = LazyLock::new(|| read("dark"));
static HIGH_CONTRAST: LazyLock<Palette> = LazyLock::new(|| read("high_contrast"));

impl Palette {
    /// The colours of the theme that is on. A `&Ui` will do as `ctx`.
    pub fn of(ctx: &Context) -> &'static Self {
        match (choice(ctx), ctx.theme()) {
            (ThemeChoice::HighContrast, _) => Self::high_contrast(),
            (_, Theme::Light) => Self::light(),
            (_, Theme::Dark) => Self::dark(),
        }
    }

    /// The light theme; exports are drawn in it.
    pub fn light() -> &'static Self {
        &LIGHT
    }

    /// The dark theme.
    pub fn dark() -> &'static Self {
        &DARK
    }

    /// The high-contrast theme.
    pub fn high_contrast() -> &'static Self {
        &HIGH_CONTRAST
    }

    /// Colour of a chain, 0-based; colours repeat after eight, with another dash.
    pub fn chain(&self, chain: usize) -> Color32 {
        self.chains[chain % self.chains.len()]
    }

    /// How a verdict looks.
    pub fn verdict(&self, kind: VerdictKind) -> VerdictLook {
        let (name, icon, filled, soft) = match kind {
            VerdictKind::Good => ("good", icons::CHECK_CIRCLE, true, self.good_soft),
            VerdictKind::Watch => ("watch", icons::WARNING, true, self.watch_soft),
            VerdictKind::Bad => ("bad", icons::X_CIRCLE, true, self.bad_soft),
            VerdictKind::TooEarly => ("too_early", icons::HOURGLASS_MEDIUM, true, self.early_soft),
            VerdictKind::NotCertified => (
                "not_certified",
                icons::SEAL_QUESTION,
                true,
                self.uncertified_soft,
            ),
            VerdictKind::MixingOnly => ("mixing_only", icons::CHECK_CIRCLE, false, self.early_soft),
        };
        let token = &tokens().verdict[name];
        let color = match token.color.as_str() {
            "good" => self.good,
            "watch" => self.watch,
            "bad" => self.bad,
            "uncertified" => self.uncertified,
            _ => self.early,
        };
        VerdictLook {
            word: &token.word,
            icon,
            filled,
            color,
            soft,
        }
    }
}

/// Dash of a chain, 0-based: on and off lengths, empty for a solid line.
pub fn chain_dash(chain: usize) -> &'static [f32] {
    let dashes = &tokens().chains.dash;
    &dashes[(chain + chain / dashes.len()) % dashes.len()]
}

pub(super) fn choice_id() -> Id {
    Id::unique("ergodic theme choice")
}

/// The theme that was chosen.
pub fn choice(ctx: &Context) -> ThemeChoice {
    ctx.data(|data| data.get_temp(choice_id()))
        .unwrap_or_default()
}

fn read(theme: &str) -> Palette {
    tokens()
        .color
        .get(theme)
        .ok_or_else(|| format!("no theme {theme}"))
        .and_then(parse)
        .expect("the colours are part of the program and a test reads them")
}

fn parse(roles: &BTreeMap<String, ColorToken>) -> Result<Palette, String> {
    let one = |role: &str| match roles.get(role) {
        Some(ColorToken::One(text)) => hex(text),
        _ => Err(format!("no colour {role}")),
    };
    let chains = match roles.get("chains") {
        Some(ColorToken::Many(list)) if !list.is_empty() => list
            .iter()
            .map(|text| hex(text))
            .collect::<Result<_, _>>()?,
        _ => return Err("no list of colours named chains".to_owned()),
    };
    Ok(Palette {
        bg_app: one("bg_app")?,
        bg_panel: one("bg_panel")?,
        bg_surface: one("bg_surface")?,
        bg_strip: one("bg_strip")?,
        bg_hover: one("bg_hover")?,
        bg_active: one("bg_active")?,
        border_subtle: one("border_subtle")?,
        border_button: one("border_button")?,
        border_strong: one("border_strong")?,
        text_primary: one("text_primary")?,
        text_secondary: one("text_secondary")?,
        text_disabled: one("text_disabled")?,
        text_on_accent: one("text_on_accent")?,
        accent: one("accent")?,
        accent_hover: one("accent_hover")?,
        accent_soft: one("accent_soft")?,
        selection_bg: one("selection_bg")?,
        focus_ring: one("focus_ring")?,
        link: one("link")?,
        good: one("good")?,
        good_soft: one("good_soft")?,
        watch: one("watch")?,
        watch_soft: one("watch_soft")?,
        bad: one("bad")?,
        bad_soft: one("bad_soft")?,
        early: one("early")?,
        early_soft: one("early_soft")?,
        uncertified: one("uncertified")?,
        uncertified_soft: one("uncertified_soft")?,
        plot_bg: one("plot_bg")?,
        grid: one("grid")?,
        axis: one("axis")?,
        threshold: one("threshold")?,
        prior: one("prior")?,
        warmup: one("warmup")?,
        band: one("band")?,
        posterior: one("posterior")?,
        chains,
    })
}

fn hex(text: &str) -> Result<Color32, String> {
    Color32::from_hex(text).map_err(|_error| format!("{text} is not a colour of the form #RRGGBB"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Relative luminance of the Web Content Accessibility Guidelines 2.2.
    fn luminance(color: Color32) -> f64 {
        let linear = |c: u8| {
            let c = f64::from(c) / 255.0;
            if c <= 0.04045 {
                c / 12.92
            } else {
                ((c + 0.055) / 1.055).powf(2.4)
            }
        };
        0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
    }

    fn contrast(a: Color32, b: Color32) -> f64 {
        let (a, b) = (luminance(a) + 0.05, luminance(b) + 0.05);
        a.max(b) / a.min(b)
    }

    fn check(theme: &str, p: &Palette) {
        let panels = [
            ("app", p.bg_app),
            ("panel", p.bg_panel),
            ("surface", p.bg_surface),
        ];
        let mut fills = panels.to_vec();
        fills.extend([
            ("strip", p.bg_strip),
            ("hover", p.bg_hover),
            ("active", p.bg_active),
            ("selection", p.selection_bg),
        ]);
        let mut soft = panels.to_vec();
        soft.extend([
            ("accent_soft", p.accent_soft),
            ("selection", p.selection_bg),
        ]);
        let plots = vec![("plot_bg", p.plot_bg), ("warmup", p.warmup)];
        let verdict = |own: Color32| {
            vec![
                ("soft", own),
                ("panel", p.bg_panel),
                ("surface", p.bg_surface),
                ("selection", p.selection_bg),
            ]
        };
        let mut rules = vec![
            ("text_primary", p.text_primary, fills.clone(), 4.5),
            ("text_secondary", p.text_secondary, fills.clone(), 4.5),
            (
                "text_on_accent",
                p.text_on_accent,
                vec![("accent", p.accent), ("hover", p.accent_hover)],
                4.5,
            ),
            ("accent", p.accent, soft.clone(), 4.5),
            ("link", p.link, soft, 4.5),
            ("focus_ring", p.focus_ring, fills[..4].to_vec(), 3.0),
            ("border_strong", p.border_strong, panels.to_vec(), 3.0),
            ("axis", p.axis, plots.clone(), 3.0),
            ("threshold", p.threshold, plots.clone(), 3.0),
            ("prior", p.prior, plots.clone(), 3.0),
            ("posterior", p.posterior, plots.clone(), 3.0),
            ("good", p.good, verdict(p.good_soft), 4.5),
            ("watch", p.watch, verdict(p.watch_soft), 4.5),
            ("bad", p.bad, verdict(p.bad_soft), 4.5),
            ("early", p.early, verdict(p.early_soft), 4.5),
            (
                "uncertified",
                p.uncertified,
                verdict(p.uncertified_soft),
                4.5,
            ),
        ];
        for &chain in &p.chains {
            rules.push(("chain", chain, plots.clone(), 3.0));
        }
        for (role, color, backs, limit) in rules {
            for (back_name, back) in backs {
                let value = contrast(color, back);
                assert!(
                    value >= limit,
                    "{theme}: {role} on {back_name} {value:.2}, wanted {limit}"
                );
            }
        }
    }

    #[test]
    fn text_and_marks_are_legible_in_every_theme() {
        check("light", Palette::light());
        check("dark", Palette::dark());
        check("high contrast", Palette::high_contrast());
    }

    #[test]
    fn contrast_is_measured_as_published() {
        let black = Color32::from_hex("#000000").unwrap();
        let white = Color32::from_hex("#FFFFFF").unwrap();
        assert!((contrast(black, white) - 21.0).abs() < 1e-9);
        let grey = Color32::from_hex("#767676").unwrap();
        assert!((contrast(grey, white) - 4.54).abs() < 0.005);
    }

    #[test]
    fn sixteen_chains_differ_in_colour_or_dash() {
        let palette = Palette::light();
        for a in 0..16 {
            for b in 0..a {
                assert!(
                    palette.chain(a) != palette.chain(b) || chain_dash(a) != chain_dash(b),
                    "{a} and {b}"
                );
            }
        }
    }

    #[test]
    fn every_verdict_has_a_word() {
        let palette = Palette::dark();
        assert_eq!(
            palette.verdict(VerdictKind::NotCertified).word,
            "Not certified"
        );
        assert_eq!(
            palette.verdict(VerdictKind::NotCertified).color,
            palette.uncertified
        );
        assert!(!palette.verdict(VerdictKind::MixingOnly).filled);
    }

    #[test]
    fn a_colour_that_cannot_be_read_is_named() {
        assert!(hex("#12").unwrap_err().contains("#12"));
    }
}
