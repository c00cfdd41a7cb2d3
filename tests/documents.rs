//! The reference pages in `docs/` say what the registries say, links of the documents lead somewhere, and what the page about the papers
//! names is there.
//!
//! `ERGODIC_UPDATE_DOCS=1 cargo test --test documents` writes the pages anew.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use clap::{Arg, ArgAction, Command, CommandFactory as _};

use ergodic_analysis::{recipe_keys, templates};
use ergodic_base::Severity;
use ergodic_base::settings::Field;
use ergodic_core::estimators::mixed::METHODS;
use ergodic_core::samplers::SamplerFamily;
use ergodic_core::{estimators, samplers};
use ergodic_diagnostics::Verdict;

/// How to write the pages anew, as every page and a failing test say it.
const UPDATE: &str = "ERGODIC_UPDATE_DOCS=1 cargo test --test documents";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn code(text: &str) -> String {
    if text.contains('`') {
        format!("`` {text} ``")
    } else {
        format!("`{text}`")
    }
}

/// Choices as a list of words, other values as they are described.
fn values(text: &str) -> String {
    let choices: Vec<&str> = text.split(" | ").collect();
    match choices.split_last() {
        Some((last, words)) if !words.is_empty() => {
            let last = if last.starts_with("a text") {
                (*last).to_owned()
            } else {
                code(last)
            };
            let words = words.iter().map(|word| code(word)).chain([last]);
            words.collect::<Vec<_>>().join(", ")
        }
        _ => text.to_owned(),
    }
}

fn table(page: &mut String, head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) {
    let rule = vec!["---"; head.len()];
    writeln!(page, "| {} |", head.join(" | ")).unwrap();
    writeln!(page, "|{}|", rule.join("|")).unwrap();
    for row in rows {
        // A bare bar would end the cell.
        let cells: Vec<String> = row.iter().map(|text| text.replace('|', "\\|")).collect();
        writeln!(page, "| {} |", cells.join(" | ")).unwrap();
    }
    page.push('\n');
}

fn start(title: &str, about: &str) -> String {
    format!("# {title}\n\n{about}\n\nThis page is generated: `{UPDATE}` writes it anew.\n\n")
}

/// Keys of settings, or that there are none.
fn keys(prefix: &str, fields: &[Field]) -> String {
    if fields.is_empty() {
        return "none".to_owned();
    }
    let keys = fields
        .iter()
        .map(|field| code(&format!("{prefix}.{}", field.key)));
    keys.collect::<Vec<_>>().join(", ")
}

/// Settings of several owners, each described once with the owners that have it.
fn settings(page: &mut String, prefix: &str, owners: &[(&str, &[Field])]) {
    let mut rows: Vec<(&Field, Vec<&str>)> = Vec::new();
    for (owner, fields) in owners {
        for field in *fields {
            let same = |other: &&mut (&Field, Vec<&str>)| {
                let other = other.0;
                (other.key, other.help, other.why, other.kind, other.default)
                    == (field.key, field.help, field.why, field.kind, field.default)
            };
            match rows.iter_mut().find(same) {
                Some((_, having)) => having.push(owner),
                None => rows.push((field, vec![owner])),
            }
        }
    }
    rows.sort_by_key(|(field, _)| field.key);
    let rows = rows.into_iter().map(|(field, having)| {
        vec![
            code(&format!("{prefix}.{}", field.key)),
            having
                .iter()
                .map(|id| code(id))
                .collect::<Vec<_>>()
                .join(", "),
            values(&field.kind.to_string()),
            format!("{}: {}", code(&field.default_text()), field.why),
            field.help.to_owned(),
        ]
    });
    table(
        page,
        &["setting", "of", "values", "default and reason", "meaning"],
        rows,
    );
}

