//! Models as text on the command line: with data and without, errors in place, replay, continuing, export.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;

use outcomes::{done, refused};

#[path = "support/outcomes.rs"]
mod outcomes;
mod support;

/// The file of the gallery.
fn gallery(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/models");
    fs::read_to_string(folder.join(format!("{name}.model"))).unwrap()
}

#[test]
fn a_model_with_rows_is_fitted_saved_replayed_and_continued() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("churn.model"), gallery("churn")).unwrap();
    let common = [
        "--chains",
        "2",
        "--draws",
        "60",
        "--warmup",
        "60",
        "--sampler",
        "nuts",
    ];
    let first = [
        "fit",
        "--data",
        "sample:churn",
        "--model",
        "churn.model",
        "--out",
        "one",
    ];
    let table = done(at, &[&first[..], &common].concat());
    for name in ["a", "s", "b[north]", "w[plus,2]", "odds"] {
        assert!(table.contains(name), "{name} in {table}");
    }
    // The recipe holds the whole text: the file is not needed any more.
    fs::remove_file(at.join("churn.model")).unwrap();
    done(at, &["fit", "one", "--out", "two"]);
    let draws = |run: &str| fs::read(at.join(run).join("draws.csv")).unwrap();
    assert_eq!(draws("one"), draws("two"));
    done(at, &["summarise", "one"]);
    done(at, &["resume", "one", "--draws", "20"]);
    assert!(draws("one").len() > draws("two").len());
    done(
        at,
        &[
            "export",
            "two",
            "--format",
            "summary-csv",
            "--out",
            "summary.csv",
        ],
    );
    let summary = fs::read_to_string(at.join("summary.csv")).unwrap();
    assert!(summary.contains("odds"), "{summary}");
}

/// A model as text answers as the template does that says the same, whatever is asked of a finished run.
#[test]
fn a_text_answers_as_its_template() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(
        at.join("own.model"),
        "parameters\n  a ~ normal(0, 5)\n  b ~ normal(0, 5)\n  c[plan] ~ normal(0, 2)\nrows\n  years = tenure_months / 12\n  \
         (churned == \"yes\") ~ bernoulli_logit(a + b * years + c[plan])\n",
    )
    .unwrap();
    let common = [
        "--draws",
        "400",
        "--hold-out",
        "0.1",
        "--data",
        "sample:churn",
    ];
    let text = ["fit", "--model", "own.model", "--out", "text"];
    done(at, &[&text[..], &common].concat());
    let formula = "churned ~ tenure_months + plan";
    let template = ["fit", "--formula", formula, "--out", "template"];
    done(at, &[&template[..], &common].concat());
    let json = |args: &[&str]| -> serde_json::Value {
        serde_json::from_str(&done(at, &[args, &["--json"]].concat())).unwrap()
    };
    // Leave-one-out scores of both are comparable, and differ by no more than the priors do.
    let loo = json(&["loo", "text", "template"]);
    let difference = &loo["comparison"]["models"][1]["elpd_diff"]["estimate"];
    assert!(difference.as_f64().unwrap().abs() < 2.0, "{loo}");
    let log_lik = [
        "export",
        "text",
        "--format",
        "log-lik-csv",
        "--out",
        "rows.csv",
    ];
    done(at, &log_lik);
    assert!(
        fs::read_to_string(at.join("rows.csv"))
            .unwrap()
            .lines()
            .count()
            > 400
    );
    // Slopes and contrasts of the expected outcome.
    let effects = |run: &str| {
        let found = json(&["effects", run]);
        let all = found["effects"].as_array().unwrap().clone();
        let slope = |it: &&serde_json::Value| it["predictor"] == "tenure_months";
        all.iter().find(slope).unwrap()["mean"].as_f64().unwrap()
    };
    let (own, other) = (effects("text"), effects("template"));
    assert!((own / other - 1.0).abs() < 0.1, "{own} {other}");
    let score = |run: &str| done(at, &["score", run]);
    assert!(score("text").contains("Brier"), "{}", score("text"));
    let check = done(at, &["check", "text"]);
    assert!(check.contains("churned"), "{check}");
    fs::write(at.join("new.csv"), "plan,tenure_months\nplus,12\nplus,60\n").unwrap();
    let predicted = |run: &str| -> Vec<f64> {
        let rows = done(at, &["predict", run, "--data", "new.csv"]);
        let mean = |line: &str| line.split(',').nth(1).unwrap().parse().unwrap();
        rows.lines().skip(1).map(mean).collect()
    };
    for (own, other) in predicted("text").iter().zip(predicted("template")) {
        assert!((own - other).abs() < 0.03, "{own} {other}");
    }
    // Without a mean there is nothing to expect, and densities of rows there are.
    let cauchy = "parameters\n  a ~ normal(0, 50)\nrows\n  age ~ cauchy(a, 10)\n";
    fs::write(at.join("cauchy.model"), cauchy).unwrap();
    let args = [
        "fit",
        "--model",
        "cauchy.model",
        "--data",
        "sample:churn",
        "--draws",
        "100",
        "--out",
        "cauchy",
    ];
    done(at, &args);
    done(at, &["loo", "cauchy"]);
    let why = refused(at, &["predict", "cauchy"]);
    assert!(why.contains("`cauchy` has no mean"), "{why}");
}

