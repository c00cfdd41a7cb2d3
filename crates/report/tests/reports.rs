//! Pictures and reports of real runs: numbers are those of `summary.json`, names are never markup, and what is written is XML.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "reports/mixtures.rs"]
mod mixtures;
#[path = "reports/pictures.rs"]
mod pictures;
#[path = "../../analysis/tests/support/mod.rs"]
#[expect(dead_code, reason = "shared by several tests")]
mod support;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use ergodic_analysis::effects::EffectsOptions;
use ergodic_analysis::hold_out::HoldOut;
use ergodic_analysis::predict::Fitted;
use ergodic_analysis::{Description, Job, Recipe};
use ergodic_base::draws::DrawList;
use ergodic_base::{Control, ParamId};
use ergodic_core::engine::checkpoint::{ChainMark, Marks};
use ergodic_core::engine::found::clusters::Clusters;
use ergodic_core::engine::trajectories::trajectories;
use ergodic_core::engine::{Start, StopReason};
use ergodic_core::samplers::{DIVERGENT, WEIGHT};
use ergodic_diagnostics::quantiles;
use ergodic_export::{Results, RunFolder, StopRule, summary};
use ergodic_report::report::{self, Column};
use ergodic_report::{
    Access, Chains, FIGURES, Figure, FigureEntry, FigureInputs, OtherRun, OtherShown,
    PictureFormat, Pictured, Report, ReportError, choose, find, write_picture,
};
use serde_json::Value as Json;
use support::{job, start};

/// A finished run and its results.
struct Ran {
    job: Arc<Job>,
    results: Results,
    /// Where the chains ended.
    marks: Marks,
}

fn ran(job: Job) -> Ran {
    let mut run = start(job);
    let marks = run.join().to_vec();
    let results = Results::of(run.job(), &run.view(), &run.report());
    Ran {
        job: Arc::clone(run.job()),
        results,
        marks,
    }
}

/// Three chains of 300 draws of a logistic regression.
fn plain() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| ran(job("nuts", 300, |_| {})))
}

/// A mixed model with many groups, some of whose names are markup.
fn odd() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("<i>&.csv");
        let mut text = "y,\"<b>&\"\"x\"\"\",\"g<script>\"\n".to_owned();
        for row in 0..240 {
            let (x, group) = (f64::from(row * 37 % 101) / 50.0, row % 40);
            let y = 0.3 * x + f64::from(group % 7) / 3.0 + f64::from(row * 61 % 17) / 10.0;
            text.push_str(&format!("{y},{x},\"</table>{group}`|$_\"\n"));
        }
        std::fs::write(&path, text).unwrap();
        let source = path.display().to_string();
        let formula = "y ~ `<b>&\"x\"` + (1 | `g<script>`)";
        let mut recipe = Recipe::new(&source, "mixed", formula);
        recipe.sampler.id = "nuts".to_owned();
        recipe.run.chains = 2;
        recipe.run.warmup = Some(150);
        recipe.run.draws = 120;
        ran(Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap())
    })
}

/// Times of which every third was not seen to its end.
fn censored() -> &'static Ran {
    static RUN: OnceLock<Ran> = OnceLock::new();
    RUN.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("times.csv");
        let mut text = "time,status,site\n".to_owned();
        for row in 0..120 {
            let (time, status) = (1 + row * 37 % 23, u8::from(row % 3 == 0));
            text.push_str(&format!("{time},{status},s{}\n", row % 6));
        }
        std::fs::write(&path, text).unwrap();
        let source = path.display().to_string();
        let formula = "time | cens(status) ~ 1 + (1 | site)";
        let recipe = Recipe::new(&source, "mixed", formula);
        let mut recipe = recipe
            .changed(&["model.family=weibull".to_owned()])
            .unwrap();
        recipe.sampler.id = "nuts".to_owned();
        recipe.run.chains = 2;
        recipe.run.warmup = Some(150);
        recipe.run.draws = 120;
        ran(Job::prepare(&recipe, Path::new(""), None, &Control::default()).unwrap())
    })
}