fn samplers_page() -> String {
    let mut page = start(
        "Samplers",
        "Every sampler, grouped by family. An exact sampler draws from the posterior itself; the others approximate it, and their \
         runs are *not certified* until a bias check has measured how far off they are. `auto` chooses one and says why; \
         `ergodic list samplers --data FILE --formula 'y ~ x'` ranks all of them for your data. \
         [settings.md](settings.md) explains the settings.",
    );
    for family in SamplerFamily::ALL {
        writeln!(page, "## {}\n", family.title()).unwrap();
        let members = || {
            samplers::REGISTRY
                .iter()
                .filter(|entry| entry.spec.family == family)
        };
        let rows = members().map(|entry| {
            let exact = if entry.spec.bias.is_none() {
                "yes"
            } else {
                "no"
            };
            vec![
                code(entry.spec.id),
                exact.to_owned(),
                entry.spec.about.to_owned(),
            ]
        });
        table(&mut page, &["sampler", "exact", "what it is for"], rows);
        for entry in members() {
            let spec = &entry.spec;
            writeln!(page, "### {} (`{}`)\n", spec.title, spec.id).unwrap();
            writeln!(page, "- Update: {}", code(spec.formula)).unwrap();
            writeln!(page, "- Source: {}", spec.cite).unwrap();
            if let Some(bias) = spec.bias {
                writeln!(page, "- Approximation: {bias}").unwrap();
            }
            writeln!(page, "- Settings: {}\n", keys("sampler", spec.fields)).unwrap();
        }
    }
    page.push_str(
        "## Optimisers\n\nThe posterior's mode, from which control variates and preconditioners start, is found by one of \
         these (`--mode`, or `mode.method` in a recipe) and finished by Newton steps.\n\n",
    );
    let rows = estimators::REGISTRY.iter().map(|entry| {
        let spec = &entry.spec;
        let text = [
            spec.about,
            spec.formula,
            spec.cite,
            &keys("mode", spec.fields),
        ]
        .map(str::to_owned);
        [vec![code(spec.id)], text.to_vec()].concat()
    });
    table(
        &mut page,
        &[
            "optimiser",
            "what it is for",
            "update",
            "source",
            "settings",
        ],
        rows,
    );
    page.push_str("## Methods of `ergodic estimate`\n\nLikelihood fits of regressions, with group effects or without, without priors and chains.\n\n");
    let rows = METHODS
        .iter()
        .map(|spec| vec![code(spec.id), spec.about.to_owned(), spec.cite.to_owned()]);
    table(&mut page, &["method", "what it does", "source"], rows);
    page
}

fn templates_page() -> String {
    let mut page = start(
        "Templates",
        "A template is a kind of model. Without `--template` the outcome decides which one is used, and a sentence says why. \
         [guides/models.md](guides/models.md) explains formulas and priors, [settings.md](settings.md) the settings.",
    );
    let mut groups: Vec<&str> = templates::all().map(|entry| entry.group).collect();
    groups.dedup();
    for group in groups {
        writeln!(page, "## {group}\n").unwrap();
        let members = || templates::all().filter(|entry| entry.group == group);
        let rows = members().map(|entry| {
            let classes = entry.spec.priors.classes.iter();
            let classes: Vec<String> = classes
                .map(|(key, words)| format!("`{key}` ({words})"))
                .collect();
            vec![
                code(entry.spec.id),
                entry.spec.about.to_owned(),
                templates::formula_beginning(entry).map_or("none".to_owned(), code),
                if classes.is_empty() {
                    "none".to_owned()
                } else {
                    classes.join(", ")
                },
                keys("model", entry.spec.fields),
            ]
        });
        table(
            &mut page,
            &[
                "template",
                "what it answers",
                "formula",
                "priors by class",
                "settings",
            ],
            rows,
        );
    }
    page.push_str(
        "## Bundled data sets\n\nEach can be named wherever a file can be given, such as `sample:churn`; `sample_data/` holds the \
         files.\n\n",
    );
    let rows = ergodic_data::samples::all().iter().map(|sample| {
        vec![
            code(&format!("sample:{}", sample.id)),
            sample.info.rows.to_string(),
            sample.info.description.to_owned(),
            code(sample.template),
            code(sample.formula),
        ]
    });
    table(
        &mut page,
        &["data set", "rows", "what is in it", "template", "formula"],
        rows,
    );
    page.push_str(
        "## Public data sets\n\nThe sets of the papers and experiments, for which the program makes no requests: fetch the file from the page, and the \
         command fits it. `ergodic list datasets` prints the same. Tables in the LIBSVM format, `label 3:0.5 11:2`, become columns `x1`, `x2`, … \
         and `label`; files may be packed with gzip, bzip2 or Zstandard.\n\n",
    );
    let rows = ergodic_data::PUBLIC_SETS.iter().map(|set| {
        vec![
            code(set.id),
            format!("{} × {}", set.rows, set.columns),
            format!("{}. {}", set.title, set.about),
            format!("[page]({}), {}", set.address, code(set.file)),
            code(set.command),
        ]
    });
    table(
        &mut page,
        &[
            "data set",
            "rows × columns",
            "what is in it",
            "where",
            "command",
        ],
        rows,
    );
    page
}