#[test]
fn a_model_without_rows_needs_no_data() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("well.model"), gallery("double_well")).unwrap();
    let args = [
        "fit",
        "--model",
        "well.model",
        "--draws",
        "200",
        "--out",
        "run",
        "--json",
    ];
    let summary: serde_json::Value = serde_json::from_str(&done(at, &args)).unwrap();
    let listed = summary.to_string();
    assert!(
        listed.contains("\"right\"") && listed.contains("\"square\""),
        "{listed}"
    );
    assert!(
        fs::read_to_string(at.join("run/recipe.toml"))
            .unwrap()
            .contains("sample:none")
    );
    assert_eq!(
        done(at, &["show", "--model", "well.model", "--as", "equation"])
            .lines()
            .next(),
        Some("log density: −3 × (x² − 1)²")
    );
    let ranked = done(at, &["list", "samplers", "--model", "well.model"]);
    let first = ranked.lines().next().unwrap();
    assert!(first.contains(" 1  nuts"), "{ranked}");
    assert!(first.contains("it is exact and affordable ("), "{first}");
    assert!(
        ranked.contains("from rows of data, and this density has none"),
        "{ranked}"
    );
}

#[test]
fn errors_show_the_line_with_a_mark() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let try_with = |program: &str, args: &[&str]| {
        fs::write(at.join("m.model"), program).unwrap();
        refused(at, &[&["fit", "--model", "m.model"], args].concat())
    };
    let churn = ["--data", "sample:churn"];
    // In the grammar, in a name of a column, in a value, and in a shape.
    for (program, args, sentence, mark) in [
        (
            "parameters\n  a ~ normal(0, 1\n",
            &[][..],
            "This bracket is not closed",
            "  a ~ normal(0, 1\n            ^",
        ),
        (
            "parameters\n  a ~ normal(0, 1)\nrows\n  agee ~ normal(a, 1)\n",
            &churn[..],
            "did you mean `age`?",
            "  agee ~ normal(a, 1)\n  ^^^^",
        ),
        (
            "parameters\n  a ~ normal(0, 1)\nrows\n  age ~ bernoulli_logit(a)\n",
            &churn[..],
            "`bernoulli_logit` is of 0 or 1",
            "  age ~ bernoulli_logit(a)\n  ^^^",
        ),
        (
            "parameters\n  a: vector(9) ~ normal(0, 1)\nrows\n  age ~ normal(a[region], 1)\n",
            &churn[..],
            "`region` has",
            "  age ~ normal(a[region], 1)\n                 ^^^^^^",
        ),
    ] {
        let errors = try_with(program, args);
        assert!(errors.contains(sentence), "{errors}");
        let plain: Vec<&str> = errors.lines().map(str::trim_end).collect();
        for line in mark.lines() {
            assert!(
                plain.iter().any(|it| it.ends_with(line)),
                "{line:?} in {errors}"
            );
        }
    }
    let errors = try_with(
        "parameters\n  a ~ normal(0, 1)\nrows\n  x ~ normal(a, 1)\n",
        &[],
    );
    assert!(
        errors.contains("names columns (`x`) but there are no data"),
        "{errors}"
    );
    // Where a chain would start, too.
    let nowhere = "parameters\n  a ~ normal(0, 1)\ntarget\n  normal_lpdf(0, a / 0, 1)\n";
    fs::write(at.join("m.model"), nowhere).unwrap();
    let fit = ["fit", "--model", "m.model", "--sampler", "nuts"];
    let output = support::program(at, fit).output().unwrap();
    let errors = support::text(&output.stderr);
    assert!(
        errors.contains("ended: `mu` of `normal` is") && errors.contains("(line 4"),
        "{errors}"
    );
    let missing = refused(at, &["fit", "--model", "nowhere.model"]);
    assert!(missing.contains("The model cannot be read"), "{missing}");
}

