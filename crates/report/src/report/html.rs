//! A report as one page: no scripts, nothing to load, and XML besides HTML, so that any program can read it. A number of the table
//! of results is a `data` element whose `value` has all digits, those of `summary.json`.

use super::estimates::Column;
use super::{Part, Report, Section, answers, groups_found, methods, parts, sentence, style};
use crate::figure::svg;
use crate::xml::escape;
use ergodic_base::numerals::thousands;
use ergodic_base::reporter::{Severity, Warning};
use ergodic_diagnostics::Verdict;
use ergodic_export::number::shortest;

/// Characters of the title of a page, which is that of a tab.
const LONGEST_TITLE: usize = 120;

/// A page that grows.
#[derive(Default)]
struct Page {
    text: String,
}

impl Page {
    fn line(&mut self, markup: &str) {
        self.text.push_str(markup);
        self.text.push('\n');
    }

    fn heading(&mut self, title: &str) {
        self.line(&format!("<h2>{}</h2>", escape(title)));
    }

    fn paragraph(&mut self, text: &str) {
        self.line(&format!("<p>{}</p>", prose(text)));
    }

    fn list(&mut self, items: impl IntoIterator<Item = String>) {
        let items: Vec<String> = items
            .into_iter()
            .map(|item| format!("<li>{item}</li>\n"))
            .collect();
        if !items.is_empty() {
            self.line(&format!("<ul>\n{}</ul>", items.concat()));
        }
    }

    /// Terms and what is said about them; those without anything are left out.
    fn facts(&mut self, facts: &[(&str, String)]) {
        self.line("<dl>");
        for (term, markup) in facts.iter().filter(|(_, markup)| !markup.is_empty()) {
            self.line(&format!("<dt>{}</dt><dd>{markup}</dd>", escape(term)));
        }
        self.line("</dl>");
    }

    fn folded(&mut self, title: &str, text: &str) {
        self.line(&format!(
            "<details>\n<summary>{}</summary>\n<pre>{}</pre>\n</details>",
            escape(title),
            escape(text.trim_end())
        ));
    }
}

/// A sentence of the program, with names between backticks as code.
fn prose(text: &str) -> String {
    markup(parts(text))
}

/// A text with its names as code.
fn markup(parts: impl IntoIterator<Item = Part>) -> String {
    let part = |part| match part {
        Part::Words(text) => escape(&text),
        Part::Name(name) => code(&name),
    };
    parts.into_iter().map(part).collect()
}

fn code(text: &str) -> String {
    format!("<code>{}</code>", escape(text))
}

/// The page.
pub fn write(report: &Report) -> String {
    let title = report.title();
    let short = ergodic_base::shown::cut(&title, LONGEST_TITLE);
    let mut page = Page::default();
    page.line("<!DOCTYPE html>");
    page.line("<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>");
    page.line("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>");
    page.line(&format!("<title>{}</title>", escape(&short)));
    page.line(&format!(
        "<style>{}</style>\n</head>\n<body>",
        style::sheet()
    ));
    page.line(&format!("<h1>{}</h1>", escape(&title)));
    let formula = report.manifest.formula.as_str();
    if !formula.is_empty() {
        page.line(&format!("<p class=\"quiet\">{}</p>", code(formula)));
    }
    if let Some(note) = &report.label.note {
        page.line(&format!("<p>{}</p>", escape(note)));
    }
    verdict(&mut page, report);
    results(&mut page, report);
    model(&mut page, report);
    data(&mut page, report);
    methods_of(&mut page, report);
    figures(&mut page, report);
    settings(&mut page, report);
    page.line("</body>\n</html>");
    page.text
}

fn verdict(page: &mut Page, report: &Report) {
    let manifest = &report.manifest;
    let class = match manifest.verdict {
        Verdict::Good => "good",
        Verdict::Watch => "watch",
        Verdict::Bad => "bad",
        Verdict::TooEarly => "early",
        Verdict::NotCertified => "uncertified",
    };
    let (word, sentence) = report.verdict();
    page.line(&format!(
        "<div class=\"verdict {class}\"><p><strong>{word}</strong> · {}</p></div>",
        prose(sentence)
    ));
    let mut warnings: Vec<&Warning> = manifest.warnings.iter().collect();
    warnings.sort_by_key(|warning| std::cmp::Reverse(warning.severity));
    let files = report
        .remarks
        .iter()
        .map(|remark| (Severity::Bad, remark.clone()));
    let all = files.chain(
        warnings
            .iter()
            .map(|warning| (warning.severity, warning.to_string())),
    );
    page.list(all.map(|(severity, text)| {
        let (class, word) = match severity {
            Severity::Bad => ("bad", "Bad"),
            Severity::Watch => ("watch", "Watch"),
            Severity::Info => ("note", "Note"),
        };
        format!("<strong class=\"{class}\">{word}</strong> {}", prose(&text))
    }));
}

