//! Results in LaTeX: the table with the rules of booktabs, a sentence for each effect on the outcome and for each coefficient, and how
//! they were made. Greek letters, which fonts of text have not got, are mathematics.

use super::estimates::Column;
use super::facts::{self, Fact};
use super::{Part, RECIPE, Report, answers, found, methods, parts, sentence};
use ergodic_base::numerals::{NARROW, thousands};
use ergodic_base::shown::{capitalised, visible_line};

/// Packages that the text needs. Without the last, LaTeX before 2018 knows no letters but those of ASCII.
const NEEDS: &str = "% needs \\usepackage{booktabs} and \\usepackage[T1]{fontenc}; this file is in UTF-8, for which LaTeX before 2018 needs \
                     \\usepackage[utf8]{inputenc}\n";

/// Letters and signs that are mathematics, and the command of each; capitals that look as Latin ones are these.
const MATHS: [(char, &str); 45] = [
    ('α', "\\alpha"),
    ('β', "\\beta"),
    ('γ', "\\gamma"),
    ('δ', "\\delta"),
    ('ε', "\\varepsilon"),
    ('ζ', "\\zeta"),
    ('η', "\\eta"),
    ('θ', "\\theta"),
    ('ι', "\\iota"),
    ('κ', "\\kappa"),
    ('λ', "\\lambda"),
    ('μ', "\\mu"),
    ('µ', "\\mu"),
    ('ν', "\\nu"),
    ('ξ', "\\xi"),
    ('ο', "o"),
    ('π', "\\pi"),
    ('ρ', "\\rho"),
    ('σ', "\\sigma"),
    ('ς', "\\varsigma"),
    ('τ', "\\tau"),
    ('υ', "\\upsilon"),
    ('φ', "\\varphi"),
    ('χ', "\\chi"),
    ('ψ', "\\psi"),
    ('ω', "\\omega"),
    ('Γ', "\\Gamma"),
    ('Δ', "\\Delta"),
    ('Θ', "\\Theta"),
    ('Λ', "\\Lambda"),
    ('Ξ', "\\Xi"),
    ('Π', "\\Pi"),
    ('Σ', "\\Sigma"),
    ('Φ', "\\Phi"),
    ('Ψ', "\\Psi"),
    ('Ω', "\\Omega"),
    ('²', "^2"),
    ('³', "^3"),
    ('−', "-"),
    ('×', "\\times"),
    ('±', "\\pm"),
    ('≤', "\\le"),
    ('≥', "\\ge"),
    ('∞', "\\infty"),
    ('·', "\\cdot"),
];

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
            NARROW => out.push_str("\\,"),
            '\u{a0}' => out.push('~'),
            c => match MATHS.iter().find(|(letter, _)| *letter == c) {
                Some((_, command)) => out.push_str(&format!("${command}$")),
                None => out.push(c),
            },
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
    let mut out = format!("{NEEDS}\\textbf{{{word}}}: {}\n\n", prose(parts(sentence)));
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
            for sentence in section.rows.iter().filter_map(sentence::of) {
                out.push_str(&format!("  \\item {}\n", prose(sentence)));
            }
            out.push_str("\\end{itemize}\n\n");
        }
    }
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            out.push_str(&format!("{}.\n\n", words(&sentence)));
        }
    }
    for found in found::of(report) {
        let sentence = prose(parts(&found.sentence));
        out.push_str(&format!("{sentence}\n\\begin{{itemize}}\n"));
        for line in &found.lines {
            out.push_str(&format!("  \\item {}\n", prose(parts(line))));
        }
        out.push_str("\\end{itemize}\n\n");
    }
    priors(&mut out, report);
    list_facts(&mut out, "Data", facts::data(report));
    let paragraph = prose(methods::paragraph(report));
    out.push_str(&format!("\\subsection*{{Methods}}\n{paragraph}\n\n"));
    out.push_str("\\subsection*{References}\n\\begin{itemize}\n");
    for reference in methods::references(report) {
        out.push_str(&format!("  \\item {}\n", words(&reference)));
    }
    out.push_str("\\end{itemize}\n\n");
    list_facts(&mut out, "Settings and versions", facts::settings(report));
    out.push_str(&format!("{}:\n\n", words(RECIPE)));
    out.push_str(&listing(&report.recipe.to_toml()));
    out
}

/// A table of priors, and for which scales they hold.
fn priors(out: &mut String, report: &Report) {
    out.push_str("\\begin{table}\n  \\centering\n  \\caption{Priors}\n");
    out.push_str("  \\begin{tabular}{llp{0.4\\linewidth}}\n    \\toprule\n");
    out.push_str("    parameter & prior & where it comes from \\\\\n    \\midrule\n");
    for row in &report.priors {
        let count = match row.count {
            1 => String::new(),
            many => format!(" ({})", words(&thousands(many as u64))),
        };
        let prior = match row.prior.as_str() {
            "" => String::new(),
            prior => code(prior),
        };
        let (name, source) = (code(&row.name), prose(parts(&row.source.to_string())));
        out.push_str(&format!("    {name}{count} & {prior} & {source} \\\\\n"));
    }
    out.push_str("    \\bottomrule\n  \\end{tabular}\n\\end{table}\n\n");
    let scales = prose(parts(&capitalised(&report.manifest.scales)));
    out.push_str(&format!("{scales}.\n\n"));
}

fn list_facts(out: &mut String, title: &str, facts: Vec<Fact>) {
    out.push_str(&format!(
        "\\subsection*{{{title}}}\n\\begin{{description}}\n"
    ));
    for fact in facts {
        let lines: Vec<String> = fact.lines.into_iter().map(prose).collect();
        let (term, lines) = (words(fact.term), lines.join("; "));
        out.push_str(&format!("  \\item[{term}] {lines}\n"));
    }
    out.push_str("\\end{description}\n\n");
}

/// A text of several lines in typewriter letters.
fn listing(text: &str) -> String {
    // An empty box begins each line, for a bracket behind the end of one would be its argument.
    let line = |line: &str| format!("\\mbox{{}}{}", words(line).replace("  ", "~~"));
    let lines: Vec<String> = text.trim_end().lines().map(line).collect();
    format!(
        "{{\\footnotesize\\ttfamily\\raggedright\\noindent\n{}\\par}}\n",
        lines.join("\\\\\n")
    )
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
        assert_eq!(code("σ[größe]"), "\\texttt{$\\sigma$[größe]}");
        assert_eq!(
            listing("[data]\nx = \"a_b\"\n"),
            "{\\footnotesize\\ttfamily\\raggedright\\noindent\n\\mbox{}[data]\\\\\n\\mbox{}x = \"a\\_b\"\\par}\n"
        );
        assert_eq!(
            (number("-0.5"), number("too few draws")),
            ("$-0.5$".to_owned(), "too few draws".to_owned())
        );
    }
}