/// The posterior of a square root reaches below zero, where rows have no gradient: no minibatch is large enough for gradients
/// centred at the mode.
#[test]
fn gradients_centred_at_a_mode_beside_an_edge_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let rows: String = (0..60)
        .map(|i| format!("{}\n", 0.4 + f64::from(i % 3 - 1)))
        .collect();
    fs::write(at.join("y.csv"), format!("y\n{rows}")).unwrap();
    let text = "parameters\n  a ~ normal(0, 10)\nrows\n  y ~ normal(sqrt(1 + a), 2)\n";
    fs::write(at.join("root.model"), text).unwrap();
    let fit = [
        "fit",
        "--model",
        "root.model",
        "--data",
        "y.csv",
        "--sampler",
        "sgld-cv",
    ];
    let sentence = refused(at, &fit);
    assert!(sentence.contains("gradient is not a number"), "{sentence}");
}

/// Chains start at draws of a text's priors, and commands that a text is not for name what it lacks.
#[test]
fn a_text_without_rows_starts_at_its_priors_and_is_no_regression() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "parameters\n  a ~ normal(3, 1)\n  b in (-1, 1) ~ normal(0, 1)\n";
    fs::write(at.join("m.model"), text).unwrap();
    let fit = ["fit", "--model", "m.model", "--start", "prior"];
    let short = [
        "--sampler",
        "nuts",
        "--chains",
        "2",
        "--draws",
        "60",
        "--warmup",
        "60",
        "--out",
        "run",
    ];
    done(at, &[&fit[..], &short].concat());
    for (args, sentence) in [
        (&["estimate", "run"][..], "and this is a model as text"),
        (
            &["calibrate", "own"],
            "Models as text cannot be calibrated by simulation yet",
        ),
        (
            &["fit", "--data", "sample:churn", "--template", "own"],
            "Template `own` is a model as text: name its file with --model FILE",
        ),
    ] {
        let why = refused(at, args);
        assert!(why.contains(sentence), "{why}");
    }
    let with_target = format!("{text}target\n  -a^2\n");
    fs::write(at.join("m.model"), with_target).unwrap();
    let output = support::program(at, fit).output().unwrap();
    let why = support::text(&output.stderr);
    assert!(
        why.contains("because its section `target` has a part in the prior"),
        "{why}"
    );
}

