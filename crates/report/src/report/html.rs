//! A report as one page: no scripts, nothing to load, and XML besides HTML, so that any program can read it. A number of the table
//! of results is a `data` element whose `value` has all digits, those of `summary.json`.

use super::estimates::Column;
use super::facts::{self, Fact};
use super::{Part, RECIPE, Report, Section, answers, found, methods, parts, sentence, style};
use crate::figure::svg;
use crate::xml::escape;
use ergodic_base::numerals::thousands;
use ergodic_base::shown::capitalised;
use ergodic_base::{Severity, Warning};
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

    /// Terms and what is said about them.
    fn facts(&mut self, facts: Vec<Fact>) {
        self.line("<dl>");
        for fact in facts {
            let lines: Vec<String> = fact.lines.into_iter().map(markup).collect();
            let (term, lines) = (escape(fact.term), lines.join("<br/>"));
            self.line(&format!("<dt>{term}</dt><dd>{lines}</dd>"));
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

/// A text with its names as code, and with minus signs before numbers that are not in code.
fn markup(parts: impl IntoIterator<Item = Part>) -> String {
    let part = |part| match part {
        Part::Words(text) => minus(&escape(&text)),
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
    page.list(rows.filter_map(sentence::of).map(markup));
    if let Some(r2) = &report.r2 {
        for sentence in r2.sentences() {
            page.paragraph(&format!("{sentence}."));
        }
    }
    for found in found::of(report) {
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
        let prior = match row.prior.as_str() {
            "" => String::new(),
            prior => code(prior),
        };
        page.line(&format!(
            "<tr><th scope=\"row\">{}{count}</th><td>{prior}</td><td>{}</td></tr>",
            code(&row.name),
            prose(&row.source.to_string())
        ));
    }
    page.line("</tbody></table></div>");
    page.line(&format!(
        "<p class=\"quiet\">{}</p>",
        prose(&capitalised(&report.manifest.scales))
    ));
}

fn data(page: &mut Page, report: &Report) {
    page.heading("Data");
    page.facts(facts::data(report));
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
    page.facts(facts::settings(report));
    page.folded(RECIPE, &report.recipe.to_toml());
}