/// Models of counts, of numbers, and of yes or no with rows held out: what the other runs have no pictures of.
fn others() -> &'static [Ran; 3] {
    static RUNS: OnceLock<[Ran; 3]> = OnceLock::new();
    RUNS.get_or_init(|| {
        let of = |template: &str, formula: &str, hold_out: bool| {
            ran(job("nuts", 100, |recipe| {
                recipe.model.template = template.to_owned();
                recipe.model.formula = formula.to_owned();
                recipe.model.hold_out = hold_out.then_some(HoldOut::Share(0.2));
            }))
        };
        [
            of("poisson", "support_calls ~ age + plan", false),
            of("linear", "age ~ plan", false),
            of("logistic", "churned ~ age", true),
        ]
    })
}

/// A figure of a run, with all that it needs; `None` where the run has not got it.
fn figure_of(ran: &Ran, entry: &'static FigureEntry) -> Option<Figure> {
    let read = |_: &Control| Fitted::of(&ran.job);
    let follow = |control: &Control| {
        let marks: Vec<Option<&ChainMark>> = ran.marks.iter().map(Option::as_ref).collect();
        Ok(trajectories(ran.job.as_ref(), &marks, control)?)
    };
    let inputs = FigureInputs::find(
        (entry.id, entry.needs),
        (
            &ran.results,
            (entry.other == OtherShown::Always).then(|| OtherRun {
                names: ["one", "the same"].map(str::to_owned),
                results: &ran.results,
            }),
        ),
        Access {
            model: Some(&read),
            trajectories: Some(&follow),
            bins: None,
            columns: &[],
        },
        &Control::default(),
    );
    let drawn = inputs.and_then(|inputs| {
        let chains = Chains::of(&ran.results)?.with(&inputs);
        entry.draw(&chains, &[])
    });
    match drawn {
        Ok(figure) => Some(figure),
        Err(ReportError::Unsuitable { .. } | ReportError::Scores(_) | ReportError::Prior(_)) => {
            None
        }
        Err(error) => panic!("{}: {error}", entry.id),
    }
}

/// The report of a run.
fn report_of(ran: &Ran) -> Report {
    let description = Description::of(&ran.job.recipe, &ran.job.table);
    let description = description.map_err(|error| error.to_string());
    Report::of(
        &ran.results,
        &ran.job.recipe,
        description,
        Some(&|_: &Control| Fitted::of(&ran.job)),
        &Control::default(),
    )
    .unwrap()
}

fn written(report: &Report, id: &str) -> String {
    (report::find(id).unwrap().write)(report)
}

/// Reads XML to its end: tags are balanced, attributes quoted, entities known. Calls `each` for every element with its
/// attributes, and the text that it begins with.
fn read_xml(text: &str, mut each: impl FnMut(&str, &BTreeMap<String, String>, &str)) {
    let options = roxmltree::ParsingOptions {
        allow_dtd: true,
        ..Default::default()
    };
    let document = roxmltree::Document::parse_with_options(text, options).unwrap_or_else(|error| {
        let line = text.lines().nth(error.pos().row as usize - 1);
        panic!("{error}: {}", line.unwrap_or_default())
    });
    for element in document.descendants().filter(roxmltree::Node::is_element) {
        let attributes = element.attributes();
        let attributes = attributes.map(|it| (it.name().to_owned(), it.value().to_owned()));
        let text = element.text().unwrap_or_default();
        each(element.tag_name().name(), &attributes.collect(), text);
    }
}

fn json(results: &Results) -> Json {
    let mut bytes = Vec::new();
    summary::write_json(results, &mut bytes).unwrap();
    serde_json::from_slice(&bytes).unwrap()
}