/// Rates of counts under gamma priors have gamma posteriors: minibatches of all rows draw from them, and Gibbs sampling by conditionals too.
#[test]
fn known_posteriors_are_drawn_by_exact_transitions_and_conditionals() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("rates.model"), gallery("fish_rates")).unwrap();
    let fit = |more: &[&str]| -> serde_json::Value {
        let common = [
            "fit",
            "--data",
            "sample:fish",
            "--model",
            "rates.model",
            "--json",
        ];
        serde_json::from_str(&done(at, &[&common, more].concat())).unwrap()
    };
    let table =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("sample_data/fish.csv"))
            .unwrap();
    let counts = |species: &str| -> Vec<f64> {
        let cells = table
            .lines()
            .map(|line| line.split(',').collect::<Vec<_>>());
        let own = cells.filter(|cells| cells[1] == species);
        own.map(|cells| cells[2].parse().unwrap()).collect()
    };
    let exact = [
        "--sampler",
        "exact-transition",
        "--draws",
        "2000",
        "--out",
        "exact",
    ];
    let few = [
        "--sampler",
        "exact-transition",
        "--set",
        "sampler.batch=64",
        "--draws",
        "200",
        "--out",
        "few",
    ];
    let gibbs = [
        "--sampler",
        "gibbs",
        "--set",
        "sampler.blocks=rate[*]: conjugate",
        "--draws",
        "1000",
        "--out",
        "gibbs",
    ];
    for (args, is_exact) in [(&exact[..], true), (&few[..], false), (&gibbs[..], true)] {
        let summary = fit(args);
        let rows = summary["variables"].as_array().unwrap();
        for species in ["bream", "roach", "pike", "wels"] {
            let counts = counts(species);
            let (shape, rate) = (1.0 + counts.iter().sum::<f64>(), 0.1 + counts.len() as f64);
            let name = format!("rate[{species}]");
            let row = rows
                .iter()
                .find(|row| row["variable"] == name.as_str())
                .unwrap();
            let number = |key: &str| row[key].as_f64().unwrap();
            let sd = shape.sqrt() / rate;
            // Batches in which a species is rare or missing bias its mean a little.
            let allowed = 4.0 * number("mcse_mean") + if is_exact { 0.0 } else { 0.05 * sd };
            let found = number("mean");
            assert!(
                (found - shape / rate).abs() < allowed,
                "{args:?} {name}: {found}"
            );
            assert!(
                (number("sd") / sd - 1.0).abs() < if is_exact { 0.15 } else { 0.3 },
                "{name}"
            );
        }
    }
    // The run replays without its file, and goes on.
    fs::remove_file(at.join("rates.model")).unwrap();
    done(at, &["fit", "few", "--out", "again"]);
    let draws = |run: &str| fs::read(at.join(run).join("draws.csv")).unwrap();
    assert_eq!(draws("few"), draws("again"));
    done(at, &["resume", "few", "--draws", "20"]);
    let own = "parameters\n  a ~ student_t(3, 0, 5)\nrows\n  count ~ poisson_log(a)\n";
    fs::write(at.join("other.model"), own).unwrap();
    let args = [
        "fit",
        "--data",
        "sample:fish",
        "--model",
        "other.model",
        "--sampler",
        "exact-transition",
    ];
    let why = refused(at, &args);
    assert!(
        why.contains("Sampler `exact-transition` needs parameters that are independent"),
        "{why}"
    );
}

/// Densities without rows have no noise, so that exact transitions draw from them without bias: a gamma, a lognormal and a generalised gamma
/// variable, of which x³ is exponential with mean 1.
#[test]
fn targets_without_rows_are_drawn_by_exact_transitions() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let text = "parameters\n  rate ~ gamma(3, 2)\n  size ~ lognormal(0, 0.5)\n  x: positive\ntarget\n  2 * log(x) - x^3\n";
    fs::write(at.join("known.model"), text).unwrap();
    let args = [
        "fit",
        "--model",
        "known.model",
        "--sampler",
        "exact-transition",
    ];
    let more = ["--draws", "4000", "--out", "run", "--json"];
    let summary: serde_json::Value =
        serde_json::from_str(&done(at, &[&args[..], &more].concat())).unwrap();
    let rows = summary["variables"].as_array().unwrap();
    // Γ(4/3) and Γ(5/3).
    let (first, second) = (0.892_979_511_569_249, 0.902_745_292_950_934);
    let half: f64 = 0.5;
    let lognormal = (0.5 * half * half).exp();
    for (name, mean, sd) in [
        ("rate", 1.5, 3.0_f64.sqrt() / 2.0),
        (
            "size",
            lognormal,
            lognormal * ((half * half).exp() - 1.0).sqrt(),
        ),
        ("x", first, (second - first * first).sqrt()),
    ] {
        let row = rows.iter().find(|row| row["variable"] == name).unwrap();
        let number = |key: &str| row[key].as_f64().unwrap();
        let found = number("mean");
        assert!(
            (found - mean).abs() < 4.0 * number("mcse_mean"),
            "{name}: {found}"
        );
        assert!((number("sd") / sd - 1.0).abs() < 0.06, "{name}");
    }
}