fn settings_page() -> String {
    let mut page = start(
        "Settings",
        "A setting stands in a recipe under its section (`[run]`, then `draws = 2000`) and on the command line after `--set` \
         (`--set run.draws=2000`); the window shows the same settings as forms. `auto` leaves a setting to the program. \
         `ergodic list settings nuts`, or the name of another sampler, template, optimiser or section of recipes, prints the same \
         as this page.",
    );
    page.push_str(
        "## Recipe\n\n`NAME` stands for a column, a class of parameters or a parameter.\n\n",
    );
    let rows = recipe_keys().into_iter().map(|entry| {
        vec![
            code(entry.key),
            values(&entry.takes),
            entry.default,
            entry.about.to_owned(),
        ]
    });
    table(
        &mut page,
        &["setting", "values", "default", "meaning"],
        rows,
    );

    page.push_str("## Templates\n\n");
    let owners: Vec<_> = templates::all()
        .map(|entry| (entry.spec.id, entry.spec.fields))
        .collect();
    settings(&mut page, "model", &owners);
    page.push_str("## Optimisers\n\n");
    let owners: Vec<_> = estimators::REGISTRY
        .iter()
        .map(|entry| (entry.spec.id, entry.spec.fields))
        .collect();
    settings(&mut page, "mode", &owners);
    page.push_str("## Samplers\n\n");
    let owners: Vec<_> = samplers::REGISTRY
        .iter()
        .map(|entry| (entry.spec.id, entry.spec.fields))
        .collect();
    settings(&mut page, "sampler", &owners);

    page.push_str("## Command line\n\n");
    let program = ergodic::cli::args::Args::command();
    let fit = program.find_subcommand("fit").unwrap();
    for (title, members) in ergodic::cli::args::GROUPS {
        writeln!(page, "### {title}\n").unwrap();
        let members = members.iter();
        for command in members.filter_map(|name| program.find_subcommand(name)) {
            flags(&mut page, command, fit);
        }
    }
    page.push_str("## Export formats\n\nFor `ergodic export --format`.\n\n");
    let rows = ergodic_export::FORMATS
        .iter()
        .map(|format| vec![code(format.id), format.about.to_owned()]);
    table(&mut page, &["format", "what it holds"], rows);
    page.push_str("## Pictures\n\nFor `ergodic plot --what`.\n\n");
    let rows = ergodic_report::FIGURES
        .iter()
        .map(|entry| vec![code(entry.id), entry.about.to_owned(), entry.takes.words()]);
    table(&mut page, &["picture", "what it shows", "takes"], rows);
    page.push_str("## Formats of reports\n\nFor `ergodic report --format`.\n\n");
    let rows = ergodic_report::report::FORMATS
        .iter()
        .map(|format| vec![code(format.id), format.about.to_owned()]);
    table(&mut page, &["format", "what it holds"], rows);
    page.push_str("## Experiments\n\nFor `ergodic bench`.\n\n");
    let rows = ergodic_experiments::REGISTRY.iter().map(|bench| {
        vec![
            code(bench.id),
            bench.about.to_owned(),
            bench.source.to_owned(),
        ]
    });
    table(
        &mut page,
        &["experiment", "what it measures", "source"],
        rows,
    );
    page
}