fn results(page: &mut Page, report: &Report) {
    page.heading("Results");
    page.list((answers::sentences(report).iter()).map(|sentence| minus(&escape(sentence))));
    for remark in answers::remarks(report) {
        page.line(&format!("<p class=\"quiet\">{}</p>", prose(&remark)));
    }
    for section in &report.sections {
        estimates(page, section);
    }
    let sentences = report
        .sections
        .iter()
        .filter(|section| section.is_of_coefficients);
    let rows = sentences.flat_map(|section| &section.rows);
    let sentences: Vec<String> = rows
        .filter_map(|(row, meaning)| {
            let text = sentence::of(row, meaning.as_deref())?;
            // The name may have backticks of its own.
            let rest = text.strip_prefix(&format!("`{}`", row.variable))?;
            Some(code(&row.variable) + &minus(&escape(rest)))
        })
        .collect();
    page.list(sentences);
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            page.paragraph(&format!("{sentence}."));
        }
    }
    for found in groups_found::of(report) {
        page.line(&format!("<h3>{}</h3>", found.title));
        page.paragraph(&found.sentence);
        page.list(found.lines.iter().map(|line| prose(line)));
    }
}

/// Hyphens before numbers as minus signs.
fn minus(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = letters.next() {
        let is_sign = c == '-'
            && !before.is_alphanumeric()
            && letters.peek().is_some_and(char::is_ascii_digit);
        out.push(if is_sign { '−' } else { c });
        before = c;
    }
    out
}

fn estimates(page: &mut Page, section: &Section) {
    page.line("<div class=\"scroll\"><table class=\"results\">");
    page.line(&format!("<caption>{}</caption>", escape(section.title)));
    let heads =
        Column::ALL.map(|column| format!("<th scope=\"col\">{}</th>", escape(column.head())));
    page.line(&format!(
        "<thead><tr><th scope=\"col\">parameter</th>{}</tr></thead>\n<tbody>",
        heads.concat()
    ));
    for (row, meaning) in &section.rows {
        let title = meaning
            .as_ref()
            .map_or_else(String::new, |text| format!(" title=\"{}\"", escape(text)));
        let cells = Column::ALL.map(|column| {
            let text = column.text(row);
            match column.value(row) {
                Some(value) => format!(
                    "<td><data value=\"{}\">{}</data></td>",
                    shortest(value),
                    minus(&escape(&text))
                ),
                None => format!(
                    "<td>{}</td>",
                    escape(if text == "NA" { "n/a" } else { &text })
                ),
            }
        });
        page.line(&format!(
            "<tr><th scope=\"row\"{title}>{}</th>{}</tr>",
            code(&row.variable),
            cells.concat()
        ));
    }
    page.line("</tbody></table></div>");
    if section.more > 0 {
        let more = thousands(section.more as u64);
        page.line(&format!(
            "<p class=\"quiet\">And {more} more in <code>summary.csv</code></p>"
        ));
    }
}

fn model(page: &mut Page, report: &Report) {
    page.heading("Model");
    match &report.description {
        Ok(description) => match &description.translation {
            Ok(translation) => {
                for paragraph in translation.words.split("\n\n") {
                    page.paragraph(paragraph);
                }
                page.line(&format!(
                    "<pre>{}</pre>",
                    escape(translation.equation.trim_end())
                ));
                if let Ok(stan) = &translation.stan {
                    page.folded("Stan program", stan);
                }
                if let Ok(brms) = &translation.brms {
                    page.folded("Call of brms", brms);
                }
            }
            Err(why) => page.paragraph(&format!("The model is not written down: {why}")),
        },
        Err(why) => page.paragraph(&format!(
            "The model is not described here, because its data could not be read: {why}"
        )),
    }
    page.line("<h3>Priors</h3>");
    page.line("<div class=\"scroll\"><table class=\"words\">");
    page.line(
        "<thead><tr><th scope=\"col\">parameter</th><th scope=\"col\">prior</th><th scope=\"col\">where it comes from</th></tr></thead>\n<tbody>",
    );
    for row in &report.priors {
        let count = match row.count {
            1 => String::new(),
            many => format!(" <span class=\"quiet\">({})</span>", thousands(many as u64)),
        };
        let prior = if row.prior.is_empty() {
            String::new()
        } else {
            code(&row.prior)
        };
        page.line(&format!(
            "<tr><th scope=\"row\">{}{count}</th><td>{prior}</td><td>{}</td></tr>",
            code(&row.name),
            prose(&row.source)
        ));
    }
    page.line("</tbody></table></div>");
    page.line(&format!(
        "<p class=\"quiet\">{}</p>",
        prose(&sentence_case(&report.manifest.scales))
    ));
}

fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|c| c.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

fn data(page: &mut Page, report: &Report) {
    page.heading("Data");
    let manifest = &report.manifest;
    let count = |number: usize| thousands(number as u64);
    let described = report.description.as_ref().ok();
    let left_out = manifest.rows_total - manifest.rows_used.min(manifest.rows_total);
    let missing = described.map_or_else(String::new, |it| {
        let each = it.dropped.iter();
        let each = each.map(|(column, rows)| format!("{} without {}", count(*rows), code(column)));
        each.collect::<Vec<_>>().join(", ")
    });
    let left_out = match (left_out, missing.as_str()) {
        (0, _) => "none".to_owned(),
        (rows, "") => count(rows),
        (rows, missing) => format!("{} ({missing})", count(rows)),
    };
    let response = match (&manifest.success, manifest.response.as_str()) {
        (_, "") => String::new(),
        (None, name) => code(name),
        (Some(success), name) => format!("{}, success is {}", code(name), code(success)),
    };
    let references = manifest.reference_levels.iter();
    let references =
        references.map(|(column, level)| format!("{} of {}", code(level), code(column)));
    let constant = described.map_or_else(String::new, |it| {
        let terms: Vec<String> = it.left_out.iter().map(|term| code(term)).collect();
        terms.join(", ")
    });
    page.facts(&[
        ("Source", code(&manifest.data_source)),
        ("Rows", count(manifest.rows_total + manifest.rows_held_out)),
        ("Rows used", count(manifest.rows_used)),
        (
            "Rows held out",
            match manifest.rows_held_out {
                0 => String::new(),
                rows => count(rows),
            },
        ),
        ("Rows left out", left_out),
        (
            "Columns",
            described.map_or_else(String::new, |it| count(it.columns)),
        ),
        ("Outcome", response),
        (
            "Reference levels",
            references.collect::<Vec<_>>().join(", "),
        ),
        ("Terms left out, the same in all rows", constant),
        ("Fingerprint, SHA-256", code(&manifest.data_fingerprint)),
    ]);
}

fn methods_of(page: &mut Page, report: &Report) {
    page.heading("Methods");
    let paragraph = methods::paragraph(report);
    page.line(&format!("<p>{}</p>", markup(paragraph)));
    page.line("<h3>References</h3>");
    page.list(methods::references(report).iter().map(|text| escape(text)));
}

fn figures(page: &mut Page, report: &Report) {
    if report.figures.is_empty() && report.no_figures.is_empty() {
        return;
    }
    page.heading("Pictures");
    for figure in &report.figures {
        page.line(&format!(
            "<figure>\n{}<figcaption>{}</figcaption>\n</figure>",
            svg::element(figure),
            prose(&figure.caption())
        ));
    }
    page.list(report.no_figures.iter().map(|why| prose(why)));
}

fn settings(page: &mut Page, report: &Report) {
    page.heading("Settings and versions");
    let manifest = &report.manifest;
    let chains = manifest.chains.iter().enumerate().map(|(k, chain)| {
        let failure = chain.failure.as_ref();
        let failure =
            failure.map_or_else(String::new, |why| format!("; it failed: {}", prose(why)));
        format!(
            "chain {}: {} draws after {} iterations of warm-up{failure}",
            k + 1,
            thousands(chain.draws as u64),
            thousands(chain.warmup as u64)
        )
    });
    let chains: Vec<String> = chains.collect();
    page.facts(&[
        ("Program", escape(&manifest.program)),
        (
            "This report",
            escape(&format!("ergodic {}", env!("CARGO_PKG_VERSION"))),
        ),
        ("Template", code(&manifest.template)),
        (
            "Sampler",
            format!(
                "{} <span class=\"quiet\">{}</span>",
                code(&manifest.sampler),
                prose(&manifest.sampler_reason)
            ),
        ),
        ("Chains", chains.join("<br/>")),
        ("Seed", manifest.seed.to_string()),
        (
            "Gradients of single rows",
            format!(
                "{} ({} passes over the data)",
                thousands(manifest.datum_grads),
                ergodic_base::numerals::amount(manifest.passes)
            ),
        ),
        (
            "Time",
            ergodic_base::numerals::duration(manifest.elapsed_secs),
        ),
        ("Draws are the same on", escape(&manifest.reproducible_on)),
    ]);
    page.folded(
        "Recipe: every choice; ergodic fit makes the run again from it",
        &report.recipe.to_toml(),
    );
}
