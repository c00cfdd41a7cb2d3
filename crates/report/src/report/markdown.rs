//! Results in Markdown: the table, a sentence for each effect on the outcome and for each coefficient, and how they were made.

use super::estimates::Column;
use super::facts::{self, Fact};
use super::{Part, RECIPE, Report, answers, found, methods, parts, sentence};
use ergodic_base::numerals::thousands;
use ergodic_base::shown::{capitalised, visible_line};

/// The longest run of backticks in a text: what stands between more is code.
fn longest_ticks(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// A name as code, in which nothing is markup.
fn code(name: &str) -> String {
    let name = visible_line(name);
    let longest = longest_ticks(&name);
    let ticks = "`".repeat(longest + 1);
    let gap = if longest > 0 { " " } else { "" };
    format!("{ticks}{gap}{name}{gap}{ticks}")
}

/// Words in which nothing is markup.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_line(text).chars() {
        if matches!(
            c,
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '|' | '&'
        ) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// A text with its names as code.
fn prose(parts: impl IntoIterator<Item = Part>) -> String {
    let part = |part| match part {
        Part::Words(text) => words(&text),
        Part::Name(name) => code(&name),
    };
    parts.into_iter().map(part).collect()
}

/// The table and the sentences.
pub fn write(report: &Report) -> String {
    let heads: Vec<&str> = Column::ALL.iter().map(|column| column.head()).collect();
    let (word, sentence) = report.verdict();
    let mut out = format!("**{word}** · {}\n\n", prose(parts(sentence)));
    let told = answers::sentences(report);
    for sentence in &told {
        out.push_str(&format!("- {}\n", words(sentence)));
    }
    if !told.is_empty() {
        out.push('\n');
    }
    for remark in answers::remarks(report) {
        out.push_str(&format!("{}\n\n", prose(parts(&remark))));
    }
    for section in &report.sections {
        out.push_str(&format!("### {}\n\n", section.title));
        out.push_str(&format!("| parameter | {} |\n", heads.join(" | ")));
        out.push_str(&format!("|---|{}\n", "---:|".repeat(heads.len())));
        for (row, _) in &section.rows {
            let cells = Column::ALL.map(|column| words(&column.text(row)));
            let name = in_cell(&code(&row.variable));
            out.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        if section.more > 0 {
            let more = thousands(section.more as u64);
            out.push_str(&format!("And {more} more in `summary.csv`.\n\n"));
        }
        if section.is_of_coefficients {
            for sentence in section.rows.iter().filter_map(sentence::of) {
                out.push_str(&format!("- {}\n", prose(sentence)));
            }
            out.push('\n');
        }
    }
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            out.push_str(&format!("{}.\n\n", words(&sentence)));
        }
    }
    for found in found::of(report) {
        let sentence = prose(parts(&found.sentence));
        out.push_str(&format!("### {}\n\n{sentence}\n\n", found.title));
        for line in &found.lines {
            out.push_str(&format!("- {}\n", prose(parts(line))));
        }
        out.push('\n');
    }
    priors(&mut out, report);
    list_facts(&mut out, "Data", facts::data(report));
    let paragraph = prose(methods::paragraph(report));
    out.push_str(&format!("### Methods\n\n{paragraph}\n\n### References\n\n"));
    for reference in methods::references(report) {
        out.push_str(&format!("- {}\n", words(&reference)));
    }
    out.push('\n');
    list_facts(&mut out, "Settings and versions", facts::settings(report));
    let recipe = report.recipe.to_toml();
    let fence = "`".repeat(longest_ticks(&recipe).max(2) + 1);
    let recipe = recipe.trim_end();
    out.push_str(&format!("{RECIPE}:\n\n{fence}toml\n{recipe}\n{fence}\n"));
    out
}

/// What stands in a cell of a table, which a bar ends even within code.
fn in_cell(markup: &str) -> String {
    markup.replace('|', "\\|")
}

/// The table of priors, and for which scales they hold.
fn priors(out: &mut String, report: &Report) {
    out.push_str("### Priors\n\n| parameter | prior | where it comes from |\n|---|---|---|\n");
    for row in &report.priors {
        let count = match row.count {
            1 => String::new(),
            many => format!(" ({})", thousands(many as u64)),
        };
        let prior = match row.prior.as_str() {
            "" => String::new(),
            prior => in_cell(&code(prior)),
        };
        let (name, source) = (
            in_cell(&code(&row.name)),
            prose(parts(&row.source.to_string())),
        );
        out.push_str(&format!("| {name}{count} | {prior} | {source} |\n"));
    }
    let scales = prose(parts(&capitalised(&report.manifest.scales)));
    out.push_str(&format!("\n{scales}.\n\n"));
}

fn list_facts(out: &mut String, title: &str, facts: Vec<Fact>) {
    out.push_str(&format!("### {title}\n\n"));
    for fact in facts {
        let lines: Vec<String> = fact.lines.into_iter().map(prose).collect();
        out.push_str(&format!("- {}: {}\n", fact.term, lines.join("; ")));
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_code_whatever_is_in_them() {
        assert_eq!(code("b[age]"), "`b[age]`");
        assert_eq!(code("a``b"), "``` a``b ```");
        assert_eq!(
            prose(crate::report::parts("see `b[<x>]` * 2")),
            "see `b[<x>]` \\* 2"
        );
    }
}