/// Flags and arguments of one command; those that it shares with `fit` are described there.
fn flags(page: &mut String, command: &Command, fit: &Command) {
    let about = command.get_about().unwrap().to_string();
    writeln!(page, "#### `ergodic {}`\n\n{about}.\n", command.get_name()).unwrap();
    let of_fit = |arg: &Arg| fit.get_arguments().any(|other| same(other, arg));
    let is_fit = command.get_name() == "fit";
    let shares = !is_fit
        && fit
            .get_arguments()
            .all(|arg| command.get_arguments().any(|other| same(other, arg)));
    if shares {
        page.push_str("Takes the flags of `ergodic fit`");
    }
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|arg| !(arg.is_hide_set() || shares && of_fit(arg)))
        .collect();
    match (shares, own.is_empty()) {
        (true, true) => page.push_str(".\n\n"),
        (true, false) => page.push_str(" and these:\n\n"),
        (false, _) => {}
    }
    if own.is_empty() {
        return;
    }
    let keys = recipe_keys();
    let rows = own.into_iter().map(|arg| {
        let entry = keys.iter().find(|entry| is_fit && sets(arg, entry.key));
        let default: Vec<String> = arg
            .get_default_values()
            .iter()
            .map(|value| code(&value.to_string_lossy()))
            .collect();
        let possible: Vec<String> = arg
            .get_possible_values()
            .iter()
            .map(|value| code(value.get_name()))
            .collect();
        let values = match (takes_value(arg), entry) {
            (false, _) => "switch".to_owned(),
            (true, Some(entry)) => entry.takes.clone(),
            (true, None) if possible.is_empty() => kind_of(arg),
            (true, None) => possible.join(", "),
        };
        let default = match (arg.is_required_set(), takes_value(arg), entry) {
            (true, _, _) => "required".to_owned(),
            (_, false, _) => "off".to_owned(),
            (_, _, Some(entry)) => format!("{} (`{}`)", entry.default, entry.key),
            (_, _, None) if default.is_empty() => "none".to_owned(),
            (_, _, None) => default.join(", "),
        };
        vec![
            code(&name(arg)),
            values,
            default,
            arg.get_help().unwrap().to_string(),
        ]
    });
    table(
        page,
        &["flag or argument", "values", "default", "meaning"],
        rows,
    );
}

/// A flag as it is typed, with the name of its value.
fn name(arg: &Arg) -> String {
    let value = arg.get_value_names().and_then(|names| names.first());
    match (arg.get_long(), value) {
        (Some(long), Some(value)) if takes_value(arg) => format!("--{long} {value}"),
        (Some(long), _) => format!("--{long}"),
        (None, Some(value)) => value.to_string(),
        (None, None) => arg.get_id().to_string(),
    }
}

/// Whether a flag of `fit` sets the recipe's entry `key`.
fn sets(arg: &Arg, key: &str) -> bool {
    let flag = arg.get_id().as_str();
    let sections = ["data.source", "mode.method", "sampler.id"];
    key == format!("run.{flag}")
        || key == format!("model.{flag}")
        || sections.contains(&key) && key.split('.').next() == Some(flag)
}

fn same(one: &Arg, other: &Arg) -> bool {
    one.get_id() == other.get_id()
        && one.get_help().map(ToString::to_string) == other.get_help().map(ToString::to_string)
}

fn takes_value(arg: &Arg) -> bool {
    matches!(arg.get_action(), ArgAction::Set | ArgAction::Append)
}

/// Type of an argument, from the type that it is read as.
fn kind_of(arg: &Arg) -> String {
    use std::any::TypeId;
    let read = arg.get_value_parser().type_id();
    let is = |id: TypeId| read == id;
    let number = is(TypeId::of::<u64>()) || is(TypeId::of::<usize>());
    let kind = match arg.get_action() {
        _ if number => "whole number",
        _ if is(TypeId::of::<f64>()) => "number",
        _ if is(TypeId::of::<PathBuf>()) => "path",
        _ if arg.get_value_delimiter().is_some() => "texts, separated by commas",
        ArgAction::Append => "text, may be repeated",
        _ => "text",
    };
    kind.to_owned()
}

#[test]
fn reference_pages_are_generated() {
    let pages = [
        ("docs/samplers.md", samplers_page()),
        ("docs/templates.md", templates_page()),
        ("docs/settings.md", settings_page()),
    ];
    for (name, page) in pages {
        let path = root().join(name);
        let page = page.trim_end().to_owned() + "\n";
        if std::env::var_os("ERGODIC_UPDATE_DOCS").is_some() {
            fs::write(&path, page).unwrap();
            continue;
        }
        let stored = fs::read_to_string(&path)
            .unwrap_or_default()
            .replace("\r\n", "\n");
        let line = page
            .lines()
            .zip(stored.lines().chain(std::iter::repeat("")));
        let differs = line.into_iter().position(|(new, old)| new != old);
        assert!(
            stored == page,
            "{name} is not what the registries say (line {}): run `{UPDATE}`",
            differs.map_or(page.lines().count() + 1, |line| line + 1)
        );
    }
}

