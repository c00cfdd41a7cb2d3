//! The data of a run, and its settings and versions: terms and what is said of each.

use ergodic_base::numerals::{amount, duration, thousands};

use super::{Part, Report, parts};

/// A term and what is said of it, in lines.
pub struct Fact {
    /// The term.
    pub term: &'static str,
    /// Lines, each in parts.
    pub lines: Vec<Vec<Part>>,
}

impl Fact {
    fn of(term: &'static str, parts: Vec<Part>) -> Self {
        Self {
            term,
            lines: vec![parts],
        }
    }

    fn words(term: &'static str, text: impl Into<String>) -> Self {
        Self::of(term, vec![Part::Words(text.into())])
    }

    fn name(term: &'static str, name: &str) -> Self {
        Self::of(term, vec![Part::Name(name.to_owned())])
    }
}

/// Items with commas between them.
fn listed(items: impl IntoIterator<Item = Vec<Part>>) -> Vec<Part> {
    let mut all = Vec::new();
    for item in items {
        if !all.is_empty() {
            all.push(Part::Words(", ".to_owned()));
        }
        all.extend(item);
    }
    all
}

/// The data that the model was fitted to. What there is nothing to say of is left out.
pub fn data(report: &Report) -> Vec<Fact> {
    let manifest = &report.manifest;
    let (words, name) = (Part::Words, |text: &str| Part::Name(text.to_owned()));
    let count = |number: usize| thousands(number as u64);
    let described = report.description.as_ref().ok();
    let mut facts = vec![
        Fact::name("Source", &manifest.data_source),
        Fact::words("Rows", count(manifest.rows_total + manifest.rows_held_out)),
        Fact::words("Rows used", count(manifest.rows_used)),
    ];
    if manifest.rows_held_out > 0 {
        facts.push(Fact::words("Rows held out", count(manifest.rows_held_out)));
    }
    let rows = manifest.rows_total - manifest.rows_used.min(manifest.rows_total);
    let mut left_out = vec![words(match rows {
        0 => "none".to_owned(),
        rows => count(rows),
    })];
    let dropped = described.map_or(&[][..], |it| &it.dropped);
    if rows > 0 && !dropped.is_empty() {
        let each = dropped.iter().map(|(column, rows)| {
            let without = format!("{} without ", count(*rows));
            vec![words(without), name(column)]
        });
        left_out.push(words(" (".to_owned()));
        left_out.extend(listed(each));
        left_out.push(words(")".to_owned()));
    }
    facts.push(Fact::of("Rows left out", left_out));
    if let Some(description) = described {
        facts.push(Fact::words("Columns", count(description.columns)));
    }
    if !manifest.response.is_empty() {
        let mut outcome = vec![name(&manifest.response)];
        if let Some(success) = &manifest.success {
            outcome.extend([words(", success is ".to_owned()), name(success)]);
        }
        facts.push(Fact::of("Outcome", outcome));
    }
    if let Some(censored) = report.censored() {
        facts.push(Fact::words("Censored outcomes", censored));
    }
    let references = manifest.reference_levels.iter();
    let references = listed(
        references.map(|(column, level)| vec![name(level), words(" of ".to_owned()), name(column)]),
    );
    if !references.is_empty() {
        facts.push(Fact::of("Reference levels", references));
    }
    let constant = described.map_or(&[][..], |it| &it.left_out);
    if !constant.is_empty() {
        let terms = listed(constant.iter().map(|term| vec![name(term)]));
        facts.push(Fact::of("Terms left out, the same in all rows", terms));
    }
    facts.push(Fact::name(
        "Fingerprint, SHA-256",
        &manifest.data_fingerprint,
    ));
    facts
}

/// How the run was made, and by what.
pub fn settings(report: &Report) -> Vec<Fact> {
    let manifest = &report.manifest;
    let mut sampler = vec![
        Part::Name(manifest.sampler.clone()),
        Part::Words(" ".to_owned()),
    ];
    sampler.extend(parts(&manifest.sampler_reason));
    let chains = manifest.chains.iter().enumerate().map(|(k, chain)| {
        let failure =
            (chain.failure.as_ref()).map_or_else(String::new, |why| format!("; it failed: {why}"));
        let line = format!(
            "chain {}: {} draws after {} iterations of warm-up{failure}",
            k + 1,
            thousands(chain.draws as u64),
            thousands(chain.warmup as u64)
        );
        parts(&line).collect()
    });
    vec![
        Fact::words("Program", manifest.program.as_str()),
        Fact::words(
            "This report",
            concat!("ergodic ", env!("CARGO_PKG_VERSION")),
        ),
        Fact::name("Template", &manifest.template),
        Fact::of("Sampler", sampler),
        Fact {
            term: "Chains",
            lines: chains.collect(),
        },
        Fact::words("Seed", manifest.seed.to_string()),
        Fact::words(
            "Gradients of single rows",
            format!(
                "{} ({} passes over the data)",
                thousands(manifest.datum_grads),
                amount(manifest.passes)
            ),
        ),
        Fact::words("Time", duration(manifest.elapsed_secs)),
        Fact::words("Draws are the same on", manifest.reproducible_on.as_str()),
    ]
}