/// A vector of all columns of a table is found by their names, in the fit, in a replay and in new rows, and says what the template says.
#[test]
fn a_vector_of_columns_is_fitted_as_its_template() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("many.model"), gallery("many_columns")).unwrap();
    let data = ["--data", "sample:synthetic-2000x6"];
    let common = [
        "--sampler",
        "nuts",
        "--draws",
        "1000",
        "--seed",
        "5",
        "--json",
    ];
    let fit = |more: &[&str]| -> Vec<serde_json::Value> {
        let summary = done(at, &[&["fit"], &data[..], &common, more].concat());
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        summary["variables"].as_array().unwrap().clone()
    };
    let text = fit(&["--model", "many.model", "--out", "text"]);
    let template = fit(&[
        "--formula",
        "y ~ x1 + x2 + x3 + x4 + x5",
        "--set",
        "model.standardize=false",
        "--set",
        "priors.b=normal(0, 2.5)",
        "--set",
        "priors.intercept=normal(0, 2.5)",
        "--out",
        "template",
    ]);
    let names: Vec<&str> = (text.iter())
        .map(|row| row["variable"].as_str().unwrap())
        .collect();
    let wanted = ["a", "w[x1]", "w[x2]", "w[x3]", "w[x4]", "w[x5]", "largest"];
    assert_eq!(names, wanted);
    assert_eq!(template.len(), 6);
    for (own, other) in text.iter().zip(&template) {
        let number = |row: &serde_json::Value, key: &str| row[key].as_f64().unwrap();
        let error = number(own, "mcse_mean").hypot(number(other, "mcse_mean"));
        let apart = number(own, "mean") - number(other, "mean");
        assert!(apart.abs() < 4.0 * error, "{own} {other}");
    }
    // The folder has all that a replay needs.
    fs::remove_file(at.join("many.model")).unwrap();
    done(at, &["fit", "text", "--out", "again"]);
    let draws = |run: &str| fs::read(at.join(run).join("draws.csv")).unwrap();
    assert_eq!(draws("text"), draws("again"));
    // Columns of new rows stand in another order.
    fs::write(at.join("new.csv"), "x5,x1,x2,x3,x4\n2,1,0,0,0\n0,0,0,0,1\n").unwrap();
    let predicted = |run: &str| -> Vec<f64> {
        let rows = done(at, &["predict", run, "--data", "new.csv"]);
        let mean = |line: &str| line.split(',').nth(1).unwrap().parse().unwrap();
        rows.lines().skip(1).map(mean).collect()
    };
    let (own, other) = (predicted("text"), predicted("template"));
    assert_eq!(own.len(), 2);
    for (own, other) in own.iter().zip(&other) {
        // A tenth of the posterior standard deviation, which is 0.03 and 0.02.
        assert!((own - other).abs() < 0.004, "{own} {other}");
    }
    // The linear predictor is known: a sampler that needs it takes the model.
    fs::write(at.join("many.model"), gallery("many_columns")).unwrap();
    let model = [&data[..], &["--model", "many.model"]].concat();
    let zig_zag = [
        "fit",
        "--sampler",
        "zig-zag",
        "--draws",
        "50",
        "--out",
        "zig",
    ];
    done(at, &[&zig_zag[..], &model].concat());
    let stan = done(at, &[&["show", "--as", "stan"], &model[..]].concat());
    assert!(
        stan.contains("matrix[N, K_x] x;  // x1, x2, x3, x4, x5"),
        "{stan}"
    );
    let equation = done(at, &[&["show", "--as", "equation"], &model[..]].concat());
    assert!(
        equation.starts_with("x[i] = [columns x*]\ny[i] ~ Bernoulli(logit⁻¹(a + w · x[i]))\n"),
        "{equation}"
    );
    // A pattern that no column matches is shown where it stands.
    let other = gallery("many_columns").replace("= x*", "= z*");
    fs::write(at.join("many.model"), other).unwrap();
    let why = refused(at, &[&["fit"], &model[..]].concat());
    assert!(
        why.contains("no column whose name is like `z*`") && why.contains("  x: vector = z*"),
        "{why}"
    );
}