/// Markdown files of the repository.
fn documents() -> Vec<PathBuf> {
    let mut folders = vec![root().join("docs")];
    let mut found: Vec<PathBuf> = ["README", "ARCHITECTURE", "CONTRIBUTING", "CHANGELOG"]
        .map(|name| root().join(name).with_extension("md"))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    found
}

#[test]
fn links_lead_somewhere() {
    let mut links = 0;
    for path in documents() {
        let text = fs::read_to_string(&path).unwrap();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let file = link.split('#').next().unwrap_or_default();
            if file.is_empty() || file.contains("://") {
                continue;
            }
            links += 1;
            let target = path.parent().unwrap().join(file);
            assert!(
                target.exists(),
                "{} links to {link}, which is not there",
                path.display()
            );
        }
    }
    assert!(links > 10, "only {links} links were found");
}

#[test]
fn sources_of_methods_are_in_the_list_of_references() {
    let references = fs::read_to_string(root().join("docs/references.md")).unwrap();
    let entries: Vec<&str> = references
        .lines()
        .filter(|line| line.starts_with("- "))
        .collect();
    let methods = (samplers::REGISTRY
        .iter()
        .map(|entry| (entry.spec.id, entry.spec.cite)))
    .chain(
        estimators::REGISTRY
            .iter()
            .map(|entry| (entry.spec.id, entry.spec.cite)),
    )
    .chain(METHODS.iter().map(|spec| (spec.id, spec.cite)));
    for (id, cite) in methods {
        for source in cite.split(';') {
            // The surname that a source begins with, and its year.
            let surname: String = source
                .trim()
                .trim_start_matches("the method that ")
                .chars()
                .take_while(|c| c.is_alphabetic() || *c == '-' || *c == ' ')
                .collect();
            let surname = surname.split(" and ").next().unwrap_or_default();
            let surname = surname.trim_end_matches(" et al").trim();
            assert!(
                !surname.is_empty(),
                "the source of `{id}` begins with no name: {source}"
            );
            let year = source.split(|c: char| !c.is_ascii_digit()).find(|digits| {
                digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
            });
            let Some(year) = year else { continue };
            assert!(
                entries
                    .iter()
                    .any(|entry| entry.contains(surname) && entry.contains(year)),
                "docs/references.md lacks the source of `{id}`: {surname} {year}"
            );
        }
    }
}

/// Programs match on the codes of JSON, people read the words of badges: one page says which belong together.
#[test]
fn words_of_verdicts_and_severities_are_documented() {
    let page = fs::read_to_string(root().join("docs/run-folder.md")).unwrap();
    let verdicts = [
        Verdict::Good,
        Verdict::Watch,
        Verdict::Bad,
        Verdict::TooEarly,
        Verdict::NotCertified,
    ];
    let verdicts = verdicts.map(|it| (serde_json::to_value(it).unwrap(), it.word()));
    let severities = [
        (Severity::Info, "Note"),
        (Severity::Watch, "Watch"),
        (Severity::Bad, "Bad"),
    ];
    let severities = severities.map(|(it, word)| (serde_json::to_value(it).unwrap(), word));
    for (code, word) in verdicts.into_iter().chain(severities) {
        let row = format!("| {} | {word} |", code.as_str().map(self::code).unwrap());
        assert!(page.contains(&row), "docs/run-folder.md lacks `{row}`");
    }
}

/// What stands between backticks.
fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// What stands above a test of the long tier.
const LONG_TIER: &str = r#"#[ignore = "long: run by .ci/long"]"#;

/// Names of the tests in the sources that `cargo test` runs, or `.ci/long`.
fn names_of_tests() -> BTreeSet<String> {
    let mut folders = ["crates", "src", "tests"]
        .map(|name| root().join(name))
        .to_vec();
    let mut names = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            let mut is_test = false;
            for line in text.lines().map(str::trim) {
                let is_left_out = line.starts_with("#[ignore") && line != LONG_TIER;
                is_test = (is_test || line == "#[test]") && !is_left_out;
                if let Some(rest) = line.strip_prefix("fn ") {
                    if is_test {
                        names.extend(rest.split('(').next().map(str::to_owned));
                    }
                    is_test = false;
                }
            }
        }
    }
    names
}

