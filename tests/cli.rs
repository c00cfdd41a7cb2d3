//! The command line as a user meets it: files, exit codes, sentences.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const FORMULA: &str = "churned ~ age + plan";

/// Runs `ergodic` in `folder`.
fn ergodic(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_ergodic"))
        .args(args)
        .current_dir(folder)
        .stdin(Stdio::null())
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap()
}

/// A short fit of the bundled data into `out`, with further arguments.
fn short_fit(folder: &Path, out: &str, more: &[&str]) -> Output {
    let mut args = vec![
        "fit",
        "--data",
        "sample:churn",
        "--formula",
        FORMULA,
        "--out",
        out,
    ];
    args.extend(["--chains", "2", "--warmup", "60", "--seed", "7"]);
    args.extend(more);
    ergodic(folder, &args)
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The request must be refused with exit code 2, without a panic, in a sentence that contains `words`.
#[track_caller]
fn assert_refused(output: &Output, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    let errors: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("error: "))
        .collect();
    assert_eq!(errors.len(), 1, "one sentence, not: {text}");
    for word in words {
        assert!(
            errors[0].contains(word),
            "`{word}` is not in: {}",
            errors[0]
        );
    }
}

#[test]
fn a_run_folder_is_complete_and_replays_byte_for_byte() {
    let folder = tempfile::tempdir().unwrap();
    let first = short_fit(folder.path(), "a", &["--draws", "50", "--json"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let a = folder.path().join("a");
    assert_eq!(first.stdout, fs::read(a.join("summary.json")).unwrap());
    for name in [
        "recipe.toml",
        "draws.csv",
        "info.csv",
        "summary.csv",
        "run.json",
        "checkpoint.dat",
    ] {
        assert!(a.join(name).is_file(), "{name}");
    }
    let draws = fs::read_to_string(a.join("draws.csv")).unwrap();
    assert!(draws.starts_with(
        ".chain,.iteration,.draw,b[Intercept],b[age],b[plan=plus],b[plan=pro]\n1,1,1,"
    ));
    assert_eq!(draws.lines().count(), 101);

    let again = ergodic(folder.path(), &["fit", "a/recipe.toml", "--out", "b"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(
        draws,
        fs::read_to_string(folder.path().join("b/draws.csv")).unwrap()
    );
    // The replay of a replay is the same recipe.
    assert_eq!(
        fs::read_to_string(a.join("recipe.toml")).unwrap(),
        fs::read_to_string(folder.path().join("b/recipe.toml")).unwrap()
    );
}

#[test]
fn a_continued_run_equals_one_long_run() {
    for sampler in ["nuts", "metropolis", "sgld", "sgld-cv", "osgfs", "osgfs-cv"] {
        let folder = tempfile::tempdir().unwrap();
        let part = short_fit(
            folder.path(),
            "part",
            &["--sampler", sampler, "--draws", "30"],
        );
        assert_eq!(part.status.code(), Some(0), "{sampler}: {}", stderr(&part));
        let more = ergodic(folder.path(), &["resume", "part", "--draws", "20"]);
        assert_eq!(more.status.code(), Some(0), "{sampler}: {}", stderr(&more));
        let long = short_fit(
            folder.path(),
            "long",
            &["--sampler", sampler, "--draws", "50"],
        );
        assert_eq!(long.status.code(), Some(0), "{sampler}: {}", stderr(&long));
        for name in ["draws.csv", "info.csv"] {
            let read = |run: &str| fs::read_to_string(folder.path().join(run).join(name)).unwrap();
            assert!(read("part") == read("long"), "{sampler}: {name} differs");
        }
    }
}

/// A chain alone may use idle cores for its exact passes, a chain among others may not: the draws must not notice.
#[test]
fn a_chain_does_not_depend_on_its_company() {
    let folder = tempfile::tempdir().unwrap();
    let fit = |out: &str, chains: &str| {
        let args = [
            "fit",
            "--data",
            "sample:tall_logistic",
            "--formula",
            "defect ~ temperature",
            "--out",
            out,
        ];
        let more = [
            "--warmup",
            "30",
            "--draws",
            "5",
            "--sampler",
            "nuts",
            "--chains",
            chains,
        ];
        let output = ergodic(folder.path(), &[&args[..], &more[..]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        let text = fs::read_to_string(folder.path().join(out).join("draws.csv")).unwrap();
        text.lines()
            .filter(|line| line.starts_with("1,"))
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(fit("alone", "1"), fit("company", "3"));
}

#[test]
fn an_interrupt_saves_what_was_drawn_and_the_run_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_ergodic"))
        .args([
            "fit",
            "--data",
            "sample:tall_logistic",
            "--formula",
            "defect ~ temperature + load",
            "--out",
            "run",
        ])
        .args([
            "--sampler",
            "sgld-cv",
            "--chains",
            "2",
            "--warmup",
            "5",
            "--draws",
            "1000000",
            "--set",
            "sampler.steps_per_draw=1",
        ])
        .current_dir(folder.path())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The program is up once it has printed its first progress line with draws.
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(child.stderr.take().unwrap()));
    let begun = Instant::now();
    for line in lines.by_ref() {
        let line = line.unwrap();
        if line.contains(" draws; ") && !line.starts_with("0 draws") {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(120),
            "no draws: {line}"
        );
    }
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    let rest: Vec<String> = lines.map(Result::unwrap).collect();
    assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
    assert!(
        rest.iter()
            .any(|line| line.contains("Interrupted") && line.contains("resume")),
        "{rest:?}"
    );
    let count = || {
        fs::read_to_string(folder.path().join("run/draws.csv"))
            .unwrap()
            .lines()
            .count()
    };
    let before = count();
    assert!(before > 2);
    let more = ergodic(folder.path(), &["resume", "run", "--draws", "10"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
    assert_eq!(count(), before + 20);
    // The stopped and continued run still replays to the same bytes.
    let again = ergodic(folder.path(), &["fit", "run/recipe.toml", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let read = |run: &str| fs::read(folder.path().join(run).join("draws.csv")).unwrap();
    assert!(read("run") == read("again"));
}

#[test]
fn a_run_that_ended_before_its_first_draw_can_be_continued() {
    let folder = tempfile::tempdir().unwrap();
    let stopped = short_fit(
        folder.path(),
        "a",
        &[
            "--draws",
            "20",
            "--set",
            "run.max_seconds=0.001",
            "--warmup",
            "2000",
        ],
    );
    assert_eq!(stopped.status.code(), Some(0), "{}", stderr(&stopped));
    let draws = |run: &str| fs::read_to_string(folder.path().join(run).join("draws.csv")).unwrap();
    assert!(
        draws("a").lines().count() <= 1,
        "the limit is shorter than the warm-up"
    );
    let more = ergodic(folder.path(), &["resume", "a", "--draws", "20"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
    let whole = short_fit(folder.path(), "b", &["--draws", "20", "--warmup", "2000"]);
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    assert!(draws("a") == draws("b"));
}

#[test]
fn requests_that_cannot_be_met_are_refused_in_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    let fit = |data: &str, formula: &str, more: &[&str]| {
        let args = [
            &["fit", "--data", data, "--formula", formula, "--out", "out"][..],
            more,
        ]
        .concat();
        ergodic(folder.path(), &args)
    };
    assert_refused(
        &fit("nope.csv", "y ~ x", &[]),
        &["nope.csv", "does not exist"],
    );
    assert_refused(&fit(".", "y ~ x", &[]), &["directory"]);
    write("empty.csv", b"");
    assert_refused(&fit("empty.csv", "y ~ x", &[]), &["empty.csv", "empty"]);
    write("header.csv", b"y,x\n");
    assert_refused(&fit("header.csv", "y ~ x", &[]), &["header.csv"]);
    write("ragged.csv", b"y,x\n0,1\n1,2,3\n0,4\n");
    assert_refused(&fit("ragged.csv", "y ~ x", &[]), &["ine 3", "3", "2"]);
    write("nul.csv", b"y,x\n0,1\n1,\0\n");
    assert_refused(&fit("nul.csv", "y ~ x", &[]), &["nul.csv"]);
    write("one.csv", b"y,x\n0,1\n0,2\n0,3\n");
    assert_refused(&fit("one.csv", "y ~ x", &[]), &["`y`"]);
    write("three.csv", b"y,x\na,1\nb,2\nc,3\n");
    assert_refused(&fit("three.csv", "y ~ x", &[]), &["`y`", "3"]);
    write("missing.csv", b"y,x\n0,\n1,\n0,\n");
    assert_refused(&fit("missing.csv", "y ~ x", &[]), &["`x`"]);
    write("ok.csv", b"y,x\n0,1\n1,2\n0,3\n1,2.5\n");
    assert_refused(&fit("ok.csv", "y ~ z", &[]), &["`z`"]);
    assert_refused(&fit("ok.csv", "y ~ (x", &[]), &["character 7", "`)`"]);
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--template", "nonsense"]),
        &["nonsense", "logistic"],
    );
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--sampler", "nonsense"]),
        &["nonsense", "nuts"],
    );
    assert_refused(
        &fit(
            "ok.csv",
            "y ~ x",
            &["--set", "sampler.id=sgld", "--set", "sampler.batch=0"],
        ),
        &["batch"],
    );
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--set", "priors.b=gamma(1, 1)"]),
        &["gamma(1, 1)", "normal(mean, sd)"],
    );
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--set", "priors.b[q]=flat"]),
        &["b[q]"],
    );
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--set", "run.chains=0"]),
        &["run.chains"],
    );
    write("bad.toml", b"[data\nsource = 1\n");
    assert_refused(
        &ergodic(folder.path(), &["fit", "bad.toml"]),
        &["line 1", "bad.toml"],
    );
    write("unknown.toml", b"[data]\nsource = \"ok.csv\"\n[model]\ntemplate = \"logistic\"\nformula = \"y ~ x\"\ncolour = 1\n");
    assert_refused(
        &ergodic(folder.path(), &["fit", "unknown.toml"]),
        &["colour"],
    );
    assert_refused(
        &ergodic(folder.path(), &["fit", "absent.toml"]),
        &["absent.toml"],
    );
    write("file", b"");
    assert_refused(
        &fit("ok.csv", "y ~ x", &["--out", "file/sub"]),
        &["file/sub"],
    );
    assert_refused(
        &ergodic(folder.path(), &["resume", "nowhere"]),
        &["nowhere"],
    );
    assert_refused(
        &ergodic(folder.path(), &["summarise", "nowhere.csv"]),
        &["nowhere.csv"],
    );
    assert!(
        !folder.path().join("out").exists(),
        "a refused request leaves no folder"
    );
}

#[test]
fn the_search_for_the_mode_is_chosen_recorded_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let draws = ["--draws", "20"];
    let plain = short_fit(folder, "auto", &draws);
    assert!(
        stderr(&plain).contains("mode: Newton"),
        "{}",
        stderr(&plain)
    );
    let adam = ["--draws", "20", "--mode", "adam", "--set", "mode.steps=500"];
    let fitted = short_fit(folder, "adam", &adam);
    let text = stderr(&fitted);
    assert!(text.contains("mode: Adam, 500 iterations"), "{text}");
    assert!(text.contains("finished by"), "{text}");
    let read = |name: &str| fs::read_to_string(folder.join("adam").join(name)).unwrap();
    let recipe = read("recipe.toml");
    assert!(recipe.contains("method = \"adam\"") && recipe.contains("learning_rate"));
    let manifest: serde_json::Value = serde_json::from_str(&read("run.json")).unwrap();
    let trace = manifest["mode"]["trace"].as_array().unwrap();
    assert!(trace.len() > 20, "{}", trace.len());
    let last = trace.last().unwrap()["gradient_norm"].as_f64().unwrap();
    assert!(last < 1e-6, "{last}");
    // What is not said is not written: recipes of older versions stay as they are.
    let auto = fs::read_to_string(folder.join("auto/recipe.toml")).unwrap();
    assert!(!auto.contains("[mode]"), "{auto}");
    let again = ergodic(folder, &["fit", "adam/recipe.toml", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let draws = |run: &str| fs::read(folder.join(run).join("draws.csv")).unwrap();
    assert_eq!(draws("adam"), draws("again"));
    assert_refused(
        &short_fit(folder, "no", &["--mode", "adan"]),
        &["mode.method", "adam"],
    );
    assert_refused(
        &short_fit(folder, "no", &["--set", "mode.steps=5"]),
        &["steps"],
    );
    // A mode that is not good enough is refused, by samplers that need one.
    let far = [
        "--mode",
        "sgd",
        "--set",
        "mode.steps=5",
        "--set",
        "mode.polish=false",
    ];
    let mut with = far.to_vec();
    with.extend(["--sampler", "sgld-cv"]);
    assert_refused(
        &short_fit(folder, "no", &with),
        &["from the peak", "mode.polish"],
    );
}

#[test]
fn the_anchor_is_looked_for_from_an_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = short_fit(folder, "first", &["--draws", "200"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let more = ["--draws", "20", "--anchor-from", "first"];
    let second = short_fit(folder, "second", &more);
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    let recipe = fs::read_to_string(folder.join("second/recipe.toml")).unwrap();
    assert!(recipe.contains("start = ["), "{recipe}");
    assert_refused(
        &short_fit(folder, "no", &["--set", "mode.start=[1.0]"]),
        &["mode.start", "one per variable"],
    );
    assert_refused(
        &short_fit(folder, "no", &["--anchor-from", "nowhere"]),
        &["nowhere"],
    );
}

#[test]
fn a_folder_with_content_is_never_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("mine")).unwrap();
    fs::write(folder.path().join("mine/precious"), "keep").unwrap();
    assert_refused(
        &short_fit(folder.path(), "mine", &["--draws", "10"]),
        &["not empty", "mine"],
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("mine/precious")).unwrap(),
        "keep"
    );
}

#[test]
fn data_that_changed_since_the_recipe_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    let table = |last: &str| {
        let rows: String = (0..40)
            .map(|i| format!("{},{}\n", i % 2, (i * 7) % 11))
            .collect();
        fs::write(folder.path().join("t.csv"), format!("y,x\n{rows}{last}")).unwrap();
    };
    table("1,3\n");
    let args = [
        "fit",
        "--data",
        "t.csv",
        "--formula",
        "y ~ x",
        "--out",
        "a",
        "--warmup",
        "30",
        "--draws",
        "10",
    ];
    let first = ergodic(folder.path(), &args);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    table("1,4\n");
    assert_refused(
        &ergodic(folder.path(), &["fit", "a/recipe.toml"]),
        &["fingerprint"],
    );
}

#[test]
fn a_full_disk_is_one_sentence() {
    if !Path::new("/dev/full").exists() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    short_fit(folder.path(), "a", &["--draws", "50"]);
    let output = ergodic(
        folder.path(),
        &["export", "a", "--format", "draws-csv", "--out", "/dev/full"],
    );
    assert_eq!(output.status.code(), Some(3));
    assert!(
        stderr(&output).contains("disk is full"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn foreign_draws_are_summarised() {
    let folder = tempfile::tempdir().unwrap();
    short_fit(folder.path(), "a", &["--draws", "50"]);
    let folder_summary = ergodic(folder.path(), &["summarise", "a", "--json"]);
    let file_summary = ergodic(folder.path(), &["summarise", "a/draws.csv", "--json"]);
    let json =
        |output: &Output| -> serde_json::Value { serde_json::from_slice(&output.stdout).unwrap() };
    let (of_folder, of_file) = (json(&folder_summary), json(&file_summary));
    assert_eq!(of_folder["variables"].as_array().unwrap().len(), 4);
    for (a, b) in of_folder["variables"]
        .as_array()
        .unwrap()
        .iter()
        .zip(of_file["variables"].as_array().unwrap())
    {
        for key in [
            "variable",
            "mean",
            "mcse_mean",
            "sd",
            "mad",
            "q5",
            "q50",
            "q95",
            "ess_bulk",
            "ess_tail",
            "rhat",
        ] {
            assert_eq!(a[key], b[key], "{key}");
        }
    }
    assert!(of_file["run"].is_null());
    // One chain per file, as other programs write them.
    let text = fs::read_to_string(folder.path().join("a/draws.csv")).unwrap();
    let (header, rows) = text.split_once('\n').unwrap();
    for chain in ["1", "2"] {
        let mine: String = rows
            .lines()
            .filter(|row| row.starts_with(&format!("{chain},")))
            .map(|row| format!("{row}\n"))
            .collect();
        fs::write(
            folder.path().join(format!("chain{chain}.csv")),
            format!("{header}\n{mine}"),
        )
        .unwrap();
    }
    let parts = json(&ergodic(
        folder.path(),
        &["summarise", "chain1.csv", "chain2.csv", "--json"],
    ));
    assert_eq!(parts["variables"], of_file["variables"]);
}

#[test]
fn approximate_samplers_are_not_certified_until_checked() {
    let folder = tempfile::tempdir().unwrap();
    let verdict = |run: &str| -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(folder.path().join(run).join("run.json")).unwrap())
            .unwrap()
    };
    let args = ["--sampler", "sgld-cv", "--draws", "400", "--chains", "4"];
    short_fit(folder.path(), "unchecked", &args);
    assert_eq!(verdict("unchecked")["verdict"], "not_certified");
    let checked = short_fit(
        folder.path(),
        "checked",
        &[&args[..], &["--check-bias"]].concat(),
    );
    assert!(
        stderr(&checked).contains("bias check: worst is"),
        "{}",
        stderr(&checked)
    );
    assert!(verdict("checked")["bias_check"].is_string());
}

#[test]
fn lists_come_from_the_registries() {
    let folder = tempfile::tempdir().unwrap();
    for what in ["templates", "samplers", "formats", "datasets"] {
        let plain = ergodic(folder.path(), &["list", what]);
        let json = ergodic(folder.path(), &["list", what, "--json"]);
        let entries: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(!entries.as_array().unwrap().is_empty());
        for entry in entries.as_array().unwrap() {
            let id = entry["id"].as_str().unwrap();
            assert!(String::from_utf8_lossy(&plain.stdout).contains(id), "{id}");
        }
    }
    for entry in ergodic::samplers::REGISTRY {
        let json = ergodic(
            folder.path(),
            &["list", "settings", entry.spec.id, "--json"],
        );
        let fields: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert_eq!(fields.as_array().unwrap().len(), entry.spec.fields.len());
    }
    assert_refused(
        &ergodic(folder.path(), &["list", "settings", "nonsense"]),
        &["nonsense", "nuts"],
    );
}

#[test]
fn samplers_are_ranked_for_data_and_a_time_limit() {
    let folder = tempfile::tempdir().unwrap();
    let rank = |more: &[&str]| -> Vec<serde_json::Value> {
        let mut args = vec!["list", "samplers", "--json"];
        args.extend(["--data", "sample:tall_logistic"]);
        args.extend(["--formula", "defect ~ temperature + pressure + load"]);
        args.extend(more);
        let output = ergodic(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let all = rank(&[]);
    assert_eq!(all.len(), ergodic::samplers::REGISTRY.len());
    assert_eq!(all[0]["id"], "nuts");
    assert!(
        all.iter()
            .all(|entry| !entry["reason"].as_str().unwrap().is_empty())
    );
    assert_eq!(rank(&["--max-seconds", "1"])[0]["id"], "sgld-cv");
    let plain = [
        "list",
        "samplers",
        "--data",
        "sample:churn",
        "--formula",
        FORMULA,
    ];
    let plain = ergodic(folder.path(), &plain);
    let text = String::from_utf8(plain.stdout).unwrap();
    assert!(text.starts_with(" 1  nuts"), "{text}");
    assert_refused(
        &ergodic(
            folder.path(),
            &["list", "formats", "--data", "a.csv", "--formula", "y ~ x"],
        ),
        &["list samplers"],
    );
}

#[test]
fn without_a_display_the_window_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let output = ergodic(folder.path(), &[]);
    assert_refused(&output, &["fit --help"]);
    assert!(!stderr(&output).contains(".rs:"), "{}", stderr(&output));
}

#[test]
fn the_demo_runs_in_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let output = ergodic(folder.path(), &["demo"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let table = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(
        table.starts_with("variable") && table.contains("b[Intercept]"),
        "{table}"
    );
    assert!(
        stderr(&output).contains("Run folder: runs"),
        "{}",
        stderr(&output)
    );
    assert!(folder.path().join("runs/demo-1/draws.csv").is_file());
}