/// Rows of the tables of results in a page: name and numbers with all digits, and as they are shown.
fn rows_of(html: &str) -> Vec<(String, Vec<f64>, Vec<String>)> {
    let mut rows: Vec<(String, Vec<f64>, Vec<String>)> = Vec::new();
    let mut in_row = false;
    read_xml(html, |tag, attributes, text| match tag {
        "th" if attributes.get("scope").is_some_and(|it| it == "row") => in_row = true,
        "code" if in_row => {
            in_row = false;
            rows.push((text.to_owned(), Vec::new(), Vec::new()));
        }
        "data" => {
            let (_, values, texts) = rows.last_mut().unwrap();
            values.push(attributes["value"].parse().unwrap());
            texts.push(text.replace('−', "-"));
        }
        _ => {}
    });
    rows.retain(|(_, values, _)| !values.is_empty());
    rows
}

#[test]
fn numbers_of_a_report_are_those_of_the_summary() {
    for ran in [plain(), odd()] {
        let html = written(&report_of(ran), "html");
        let rows = rows_of(&html);
        let json = json(&ran.results);
        let effects = ran.results.variables.iter();
        let effects = effects.filter(|name| name.group_effect().is_some()).count();
        let all = ran.results.variables.len();
        assert_eq!(rows.len(), all - effects + effects.min(20));
        for (name, values, texts) in &rows {
            let variables = json["variables"].as_array().unwrap();
            let row = variables.iter().find(|row| row["variable"] == **name);
            let row = row.unwrap_or_else(|| panic!("{name}"));
            let summary = ran.results.summary.iter().find(|row| row.variable == *name);
            let keys = Column::ALL
                .into_iter()
                .filter(|column| !row[column.key()].is_null());
            let keys: Vec<Column> = keys.collect();
            assert_eq!(keys.len(), values.len(), "{name}");
            for ((column, value), text) in keys.iter().zip(values).zip(texts) {
                assert_eq!(
                    row[column.key()].as_f64(),
                    Some(*value),
                    "{name} {}",
                    column.key()
                );
                assert_eq!(column.text(summary.unwrap()), *text);
                // What is shown is the number, to the digits of its error.
                let shown: f64 = text.parse().unwrap();
                let error = row["mcse_mean"].as_f64().unwrap_or(0.01);
                let slack = match column {
                    Column::Mean | Column::Q5 | Column::Median | Column::Q95 => 0.1 * error,
                    Column::Bulk | Column::Tail => 1.0,
                    Column::Rhat => 0.001,
                    Column::Mcse | Column::Sd => 0.05 * value,
                };
                assert!(
                    (shown - value).abs() <= slack,
                    "{name} {}: {text} of {value}",
                    column.key()
                );
            }
        }
    }
}

#[test]
fn a_report_is_balanced_and_loads_nothing() {
    for ran in [plain(), odd()] {
        let html = written(&report_of(ran), "html");
        let mut headings = Vec::new();
        let mut ids = Vec::new();
        read_xml(&html, |tag, attributes, text| {
            assert!(
                !["script", "link", "img", "iframe", "object", "base"].contains(&tag),
                "{tag}"
            );
            for key in ["href", "src", "xlink:href", "action"] {
                assert!(!attributes.contains_key(key), "{tag} {key}");
            }
            assert!(attributes.keys().all(|key| !key.starts_with("on")), "{tag}");
            ids.extend(attributes.get("id").cloned());
            if tag == "h2" {
                headings.push(text.to_owned());
            }
        });
        let style = html
            .split("<style>")
            .nth(1)
            .unwrap()
            .split("</style>")
            .next()
            .unwrap();
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(
            !html.contains("https:")
                && html.matches("http:").count() == html.matches("xmlns=\"http:").count()
        );
        let expected = [
            "Results",
            "Model",
            "Data",
            "Methods",
            "Pictures",
            "Settings and versions",
        ];
        assert_eq!(headings, expected);
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "every identifier once");
        let of_draws = FIGURES.iter().filter(|it| it.is_of_draws());
        // A run without groups has no picture of them.
        let drawn = of_draws.filter(|it| figure_of(ran, it).is_some());
        // That of effects stands before them.
        assert_eq!(html.matches("<figure>").count(), drawn.count() + 1);
    }
}