/// Identifiers of samplers, templates and experiments, and of optimisers and methods of likelihood fits.
fn identifiers() -> [Vec<&'static str>; 5] {
    [
        (samplers::REGISTRY.iter())
            .map(|entry| entry.spec.id)
            .collect(),
        templates::all().map(|entry| entry.spec.id).collect(),
        (ergodic_experiments::REGISTRY.iter())
            .map(|bench| bench.id)
            .collect(),
        (estimators::REGISTRY.iter())
            .map(|entry| entry.spec.id)
            .collect(),
        METHODS.iter().map(|spec| spec.id).collect(),
    ]
}

/// Whether a setting is one of `page`, and a value that is a word one of the words that it takes.
fn is_setting(page: &str, key: &str, value: Option<&str>) -> bool {
    let head = format!("| `{key}` |");
    let is_word = |value: &&str| value.chars().all(|c| c.is_ascii_lowercase() || c == '-');
    let value = value.filter(is_word).map(code);
    page.lines()
        .filter(|line| line.starts_with(&head))
        .any(|line| value.as_ref().is_none_or(|value| line.contains(value)))
}

/// Commands, settings and identifiers of the page about the papers are those of the program.
#[test]
fn the_page_about_the_papers_names_what_there_is() {
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let settings = settings_page();
    let [
        of_samplers,
        of_templates,
        of_benches,
        of_optimisers,
        of_methods,
    ] = identifiers();
    let ids = identifiers().concat();
    let columns: BTreeSet<&str> = (samplers::REGISTRY.iter())
        .flat_map(|entry| entry.spec.info)
        .map(|column| column.name)
        .collect();
    for span in spans(&page).filter(|span| !span.starts_with("cargo ")) {
        let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        if !span.starts_with('-') && span.chars().all(is_plain) {
            assert!(ids.contains(&span), "`{span}` is in no list");
        }
        if span.starts_with("examples/") || span.starts_with("benches/") {
            assert!(root().join(span).exists(), "{span} is not there");
        }
        let words: Vec<&str> = (span.split_whitespace())
            .map(|word| word.trim_matches('\''))
            .collect();
        if let ["ergodic", command, ..] = words[..] {
            let head = format!("#### `ergodic {command}`");
            assert!(settings.contains(&head), "`{span}` is no command");
        }
        for word in &words {
            if word.starts_with("--") {
                let is_flag =
                    settings.contains(&format!("`{word} ")) || settings.contains(&code(word));
                assert!(is_flag, "`{span}`: there is no {word}");
            }
            let (key, value) =
                (word.split_once('=')).map_or((*word, None), |(key, value)| (key, Some(value)));
            let sections = ["sampler.", "model.", "mode.", "run."];
            if sections.iter().any(|section| key.starts_with(section)) {
                assert!(is_setting(&settings, key, value), "`{span}` is no setting");
            }
        }
        for pair in words.windows(2) {
            let is_known = match pair[0] {
                "--sampler" => of_samplers.contains(&pair[1]),
                "--template" => of_templates.contains(&pair[1]),
                "bench" => of_benches.contains(&pair[1]),
                "--mode" => of_optimisers.contains(&pair[1]),
                "--method" => of_methods.contains(&pair[1]),
                "--what" | "--format" => settings.contains(&format!("| `{}` |", pair[1])),
                "--columns" => (pair[1].split(','))
                    .all(|name| columns.contains(name) || settings.contains(&code(name))),
                _ => true,
            };
            assert!(is_known, "`{span}`: there is no {}", pair[1]);
        }
    }
    let named: BTreeSet<&str> = spans(&page)
        .flat_map(|span| span.split([' ', '=']))
        .collect();
    for id in ids {
        assert!(named.contains(id), "docs/papers.md does not name `{id}`");
    }
}

/// The last column of the page about the papers says which tests would notice.
#[test]
fn tests_of_the_page_about_the_papers_are_in_the_sources() {
    let page = fs::read_to_string(root().join("docs/papers.md")).unwrap();
    let names = names_of_tests();
    let mut rows = 0;
    for line in page.lines().filter(|line| line.starts_with("| ")) {
        let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
        let [what, _, here, tests] = cells[..] else {
            panic!("a row has other columns: {line}");
        };
        if what == "what" {
            continue;
        }
        rows += 1;
        let mut found = spans(tests).peekable();
        assert!(
            found.peek().is_some() || here.starts_with("Not repeated"),
            "{what} is without a test"
        );
        for name in found {
            assert!(names.contains(name), "{what}: there is no test `{name}`");
        }
    }
    assert!(rows > 180, "only {rows} rows were found");
}
