//! Results in LaTeX: the table with the rules of booktabs, and a sentence for each effect on the outcome and for each coefficient.

use super::estimates::Column;
use super::{Part, Report, answers, groups_found, parts, sentence};
use ergodic_base::numerals::{NARROW, thousands};
use ergodic_base::shown::visible_line;

/// Words in which nothing is a command.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in visible_line(text).chars() {
        match c {
            '\\' => out.push_str("\\textbackslash{}"),
            '{' | '}' | '$' | '&' | '#' | '_' | '%' => out.extend(['\\', c]),
            '^' => out.push_str("\\textasciicircum{}"),
            '~' => out.push_str("\\textasciitilde{}"),
            '<' => out.push_str("\\textless{}"),
            '>' => out.push_str("\\textgreater{}"),
            '|' => out.push_str("\\textbar{}"),
            '…' => out.push_str("\\ldots{}"),
            '²' => out.push_str("$^2$"),
            NARROW => out.push_str("\\,"),
            '\u{a0}' => out.push('~'),
            '−' => out.push_str("$-$"),
            c => out.push(c),
        }
    }
    out
}

fn code(name: &str) -> String {
    format!("\\texttt{{{}}}", words(name))
}

/// A number; those below zero with a true minus sign.
fn number(text: &str) -> String {
    match text.parse::<f64>() {
        Ok(_) => format!("${text}$"),
        Err(_words) => words(text),
    }
}

/// A text in which names are code and numbers have true minus signs.
fn prose(parts: impl IntoIterator<Item = Part>) -> String {
    let part = |part| match part {
        Part::Words(text) => words(&text).replace(" -", " $-$"),
        Part::Name(name) => code(&name),
    };
    parts.into_iter().map(part).collect()
}

/// The table and the sentences.
pub fn write(report: &Report) -> String {
    let heads = Column::ALL.map(|column| words(column.head()));
    let (word, sentence) = report.verdict();
    let mut out = format!(
        "% needs \\usepackage{{booktabs}}\n\\textbf{{{word}}}: {}\n\n",
        prose(parts(sentence))
    );
    let told = answers::sentences(report);
    if !told.is_empty() {
        let item =
            |sentence: &String| format!("  \\item {}\n", words(sentence).replace(" -", " $-$"));
        let items: String = told.iter().map(item).collect();
        out.push_str(&format!("\\begin{{itemize}}\n{items}\\end{{itemize}}\n\n"));
    }
    for remark in answers::remarks(report) {
        out.push_str(&format!("{}\n\n", prose(parts(&remark))));
    }
    for section in &report.sections {
        out.push_str(&format!(
            "\\begin{{table}}\n  \\centering\n  \\caption{{{}}}\n",
            section.title
        ));
        out.push_str(&format!(
            "  \\begin{{tabular}}{{l{}}}\n    \\toprule\n",
            "r".repeat(heads.len())
        ));
        out.push_str(&format!(
            "    parameter & {} \\\\\n    \\midrule\n",
            heads.join(" & ")
        ));
        for (row, _) in &section.rows {
            let cells = Column::ALL.map(|column| number(&column.text(row)));
            let name = code(&row.variable);
            out.push_str(&format!("    {name} & {} \\\\\n", cells.join(" & ")));
        }
        out.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n\n");
        if section.more > 0 {
            let more = words(&thousands(section.more as u64));
            out.push_str(&format!("And {more} more in {}.\n\n", code("summary.csv")));
        }
        if section.is_of_coefficients {
            out.push_str("\\begin{itemize}\n");
            for (row, meaning) in &section.rows {
                let Some(text) = sentence::of(row, meaning.as_deref()) else {
                    continue;
                };
                let rest = text
                    .strip_prefix(&format!("`{}`", row.variable))
                    .unwrap_or(&text);
                let rest = words(rest).replace(" -", " $-$");
                out.push_str(&format!("  \\item {}{rest}\n", code(&row.variable)));
            }
            out.push_str("\\end{itemize}\n\n");
        }
    }
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            out.push_str(&format!("{}.\n\n", words(&sentence)));
        }
    }
    for found in groups_found::of(report) {
        let sentence = prose(parts(&found.sentence));
        out.push_str(&format!("{sentence}\n\\begin{{itemize}}\n"));
        for line in &found.lines {
            out.push_str(&format!("  \\item {}\n", prose(parts(line))));
        }
        out.push_str("\\end{itemize}\n\n");
    }
    out.push_str(&prose(super::methods::paragraph(report)));
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_a_name_is_a_command() {
        assert_eq!(
            code("b[a_1%\\x{y}^2]"),
            "\\texttt{b[a\\_1\\%\\textbackslash{}x\\{y\\}\\textasciicircum{}2]}"
        );
        assert_eq!(
            (number("-0.5"), number("too few draws")),
            ("$-0.5$".to_owned(), "too few draws".to_owned())
        );
    }
}
