//! Colours by what they mean, those of the window: told apart by people who do not see all colours, and by their dash.
//!
//! A file of its own has the colours of the light theme as attributes; a page may overrule them by the classes ([`dark_style`]).

use std::sync::LazyLock;

/// What a colour means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    /// What lies behind everything.
    Paper,
    /// Names and titles.
    Text,
    /// Labels of axes.
    Muted,
    /// Lines of axes.
    Axis,
    /// Lines behind the marks.
    Grid,
    /// Limits and expectations.
    Threshold,
    /// All chains together.
    Posterior,
    /// Intervals as areas.
    Band,
    /// What is wrong.
    Bad,
    /// A chain, 0-based.
    Chain(usize),
}

/// Colours of a theme.
struct Theme {
    paper: String,
    text: String,
    muted: String,
    axis: String,
    grid: String,
    threshold: String,
    posterior: String,
    band: String,
    bad: String,
    chains: Vec<String>,
}

/// The design tokens, which the window reads too.
static TOKENS: LazyLock<toml::Table> = LazyLock::new(|| {
    include_str!("../../../../assets/tokens.toml")
        .parse()
        .expect("the design tokens are part of the program and a test reads them")
});
static LIGHT: LazyLock<Theme> = LazyLock::new(|| Theme::read("light"));
static DARK: LazyLock<Theme> = LazyLock::new(|| Theme::read("dark"));
static DASHES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let dashes = TOKENS["chains"]["dash"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let text = |dash: &toml::Value| {
        let lengths = dash.as_array().cloned().unwrap_or_default();
        let lengths: Vec<String> = lengths.iter().map(ToString::to_string).collect();
        lengths.join(" ")
    };
    dashes.iter().map(text).collect()
});

/// A colour of the design tokens by its role.
fn role(theme: &str, role: &str) -> String {
    let text = TOKENS["color"][theme][role].as_str().map(str::to_owned);
    text.expect("the colours are part of the program and a test reads them")
}

impl Theme {
    fn read(theme: &str) -> Self {
        let chains = TOKENS["color"][theme]["chains"].as_array().cloned();
        let chains = chains.unwrap_or_default();
        let one = |name: &str| role(theme, name);
        Self {
            paper: one("plot_bg"),
            text: one("text_primary"),
            muted: one("text_secondary"),
            axis: one("axis"),
            grid: one("grid"),
            threshold: one("threshold"),
            posterior: one("posterior"),
            band: one("band"),
            bad: one("bad"),
            chains: (chains.iter().filter_map(toml::Value::as_str))
                .map(str::to_owned)
                .collect(),
        }
    }

    fn of(&self, ink: Ink) -> &str {
        match ink {
            Ink::Paper => &self.paper,
            Ink::Text => &self.text,
            Ink::Muted => &self.muted,
            Ink::Axis => &self.axis,
            Ink::Grid => &self.grid,
            Ink::Threshold => &self.threshold,
            Ink::Posterior => &self.posterior,
            Ink::Band => &self.band,
            Ink::Bad => &self.bad,
            Ink::Chain(chain) => &self.chains[chain % self.chains.len()],
        }
    }
}

impl Ink {
    /// The colour on paper, such as `#1A1D22`.
    pub fn on_paper(self) -> &'static str {
        LIGHT.of(self)
    }

    /// Name of the class of marks of this colour.
    pub fn class(self) -> String {
        match self {
            Self::Paper => "paper".to_owned(),
            Self::Text => "text".to_owned(),
            Self::Muted => "muted".to_owned(),
            Self::Axis => "axis".to_owned(),
            Self::Grid => "grid".to_owned(),
            Self::Threshold => "threshold".to_owned(),
            Self::Posterior => "posterior".to_owned(),
            Self::Band => "band".to_owned(),
            Self::Bad => "bad".to_owned(),
            Self::Chain(chain) => format!("chain{}", chain % LIGHT.chains.len() + 1),
        }
    }

    /// Lengths of dashes and gaps in points, empty for a solid line. Colours of chains repeat with another dash.
    pub fn dash(self) -> &'static str {
        match self {
            Self::Chain(chain) => &DASHES[(chain + chain / DASHES.len()) % DASHES.len()],
            Self::Threshold => "4 3",
            _ => "",
        }
    }

    /// All colours, each once.
    fn all() -> Vec<Self> {
        let mut all = vec![
            Self::Paper,
            Self::Text,
            Self::Muted,
            Self::Axis,
            Self::Grid,
            Self::Threshold,
            Self::Posterior,
            Self::Band,
            Self::Bad,
        ];
        all.extend((0..LIGHT.chains.len()).map(Self::Chain));
        all
    }
}

/// Rules of a style sheet, within `selector`, that give figures the colours of the dark theme.
pub(crate) fn dark_style(selector: &str) -> String {
    let mut text = String::new();
    for ink in Ink::all() {
        let (class, color) = (ink.class(), DARK.of(ink));
        text.push_str(&format!(
            "{selector} .s-{class} {{ stroke: {color} }} {selector} .f-{class} {{ fill: {color} }}\n"
        ));
    }
    text
}

/// A colour of the window's theme by its role in the design tokens, for pages around figures: light and dark.
pub(crate) fn page_color(name: &str) -> [String; 2] {
    ["light", "dark"].map(|theme| role(theme, name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_colour_is_there_in_both_themes_and_chains_differ() {
        for ink in Ink::all() {
            for color in [LIGHT.of(ink), DARK.of(ink)] {
                assert!(
                    color.len() == 7 && color.starts_with('#'),
                    "{ink:?}: {color}"
                );
            }
        }
        let looks: Vec<(&str, &str)> = (0..16)
            .map(|chain| (Ink::Chain(chain).on_paper(), Ink::Chain(chain).dash()))
            .collect();
        for (chain, look) in looks.iter().enumerate() {
            assert!(!looks[..chain].contains(look), "chain {chain}: {look:?}");
        }
        assert!(dark_style("svg").contains("svg .s-chain8 {"));
    }
}