#[test]
fn names_of_columns_are_never_markup() {
    let report = report_of(odd());
    let html = written(&report, "html");
    for raw in ["<b>", "<script", "</table>0", "<i>&"] {
        assert!(!html.contains(raw), "{raw}");
    }
    assert!(html.contains("b[&lt;b&gt;&amp;&quot;x&quot;]"));
    let markdown = written(&report, "markdown");
    assert!(markdown.contains("| `b[<b>&\"x\"]` |"), "{markdown}");
    // A backtick in a name does not end it, a bar no cell.
    assert!(
        markdown.contains("| `` r[g<script>,</table>0`\\|$_,Intercept] `` |"),
        "{markdown}"
    );
    let latex = written(&report, "latex");
    assert!(
        latex.contains("\\texttt{b[\\textless{}b\\textgreater{}\\&\"x\"]}"),
        "{latex}"
    );
    assert!(
        latex.contains("And 20 more in \\texttt{summary.csv}."),
        "{latex}"
    );
}

#[test]
fn a_report_says_what_was_done() {
    let ran = plain();
    let html = written(&report_of(ran), "html");
    let manifest = ran.results.manifest.as_ref().unwrap();
    for words in [
        "3 chains of 300 draws each after 60 iterations of warm-up",
        "Hoffman and Gelman 2014",
        "Ergodic, version",
        "of <code>sample:churn</code>",
        &manifest.data_fingerprint,
        "<code>b[age]</code>",
        "90\u{a0}% interval from",
        "id = &quot;nuts&quot;",
        "normal(0, 2.5)",
        manifest.verdict.word(),
    ] {
        assert!(html.contains(words), "`{words}` is missing");
    }
    assert!(html.contains("(logistic regression) was fitted"));
    for (ran, model) in [
        (odd(), "linear mixed model"),
        (censored(), "Weibull mixed model"),
    ] {
        let html = written(&report_of(ran), "html");
        assert!(html.contains(&format!("({model}) was fitted")), "{model}");
    }
    let chosen = "metric <code>dense</code>, first metric <code>curvature</code>";
    assert!(html.contains(&format!("Settings besides fixed defaults: {chosen}.")));
    assert!(html.contains("Priors hold for standardised predictors"));
    let mut other = report_of(ran);
    let settings = &mut other.recipe.sampler.settings;
    settings.set("target_accept", 0.9.into());
    settings.set("max_depth", 10.into());
    other.manifest.not_kept = vec!["b[Intercept]".into()];
    let html = written(&other, "html");
    for words in [
        "first metric <code>curvature</code>, target acceptance <code>0.9</code>.",
        "Over the parameters whose draws were kept the largest",
    ] {
        assert!(html.contains(words), "`{words}` is missing");
    }
    // Once in words, and in the notations of others.
    let description = report_of(ran).description.unwrap();
    let words = description.translation.unwrap().words;
    let first = words.split('`').next().unwrap();
    assert!(html.contains(first), "{first}");
    assert!(html.contains("Stan program"));
}

/// What makes a run again and what a paper needs stands in what is copied into one too.
#[test]
fn all_reports_have_priors_data_methods_settings_and_recipe() {
    let report = report_of(plain());
    let (manifest, recipe) = (&report.manifest, report.recipe.to_toml());
    for format in ["html", "markdown", "latex"] {
        let text = written(&report, format);
        for words in [
            "Priors by default are normal(0, 2.5) for the intercept (at average predictors); normal(0, 2.5) for coefficients (per standard \
             deviation of the predictor).",
            "R-hat of at most 1.01 and effective sample sizes of at least 300 (100 per chain)",
            "Priors hold for standardised predictors",
            "default, per standard deviation",
            "Vehtari, Gelman, Simpson",
            manifest.data_fingerprint.as_str(),
            "the same version on ",
            "chain 3: 300 draws after 60 iterations of warm-up",
            "seed = ",
        ] {
            assert!(text.contains(words), "{format}: `{words}` is missing");
        }
    }
    assert!(written(&report, "markdown").contains(&format!("```toml\n{}\n```", recipe.trim_end())));
}

