//! Results in Markdown: the table, and a sentence for each effect on the outcome and for each coefficient.

use super::estimates::Column;
use super::{Part, Report, answers, groups_found, parts, sentence};
use ergodic_base::numerals::thousands;
use ergodic_base::shown::visible_line;

/// A name as code, in which nothing is markup.
fn code(name: &str) -> String {
    let name = visible_line(name);
    // A run of backticks longer than any in the name.
    let longest = name.split(|c| c != '`').map(str::len).max().unwrap_or(0);
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
            // A bar ends a cell even within code.
            let name = code(&row.variable).replace('|', "\\|");
            out.push_str(&format!("| {name} | {} |\n", cells.join(" | ")));
        }
        out.push('\n');
        if section.more > 0 {
            let more = thousands(section.more as u64);
            out.push_str(&format!("And {more} more in `summary.csv`.\n\n"));
        }
        if section.is_of_coefficients {
            let sentences = section.rows.iter();
            let sentences =
                sentences.filter_map(|(row, meaning)| sentence_of(row, meaning.as_deref()));
            for sentence in sentences {
                out.push_str(&format!("- {sentence}\n"));
            }
            out.push('\n');
        }
    }
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            out.push_str(&format!("{}.\n\n", words(&sentence)));
        }
    }
    for found in groups_found::of(report) {
        let sentence = prose(parts(&found.sentence));
        out.push_str(&format!("### {}\n\n{sentence}\n\n", found.title));
        for line in &found.lines {
            out.push_str(&format!("- {}\n", prose(parts(line))));
        }
        out.push('\n');
    }
    out.push_str(&prose(super::methods::paragraph(report)));
    out.push('\n');
    out
}

/// The sentence of a row; its name may have backticks.
fn sentence_of(row: &ergodic_diagnostics::SummaryRow, meaning: Option<&str>) -> Option<String> {
    let text = sentence::of(row, meaning)?;
    let rest = text.strip_prefix(&format!("`{}`", row.variable))?;
    Some(code(&row.variable) + &words(rest))
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