/// Steps of h take x to (1 − h) x + √(2h) ξ: autoregressive draws, whose path is that of the process as far as (1 − h)^k is e^(−kh).
#[test]
fn langevin_steps_of_a_normal_are_a_path_of_ornstein_and_uhlenbeck() {
    const STEP: f64 = 0.01;
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("path.model"), gallery("ornstein_uhlenbeck")).unwrap();
    let args = [
        "fit",
        "--model",
        "path.model",
        "--sampler",
        "ula",
        "--set",
        "sampler.step_size=0.01",
        "--set",
        "sampler.steps_per_draw=1",
        "--warmup",
        "0",
        "--chains",
        "4",
        "--draws",
        "25000",
        "--seed",
        "4",
        "--out",
        "paths",
    ];
    done(at, &args);
    let table = fs::read_to_string(at.join("paths/draws.csv")).unwrap();
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some(".chain,.iteration,.draw,x"));
    let mut paths = vec![Vec::new(); 4];
    for line in lines {
        let cells: Vec<&str> = line.split(',').collect();
        let chain: usize = cells[0].parse().unwrap();
        paths[chain - 1].push(cells[3].parse::<f64>().unwrap());
    }
    assert!(paths.iter().all(|path| path.len() == 25_000));
    // What steps add is normal of variance 2h and mean 0, whatever the path is.
    let kept = 1.0 - STEP;
    let noise = |pair: &[f64]| (pair[1] - kept * pair[0]) / (2.0 * STEP).sqrt();
    let noise: Vec<f64> = (paths.iter())
        .flat_map(|path| path.windows(2).map(noise))
        .collect();
    let count = noise.len() as f64;
    let mean = noise.iter().sum::<f64>() / count;
    let square = noise.iter().map(|x| x * x).sum::<f64>() / count;
    assert!(mean.abs() < 4.0 / count.sqrt(), "{mean}");
    assert!(
        (square - 1.0).abs() < 4.0 * (2.0 / count).sqrt(),
        "{square}"
    );
    for lag in [1, 10, 50, 100] {
        let (mut products, mut squares) = (0.0, 0.0);
        for path in &paths {
            for (x, later) in path.iter().zip(&path[lag..]) {
                products += x * later;
                squares += x * x;
            }
        }
        let found = products / squares;
        let k = lag as f64;
        let wanted = kept.powf(k);
        // Bartlett's variance of the autocorrelation of an autoregressive path (Brockwell and Davis 1991, example 7.2.3).
        let (once, twice) = (kept * kept, kept.powf(2.0 * k));
        let variance = (1.0 + once) * (1.0 - twice) / (1.0 - once) - 2.0 * k * twice;
        let error = (variance / count).sqrt();
        assert!(
            (found - wanted).abs() < 4.0 * error,
            "lag {lag}: {found} and {wanted}, error {error}"
        );
        // So small a step follows the process itself.
        assert!((wanted - (-k * STEP).exp()).abs() < 0.002);
    }
    done(
        at,
        &["plot", "paths", "--what", "trace", "--out", "paths.svg"],
    );
    let picture = fs::read_to_string(at.join("paths.svg")).unwrap();
    assert!(picture.contains("<svg"), "{}", picture.len());
}