#[test]
fn priors_of_the_user_are_told_by_name_and_effects_of_groups_are_not() {
    let mut report = report_of(odd());
    let slope = "b[<b>&\"x\"]";
    let mut priors = report.manifest.priors.iter_mut();
    let prior = priors.find(|(name, ..)| name == slope).unwrap();
    prior.1 = "student_t(4, 0, 1)".into();
    prior.2 = prior.2.to_string().replace("default", "set by you").into();
    let markdown = written(&report, "markdown");
    for words in [
        "Priors by default are normal(0, 2.5) for the intercept (at average predictors, in sd of `y` from its mean); \
         half-Student-t(3, 0, 2.5) for ",
        "spreads between groups",
        "Priors set by the user are Student-t(4, 0, 1) for `b[<b>&\"x\"]` (per standard deviation of the predictor, in sd of `y`).",
    ] {
        assert!(markdown.contains(words), "`{words}` is missing: {markdown}");
    }
    assert!(!markdown.contains("normal(0, sd[g<script>,Intercept]) for"));
}

#[test]
fn chains_that_started_elsewhere_say_where() {
    let mut report = report_of(plain());
    assert!(!written(&report, "markdown").contains("Chains started"));
    for (start, words) in [
        ("prior", "Chains started at draws of the prior."),
        (
            "b=1, intercept=-2",
            "Chains started at `b=1, intercept=-2`.",
        ),
        (
            "runs/first",
            "Chains started at the last draws of the run `runs/first`.",
        ),
    ] {
        report.recipe.run.start = start.parse().unwrap();
        let text = written(&report, "markdown");
        assert!(text.contains(words), "`{words}` is missing: {text}");
    }
    report.recipe.run.start = Start::Mode;
    report.recipe.run.start_spread = 10.0;
    let words = "Chains started around the mode, 10 posterior standard deviations wide.";
    assert!(written(&report, "markdown").contains(words));
}

#[test]
fn a_run_that_was_extended_until_it_was_precise_says_so() {
    let ended = |reason: StopReason, extended_at: &[u64], draws: usize| {
        let mut report = report_of(plain());
        report.manifest.stop_reason = Some(reason);
        report.manifest.stop_rule = Some(StopRule {
            ess: Some(300.0),
            rhat: 1.01,
            extended_at: extended_at.to_vec(),
        });
        report
            .manifest
            .chains
            .iter_mut()
            .for_each(|it| it.draws = draws);
        written(&report, "markdown").replace('\u{202f}', " ")
    };
    let wanted = "until every R-hat was at most 1.01, and every effective sample size, in the bulk and in the tails, at least 300";
    for (reason, extended_at, draws, words) in [
        (
            StopReason::Precision,
            &[1000, 2000, 4000][..],
            8000,
            format!(
                "Chains were extended {wanted}: at 1 000, 2 000 and 4 000 draws of each this was not reached, at 8 000 it was."
            ),
        ),
        (
            StopReason::Draws,
            &[8000],
            16_000,
            format!(
                "Chains were extended {wanted}: at 8 000 draws of each this was not reached, and they ended at 16 000, the most that the \
                 rule allows."
            ),
        ),
        (
            StopReason::Precision,
            &[],
            734,
            format!("Chains drew {wanted}."),
        ),
    ] {
        let text = ended(reason, extended_at, draws);
        assert!(text.contains(&words), "`{words}` is missing: {text}");
        assert!(!text.contains("How the run ended"));
    }
    let plain = written(&report_of(plain()), "markdown");
    assert!(!plain.contains("extended") && !plain.contains("Chains drew"));
}

#[test]
fn censored_outcomes_are_counted() {
    let report = report_of(censored());
    assert_eq!(report.title(), "Weibull mixed model of time");
    for (format, term) in [
        ("html", "<dt>Censored outcomes</dt><dd>"),
        ("markdown", "- Censored outcomes: "),
        ("latex", "\\item[Censored outcomes] "),
    ] {
        let text = written(&report, format);
        assert!(
            text.contains("In these rows 40 of 120 outcomes are right-censored."),
            "{format}: {text}"
        );
        assert!(text.contains(&format!("{term}40 of 120 outcomes are right-censored")));
    }
}

