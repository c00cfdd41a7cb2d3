//! The style sheet of a page: the colours of the window's themes, light and dark as the reader's system is, light on paper.

use crate::figure::{dark_style, page_color};

/// Variables of the style sheet and the roles in the design tokens that they have the colours of.
const COLORS: [(&str, &str); 11] = [
    ("page", "bg_surface"),
    ("soft", "bg_panel"),
    ("line", "border_subtle"),
    ("text", "text_primary"),
    ("quiet", "text_secondary"),
    ("good", "good"),
    ("watch", "watch"),
    ("bad", "bad"),
    ("early", "early"),
    ("uncertified", "uncertified"),
    ("axis", "axis"),
];

/// Everything but the colours. No selector has a `>`, so that the page is XML too.
const RULES: &str = "
html { background: var(--page); color: var(--text); color-scheme: light dark;
  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif }
body { max-width: 54rem; margin: 0 auto; padding: 2rem 1.25rem 4rem }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere }
h2 { font-size: 1.2rem; margin: 2.25rem 0 .5rem; padding-bottom: .2rem; border-bottom: 1px solid var(--line) }
h3 { font-size: 1rem; margin: 1.25rem 0 .4rem }
p, li { overflow-wrap: anywhere }
ul { padding-left: 1.2rem; margin: .4rem 0 }
.quiet, figcaption, dt { color: var(--quiet) }
code, pre { font-family: ui-monospace, 'SF Mono', Menlo, Consolas, 'Liberation Mono', monospace; font-size: .875em }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 4px; padding: .6rem .8rem;
  overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere }
.verdict { border-left: 4px solid var(--early); background: var(--soft); padding: .6rem .9rem; margin: 1rem 0 }
.verdict strong { color: var(--early) } .verdict p { margin: 0 }
.good { border-color: var(--good) } .good strong { color: var(--good) }
.watch { border-color: var(--watch) } .watch strong { color: var(--watch) }
.bad { border-color: var(--bad) } .bad strong { color: var(--bad) }
.uncertified { border-color: var(--uncertified) } .uncertified strong { color: var(--uncertified) }
li strong.bad { color: var(--bad) } li strong.watch { color: var(--watch) } li strong.note { color: var(--quiet) }
.scroll { overflow-x: auto }
table { border-collapse: collapse; width: 100%; font-size: .875rem; font-variant-numeric: tabular-nums }
caption { text-align: left; font-weight: 600; padding: 1rem 0 .3rem }
.results th:first-child { width: 24% }
th, td { padding: .22rem .5rem; text-align: right; white-space: nowrap; border-bottom: 1px solid var(--line) }
thead th { color: var(--quiet); font-weight: 500; border-bottom: 1px solid var(--axis) }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; overflow-wrap: anywhere; min-width: 7rem }
tbody th { font-weight: 400 }
.words th, .words td { text-align: left; white-space: normal; vertical-align: top; overflow-wrap: anywhere }
dl { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr; gap: .2rem 1.25rem; margin: .5rem 0 }
dd { margin: 0; overflow-wrap: anywhere }
figure { margin: 1rem 0 1.75rem } figcaption { font-size: .875rem; margin-top: .25rem }
svg { display: block; max-width: 100%; height: auto }
details { margin: .6rem 0 } summary { cursor: pointer; font-weight: 500 }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr } dd { margin-bottom: .5rem } }
@media print {
  html { font-size: 11px } body { max-width: none; padding: 0 }
  h2, h3, caption { break-after: avoid } figure, tr, .verdict { break-inside: avoid }
  .scroll { overflow: visible } thead { display: table-header-group }
}
";

/// The style sheet.
pub fn sheet() -> String {
    let variables = |theme: usize| -> String {
        let lines = COLORS.iter().map(|(name, role)| {
            let colors = page_color(role);
            format!("--{name}: {};", colors[theme])
        });
        lines.collect::<Vec<_>>().join(" ")
    };
    format!(
        ":root {{ {} }}\n@media screen and (prefers-color-scheme: dark) {{\n:root {{ {} }}\n{}}}\n{RULES}",
        variables(0),
        variables(1),
        dark_style("svg")
    )
}