#[test]
fn rows_held_out_are_scored() {
    let ran = &others()[2];
    let report = report_of(ran);
    let scores = report.held_out.as_ref().unwrap();
    let (draws, weights) = ran.results.usable();
    let again = Fitted::of(&ran.job).unwrap();
    let again = again.scores(&draws, &weights, None, usize::MAX, &Control::default());
    assert_eq!(scores.measures, again.unwrap().measures);
    for format in ["html", "markdown", "latex"] {
        let text = written(&report, format);
        let many = scores.rows.len();
        let words = format!("How well {many} rows are predicted that the model was not fitted to.");
        assert!(text.contains(&words), "{format}: {text}");
        assert!(text.contains("log density ") && text.contains("AUC 0."));
    }
    assert!(report_of(plain()).held_out.is_none());
}

/// The sentences are those of `ergodic effects`, and stand before those of the coefficients.
#[test]
fn a_report_tells_what_predictors_do_to_the_outcome_first() {
    for ran in [plain(), odd()] {
        let (draws, weights) = ran.results.usable();
        let (options, control) = (EffectsOptions::default(), Control::default());
        let fitted = Fitted::of(&ran.job).unwrap();
        let effects = fitted.effects(&draws, &weights, &options, &control);
        let effects = effects.unwrap();
        let told = effects.effects.iter().filter(|it| effects.is_told(it));
        let told: Vec<String> = told.map(|it| effects.sentence(it) + ".").collect();
        assert!(!told.is_empty());
        let report = report_of(ran);
        assert_eq!(report.figures[0].id, "effects");
        let html = written(&report, "html");
        let mut items = Vec::new();
        read_xml(&html, |tag, _, text| {
            if tag == "li" {
                items.push(text.replace('−', "-"));
            }
        });
        for sentence in &told {
            assert!(items.contains(sentence), "{sentence}: {items:?}");
        }
        for format in ["html", "markdown", "latex"] {
            let text = written(&report, format);
            let [outcome, coefficient] =
                [" is on average ", ": posterior median "].map(|words| text.find(words));
            assert!(
                outcome.is_some() && outcome < coefficient,
                "{format}: {text}"
            );
        }
    }
    // Without predictors there is nothing to tell.
    let report = report_of(censored());
    assert!(report.effects.is_none() && report.no_effects.is_none());
    assert!(report.figures.iter().all(|figure| figure.id != "effects"));
}

#[test]
fn every_report_says_how_much_of_the_variance_is_explained() {
    for ran in [plain(), odd()] {
        let report = report_of(ran);
        let r2 = report.r2.as_ref().unwrap();
        assert!(0.0 < r2.interval[0] && r2.interval[0] < r2.median);
        assert!(r2.median < r2.interval[1] && r2.interval[1] < 1.0);
        assert_eq!(r2.has_groups, std::ptr::eq(ran, odd()));
        for (format, start) in [
            ("html", "<p>Bayesian R² of "),
            ("markdown", "\nBayesian R² of "),
            ("latex", "\nBayesian R$^2$ of "),
        ] {
            let text = written(&report, format);
            assert_eq!(text.matches(start).count(), 1, "{format}: {text}");
        }
    }
}

#[test]
fn a_report_of_data_that_are_gone_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let ran = odd();
    let (place, claim) = RunFolder::create(&folder.path().join("run")).unwrap();
    place
        .save_all(&claim, &ran.job, &ran.results, &[], &mut |_file| {})
        .unwrap();
    let results = place.results().unwrap();
    let report = Report::read(&place, &results, &Control::default()).unwrap();
    assert!(report.description.is_err() && report.r2.is_none() && report.effects.is_none());
    let html = written(&report, "html");
    assert!(html.contains("its data could not be read"));
    assert_eq!(rows_of(&html), rows_of(&written(&report_of(ran), "html")));
}
