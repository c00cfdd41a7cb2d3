//! The command line as a user meets it: files, exit codes, sentences.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, Instant};

use support::{program, text};

mod support;

/// What comes of running the program.
fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

const FORMULA: &str = "churned ~ age + plan";

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
    text(&output.stderr)
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
    let samplers = [
        "nuts",
        "metropolis",
        "sgld",
        "sgld-cv",
        "osgfs",
        "osgfs-cv",
        "divide-and-conquer",
    ];
    for sampler in samplers {
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

/// A share of the rows is taken by every sampler of minibatches, and more rows than there are by none without a word.
#[test]
fn minibatches_are_shares_of_the_rows_and_no_larger_than_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let fit = |out: &str, sampler: &str, batch: &str| {
        let batch = format!("sampler.batch={batch}");
        let args = ["--sampler", sampler, "--draws", "20", "--set", &batch];
        short_fit(folder.path(), out, &args)
    };
    let output = fit("share", "osgfs", "0.5");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let recipe = fs::read_to_string(folder.path().join("share/recipe.toml")).unwrap();
    let batch = |line: &str| Some(line.strip_prefix("batch = ")?.parse::<usize>().unwrap());
    assert!(recipe.lines().find_map(batch).unwrap() > 2, "{recipe}");
    let output = fit("one", "osgfs", "1");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("at least 2 rows"));
    let output = fit("many", "sgld", "1000000");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let manifest = fs::read_to_string(folder.path().join("many/run.json")).unwrap();
    assert!(manifest.contains("batch-of-all-rows"), "{manifest}");
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

/// A run that goes on until it is interrupted.
struct EndlessFit {
    process: Child,
    lines: std::io::Lines<std::io::BufReader<ChildStderr>>,
}

/// Starts one in `folder`/run and waits for its first draws.
fn endless_fit(folder: &Path) -> EndlessFit {
    let model = ["--formula", "defect ~ temperature + load"];
    // Minutes of steps on any machine, most of them not kept, so that what is kept is soon replayed.
    let sampler =
        "--sampler sgld-cv --chains 2 --warmup 5 --draws 1000000 --set sampler.steps_per_draw=30";
    let args = "fit --data sample:tall_logistic --out run".split(' ');
    let mut process = program(folder, args.chain(model).chain(sampler.split(' ')))
        .env("TMPDIR", folder)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines =
        std::io::BufRead::lines(std::io::BufReader::new(process.stderr.take().unwrap()));
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
    EndlessFit { process, lines }
}

#[test]
#[cfg(unix)]
fn a_killed_run_loses_a_second_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut fit = endless_fit(folder.path());
    let draws = || {
        let output = ergodic(folder.path(), &["export", "run", "--format", "draws-csv"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        output.stdout.iter().filter(|&&byte| byte == b'\n').count() - 1
    };
    // Read while the run goes on: what is on disk grows by itself, each second or, where the disk is slow, a tenth of the time.
    let wait_for = |grown: &dyn Fn() -> bool| {
        let begun = Instant::now();
        while !grown() {
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "no new draws on disk"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    };
    wait_for(&|| folder.path().join("run/journal.dat").exists() && draws() > 0);
    let early = draws();
    // Nobody else may take it for a run that was cut short.
    assert_refused(
        &ergodic(folder.path(), &["resume", "run", "--draws", "10"]),
        &["still goes on"],
    );
    assert_refused(&short_fit(folder.path(), "run", &[]), &["still goes on"]);
    wait_for(&|| draws() > early);
    // SIGKILL: nothing in the process can react to it.
    fit.process.kill().unwrap();
    fit.process.wait().unwrap();
    let kept = draws();
    assert!(kept > early, "{kept} draws, {early} earlier");

    let summary = ergodic(folder.path(), &["summarise", "run", "--json"]);
    assert_eq!(summary.status.code(), Some(0), "{}", stderr(&summary));
    let summary: serde_json::Value = serde_json::from_slice(&summary.stdout).unwrap();
    assert_eq!(summary["run"]["stop_reason"], "cut_short");
    assert_eq!(summary["run"]["verdict"], "not_certified");
    assert_eq!(
        summary["run"]["chains"][0]["draws"].as_u64().unwrap()
            + summary["run"]["chains"][1]["draws"].as_u64().unwrap(),
        kept as u64
    );
    assert_refused(
        &short_fit(folder.path(), "run", &[]),
        &["cut short", "resume"],
    );

    let more = ergodic(folder.path(), &["resume", "run", "--draws", "10"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
    assert!(stderr(&more).contains("recovered"), "{}", stderr(&more));
    assert_eq!(draws(), kept + 20);
    for gone in ["journal.dat", "journal.checkpoint", "journal.lock"] {
        assert!(!folder.path().join("run").join(gone).exists(), "{gone}");
    }
    assert!(!stderr(&more).contains("warming up"), "{}", stderr(&more));
    let again = ergodic(folder.path(), &["fit", "run/recipe.toml", "--out", "again"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let read = |run: &str| fs::read(folder.path().join(run).join("draws.csv")).unwrap();
    assert!(read("run") == read("again"));
}

/// Interrupts it and returns what else it prints.
fn interrupt(fit: &mut EndlessFit) -> Vec<String> {
    let killed = Command::new("kill")
        .args(["-INT", &fit.process.id().to_string()])
        .status()
        .unwrap();
    assert!(killed.success());
    fit.lines.by_ref().map(Result::unwrap).collect()
}

#[test]
fn an_interrupt_saves_what_was_drawn_and_the_run_goes_on_later() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = endless_fit(folder.path());
    let rest = interrupt(&mut child);
    assert_eq!(child.process.wait().unwrap().code(), Some(130), "{rest:?}");
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
    // A named sampler: `auto` takes the time limit into account.
    let stopped = short_fit(
        folder.path(),
        "a",
        &[
            "--sampler",
            "nuts",
            "--draws",
            "20",
            "--set",
            "run.max_seconds=0.001",
            "--warmup",
            "2000",
        ],
    );
    // A run without a draw gives no answer: that is not a success.
    let text = stderr(&stopped);
    assert_eq!(stopped.status.code(), Some(3), "{text}");
    assert!(
        text.contains("before the first draw") && text.contains("ergodic resume a"),
        "{text}"
    );
    let draws = |run: &str| fs::read_to_string(folder.path().join(run).join("draws.csv")).unwrap();
    assert!(
        draws("a").lines().count() <= 1,
        "the limit is shorter than the warm-up"
    );
    let more = ergodic(folder.path(), &["resume", "a", "--draws", "20"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
    let whole = short_fit(
        folder.path(),
        "b",
        &["--sampler", "nuts", "--draws", "20", "--warmup", "2000"],
    );
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
    assert_refused(&fit("one.csv", "y ~ x", &[]), &["Column y", "single value"]);
    write("three.csv", b"y,x\na,1\nb,2\nc,3\n");
    assert_refused(
        &fit("three.csv", "y ~ (1 | x)", &[]),
        &["Column y", "3 categories"],
    );
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
        &["from the mode", "mode.polish"],
    );
}

#[test]
fn the_centre_is_looked_for_from_an_earlier_run() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let first = short_fit(folder, "first", &["--draws", "200"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let more = ["--draws", "20", "--centre-from", "first"];
    let second = short_fit(folder, "second", &more);
    assert_eq!(second.status.code(), Some(0), "{}", stderr(&second));
    let recipe = fs::read_to_string(folder.join("second/recipe.toml")).unwrap();
    assert!(recipe.contains("start = ["), "{recipe}");
    assert_refused(
        &short_fit(folder, "no", &["--set", "mode.start=[1.0]"]),
        &["mode.start", "one per variable"],
    );
    assert_refused(
        &short_fit(folder, "no", &["--centre-from", "nowhere"]),
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

/// The run must end with exit code 3 and a sentence that contains `words`, without a panic.
#[track_caller]
fn assert_not_saved(output: &Output, words: &[&str]) {
    let text = stderr(output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(!text.contains("panicked"), "{text}");
    for word in words {
        assert!(text.contains(word), "{text}");
    }
}

#[test]
#[cfg(unix)]
fn a_disk_that_fills_up_while_draws_are_written_is_one_sentence() {
    let folder = tempfile::tempdir().unwrap();
    // Files may not grow beyond 8 kB: what a full disk does to a writer, without a disk to fill.
    let script = format!(
        "ulimit -f 8; exec '{}' fit --data sample:churn --formula '{FORMULA}' --out run --draws 1000",
        env!("CARGO_BIN_EXE_ergodic")
    );
    let output = Command::new("bash")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("TMPDIR", folder.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert_not_saved(&output, &["could not be written", "draws.csv", "resume"]);
    // The summary was printed all the same; no half file stays, and there is nowhere a rescue without draws.
    assert!(String::from_utf8_lossy(&output.stdout).contains("b[age]"));
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    assert_eq!(names(folder.path()), ["run"]);
    let left = names(&folder.path().join("run"));
    assert!(left.iter().any(|name| name == "recipe.toml"), "{left:?}");
    assert!(!left.iter().any(|name| name.ends_with(".part")), "{left:?}");
    // With room the run goes on from what is there, to the same draws.
    let more = ergodic(folder.path(), &["resume", "run"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
    let whole = ergodic(
        folder.path(),
        &[
            "fit",
            "--data",
            "sample:churn",
            "--formula",
            FORMULA,
            "--out",
            "whole",
            "--draws",
            "1000",
        ],
    );
    assert_eq!(whole.status.code(), Some(0), "{}", stderr(&whole));
    let read = |run: &str| fs::read(folder.path().join(run).join("draws.csv")).unwrap();
    assert!(read("run") == read("whole"));
}

#[test]
#[cfg(unix)]
fn a_folder_that_vanishes_during_a_run_does_not_take_the_draws_along() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = endless_fit(folder.path());
    fs::remove_dir_all(folder.path().join("run")).unwrap();
    fs::write(folder.path().join("run"), "a file in its place").unwrap();
    let rest = interrupt(&mut child);
    assert_eq!(child.process.wait().unwrap().code(), Some(3), "{rest:?}");
    let sentence = rest.iter().find(|line| line.contains("nothing is lost"));
    let sentence = sentence.unwrap_or_else(|| panic!("{rest:?}"));
    let rescued = sentence.rsplit(": ").next().unwrap();
    let draws = fs::read_to_string(Path::new(rescued).join("draws.csv")).unwrap();
    assert!(draws.lines().count() > 2);
    let more = ergodic(folder.path(), &["resume", rescued, "--draws", "10"]);
    assert_eq!(more.status.code(), Some(0), "{}", stderr(&more));
}

#[test]
fn samplers_are_compared_on_a_synthetic_set() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "--data",
        "sample:synthetic-2000x3",
        "--samplers",
        "nuts,sgld:batch=50",
        "--densities",
        "densities.svg",
    ];
    let output = ergodic(
        folder.path(),
        &[&["compare"][..], &args, &["--json"]].concat(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let [nuts, sgld] = rows.as_array().unwrap().as_slice() else {
        panic!("{rows}");
    };
    assert_eq!(nuts["mean_shift_sd"], 0.0);
    assert_eq!(nuts["sd_ratio"], serde_json::json!([1.0, 1.0]));
    assert_eq!(
        (&nuts["exact"], &sgld["exact"]),
        (&true.into(), &false.into())
    );
    assert!(nuts["ess_bulk"].as_f64().unwrap() > 1000.0);
    // SGLD is off, but not by far, and pays for a step with a few rows only.
    let shift = sgld["mean_shift_sd"].as_f64().unwrap();
    assert!(shift > 0.0 && shift < 0.5, "{shift}");
    assert!(sgld["sd_ratio"][1].as_f64().unwrap() > 1.0);
    assert!(sgld["rows_share"].as_f64().unwrap() < 1.0);
    assert_eq!(sgld["sampler"], "sgld:batch=50");
    assert_eq!(sgld["rows_share"], 50.0 / 2000.0);
    // Costs are multiples of one of them, the cheaper where hmc-ecs is not there.
    assert_eq!(nuts["relative_to"], sgld["relative_to"]);
    let cost = |row: &serde_json::Value, which: &str, of: &str| row[which][of].as_f64().unwrap();
    for which in ["relative_cost", "relative_cost_after_warmup"] {
        let of = |row| ["min", "median", "max"].map(|of| cost(row, which, of));
        let unit = if sgld["relative_to"] == sgld["sampler"] {
            sgld
        } else {
            nuts
        };
        assert_eq!(of(unit), [1.0; 3]);
        for [min, median, max] in [of(nuts), of(sgld)] {
            assert!(0.0 < min && min <= median && median <= max);
        }
    }
    let picture = fs::read_to_string(folder.path().join("densities.svg")).unwrap();
    assert!(picture.contains("sgld:batch=50") && picture.contains("b[x1]"));
    // Numbers are not those of `fit`, which reports per unit, and both picture and caption say so.
    assert!(picture.contains("standardised scale"), "{picture}");
    let said = stderr(&output);
    assert!(
        said.contains("Posterior densities by sampler, on the scale of standardised predictors"),
        "{said}"
    );
    // With 2,000 rows the posterior is normal but for a tenth of a standard deviation.
    let quadratic = [
        "--data",
        "sample:synthetic-2000x3",
        "--samplers",
        "nuts",
        "--reference",
        "quadratic",
        "--json",
    ];
    let output = ergodic(folder.path(), &[&["compare"][..], &quadratic].concat());
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let shift = rows[0]["mean_shift_sd"].as_f64().unwrap();
    assert!(shift > 0.0 && shift < 0.2, "{shift}");
    let table = ergodic(folder.path(), &[&["compare"][..], &args].concat());
    let table = String::from_utf8(table.stdout).unwrap();
    assert!(
        table.contains("sgld:batch=50 ~")
            && table.contains("passes/ESS")
            && table.contains("Relative computational time"),
        "{table}"
    );
    assert_refused(
        &ergodic(
            folder.path(),
            &["compare", "--data", "sample:churn", "--samplers", "nope"],
        ),
        &["nope"],
    );
    assert_refused(
        &ergodic(
            folder.path(),
            &["fit", "--data", "sample:synthetic-3", "--formula", "y ~ x1"],
        ),
        &["synthetic-ROWSxCOLUMNS"],
    );
}

/// One row stands for 60, so that signs are negative at times.
#[test]
fn a_comparison_tells_the_signs_of_signed_samplers_and_how_often_new_rows_are_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..60)
        .map(|i| {
            let x = f64::from(i * 7 % 60) / 10.0 - 3.0;
            let is_yes = f64::from(i * 13 % 10) / 10.0 < 1.0 / (1.0 + (-x).exp());
            format!("{x},{}\n", if is_yes { "yes" } else { "no" })
        })
        .collect();
    fs::write(folder.path().join("rows.csv"), format!("x,y\n{rows}")).unwrap();
    let model = [
        "--data",
        "rows.csv",
        "--formula",
        "y ~ x",
        "--chains",
        "2",
        "--warmup",
        "100",
        "--draws",
        // One sign in 150 is negative.
        "1000",
    ];
    let samplers = ["--samplers", "nuts,hmc-ecs-signed:factors=1:batch=1"];
    let compare = |more: &[&str]| {
        let args = [&["compare"][..], &model, &samplers, more].concat();
        let output = ergodic(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        text(&output.stdout)
    };
    let rows: serde_json::Value = serde_json::from_str(&compare(&["--json"])).unwrap();
    let [nuts, signed] = rows.as_array().unwrap().as_slice() else {
        panic!("{rows}");
    };
    // NUTS has neither signs nor rows of its own.
    assert!(nuts["positive"].is_null() && nuts["accept_rows"].is_null());
    let [positive, accept_rows] =
        ["positive", "accept_rows"].map(|name| signed[name].as_f64().unwrap());
    assert!(positive > 0.9 && positive < 1.0, "{positive}");
    assert!(accept_rows > 0.5 && accept_rows < 1.0, "{accept_rows}");
    // The table has the same numbers, in its last two columns.
    let table = compare(&[]);
    let line = table
        .lines()
        .find(|line| line.starts_with("hmc-ecs-signed"));
    let cells: Vec<&str> = line.unwrap().split_whitespace().collect();
    let last = [accept_rows, positive].map(|value| format!("{value:.3}"));
    assert_eq!(cells[cells.len() - 2..], last, "{table}");
    assert!(table.contains("accept rows") && table.contains("sign"));
}

#[test]
fn a_model_is_shown_in_other_notations() {
    let folder = tempfile::tempdir().unwrap();
    let show = |notation: &str, more: &[&str]| {
        let args = [
            "show",
            "--data",
            "sample:churn",
            "--formula",
            FORMULA,
            "--as",
            notation,
        ];
        ergodic(folder.path(), &[&args[..], more].concat())
    };
    let text = |notation: &str, more: &[&str]| {
        let output = show(notation, more);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(text("words", &[]).contains("log odds that `churned`"));
    assert!(text("equation", &[]).contains("logit(p[i]) = eta[i]"));
    assert_eq!(text("formula", &[]), format!("{FORMULA}\n"));
    let stan = text("stan", &["--set", "priors.b=student_t(3, 0, 2.5)"]);
    assert!(stan.contains("beta ~ student_t(3, 0, 2.5);"), "{stan}");
    assert!(text("brms", &[]).contains("family = bernoulli()"));
    assert_refused(
        &show("stan", &["--set", "priors.b=nonsense(1)"]),
        &["nonsense"],
    );
}

#[test]
fn a_project_is_summarised_run_by_run() {
    let folder = tempfile::tempdir().unwrap();
    for out in ["runs/a", "runs/b"] {
        let fit = short_fit(folder.path(), out, &["--draws", "40"]);
        assert_eq!(fit.status.code(), Some(0), "{}", stderr(&fit));
    }
    let recipe = |priors: &str| {
        format!(
            "[PLACE]\n{priors}[PLACE.data]\nsource = \"sample:churn\"\n[PLACE.model]\ntemplate = \"logistic\"\nformula = \"{FORMULA}\"\n"
        )
    };
    let text = format!(
        "format = 1\n{}[[runs]]\nnumber = 1\npath = \"runs/a\"\n{}[[runs]]\nnumber = 2\npath = \"runs/b\"\n{}",
        recipe("").replace("PLACE", "draft"),
        recipe("").replace("PLACE", "runs.started"),
        recipe("priors = { b = \"flat\" }\n").replace("PLACE", "runs.started"),
    );
    fs::write(folder.path().join("study.ergodic"), text).unwrap();
    let output = ergodic(folder.path(), &["summarise", "study.ergodic"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |start: &str| text.lines().find(|line| line.starts_with(start)).unwrap();
    assert!(!line("Run 1").contains("stale"));
    assert!(line("Run 2").contains("stale: the draft has changed"));
    let rows = text.lines().filter(|line| line.starts_with("b[age]"));
    assert_eq!(rows.count(), 2, "{text}");
    let json = ergodic(folder.path(), &["summarise", "study.ergodic", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    assert_eq!(json[1]["stale"], true);
    assert_eq!(json[0]["run"]["seed"], 7);
    fs::remove_dir_all(folder.path().join("runs/b")).unwrap();
    let output = ergodic(folder.path(), &["summarise", "study.ergodic"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("Run 2 of the project is missing; put its folder back"));
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
fn foreign_draws_may_be_weighted() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..200)
        .map(|i| format!("{},{}\n", f64::from(i) / 200.0, if i < 100 { 1 } else { 3 }))
        .collect();
    fs::write(folder.path().join("draws.csv"), format!("x,weight\n{rows}")).unwrap();
    let output = ergodic(folder.path(), &["summarise", "draws.csv", "--json"]);
    assert!(stderr(&output).contains("weighted"), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let variables = json["variables"].as_array().unwrap();
    assert_eq!(variables.len(), 1);
    let mean = variables[0]["mean"].as_f64().unwrap();
    assert!((mean - 0.6225).abs() < 1e-12, "{mean}");
}

#[test]
fn control_variates_correct_the_estimates_of_a_run_folder() {
    let folder = tempfile::tempdir().unwrap();
    short_fit(folder.path(), "a", &["--draws", "200"]);
    for degree in ["linear", "quadratic"] {
        let args = ["summarise", "a", "--zero-variance", degree];
        let output = ergodic(folder.path(), &[&args[..], &["--json"]].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("exact gradients"),
            "{}",
            stderr(&output)
        );
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let plain = json["variables"].as_array().unwrap();
        let rows = json["zero_variance"]["rows"].as_array().unwrap();
        assert_eq!((plain.len(), rows.len()), (4, 4));
        for (plain, row) in plain.iter().zip(rows) {
            let number = |row: &serde_json::Value, key: &str| row[key].as_f64().unwrap();
            let moved = (number(row, "mean") - number(plain, "mean")).abs();
            assert!(moved < 4.0 * number(plain, "mcse_mean"), "{row}");
            // Thousands of rows: nearly normal, so that little of the error is left.
            assert!(number(row, "gain") > 5.0, "{degree}: {row}");
        }
        let table = ergodic(folder.path(), &args);
        assert!(String::from_utf8_lossy(&table.stdout).contains("zv_mcse_mean"));
    }
    let args = [
        "export",
        "a",
        "--format",
        "summary-csv",
        "--zero-variance",
        "linear",
    ];
    let text = String::from_utf8(ergodic(folder.path(), &args).stdout).unwrap();
    assert!(
        text.starts_with("variable,mean,") && text.contains(",rhat,zv_mean,"),
        "{text}"
    );
    assert_eq!(text.lines().next().unwrap().split(',').count(), 18);
    // A run that keeps gradients has the corrections when it ends, and in its folder.
    let kept = short_fit(
        folder.path(),
        "kept",
        &["--draws", "200", "--zero-variance", "linear"],
    );
    assert!(
        stderr(&kept).contains("linear control variates from exact gradients"),
        "{}",
        stderr(&kept)
    );
    let json = |path: &str| -> serde_json::Value {
        let text = fs::read_to_string(folder.path().join(path)).unwrap();
        serde_json::from_str(&text).unwrap()
    };
    let saved = &json("kept/summary.json")["zero_variance"];
    assert_eq!(saved["order"], "linear");
    let info = fs::read_to_string(folder.path().join("kept/info.csv")).unwrap();
    assert!(info.lines().next().unwrap().ends_with("gradient[4]"));
    // Whoever reads the folder has them without asking.
    let read = ergodic(folder.path(), &["summarise", "kept", "--json"]);
    let read: serde_json::Value = serde_json::from_slice(&read.stdout).unwrap();
    assert_eq!(read["zero_variance"], *saved);
    let args = ["summarise", "kept", "--zero-variance", "linear", "--json"];
    let again = ergodic(folder.path(), &args);
    let again: serde_json::Value = serde_json::from_slice(&again.stdout).unwrap();
    for (saved, again) in (saved["rows"].as_array().unwrap().iter())
        .zip(again["zero_variance"]["rows"].as_array().unwrap())
    {
        let number = |row: &serde_json::Value| row["mean"].as_f64().unwrap();
        let off = (number(saved) - number(again)).abs();
        assert!(off < 1e-8 * number(again).abs(), "{saved} {again}");
    }
    let args = ["report", "kept", "--out", "kept.md", "--format", "markdown"];
    ergodic(folder.path(), &args);
    let report = fs::read_to_string(folder.path().join("kept.md")).unwrap();
    let (_, section) = report
        .split_once("### Corrected by control variates")
        .unwrap();
    assert!(
        section.contains("linear control variates from exact"),
        "{report}"
    );
    let mean = saved["rows"][0]["mean"].as_f64().unwrap();
    assert!(section.contains(&format!("{mean:.2}")), "{mean} {section}");
    let args = ["summarise", "a/draws.csv", "--zero-variance", "linear"];
    assert_refused(&ergodic(folder.path(), &args), &["run folder"]);
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
        stderr(&checked).contains(
            "bias check: means and sds were compared, to agree within 0.1 sd and 10 %, the worst is"
        ),
        "{}",
        stderr(&checked)
    );
    // What it costs is said before, what it cost after, and one report has all evidence.
    let passes_after = |words: &str| -> f64 {
        let said = stderr(&checked);
        let (_, rest) = said.split_once(words).expect("words");
        let number: String = (rest.chars().take_while(|it| !it.is_alphabetic()))
            .filter(|it| it.is_ascii_digit() || *it == '.')
            .collect();
        number.parse().expect("a number")
    };
    let announced = passes_after("; a run at half the step, about ");
    let taken = passes_after(", half the step ");
    // The first pass of a run counts too, and a run that goes on counts fewer of them for each draw.
    assert!((announced / taken - 1.0).abs() < 0.1, "{announced} {taken}");
    for words in [
        "as a control, to check the bias: at most about ",
        "; scores of draws, at most ",
        "squared kernel Stein discrepancy ",
        "extrapolated from half the step (",
        "the check cost ",
    ] {
        assert!(
            stderr(&checked).contains(words),
            "{words}: {}",
            stderr(&checked)
        );
    }
    let said = verdict("checked")["bias_check"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        said.contains("kernel Stein discrepancy") && said.contains("half the step"),
        "{said}"
    );
    // The numbers of every parameter are kept beside the sentence.
    let kept = &verdict("checked")["bias"];
    let summary = fs::read_to_string(folder.path().join("checked/summary.json")).unwrap();
    let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(summary["run"]["bias"], *kept);
    let rows = kept["rows"].as_array().unwrap();
    assert_eq!(rows.len(), summary["variables"].as_array().unwrap().len());
    for row in rows {
        assert!(
            row["variable"].is_string()
                && row["shift"]["value"].is_number()
                && row["sd_ratio"]["low"].is_number(),
            "{row}"
        );
    }
    let passes = &kept["evidence"]["passes"];
    assert!(passes["control"].as_f64().unwrap() > 0.0, "{kept}");
    assert!(kept["evidence"]["discrepancies"][0]["p_value"].is_number());
    assert!(verdict("unchecked")["bias"].is_null());
    // A run that has ended is checked from the draws in its folder, as it would have been at once.
    let draws = || fs::read_to_string(folder.path().join("unchecked/draws.csv")).unwrap();
    let before = draws();
    let late = ergodic(folder.path(), &["resume", "unchecked", "--check-bias"]);
    assert_eq!(late.status.code(), Some(0), "{}", stderr(&late));
    for words in [
        "as a control, to check the bias",
        "bias check: means and sds were compared",
        "squared kernel Stein discrepancy ",
        "the check cost ",
    ] {
        assert!(stderr(&late).contains(words), "{words}: {}", stderr(&late));
    }
    assert_eq!(draws(), before);
    let told = ergodic(folder.path(), &["summarise", "unchecked", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert_eq!(told["run"]["bias"]["rows"], kept["rows"]);
    assert_eq!(
        told["run"]["bias"]["evidence"]["discrepancies"],
        kept["evidence"]["discrepancies"]
    );
    assert_eq!(
        verdict("unchecked")["verdict"],
        verdict("checked")["verdict"]
    );
    short_fit(
        folder.path(),
        "exact",
        &["--sampler", "nuts", "--draws", "20"],
    );
    let exact = ergodic(folder.path(), &["resume", "exact", "--check-bias"]);
    assert_refused(&exact, &["is exact", "--check-bias"]);
    // Where nobody names their number there are as many draws as a check needs.
    let args = ["--sampler", "sgld-cv", "--check-bias"];
    short_fit(folder.path(), "long", &args);
    let recipe = fs::read_to_string(folder.path().join("long/recipe.toml")).unwrap();
    assert!(recipe.contains("draws = 4000"), "{recipe}");
}

#[test]
fn lists_come_from_the_registries() {
    let folder = tempfile::tempdir().unwrap();
    for what in ["templates", "samplers", "formats", "datasets", "benches"] {
        let plain = ergodic(folder.path(), &["list", what]);
        let json = ergodic(folder.path(), &["list", what, "--json"]);
        let entries: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
        assert!(!entries.as_array().unwrap().is_empty());
        for entry in entries.as_array().unwrap() {
            let id = entry["id"].as_str().unwrap();
            assert!(String::from_utf8_lossy(&plain.stdout).contains(id), "{id}");
        }
    }
    let templates = text(&ergodic(folder.path(), &["list", "templates"]).stdout);
    for beginning in ["  formula: y ~ …\n", "  formula: ~ …\n"] {
        assert!(templates.contains(beginning), "{templates}");
    }
    for entry in ergodic_core::samplers::REGISTRY {
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
fn probabilities_of_categories_are_fitted_and_replayed() {
    let folder = tempfile::tempdir().unwrap();
    let fit = |out: &str, more: &[&str]| {
        let mut args = vec!["fit", "--data", "sample:fish", "--template", "categorical"];
        args.extend(["--formula", "species | weights(count) ~ 1"]);
        args.extend([
            "--draws",
            "200",
            "--out",
            out,
            "--set",
            "model.levels=[\"shark\"]",
        ]);
        args.extend(more);
        ergodic(folder.path(), &args)
    };
    let first = fit("a", &["--set", "priors.probabilities=dirichlet(0.5)"]);
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    assert!(
        stderr(&first).contains("Conjugate draws"),
        "{}",
        stderr(&first)
    );
    let table = String::from_utf8_lossy(&first.stdout).into_owned();
    assert!(
        table.contains("p[bream]") && table.contains("p[shark]"),
        "{table}"
    );
    let again = ergodic(folder.path(), &["fit", "a/recipe.toml", "--out", "b"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    let draws = |out: &str| fs::read(folder.path().join(out).join("draws.csv")).unwrap();
    assert_eq!(draws("a"), draws("b"));
    let minibatches = fit("c", &["--sampler", "scir", "--set", "sampler.batch=40"]);
    assert_eq!(
        minibatches.status.code(),
        Some(0),
        "{}",
        stderr(&minibatches)
    );
    assert_refused(
        &fit("d", &["--sampler", "sgld"]),
        &["Sampler `sgld`", "fewer than 10 observations"],
    );
    assert_refused(
        &short_fit(folder.path(), "e", &["--sampler", "scir"]),
        &["Sampler `scir`", "template `categorical`"],
    );
    assert_refused(
        &fit("f", &["--set", "model.formula=species ~ station"]),
        &["takes no predictors", "species ~ 1"],
    );
}

#[test]
fn experiments_print_tables() {
    let folder = tempfile::tempdir().unwrap();
    let run = ergodic(
        folder.path(),
        &[
            "bench", "simplex", "--quick", "--json", "--out", "t.csv", "--plot", "p.svg",
        ],
    );
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let picture = fs::read_to_string(folder.path().join("p.svg")).unwrap();
    let count = |words: &str| picture.matches(words).count();
    // The exact sampler, which is a point, and three others, which are curves, of two posteriors.
    assert_eq!([count(">sparse, "), count(">dense, ")], [4, 4]);
    assert_eq!(count("stroke-width=\"1.2\""), 6);
    let found: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let rows = found["rows"].as_array().unwrap().len();
    let table = fs::read_to_string(folder.path().join("t.csv")).unwrap();
    assert_eq!(table.lines().count(), rows + 1);
    assert_refused(
        &ergodic(folder.path(), &["bench", "nonsense"]),
        &["nonsense", "simplex"],
    );
    let refused = |more: &[&str]| {
        let args = [&["bench", "simplex", "--quick"], more].concat();
        ergodic(folder.path(), &args)
    };
    assert_refused(&refused(&["--plot", "p.txt"]), &["p.txt", ".svg"]);
    assert_refused(
        &refused(&["--plot", "nowhere/p.svg"]),
        &["cannot be written", "nowhere/p.svg"],
    );
    assert_refused(
        &refused(&["--plot", "p.csv", "--out", "p.csv"]),
        &["--plot", "same file"],
    );
    // Further tables stand beside the first.
    assert_refused(
        &refused(&["--plot", "p-roc.csv", "--out", "p.csv"]),
        &["--out may need", "p-roc.csv"],
    );
    assert!(!folder.path().join("p.csv").exists());
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
    assert_eq!(all.len(), ergodic_core::samplers::REGISTRY.len());
    assert_eq!(all[0]["id"], "nuts");
    assert!(
        all.iter()
            .all(|entry| !entry["reason"].as_str().unwrap().is_empty())
    );
    assert_eq!(rank(&["--max-seconds", "1"])[0]["id"], "zig-zag");
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
fn the_help_says_what_the_program_ends_with() {
    let folder = tempfile::tempdir().unwrap();
    let output = ergodic(folder.path(), &["--help"]);
    let text = String::from_utf8(output.stdout).unwrap();
    let codes = text.split("Exit codes:\n").nth(1).unwrap();
    let codes: Vec<&str> = codes
        .lines()
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert_eq!(codes, ["0", "2", "3", "130"], "{text}");
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
        table.starts_with("Logistic regression: churned ~ age") && table.contains("\nb[Intercept]"),
        "{table}"
    );
    assert!(
        stderr(&output).contains("Run folder: runs"),
        "{}",
        stderr(&output)
    );
    assert!(folder.path().join("runs/demo-1/draws.csv").is_file());
}

#[test]
fn step_sizes_are_tuned_by_trial() {
    let folder = tempfile::tempdir().unwrap();
    let output = ergodic(
        folder.path(),
        &[
            "tune",
            "--data",
            "sample:churn",
            "--sampler",
            "sgld-cv",
            "--json",
        ],
    );
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let tuning: serde_json::Value =
        serde_json::from_str(&String::from_utf8_lossy(&output.stdout)).unwrap();
    let trials = tuning["trials"].as_array().unwrap();
    let chosen: Vec<_> = trials
        .iter()
        .filter(|trial| trial["outcome"] == "chosen")
        .collect();
    assert_eq!(chosen.len(), 1);
    assert_eq!(chosen[0]["step_size"], tuning["chosen"]);
    let refused = ergodic(
        folder.path(),
        &["tune", "--data", "sample:churn", "--sampler", "nuts"],
    );
    assert_eq!(refused.status.code(), Some(2));
    assert!(
        stderr(&refused).contains("adapts its step size itself"),
        "{}",
        stderr(&refused)
    );
}

/// A data set of the references for mixed models.
fn mixed_set(name: &str) -> String {
    format!(
        "{}/tests/reference/lme4/{name}.csv",
        env!("CARGO_MANIFEST_DIR")
    )
}

#[test]
fn mixed_models_are_estimated_by_likelihood() {
    let folder = tempfile::tempdir().unwrap();
    let estimate = |set: &str, formula: &str, more: &[&str]| {
        let data = mixed_set(set);
        let mut args = vec!["estimate", "--data", &data, "--formula", formula];
        args.extend(more);
        ergodic(folder.path(), &args)
    };
    let output = estimate("slopes", "y ~ day + (day | subject)", &[]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", stderr(&output));
    // The numbers of lme4, see tests/reference/lme4/fits.csv.
    for words in [
        "REML",
        "237.94",
        "6.0926",
        "21.441",
        "3.5041",
        "0.641",
        "24.563",
        "18 subject",
    ] {
        assert!(text.contains(words), "`{words}` is not in {text}");
    }
    let output = estimate(
        "slopes",
        "y ~ day + (day | subject)",
        &["--method", "squarem", "--json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["criterion"], "ML");
    assert!((json["components"][0]["sd"]["Intercept"].as_f64().unwrap() - 20.557_49).abs() < 1e-3);
    assert_eq!(json["effects"].as_array().unwrap().len(), 36);

    let binomial = [
        "--family", "binomial", "--method", "aghq", "--nodes", "9", "--out", "fit",
    ];
    let output = estimate("binomial", "r | trials(n) ~ x + (1 | g)", &binomial);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("-0.83502") && text.contains("9 nodes"),
        "{text}"
    );
    let fitted = fs::read_to_string(folder.path().join("fit/fitted.csv")).unwrap();
    assert_eq!(fitted.lines().count(), 91);
    assert!(fitted.lines().nth(1).unwrap().starts_with("1,0."));
    assert_refused(
        &estimate("binomial", "r | trials(n) ~ x + (1 | g)", &binomial),
        &["not empty", "fit"],
    );

    let output = estimate("none", "y ~ x + (1 | g)", &[]);
    assert!(output.status.success());
    assert!(stderr(&output).contains("singular"), "{}", stderr(&output));
    for (formula, more, words) in [
        (
            "y ~ x",
            &["--method", "em"][..],
            "no group term, which EM is about",
        ),
        (
            "y ~ x + (1 | g)",
            &["--family", "cauchy"],
            "There is no family `cauchy`",
        ),
        (
            "y ~ x + (1 | g)",
            &["--family", "gamma"],
            "outcomes of the family gamma are above 0",
        ),
        (
            "y ~ x + (1 | g)",
            &["--method", "magic"],
            "There is no method `magic`",
        ),
        (
            "y ~ x + (1 | g)",
            &["--method", "laplace"],
            "the likelihood of a Gaussian outcome is exact",
        ),
        (
            "y ~ x + (1 | g)",
            &["--method", "em", "--reml"],
            "EM maximises the likelihood",
        ),
        ("y ~ x + (1 | h)", &[], "`h`"),
    ] {
        assert_refused(&estimate("none", formula, more), &[words]);
    }
    for formula in ["r | se(n) ~ x + (1 | g)", "ordered(r) ~ x + (1 | g)"] {
        assert_refused(
            &estimate("binomial", formula, &["--reml"]),
            &["REML is for Gaussian outcomes whose standard errors are not given"],
        );
    }
    // Outcomes of levels: the sentence names what fits them, and what it names does.
    let churn = |formula: &str, more: &[&str]| {
        let args = ["estimate", "--data", "sample:churn", "--formula", formula];
        ergodic(folder.path(), &[&args, more].concat())
    };
    assert_refused(
        &churn("churned ~ age", &[]),
        &["family bernoulli", "model.success"],
    );
    assert_refused(
        &churn("plan ~ age", &["--family", "bernoulli"]),
        &["family ordered", "model.levels", "template `multinomial`"],
    );
    for (formula, more) in [
        (
            "churned ~ age",
            ["--family", "bernoulli", "--set", "model.success=no"],
        ),
        (
            "plan ~ age",
            [
                "--family",
                "ordered",
                "--set",
                "model.levels=[\"basic\", \"plus\", \"pro\"]",
            ],
        ),
    ] {
        let output = churn(formula, &more);
        assert!(output.status.success(), "{}", stderr(&output));
    }
}

/// Columns named by role: every coefficient varies by the group, as the template wants, and the record says so.
#[test]
fn a_group_named_by_role_varies_everything_under_the_hierarchical_template() {
    let folder = tempfile::tempdir().unwrap();
    let data = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/reference/hierarchical/clinics.csv"
    );
    let mut args = vec!["fit", "--data", data, "--template", "hierarchical"];
    args.extend(["--response", "cured", "--predictors", "dose,age"]);
    args.extend(["--group", "clinic", "--sampler", "gibbs-groups"]);
    args.extend(["--chains", "2", "--warmup", "60", "--draws", "50"]);
    args.extend(["--set", "priors.Sigma=inv_wishart(6, 1)", "--out", "a"]);
    let done = ergodic(folder.path(), &args);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let recipe = fs::read_to_string(folder.path().join("a/recipe.toml")).unwrap();
    let formula = "cured ~ dose + age + (1 + dose + age | clinic)";
    assert!(recipe.contains(formula), "{recipe}");
    let summary = fs::read_to_string(folder.path().join("a/summary.csv")).unwrap();
    for name in ["mu[dose]", "\"Sigma[dose,age]\"", "\"theta[c12,age]\""] {
        assert!(summary.contains(name), "{name}: {summary}");
    }
    let short = ["fit", "--data", data, "--template", "hierarchical"];
    let formula = ["--formula", "cured ~ dose + (1 | clinic)"];
    let refused = ergodic(folder.path(), &[&short[..], &formula].concat());
    assert_refused(&refused, &["`dose` not by `clinic`"]);
}

/// Predictions of a run's own rows and of new ones, and its likelihood fit beside it.
#[test]
fn a_run_answers_on_the_scale_of_its_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let args =
        "fit --data sample:churn --chains 2 --warmup 100 --draws 100 --seed 3 --out run --formula";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.push("churned ~ age*plan");
    let fitted = ergodic(folder.path(), &args);
    assert_eq!(fitted.status.code(), Some(0), "{}", stderr(&fitted));

    let plain = ergodic(folder.path(), &["effects", "run"]);
    assert_eq!(plain.status.code(), Some(0), "{}", stderr(&plain));
    let text = String::from_utf8(plain.stdout.clone()).unwrap();
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with(
            "With age one unit higher, the probability that churned is yes is on average "
        ) && first.contains(" percentage points ")
            && first.contains("(90 % interval "),
        "{text}"
    );
    assert!(text.contains("Difference in the probability that churned is yes"));
    assert!(
        text.contains("With a term higher: odds ratio, median"),
        "{text}"
    );
    let again = ergodic(folder.path(), &["effects", "run"]);
    assert_eq!(again.stdout, plain.stdout);

    let args = "effects run --of age --contrasts plan --by plan --rope -0.01,0.01 --interval 0.5 --out e.csv --json";
    let told = ergodic(folder.path(), &args.split(' ').collect::<Vec<_>>());
    assert_eq!(told.status.code(), Some(0), "{}", stderr(&told));
    let json: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    let effects = json["effects"].as_array().unwrap();
    assert!(effects.iter().all(|effect| effect["predictor"] == "age"));
    assert!(effects[0]["by"]["plan"].is_string() && effects[0]["in_rope"].is_number());
    let csv = fs::read_to_string(folder.path().join("e.csv")).unwrap();
    assert!(csv.starts_with("quantity,predictor,contrast,by,mean,median,sd,lower,upper,"));
    assert!(csv.lines().any(|line| line.starts_with("odds ratio,age,")));

    let args = ["effects", "run", "--expression", "exp(10*b[age])"];
    let value = ergodic(folder.path(), &args);
    let text = String::from_utf8(value.stdout).unwrap();
    assert!(text.starts_with("expression") && text.contains("exp(10*b[age])"));
    assert_eq!(text.lines().count(), 2, "no effects besides: {text}");
    for (args, said) in [
        (&["--of", "agee"] as &[&str], "did you mean `age`?"),
        (&["--contrasts", "age"], "is a number and has no levels"),
        (&["--at", "plan=gold"], "`plan` cannot be set to `gold`"),
        (&["--expression", "b[age] +"], "at character 9"),
        (&["--interval", "0"], "between 0 and 1"),
    ] {
        let refused = ergodic(folder.path(), &[&["effects", "run"], args].concat());
        assert_refused(&refused, &[said]);
    }
}

#[test]
fn a_mixed_run_predicts_and_is_compared_with_its_likelihood_fit() {
    let folder = tempfile::tempdir().unwrap();
    let slopes = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/reference/lme4/slopes.csv");
    fs::copy(slopes, folder.path().join("slopes.csv")).unwrap();
    let args = "fit --data slopes.csv --template mixed --chains 2 --warmup 100 --draws 100 --seed 3 --out run --formula";
    let mut args: Vec<&str> = args.split(' ').collect();
    args.push("y ~ day + (1 | subject)");
    let fitted = ergodic(folder.path(), &args);
    assert_eq!(fitted.status.code(), Some(0), "{}", stderr(&fitted));

    let own = ergodic(folder.path(), &["predict", "run"]);
    assert_eq!(own.status.code(), Some(0), "{}", stderr(&own));
    let text = String::from_utf8(own.stdout.clone()).unwrap();
    assert_eq!(text.lines().count(), 181);
    assert!(
        stderr(&own).contains("observed outcomes lie inside their 90 % intervals"),
        "{}",
        stderr(&own)
    );
    let numbers: Vec<f64> = text
        .lines()
        .nth(1)
        .unwrap()
        .split(',')
        .map(|c| c.parse().unwrap())
        .collect();
    let [
        row,
        mean,
        _sd,
        lower,
        upper,
        outcome_lower,
        outcome_upper,
        observed,
    ] = numbers[..]
    else {
        panic!("{text}");
    };
    assert_eq!((row, observed), (1.0, 203.74));
    assert!(outcome_lower < lower && lower < mean && mean < upper && upper < outcome_upper);
    assert_eq!(
        ergodic(folder.path(), &["predict", "run"]).stdout,
        own.stdout
    );

    fs::write(
        folder.path().join("new.csv"),
        "subject,day\ns01,3\nnobody,3\n,4\n",
    )
    .unwrap();
    let args = "predict run --data new.csv --effects with --interval 0.5 --out p.csv --json";
    let new = ergodic(folder.path(), &args.split(' ').collect::<Vec<_>>());
    assert_eq!(new.status.code(), Some(0), "{}", stderr(&new));
    let json: serde_json::Value = serde_json::from_slice(&new.stdout).unwrap();
    assert_eq!(
        (&json["rows_left_out"], &json["interval"]),
        (&1.into(), &0.5.into())
    );
    assert_eq!(json["rows"][1]["new_group"], true);
    assert!(stderr(&new).contains("1 group of `subject` not in the fit"));
    assert_eq!(
        fs::read_to_string(folder.path().join("p.csv"))
            .unwrap()
            .lines()
            .count(),
        3
    );

    fs::write(folder.path().join("bad.csv"), "subject\ns01\n").unwrap();
    let bad = ergodic(folder.path(), &["predict", "run", "--data", "bad.csv"]);
    assert_refused(&bad, &["`day`"]);
    assert_refused(
        &ergodic(folder.path(), &["predict", "run", "--interval", "2"]),
        &["between 0 and 1"],
    );

    let args = "estimate --compare-with run --predict new.csv --out fit";
    let compared = ergodic(folder.path(), &args.split(' ').collect::<Vec<_>>());
    assert_eq!(compared.status.code(), Some(0), "{}", stderr(&compared));
    let text = String::from_utf8(compared.stdout.clone()).unwrap();
    assert!(text.contains("Likelihood and posterior"), "{text}");
    for name in [
        "b[day]",
        "sigma",
        "sd[subject,Intercept]",
        "icc[subject]",
        "r[subject,s",
    ] {
        assert!(text.contains(name), "{name}: {text}");
    }
    let predictions = fs::read_to_string(folder.path().join("fit/predictions.csv")).unwrap();
    assert_eq!(predictions.lines().count(), 3);
    assert!(stderr(&compared).contains("their effects are 0"));
    // The name that the flag had before.
    let former = ergodic(folder.path(), &["estimate", "--beside", "run"]);
    assert_eq!(former.status.code(), Some(0), "{}", stderr(&former));
    assert!(stderr(&former).contains("called `--compare-with` now"));
}

/// Runs of the same rows are compared; what is exported gives the same scores; what cannot be compared is refused.
#[test]
fn runs_are_scored_by_leaving_rows_out_and_compared() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = String::from("x,y,k,z\n");
    for i in 0..120 {
        let (x, wave) = (f64::from(i) / 20.0, f64::from(i * 37 % 23) / 11.0);
        let z = if i < 2 {
            String::new()
        } else {
            (i % 5).to_string()
        };
        table.push_str(&format!("{x},{},{},{z}\n", 1.0 + x + wave, i % 4));
    }
    fs::write(folder.path().join("rows.csv"), table).unwrap();
    let fit = |out: &str, formula: &str, template: &str| {
        let args = format!(
            "fit --data rows.csv --template {template} --chains 2 --warmup 200 --draws 300 --seed 3 --out {out} --formula"
        );
        let mut args: Vec<&str> = args.split(' ').collect();
        args.push(formula);
        let done = ergodic(folder.path(), &args);
        assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    };
    fit("slope", "y ~ x", "linear");
    fit("flat", "y ~ 1", "linear");
    fit("log", "log(y) ~ x", "linear");
    fit("fewer", "y ~ x + z", "linear");
    fit("counts", "k ~ x", "poisson");
    let loo = |runs: &[&str]| ergodic(folder.path(), &[&["loo"], runs].concat());
    let read = |output: &Output| -> serde_json::Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        serde_json::from_slice(&output.stdout).unwrap()
    };

    let one = loo(&["slope"]);
    assert_eq!(one.status.code(), Some(0), "{}", stderr(&one));
    let said = text(&one.stdout);
    assert!(said.starts_with("slope: 120 rows, 600 draws\n"), "{said}");
    for words in ["elpd_loo", "p_waic", "up to 0.64", "All Pareto k are good"] {
        assert!(said.contains(words), "{words}: {said}");
    }
    let all = loo(&["flat", "slope", "log"]);
    assert_eq!(all.status.code(), Some(0), "{}", stderr(&all));
    let said = text(&all.stdout);
    assert!(said.contains("stacking weight"), "{said}");
    assert!(
        said.contains("slope predicts better than flat by ") && said.contains("clearly predicts"),
        "{said}"
    );
    assert!(
        stderr(&all).contains("log: The model explains log(y)"),
        "{}",
        stderr(&all)
    );

    let json = read(&loo(&["flat", "slope", "--json"]));
    let models = &json["comparison"]["models"];
    assert_eq!(
        (&models[0]["run"], &models[1]["run"]),
        (&"slope".into(), &"flat".into())
    );
    let number = |value: &serde_json::Value| value.as_f64().unwrap();
    let elpd = |k: usize| number(&json["runs"][k]["elpd_loo"]["estimate"]);
    let difference = number(&models[1]["elpd_diff"]["estimate"]);
    assert!((difference - (elpd(0) - elpd(1))).abs() < 1e-9 && difference < -20.0);
    assert_eq!(json["runs"][1]["rows"].as_array().unwrap().len(), 120);
    assert!(number(&json["runs"][1]["p_loo"]["estimate"]) > 1.5);

    // WAIC of what was exported is that of the command.
    let export = ["export", "slope", "--format", "log-lik-csv"];
    let exported = ergodic(folder.path(), &export);
    assert_eq!(exported.status.code(), Some(0), "{}", stderr(&exported));
    let exported = text(&exported.stdout);
    let mut lines = exported.lines();
    let head: Vec<&str> = lines.next().unwrap().split(',').collect();
    assert_eq!(head[..4], [".chain", ".iteration", ".draw", "log_lik[1]"]);
    assert_eq!(head.len(), 123);
    let rows: Vec<Vec<f64>> = lines
        .map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect())
        .collect();
    assert_eq!(rows.len(), 600);
    assert_eq!(rows[300][..3], [2.0, 1.0, 301.0]);
    let waic: f64 = (3..123)
        .map(|j| {
            let n = rows.len() as f64;
            let lpd = (rows.iter().map(|row| row[j].exp()).sum::<f64>() / n).ln();
            let mean = rows.iter().map(|row| row[j]).sum::<f64>() / n;
            lpd - rows.iter().map(|row| (row[j] - mean).powi(2)).sum::<f64>() / (n - 1.0)
        })
        .sum();
    let said = number(&json["runs"][1]["elpd_waic"]["estimate"]);
    assert!((waic - said).abs() < 1e-9, "{waic} {said}");
    // Few draws may be enough, and that is said.
    let sampled = read(&loo(&["slope", "--subsample", "20", "--json"]));
    let sampled = &sampled["runs"][0]["elpd_loo"];
    let off = number(&sampled["estimate"]) - elpd(1);
    let error = number(&sampled["se_of_sample"]);
    assert!(off.abs() < 4.0 * error + 1e-9, "{off} ± {error}");
    let few = loo(&["slope", "--draws", "100"]);
    assert!(
        stderr(&few).contains("From 100 of 600 draws"),
        "{}",
        stderr(&few)
    );

    assert_refused(
        &loo(&["slope", "fewer"]),
        &["different rows", "120 and 118"],
    );
    assert_refused(
        &loo(&["slope", "counts"]),
        &["different outcomes", "`y` and `k`"],
    );
    assert_refused(&loo(&["slope", "nothing"]), &["no such run folder"]);
}

#[test]
fn noise_of_minibatch_gradients_is_told_with_and_without_control_variates() {
    let folder = tempfile::tempdir().unwrap();
    let batch = ["--draws", "100", "--set", "sampler.batch=100"];
    let noise = ["sgld", "sgld-cv"].map(|sampler| {
        let fit = short_fit(
            folder.path(),
            sampler,
            &[&batch[..], &["--sampler", sampler]].concat(),
        );
        assert!(fit.status.success(), "{}", stderr(&fit));
        let told = ergodic(folder.path(), &["summarise", sampler]);
        let told = text(&told.stdout);
        let words = "Gradient noise of 100 rows, summed over ";
        assert!(
            told.contains(words) && told.contains("with control variates "),
            "{told}"
        );
        let told = ergodic(folder.path(), &["summarise", sampler, "--json"]);
        let json: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
        json["run"]["gradient_noise"].clone()
    });
    // Both are measured around one mode.
    assert_eq!(noise[0]["plain"], noise[1]["plain"]);
    for noise in &noise {
        let size = |kind: &str, what: &str| noise[kind][what].as_f64().unwrap();
        assert_eq!(noise["batch"], 100);
        for kind in ["plain", "control_variates"] {
            assert!(size(kind, "largest") > 0.0);
            assert!(size(kind, "largest") <= size(kind, "trace"));
        }
        // A model that fits has N/B in each direction.
        let dim = noise["dim"].as_f64().unwrap();
        let expected = dim * 1000.0 / 100.0;
        assert!(
            (size("plain", "trace") / expected - 1.0).abs() < 0.5,
            "{noise}"
        );
        assert!(size("control_variates", "trace") < 0.2 * size("plain", "trace"));
    }
    // Steps by all rows have no noise.
    let fit = short_fit(folder.path(), "nuts", &["--draws", "100"]);
    assert!(fit.status.success(), "{}", stderr(&fit));
    let told = ergodic(folder.path(), &["summarise", "nuts", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&told.stdout).unwrap();
    assert!(json["run"].get("gradient_noise").is_none());
}

#[test]
fn two_runs_are_compared_in_settings_parameters_and_predictions() {
    let folder = tempfile::tempdir().unwrap();
    for (out, more) in [
        ("a", &[][..]),
        ("b", &["--set", "run.seed=8"]),
        ("c", &["--set", "priors.b=normal(0, 0.05)"]),
    ] {
        let fit = short_fit(folder.path(), out, &[&["--draws", "400"], more].concat());
        assert!(fit.status.success(), "{}", stderr(&fit));
    }
    let compare = |args: &[&str]| ergodic(folder.path(), &[&["compare-runs"], args].concat());
    let done = |output: &Output| {
        assert!(output.status.success(), "{}", stderr(output));
        text(&output.stdout)
    };
    // Another seed: the posteriors agree.
    let seeds = done(&compare(&["a", "b"]));
    for words in [
        "The two posteriors agree within Monte Carlo error",
        "Same model and data",
        "run.seed",
        "energy distance",
        "TV: total variation distance",
        "b[age]",
    ] {
        assert!(seeds.contains(words), "`{words}` is not in: {seeds}");
    }
    assert!(!seeds.contains("priors"), "{seeds}");
    assert!(
        seeds.contains("predict equally well up to Monte Carlo error"),
        "{seeds}"
    );
    // A tighter prior is told in the settings and moves the slopes.
    let table = folder.path().join("shifts.csv");
    let priors = compare(&["a", "c", "--json", "--out", "shifts.csv"]);
    let json: serde_json::Value = serde_json::from_str(&done(&priors)).unwrap();
    assert_eq!(json["agree"], false);
    assert_eq!(json["subject"], "Same data and model, other priors");
    let settings = json["settings"].as_array().unwrap();
    assert_eq!(settings.len(), 1, "{settings:?}");
    assert_eq!(settings[0]["key"], "priors.b");
    assert_eq!(settings[0]["values"][1], "normal(0, 0.05)");
    let first = &json["parameters"][0];
    assert!(
        first["shift_sd"]["value"].as_f64().unwrap().abs() > 1.0,
        "{first}"
    );
    // More than chance makes of halves of one run, and no more than 1.
    let variation = ["tv", "tv_halves"].map(|name| first[name].as_f64().unwrap());
    assert!(0.0 < variation[1] && variation[1] < variation[0] && variation[0] <= 1.0);
    assert!(json["joint"]["distances"]["wasserstein"].as_f64().unwrap() > 1.0);
    let sentences = json["loo"]["sentences"].as_array().unwrap();
    assert!(
        sentences[0]
            .as_str()
            .unwrap()
            .contains(" predicts better than ")
    );
    let csv = fs::read_to_string(table).unwrap();
    let mut lines = csv.lines();
    let head = lines.next().unwrap();
    assert!(head.starts_with("variable,mean_a,sd_a,mean_b,sd_b,shift_sd"));
    assert!(head.ends_with(",ks,tv,tv_halves,differs"), "{head}");
    assert_eq!(lines.count(), json["parameters"].as_array().unwrap().len());
    // A run and itself.
    let same = done(&compare(&["a", "a", "--no-loo"]));
    assert!(
        same.contains("No setting differs") && same.contains("agree"),
        "{same}"
    );
    assert!(!same.contains("predict"), "{same}");
    // Draws without a model.
    let foreign = folder.path().join("draws.csv");
    let exported = ergodic(
        folder.path(),
        &["export", "a", "--format", "draws-csv", "--out", "draws.csv"],
    );
    assert!(
        exported.status.success() && foreign.is_file(),
        "{}",
        stderr(&exported)
    );
    let foreign = done(&compare(&["draws.csv", "b"]));
    assert!(foreign.contains("draws.csv has no model"), "{foreign}");
    assert_refused(&compare(&["a", "nowhere"]), &["nowhere"]);
}

#[test]
fn a_run_is_checked_by_data_that_its_model_makes() {
    let folder = tempfile::tempdir().unwrap();
    let mut table = "x,y,k,won\n".to_owned();
    for i in 0..120 {
        let x = 0.1 * f64::from(i % 10);
        let wave = f64::from(i * 7 % 11) * 0.1;
        // One number is far out, and zeros are more than a Poisson distribution has.
        let y = if i == 60 { 46.9 } else { 1.0 + x + wave };
        let k = [0, 0, 7][i as usize % 3];
        let won = ["no", "yes"][i as usize * 5 % 3 % 2];
        table.push_str(&format!("{x},{y},{k},{won}\n"));
    }
    fs::write(folder.path().join("rows.csv"), table).unwrap();
    let fit = |out: &str, formula: &str, template: &str| {
        let args = format!(
            "fit --data rows.csv --template {template} --chains 2 --warmup 200 --draws 300 --seed 3 --out {out} --formula"
        );
        let mut args: Vec<&str> = args.split(' ').collect();
        args.push(formula);
        let done = ergodic(folder.path(), &args);
        assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    };
    fit("numbers", "y ~ x", "linear");
    fit("counts", "k ~ x", "poisson");
    fit("answers", "won ~ x", "logistic");
    let check = |args: &[&str]| ergodic(folder.path(), &[&["check"], args].concat());
    let read = |output: &Output| -> serde_json::Value {
        assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
        serde_json::from_slice(&output.stdout).unwrap()
    };

    let numbers = check(&["numbers", "--out", "checks.csv"]);
    assert_eq!(numbers.status.code(), Some(0), "{}", stderr(&numbers));
    let said = text(&numbers.stdout);
    assert!(
        said.starts_with("numbers: 120 rows, 600 replicated data sets\n"),
        "{said}"
    );
    let sentence =
        "The largest outcome, 46.9, is larger than in all 600 replicated data sets: p < 0.002";
    assert!(said.contains(sentence), "{said}");
    assert!(said.contains("(LOO-PIT) are not uniform"), "{said}");
    let csv = fs::read_to_string(folder.path().join("checks.csv")).unwrap();
    let mut lines = csv.lines();
    assert_eq!(
        lines.next(),
        Some("check,of,observed,lower,median,upper,expected,p")
    );
    let of = |check: &str| csv.lines().filter(|line| line.starts_with(check)).count();
    assert_eq!((of("statistic,"), of("ecdf,"), of("loo-pit,")), (4, 121, 1));
    assert!(csv.lines().all(|line| line.split(',').count() == 8));

    let counts = read(&check(&["counts", "--json", "--draws", "200"]));
    assert_eq!(
        (&counts["draws_used"], &counts["draws"]),
        (&200.into(), &600.into())
    );
    let statistics = counts["statistics"].as_array().unwrap();
    let zeros = statistics
        .iter()
        .find(|it| it["statistic"] == "share of zeros")
        .unwrap();
    assert_eq!(zeros["p"].as_f64(), Some(0.0));
    assert_eq!(zeros["observed"].as_f64(), Some(80.0 / 120.0));
    let bars = counts["rootogram"].as_array().unwrap();
    assert_eq!((bars.len(), bars[7]["observed"].as_f64()), (9, Some(40.0)));
    let findings = counts["findings"].as_array().unwrap();
    let of_zeros =
        |it: &serde_json::Value| it.as_str().unwrap().starts_with("The share of zeros, ");
    assert!(findings.iter().any(of_zeros), "{findings:?}");
    // The same again gives the same.
    assert_eq!(
        counts,
        read(&check(&["counts", "--json", "--draws", "200"]))
    );

    let answers = check(&["answers"]);
    let said = text(&answers.stdout);
    assert!(said.contains("share of successes"), "{said}");
    assert!(
        said.contains("Nothing that was checked of won sets the observed data apart"),
        "{said}"
    );
    assert!(
        stderr(&answers).contains("of the calibration curve"),
        "{}",
        stderr(&answers)
    );

    assert_refused(&check(&["nothing"]), &["no such run folder"]);
    assert_refused(&check(&["counts", "--draws", "1"]), &["--draws"]);
    assert_refused(
        &check(&["counts", "--out", "no/such/place.csv"]),
        &["place.csv"],
    );
}

#[test]
fn priors_are_listed_and_shown_in_outcomes() {
    let folder = tempfile::tempdir().unwrap();
    let args = [
        "prior-predictive",
        "--data",
        "sample:churn",
        "--formula",
        FORMULA,
    ];
    let output = ergodic(folder.path(), &args);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    for words in [
        "b[Intercept]",
        "normal(0, 2.5)",
        "default, per standard deviation",
        "from 400 draws of the prior",
        "Plausible: With all predictors but one at their average, the prior expects between",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    let papers = [&args[..], &["--set", "priors.default=papers"]].concat();
    let output = ergodic(folder.path(), &papers);
    let text = String::from_utf8_lossy(&output.stdout);
    for words in [
        "normal(0, 10)",
        "the papers' default, per standard deviation",
        "Very wide: With all predictors but one at their average, the prior expects between",
    ] {
        assert!(text.contains(words), "`{words}` is not in: {text}");
    }
    let unknown = [&args[..], &["--set", "priors.default=vague"]].concat();
    assert_refused(
        &ergodic(folder.path(), &unknown),
        &["`priors.default` takes one of cautious, weakly-informative, papers, not `vague`"],
    );
    let narrow = [
        "--set",
        "priors.b=normal(0, 0.3)",
        "--set",
        "priors.intercept=normal(-1, 1)",
    ];
    let output = ergodic(folder.path(), &[&args[..], &narrow, &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["priors"][1]["prior"], "normal(0, 0.3)");
    assert_eq!(
        json["priors"][1]["source"],
        "set by you, per standard deviation"
    );
    let expected = &json["outcomes"][0];
    assert_eq!(expected["kind"], "success");
    assert_eq!(expected["plausibility"], "plausible");
    assert_eq!(expected["shares"]["prior"].as_array().unwrap().len(), 20);
    let flat = [&args[..], &["--set", "priors.b=flat"]].concat();
    assert_refused(
        &ergodic(folder.path(), &flat),
        &["a flat prior cannot be drawn from"],
    );
}

#[test]
fn prior_sensitivity_is_summarised() {
    let folder = tempfile::tempdir().unwrap();
    let strong = ["--set", "priors.b=normal(0, 0.01)", "--draws", "300"];
    assert!(short_fit(folder.path(), "a", &strong).status.success());
    let output = ergodic(folder.path(), &["summarise", "a", "--sensitivity"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("likelihood") && text.contains("diagnosis"),
        "{text}"
    );
    let json = ergodic(
        folder.path(),
        &["summarise", "a", "--sensitivity", "--json"],
    );
    let json: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let rows = json["sensitivity"]["rows"].as_array().unwrap();
    assert_eq!(rows.len(), json["variables"].as_array().unwrap().len());
    let age = rows.iter().find(|row| row["variable"] == "b[age]").unwrap();
    assert!(age["prior"].as_f64().unwrap() > 0.05, "{age}");
    assert_ne!(age["diagnosis"], "none");
    let files = ["summarise", "a/draws.csv", "--sensitivity"];
    assert_refused(&ergodic(folder.path(), &files), &["needs a run folder"]);
}

#[test]
fn further_columns_are_summarised_when_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    assert!(
        short_fit(folder.path(), "a", &["--draws", "100"])
            .status
            .success()
    );
    let json = |args: &[&str]| -> serde_json::Value {
        let output = ergodic(
            folder.path(),
            &[&["summarise", "a", "--json"], args].concat(),
        );
        assert!(output.status.success(), "{}", stderr(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let plain = json(&[]);
    assert!(plain.get("extras").is_none());
    let factor = &plain["inefficiency"]["factor"];
    let [low, high] = ["minimum", "maximum"].map(|key| factor[key].as_f64().unwrap());
    assert!(0.1 < low && low < high, "{factor}");
    assert_eq!(plain["ebfmi"].as_array().unwrap().len(), 2);

    let some = json(&["--columns", "chain_mean,ess_mean", "--superchains", "2"]);
    assert_eq!(some["variables"], plain["variables"]);
    let row = some["extras"][1].as_object().unwrap();
    let keys: Vec<&str> = row.keys().map(String::as_str).collect();
    // In the order of the columns, whatever that of the request.
    assert_eq!(
        keys,
        [
            "variable",
            "ess_mean",
            "rhat_nested",
            "chain_mean[1]",
            "chain_mean[2]"
        ]
    );
    let number = |key: &str| row[key].as_f64().unwrap();
    let mean = plain["variables"][1]["mean"].as_f64().unwrap();
    let of_chains = 0.5 * (number("chain_mean[1]") + number("chain_mean[2]"));
    assert!((of_chains - mean).abs() < 1e-9 * mean.abs());

    let output = ergodic(folder.path(), &["summarise", "a", "--columns", "all"]);
    let text = String::from_utf8(output.stdout).unwrap();
    for word in [
        "mcse_q95",
        "ess_local",
        "chain_sd[2]",
        "Inefficiency factor: minimum",
        "E-BFMI of each chain: ",
    ] {
        assert!(text.contains(word), "{word}: {text}");
    }
    assert!(!text.contains("rhat_nested"));
    // Chains that began in groups need not be told their number again, and their verdict is of nested R-hat, which stands there unasked.
    let groups = ["--draws", "40", "--chains", "8", "--superchains", "4"];
    let fitted = short_fit(folder.path(), "many", &groups);
    let fitted = String::from_utf8(fitted.stdout).unwrap();
    let told = ergodic(folder.path(), &["summarise", "many"]);
    let told = String::from_utf8(told.stdout).unwrap();
    assert!(fitted.contains(" rhat_nested\n"), "{fitted}");
    // Under the verdict, which a fit says at its end.
    assert_eq!(told.split_once('\n').map(|it| it.1), Some(fitted.as_str()));
    let many = ["summarise", "many", "--json"];
    let many: serde_json::Value =
        serde_json::from_slice(&ergodic(folder.path(), &many).stdout).unwrap();
    assert!(
        many["extras"][0]["rhat_nested"].as_f64().unwrap() >= 1.0,
        "{many}"
    );
    let uneven = [
        &["fit", "many/recipe.toml", "--out", "uneven"][..],
        &["--superchains", "3"],
    ];
    let uneven = ergodic(folder.path(), &uneven.concat());
    assert_refused(&uneven, &["2 or more groups of equal size of 8 chains"]);
    let export = [
        "export",
        "a",
        "--format",
        "summary-csv",
        "--columns",
        "mcse_sd",
    ];
    let text = String::from_utf8(ergodic(folder.path(), &export).stdout).unwrap();
    assert!(
        text.lines().next().unwrap().ends_with(",rhat,mcse_sd"),
        "{text}"
    );
    for (args, why) in [
        (
            &["--columns", "rhat_nested"][..],
            "say how many with --superchains",
        ),
        (
            &["--superchains", "3"],
            "2 chains do not make 3 groups of equal size",
        ),
        (&["--columns", "mean_sd"], "mean_sd"),
    ] {
        let args = [&["summarise", "a"], args].concat();
        assert_refused(&ergodic(folder.path(), &args), &[why]);
    }
}

/// Without a formula the outcome is guessed by name, then by place, as the window does, and all of it is said.
#[test]
fn a_bundled_data_set_suggests_a_template_for_its_own_groups_only() {
    let folder = tempfile::tempdir().unwrap();
    let shown = |formula: &str| {
        let args = ["show", "--data", "sample:schools", "--formula", formula];
        let output = ergodic(folder.path(), &args);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let suggested = shown("passed ~ hours + (hours | school)");
    assert!(suggested.contains("template: hierarchical, because the data set suggests it"));
    let other = shown("passed ~ hours + (1 | school)");
    assert!(
        other.contains("template: mixed with family bernoulli"),
        "{other}"
    );
}

#[test]
fn outcomes_that_cannot_be_are_refused_in_rows_to_predict() {
    let folder = tempfile::tempdir().unwrap();
    let old = "y,n,x\n3,10,1\n5,10,2\n7,10,3\n2,8,0.5\n9,12,3.2\n4,9,1.5\n";
    fs::write(folder.path().join("old.csv"), old).unwrap();
    let fit = |formula: &str, template: &str, out: &str| {
        let data = ["fit", "--data", "old.csv", "--formula", formula];
        let run = ["--template", template, "--draws", "20", "--out", out];
        let run = ergodic(folder.path(), &[&data[..], &run].concat());
        assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    };
    fit("y | trials(n) ~ x", "logistic", "shares");
    fit("y ~ x", "poisson", "counts");
    let predict = |run: &str, row: &str| {
        fs::write(folder.path().join("new.csv"), format!("y,n,x\n{row}\n")).unwrap();
        ergodic(folder.path(), &["predict", run, "--data", "new.csv"])
    };
    assert_refused(
        &predict("shares", "12,10,1"),
        &["`y`", "0 to 10", "12", "line 2"],
    );
    assert_refused(&predict("shares", "-1,10,1"), &["`y`", "0 to 10"]);
    assert_refused(
        &predict("counts", "2.5,10,1"),
        &["`y`", "whole number", "2.5"],
    );
    // What was not observed is no error.
    let missing = predict("shares", ",10,1");
    assert_eq!(missing.status.code(), Some(0), "{}", stderr(&missing));
}

#[test]
fn a_first_model_is_guessed_and_said() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("id,log_radon,floor,county,Diet\n");
    for i in 0..60 {
        let radon = 0.5 + ((i * 37) % 11) as f64;
        text.push_str(&format!(
            "{i},{radon},{},c{},{}\n",
            i * 7 % 3 % 2,
            i % 10,
            i * 7 % 4 + 1
        ));
    }
    fs::write(folder.path().join("t.csv"), &text).unwrap();
    let renamed = text.replacen("log_radon", "y", 1);
    fs::write(folder.path().join("y.csv"), renamed).unwrap();
    let shown = |data: &str| {
        let output = ergodic(folder.path(), &["show", "--data", data, "--as", "equation"]);
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        stderr(&output)
    };
    let notes = shown("y.csv");
    for part in [
        "formula: y ~ floor + Diet, with `y` guessed from its name",
        "template: linear, because `y` holds 11 different numbers",
        "`county` has 10 groups and was left out; add (1 | county)",
    ] {
        assert!(notes.contains(part), "{part}: {notes}");
    }
    let notes = shown("t.csv");
    assert!(notes.contains("guessed as the last column"), "{notes}");
    // Numbers that are categories are asked about, with the setting.
    let args = [
        "fit",
        "--data",
        "y.csv",
        "--formula",
        "y ~ Diet",
        "--out",
        "run",
    ];
    let short = ["--chains", "1", "--draws", "20", "--warmup", "20"];
    let fit = ergodic(folder.path(), &[&args[..], &short].concat());
    let notes = stderr(&fit);
    assert!(
        notes.contains("`Diet` has 4 values, 1 to 4")
            && notes.contains("model.categorical = [\"Diet\"]"),
        "{notes}"
    );
}

/// The coached failure ends badly and says what to look at.
#[test]
fn a_bad_run_is_shown_on_the_command_line() {
    let folder = tempfile::tempdir().unwrap();
    let output = ergodic(folder.path(), &["demo", "--bad", "--out", "bad"]);
    let notes = stderr(&output);
    assert_eq!(output.status.code(), Some(0), "{notes}");
    assert!(notes.contains("This run was bad on purpose"), "{notes}");
    let json = fs::read_to_string(folder.path().join("bad/run.json")).unwrap();
    assert!(json.contains("\"verdict\": \"bad\""), "{json}");
}

/// Without `--template` the response decides, and a sentence says so; recipes always have the template.
#[test]
fn the_template_follows_from_the_response() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("ill,calls,price,plan,x,g\n");
    for i in 0..30 {
        let (ill, plan) = (["no", "yes"][i * 7 % 3 % 2], ["a", "b", "c"][i % 3]);
        let price = 40.5 + ((i * 37) % 11) as f64;
        text.push_str(&format!(
            "{ill},{},{price},{plan},{},g{}\n",
            i % 4,
            (i * 13) % 7,
            i % 6
        ));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let show = |data: &str, formula: &str, more: &[&str]| {
        let args = [
            "show",
            "--data",
            data,
            "--formula",
            formula,
            "--as",
            "equation",
        ];
        let output = ergodic(folder.path(), &[&args[..], more].concat());
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        (
            String::from_utf8(output.stdout.clone()).unwrap(),
            stderr(&output),
        )
    };
    for (data, formula, equation, said) in [
        (
            "t.csv",
            "ill ~ x",
            "bernoulli(p[i])",
            "template: logistic, because `ill` has two values",
        ),
        (
            "t.csv",
            "price ~ x",
            "normal(eta[i], sigma)",
            "template: linear, because `price` holds 11 different numbers",
        ),
        (
            "t.csv",
            "calls ~ x",
            "poisson(mu[i])",
            "template: poisson, because `calls` holds whole numbers",
        ),
        (
            "t.csv",
            "plan ~ 1",
            "categorical(p)",
            "template: categorical, because `plan` has 3 categories",
        ),
        (
            "t.csv",
            "plan ~ x",
            "categorical(p[i])",
            "template: multinomial, because `plan` has 3 categories",
        ),
        (
            "t.csv",
            "calls ~ x + (1 | g)",
            "sd[g,Intercept] ~",
            "template: mixed with family poisson, because `calls` holds whole numbers that begin at 0 or 1 and effects vary by `g`",
        ),
        (
            "sample:churn",
            FORMULA,
            "bernoulli(p[i])",
            "template: logistic, because the data set suggests it",
        ),
    ] {
        let (found, notes) = show(data, formula, &[]);
        assert!(found.contains(equation), "{formula}: {found}");
        let lines: Vec<&str> = notes
            .lines()
            .filter(|line| line.starts_with("template: "))
            .collect();
        assert_eq!(lines.len(), 1, "{formula}: {notes}");
        assert!(lines[0].starts_with(said), "{formula}: {notes}");
    }
    for more in [
        &["--template", "linear"][..],
        &["--set", "model.template=linear"],
    ] {
        let (found, notes) = show("t.csv", "calls ~ x", more);
        assert!(found.contains("normal(eta[i], sigma)"), "{found}");
        assert!(!notes.contains("template: "), "{notes}");
    }
    // What no template explains is refused with what it is.
    let args = ["show", "--data", "t.csv", "--formula", "plan ~ x + (1 | g)"];
    assert_refused(
        &ergodic(folder.path(), &args),
        &[
            "Column plan has 3 categories, because no value is a number",
            "take the groups as predictors or leave them out",
        ],
    );
    // A setting of the template that is chosen can be set.
    let (found, _) = show(
        "t.csv",
        "calls ~ x + (1 | g)",
        &["--set", "model.family=gaussian"],
    );
    assert!(
        found.contains("calls[i] ~ normal(eta[i], sigma)"),
        "{found}"
    );
    let mut args = vec![
        "fit",
        "--data",
        "t.csv",
        "--response",
        "price",
        "--predictors",
        "x",
    ];
    args.extend([
        "--group", "g", "--out", "run", "--chains", "1", "--warmup", "30", "--draws", "20",
    ]);
    let done = ergodic(folder.path(), &args);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let recipe = fs::read_to_string(folder.path().join("run/recipe.toml")).unwrap();
    assert!(recipe.contains("template = \"mixed\""), "{recipe}");
    assert!(recipe.contains("family = \"gaussian\""), "{recipe}");
}

/// What no model of the kind can use is refused in one sentence that says where and what to do.
#[test]
fn bad_input_is_one_sentence_for_each_template() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    write(
        "t.csv",
        "y,n,died,years,trials,x,g\n1.5,3,1,2.5,4,1,a\n2.5,-2,0,4,2.5,4,a\n0.5,0,2,3.1,3,2,b\n3,5,1,6,5,7,b\n",
    );
    let mut many = String::from("y,id\n");
    for i in 0..100_000_u32 {
        many.push_str(&format!("{},id{i}\n", (i * 7919) % 101));
    }
    write("many.csv", &many);
    let fit = |data: &str, template: &str, formula: &str, more: &[&str]| {
        let args = [
            "fit",
            "--data",
            data,
            "--template",
            template,
            "--formula",
            formula,
        ];
        ergodic(
            folder.path(),
            &[&args[..], &["--out", "out"], more].concat(),
        )
    };
    let poisson = ["--set", "model.family=poisson"];
    let binomial = ["--set", "model.family=binomial"];
    let negative = [
        "`n`",
        "whole number from 0",
        "-2 in line 3",
        "choose template `linear`",
    ];
    for (template, more) in [
        ("poisson", &[][..]),
        ("negative-binomial", &[]),
        ("mixed", &poisson),
    ] {
        let formula = if template == "mixed" {
            "n ~ x + (1 | g)"
        } else {
            "n ~ x"
        };
        assert_refused(&fit("t.csv", template, formula, more), &negative);
    }
    let trials = [
        "number of trials `trials`",
        "whole and at least 1",
        "2.5 in line 3",
        "correct that row",
    ];
    for (template, formula, more) in [
        ("logistic", "died | trials(trials) ~ x", &[][..]),
        ("mixed", "died | trials(trials) ~ x + (1 | g)", &binomial),
        (
            "hierarchical",
            "died | trials(trials) ~ x + (1 + x | g)",
            &[],
        ),
    ] {
        assert_refused(&fit("t.csv", template, formula, more), &trials);
    }
    assert_refused(
        &fit("t.csv", "logistic", "died | trials(1) ~ x", &[]),
        &[
            "`died`",
            "to 1, the number of trials",
            "2 in line 4",
            "correct that row",
        ],
    );
    let begun = Instant::now();
    for template in ["linear", "student", "poisson", "logistic", "mixed"] {
        let formula = if template == "logistic" {
            "y | trials(101) ~ id"
        } else {
            "y ~ id"
        };
        assert_refused(
            &fit("many.csv", template, formula, &[]),
            &["`id`", "100000 different values", "use it as a group"],
        );
    }
    assert!(
        begun.elapsed() < Duration::from_secs(60),
        "{:?}",
        begun.elapsed()
    );
    assert!(!folder.path().join("out").exists());
}

/// Bytes that a terminal could obey.
fn control_characters(text: &str) -> Vec<char> {
    let harmless = |c: &char| matches!(c, '\n' | '\t');
    let bidi = |c: char| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let all = text.chars().filter(|&c| c.is_control() || bidi(c));
    all.filter(|c| !harmless(c)).collect()
}

/// Names, levels and paths come from files of others, which could send escape sequences to a terminal.
#[test]
fn no_control_character_of_data_reaches_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let [data, new] = ["d\u{1b}]0;t\u{7}.csv", "n\u{1b}[2J.csv"];
    let (number, group) = ("a\u{1b}[31m\u{202e}b", "g\u{7}\u{9b}2J");
    let mut text = format!("y,yes,{number},{group}\n");
    for i in 0..24 {
        let level = ["u\u{1b}[2J", "v\u{8}", "w\u{2066}x"][i % 3];
        let answer = ["ja\u{7}", "nein\u{1b}c"][i / 2 % 2];
        text.push_str(&format!("{},{answer},{},{level}\n", i * i % 7, i * 5 % 11));
    }
    fs::write(folder.path().join(data), &text).unwrap();
    fs::write(folder.path().join(new), &text).unwrap();
    fs::write(
        folder.path().join("draws.csv"),
        "x\u{1b}[2J,y\n1,2\n3,4\n2,2\n5,1\n",
    )
    .unwrap();
    let linear = format!("y ~ `{number}` + (1 | `{group}`)");
    let logistic = format!("yes ~ `{number}` + `{group}`");
    let check = |args: &[&str], code: i32| {
        let output = ergodic(folder.path(), args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?}: {}",
            stderr(&output)
        );
        for stream in [&output.stdout, &output.stderr] {
            let text = String::from_utf8(stream.clone()).unwrap();
            assert!(control_characters(&text).is_empty(), "{args:?}: {text:?}");
        }
        String::from_utf8_lossy(&output.stdout).into_owned() + &stderr(&output)
    };
    let model = ["--data", data, "--formula"];
    let with = |command: &[&'static str], formula: &str, more: &[&str], code: i32| {
        let args = [command, &model[..], &[formula], more].concat();
        check(&args, code)
    };
    let short = "--chains 2 --warmup 40 --draws 40 --seed 1";
    let short: Vec<&str> = short.split(' ').collect();
    let fitted = with(
        &["fit"],
        &linear,
        &[&short[..], &["--out", "run"]].concat(),
        0,
    );
    assert!(fitted.contains("a\\u{1b}[31m\\u{202e}b"), "{fitted}");
    with(
        &["fit"],
        &logistic,
        &[&short[..], &["--out", "yes", "--json"]].concat(),
        0,
    );
    for run in ["run", "yes"] {
        let json = check(&["summarise", run, "--json"], 0);
        let mut json = serde_json::Deserializer::from_str(&json).into_iter::<serde_json::Value>();
        json.next().unwrap().unwrap();
        check(&["summarise", run], 0);
        check(&["predict", run], 0);
        check(&["predict", run, "--data", new, "--out", "p\u{1b}.csv"], 0);
        check(&["export", run, "--format", "no\u{1b}such"], 2);
    }
    check(&["summarise", "draws.csv"], 0);
    for notation in ["words", "equation", "formula", "stan", "brms"] {
        with(&["show"], &linear, &["--as", notation], 0);
        with(&["show"], &logistic, &["--as", notation], 0);
    }
    with(&["prior-predictive"], &linear, &[], 0);
    with(&["prior-predictive"], &logistic, &["--json"], 0);
    with(&["estimate"], &linear, &["--out", "e\u{1b}"], 0);
    with(&["list", "samplers"], &logistic, &[], 0);
    // Errors that quote names, levels, paths, formulas and flags.
    with(&["fit"], "y ~ nope", &[], 2);
    with(&["fit"], &format!("y ~ `{number}` +"), &[], 2);
    with(&["fit"], "y ~ sin\u{1b}(x)", &[], 2);
    with(
        &["fit"],
        &logistic,
        &["--set", "model.success=\u{1b}[2J"],
        2,
    );
    with(&["fit"], &logistic, &["--sampler", "nuts\u{7}"], 2);
    with(&["estimate"], &format!("`{group}` ~ (1 | yes)"), &[], 2);
    check(&["fit", "no\u{1b}[2J.toml"], 2);
    check(&["summarise", "no\u{1b}[2J"], 2);
    check(&["list", "no\u{1b}[2J"], 2);
    check(&["open\u{1b}[2J"], 2);
    check(
        &["fit", "--data", "no\u{1b}[2J.csv", "--formula", "y ~ x"],
        2,
    );
}

/// A refusal of something long is still a sentence.
#[test]
fn refusals_are_at_most_a_screen() {
    let folder = tempfile::tempdir().unwrap();
    let long = "x".repeat(20_000);
    fs::write(
        folder.path().join("t.csv"),
        format!("y,{long}\n1,2\n3,{long}\n"),
    )
    .unwrap();
    for formula in [
        format!("y ~ `{long} `"),
        format!("y ~ {long}2"),
        format!("y ~ {}a", "(".repeat(10_000)),
        format!("y ~ {}", "log(".repeat(10_000)),
        format!("y ~ a {long}"),
        format!("{long}(y) ~ a"),
    ] {
        let output = ergodic(
            folder.path(),
            &[
                "fit",
                "--data",
                "t.csv",
                "--template",
                "linear",
                "--formula",
                &formula,
            ],
        );
        assert_refused(&output, &[]);
        assert!(
            stderr(&output).chars().count() < 24 * 80,
            "{}",
            stderr(&output)
        );
    }
}

/// Formulas as R users write them, in the notations of others: R gets columns that mean the same, Stan says what its data hold.
#[test]
fn responses_and_categories_as_r_writes_them_are_translated() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("y,hit,miss,k,x\n");
    for i in 0..30 {
        text.push_str(&format!(
            "{},{},{},{},{}\n",
            1 + i * 7 % 11,
            i % 4,
            1 + i % 5,
            i % 3,
            i * 13 % 17
        ));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let show = |formula: &str, notation: &str| {
        let args = [
            "show",
            "--data",
            "t.csv",
            "--formula",
            formula,
            "--as",
            notation,
        ];
        ergodic(folder.path(), &args)
    };
    for (formula, notation, parts) in [
        ("log(y) ~ x", "brms", &["log(y) ~ x", "gaussian()"][..]),
        (
            "log(y) ~ x",
            "stan",
            &["vector[N] y;  // log(y)", "standard deviation of y"],
        ),
        ("log(y) ~ x", "words", &["The mean of `log(y)`"]),
        ("sqrt(y) ~ x", "formula", &["sqrt(y) ~ x"]),
        (
            "cbind(hit, miss) ~ x",
            "brms",
            &["hit | trials(hit + miss) ~ x", "binomial()"],
        ),
        (
            "cbind(hit, miss) ~ x",
            "stan",
            &["int<lower=1> trials;", "successes: hit"],
        ),
        ("cbind(hit, miss) ~ x", "formula", &["cbind(hit, miss) ~ x"]),
        (
            "log(y) ~ as.factor(k)",
            "brms",
            &[
                "data$k <- relevel(factor(data$k), ref = \"0\")",
                "log(y) ~ k",
            ],
        ),
        ("log(y) ~ factor(k)", "formula", &["log(y) ~ factor(k)"]),
    ] {
        let output = show(formula, notation);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        for part in parts {
            assert!(
                text.contains(part),
                "{formula} as {notation}: {part} is not in: {text}"
            );
        }
    }
    let both = show("log(y) ~ k + factor(k)", "brms");
    assert_refused(&both, &["`k` is used as numbers and as categories"]);
    assert_refused(&show("y ~ I(x > 2", "words"), &["expected `)`"]);
    let counts = [
        "show",
        "--data",
        "t.csv",
        "--template",
        "poisson",
        "--formula",
        "log(y) ~ x",
    ];
    assert_refused(
        &ergodic(folder.path(), &counts),
        &[
            "`log(y)` is a measured number",
            "explains counts",
            "`linear`",
        ],
    );
}

/// More rows per step than there are tell nothing more and cost memory.
#[test]
fn a_minibatch_of_more_rows_than_there_are_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let sampler = [
        "--sampler",
        "hmc-ecs-signed",
        "--set",
        "sampler.batch=1000000",
    ];
    assert_refused(
        &short_fit(folder.path(), "out", &sampler),
        &["`batch` is 1000000", "1000 rows"],
    );
}

/// What a model can be fitted to although the data say little about it is a note before the run.
#[test]
fn data_that_cannot_tell_groups_apart_are_remarked_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("y,ill,x,size,flat,one,g,pair\n");
    for i in 0..24 {
        let (g, y) = (i % 6, ((i * 37) % 11) as f64 / 2.0);
        text.push_str(&format!(
            "{y},{},{},{},{},all,g{g},p{}\n",
            ["no", "yes"][i * 5 % 7 % 2],
            (i * 13) % 7,
            g * g,
            3 * g,
            i / 2
        ));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let cases = [
        (
            "mixed",
            "y ~ x + (1 | one)",
            "`one` has the single group `all`, so nothing varies by group",
        ),
        (
            "mixed",
            "y ~ x + (1 + size | g)",
            "`size` is the same in all rows of each `g`, so its effect cannot vary by group",
        ),
        (
            "mixed",
            "y ~ x + (1 + x | pair)",
            "The groups of `pair` have 24 effects together (2 each) but there are only 24 rows",
        ),
        (
            "hierarchical",
            "ill ~ x + (1 + x | one)",
            "`one` has the single group `all`",
        ),
        (
            "hierarchical",
            "ill ~ size + (1 + size | g)",
            "`size` is the same in all rows of each `g`",
        ),
        (
            "hierarchical",
            "ill ~ x + (1 + x | pair)",
            "The groups of `pair` have 24 effects together",
        ),
    ];
    for (k, (template, formula, words)) in cases.into_iter().enumerate() {
        let out = format!("out{k}");
        let mut args = vec![
            "fit",
            "--data",
            "t.csv",
            "--template",
            template,
            "--formula",
            formula,
        ];
        args.extend([
            "--chains", "1", "--warmup", "10", "--draws", "5", "--out", &out,
        ]);
        let done = ergodic(folder.path(), &args);
        let notes = stderr(&done);
        assert_eq!(done.status.code(), Some(0), "{formula}: {notes}");
        let note = notes.lines().find(|line| line.contains(words));
        let note = note.unwrap_or_else(|| panic!("{formula}: {notes}"));
        assert!(
            note.starts_with("note: ") && note.contains("; "),
            "what to do: {note}"
        );
    }
}

/// A density without bound is no posterior, whatever the priors.
#[test]
fn a_response_without_residual_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..24)
        .map(|i| format!("{},g{}\n", 3 * (i % 6), i % 6))
        .collect();
    fs::write(folder.path().join("t.csv"), format!("flat,g\n{rows}")).unwrap();
    let args = ["fit", "--data", "t.csv", "--template", "mixed", "--formula"];
    assert_refused(
        &ergodic(
            folder.path(),
            &[&args[..], &["flat ~ 1 + (1 | g)"]].concat(),
        ),
        &[
            "no posterior",
            "`flat` is the same in all rows of each `g`, so nothing is left for the residual",
        ],
    );
}

/// What separates the outcome has no posterior under a flat prior; many levels that do are one remark.
#[test]
fn separation_is_one_remark_or_a_refusal() {
    let folder = tempfile::tempdir().unwrap();
    let mut text = String::from("y,x,code\n");
    for i in 0..40 {
        let y = if i < 20 { "no" } else { "yes" };
        text.push_str(&format!("{y},{i},c{}\n", i / 4));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let fit = |more: &[&str]| {
        let args = ["fit", "--data", "t.csv", "--chains", "1", "--draws", "20"];
        ergodic(folder.path(), &[&args[..], more].concat())
    };
    let flat = ["--set", "priors.b=flat", "--set", "priors.intercept=flat"];
    let refused = fit(&[&["--formula", "y ~ x"][..], &flat].concat());
    assert_refused(
        &refused,
        &["no posterior", "`x` alone predicts y", "normal(0, 2.5)"],
    );
    let notes = stderr(&fit(&["--formula", "y ~ code"]));
    let about: Vec<&str> = notes
        .lines()
        .filter(|line| line.contains("`code"))
        .collect();
    assert_eq!(about.len(), 1, "{notes}");
    assert!(
        about[0].contains("In 9 of the 10 levels of `code`"),
        "{notes}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_result_that_cannot_be_written_is_an_error_and_a_closed_pipe_is_none() {
    let list = |out: Stdio| {
        program(Path::new("."), ["list", "samplers"])
            .stdout(out)
            .stderr(Stdio::piped())
            .output()
            .unwrap()
    };
    let full = fs::File::options().write(true).open("/dev/full").unwrap();
    let done = list(full.into());
    assert_eq!(done.status.code(), Some(3));
    assert!(
        stderr(&done).contains("could not be written"),
        "{}",
        stderr(&done)
    );
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let done = list(writer.into());
    assert_eq!((done.status.code(), stderr(&done).as_str()), (Some(0), ""));
}

/// Nobody reads the table, or it cannot be written: what is to be saved is saved, and where it is not, that is said.
#[cfg(target_os = "linux")]
#[test]
fn what_is_saved_does_not_depend_on_who_reads_the_result() {
    let folder = tempfile::tempdir().unwrap();
    let run = |command: &str, out: Stdio| {
        let script = command.replace("ergodic", env!("CARGO_BIN_EXE_ergodic"));
        Command::new("bash")
            .args(["-c", &script])
            .current_dir(folder.path())
            .env("TMPDIR", folder.path())
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(Stdio::piped())
            .output()
            .unwrap()
    };
    let closed = || {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        Stdio::from(writer)
    };
    let full = || Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap());
    let names = |folder: &Path| -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    };
    let fit =
        "exec ergodic fit --data sample:churn --formula 'churned ~ age' --draws 200 --chains 2";
    for (name, out, code) in [("unread", closed(), 0), ("full", full(), 3)] {
        let done = run(&format!("{fit} --out {name}"), out);
        assert_eq!(done.status.code(), Some(code), "{}", stderr(&done));
        assert!(stderr(&done).contains("Run folder: "), "{}", stderr(&done));
        let left = names(&folder.path().join(name));
        assert!(left.iter().any(|it| it == "draws.csv"), "{left:?}");
        assert!(!left.iter().any(|it| it == "journal.lock"), "{left:?}");
    }
    // Tables, too: a thousand rows are more than any buffer holds.
    let done = run("exec ergodic predict unread", closed());
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    let said = stderr(&done);
    assert!(!said.contains("could not be written"), "{said}");
    let done = run(&format!("ulimit -f 2; {fit} --out unsaved"), closed());
    assert_not_saved(&done, &["draws.csv", "could not be written"]);
    let data = mixed_set("slopes");
    let estimate =
        format!("exec ergodic estimate --data '{data}' --formula 'y ~ day + (day | subject)'");
    let done = run(&format!("{estimate} --out estimated"), closed());
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    assert_eq!(names(&folder.path().join("estimated")).len(), 3);
    // Half a fit would keep the folder from being used again.
    let done = run(
        &format!("ulimit -f 1; {estimate} --out half"),
        Stdio::null(),
    );
    assert_not_saved(&done, &["could not be saved", "half"]);
    assert_eq!(names(&folder.path().join("half")), [""; 0]);
    let done = run(&format!("{estimate} --out half"), Stdio::null());
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
}

/// Nobody reads the notes any longer: the fit goes on and is saved.
#[test]
fn a_closed_standard_error_ends_no_fit() {
    let folder = tempfile::tempdir().unwrap();
    let args = "fit --data sample:churn --draws 300 --chains 1 --out run".split(' ');
    let mut child = program(folder.path(), args)
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(0));
    assert!(folder.path().join("run/draws.csv").is_file());
}

#[test]
fn a_recipe_runs_with_another_sampler() {
    let folder = tempfile::tempdir().unwrap();
    let first = "fit --data sample:churn --sampler nuts --draws 20 --warmup 30 --chains 1 --out a";
    let first = ergodic(folder.path(), &first.split(' ').collect::<Vec<_>>());
    assert_eq!(first.status.code(), Some(0), "{}", stderr(&first));
    let other = "fit a/recipe.toml --sampler sgld --draws 20 --chains 1 --out b";
    let other = ergodic(folder.path(), &other.split(' ').collect::<Vec<_>>());
    assert_eq!(other.status.code(), Some(0), "{}", stderr(&other));
    let recipe = fs::read_to_string(folder.path().join("b/recipe.toml")).unwrap();
    assert!(
        recipe.contains("id = \"sgld\"") && !recipe.contains("max_depth"),
        "{recipe}"
    );
}

#[test]
fn a_request_that_cannot_be_met_is_refused_before_any_work() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    // A place for the run that is a file.
    fs::write(at("file"), "").unwrap();
    for out in ["file", "file/below"] {
        let output = short_fit(folder.path(), out, &["--draws", "20"]);
        assert_refused(&output, &["Cannot create the run folder"]);
        assert!(!stderr(&output).contains("mode:"), "{}", stderr(&output));
    }
    // A wrong request leaves no folder behind.
    let output = ergodic(
        folder.path(),
        &[
            "fit",
            "--data",
            "sample:churn",
            "--formula",
            "churned ~ nope",
            "--out",
            "new/run",
        ],
    );
    assert_refused(&output, &["nope"]);
    assert!(!at("new").exists());
    // Formats of another kind of run.
    let done = short_fit(folder.path(), "run", &["--draws", "20"]);
    assert_eq!(done.status.code(), Some(0), "{}", stderr(&done));
    for format in ["partition", "density"] {
        for out in [&[][..], &["--out", "p.csv"]] {
            let export = [&["export", "run", "--format", format][..], out].concat();
            assert_refused(&ergodic(folder.path(), &export), &["only", "mixtures"]);
        }
    }
    assert!(!at("p.csv").exists());
    // What only summaries have.
    for flags in [
        &["--columns", "mcse_sd"][..],
        &["--hdi"],
        &["--zero-variance", "linear"],
    ] {
        let export = [&["export", "run", "--format", "draws-csv"], flags].concat();
        assert_refused(
            &ergodic(folder.path(), &export),
            &[flags[0], "summary-csv or summary-json"],
        );
    }
    // A file that is not there, with or without a display.
    assert_refused(
        &ergodic(folder.path(), &["nofile.csv"]),
        &["no such file", "nofile.csv"],
    );
}

#[test]
fn a_precision_that_was_not_reached_is_said_at_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let more = [
        "--draws",
        "100",
        "--set",
        "run.target_ess=1000000",
        "--chains",
        "4",
    ];
    let output = short_fit(folder.path(), "run", &more);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(
        text.contains("short of its target") && text.contains("add "),
        "{text}"
    );
    let manifest = fs::read_to_string(folder.path().join("run/run.json")).unwrap();
    assert!(manifest.contains("short of its target"), "{manifest}");
    assert!(!manifest.contains("\"verdict\": \"good\""), "{manifest}");
}

#[test]
fn a_resumed_run_remembers_who_chose_its_sampler() {
    let folder = tempfile::tempdir().unwrap();
    let first = short_fit(folder.path(), "run", &["--draws", "20"]);
    let line = |output: &Output| {
        let text = stderr(output);
        let line = text.lines().find(|line| line.starts_with("sampler: "));
        line.unwrap().to_owned()
    };
    let again = ergodic(folder.path(), &["resume", "run", "--draws", "20"]);
    assert_eq!(again.status.code(), Some(0), "{}", stderr(&again));
    assert_eq!(line(&again), line(&first));
}

#[test]
fn samplers_are_ranked_for_a_sample_by_its_own_formula_and_a_dot_takes_all_columns() {
    let folder = tempfile::tempdir().unwrap();
    let rank = ["list", "samplers", "--data", "sample:churn"];
    let output = ergodic(folder.path(), &rank);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let dot = ergodic(
        folder.path(),
        &[&rank[..], &["--formula", "churned ~ ."]].concat(),
    );
    assert_eq!(dot.stdout, output.stdout, "{}", stderr(&dot));
    let show = [
        "show",
        "--data",
        "sample:churn",
        "--as",
        "formula",
        "--formula",
        "churned ~ .",
    ];
    let shown = ergodic(folder.path(), &show);
    assert_eq!(
        String::from_utf8_lossy(&shown.stdout).trim(),
        "churned ~ age + tenure_months + monthly_fee + support_calls + region + plan"
    );
}

/// A place for results that cannot be written is a mistake in the request, found before the work.
#[test]
fn places_that_cannot_be_written_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let fit = short_fit(folder.path(), "run", &["--draws", "20"]);
    assert_eq!(fit.status.code(), Some(0), "{}", stderr(&fit));
    let commands: [&[&str]; 3] = [
        &["export", "run", "--format", "summary-csv"],
        &["predict", "run"],
        &["bench", "simplex", "--quick"],
    ];
    for command in commands {
        for (out, words) in [
            ("nowhere/x.csv", "no such file or folder: nowhere/x.csv"),
            ("run", "it is a folder: run"),
            (
                "run/recipe.toml/x.csv",
                "recipe.toml is a file, not a folder",
            ),
        ] {
            let args = [command, &["--out", out]].concat();
            assert_refused(
                &ergodic(folder.path(), &args),
                &["cannot be written", words],
            );
        }
    }
    assert!(!folder.path().join("nowhere").exists());
    assert_refused(
        &short_fit(folder.path(), "run/recipe.toml", &[]),
        &["a file of that name is there"],
    );
    // What stands at a good place stays until there is something to put there.
    fs::write(folder.path().join("kept.csv"), "mine").unwrap();
    let args = [
        "export",
        "run",
        "--format",
        "partition",
        "--out",
        "kept.csv",
    ];
    assert_refused(&ergodic(folder.path(), &args), &["no clusters"]);
    assert_eq!(fs::read(folder.path().join("kept.csv")).unwrap(), b"mine");
}

#[test]
fn numbers_of_the_wrong_kind_are_refused_by_name() {
    let folder = tempfile::tempdir().unwrap();
    let fit = |more: &[&str]| short_fit(folder.path(), "run", more);
    assert_refused(&fit(&["--seed", "-1"]), &["'-1'", "--seed"]);
    assert_refused(
        &fit(&["--seed", "9223372036854775808"]),
        &["a whole number from 0 to 9223372036854775807"],
    );
    assert_refused(
        &fit(&["--max-seconds", "-1"]),
        &["`run.max_seconds`", "above 0"],
    );
    for (set, words) in [
        (
            "run.seed=-1",
            "`-1`, expected a whole number from 0, in `run.seed`",
        ),
        (
            "run.draws=many",
            "\"many\", expected a whole number from 0, in `run.draws`",
        ),
        (
            "run.max_seconds=soon",
            "expected a number, in `run.max_seconds`",
        ),
        ("priors.b=3", "expected a text, in `priors.b`"),
        (
            "priors.b=student_t(0, 0, 1)",
            "degrees of freedom and a scale above 0",
        ),
    ] {
        assert_refused(&fit(&["--set", set]), &[words]);
    }
    assert!(!folder.path().join("run").exists());
    // The largest seed is one.
    let largest = fit(&["--seed", "9223372036854775807", "--draws", "5"]);
    assert_eq!(largest.status.code(), Some(0), "{}", stderr(&largest));
}

#[test]
fn a_run_folder_serves_as_its_recipe() {
    let folder = tempfile::tempdir().unwrap();
    let text = "y,x\n1,2\n0,3\n1,3\n0,4\n1,1\n0,2\n";
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let args = [
        "fit",
        "--data",
        "t.csv",
        "--formula",
        "y ~ x",
        "--draws",
        "20",
        "--out",
        "run",
    ];
    let fit = ergodic(folder.path(), &args);
    assert_eq!(fit.status.code(), Some(0), "{}", stderr(&fit));
    for command in ["show", "prior-predictive"] {
        let of = |recipe: &str| ergodic(folder.path(), &[command, recipe]);
        let (of_folder, of_file) = (of("run"), of("run/recipe.toml"));
        assert_eq!(of_folder.status.code(), Some(0), "{}", stderr(&of_folder));
        assert!(
            !of_folder.stdout.is_empty() && of_folder.stdout == of_file.stdout,
            "{command}"
        );
    }
    assert_refused(
        &ergodic(folder.path(), &["show", "."]),
        &["this is a folder"],
    );
}

/// Numbers whose squares are beyond the largest number.
#[test]
fn columns_too_wide_to_compute_with_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..8)
        .map(|i| format!("{},{}e200,{i}\n", i % 2, i * i - 9))
        .collect();
    fs::write(folder.path().join("t.csv"), format!("y,wide,x\n{rows}")).unwrap();
    for (formula, words) in [
        (
            "y ~ wide",
            "The predictor `wide` has numbers from -9e200 to 4e201",
        ),
        (
            "wide ~ x",
            "The outcome `wide` has numbers from -9e200 to 4e201",
        ),
    ] {
        let args = ["fit", "--data", "t.csv", "--formula", formula];
        assert_refused(&ergodic(folder.path(), &args), &[words, "power of ten"]);
    }
}

#[test]
fn what_is_printed_of_many_groups_is_bounded_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let rows: String = (0..480)
        .map(|i| format!("{},g{},{}\n", (i * 37) % 11, i % 160, i % 7))
        .collect();
    fs::write(folder.path().join("t.csv"), format!("count,g,x\n{rows}")).unwrap();
    let args = [
        "fit",
        "--data",
        "t.csv",
        "--formula",
        "count ~ 1 + (1 | g) + (1 | g)",
        "--out",
        "run",
    ];
    let family = [
        "--set",
        "model.family=gaussian",
        "--chains",
        "1",
        "--draws",
        "5",
        "--warmup",
        "5",
    ];
    let fit = ergodic(folder.path(), &[&args[..], &family].concat());
    let notes = stderr(&fit);
    assert_eq!(fit.status.code(), Some(0), "{notes}");
    // The family is the one that was set, and each grouping is named once.
    assert!(
        notes.contains("template: mixed, because `count` holds"),
        "{notes}"
    );
    assert!(notes.contains("effects vary by `g`; --template"), "{notes}");
    let printed = String::from_utf8(fit.stdout).unwrap();
    let effects = printed
        .lines()
        .filter(|line| line.starts_with("r[g,"))
        .count();
    assert_eq!(effects, 100);
    assert!(
        printed.contains("and 60 more effects of groups"),
        "{printed}"
    );
    let summary = fs::read_to_string(folder.path().join("run/summary.csv")).unwrap();
    assert_eq!(summary.matches("\"r[g,").count(), 160);
    // The unit of a slope's spread reads as English.
    let slopes = [
        "show",
        "--data",
        "t.csv",
        "--formula",
        "count ~ x + (1 + x | g)",
    ];
    let words = String::from_utf8(ergodic(folder.path(), &slopes).stdout).unwrap();
    assert!(
        words.contains("for `sd[g,x]` (per standard deviation"),
        "{words}"
    );
}

#[test]
fn lists_have_no_empty_descriptions() {
    let folder = tempfile::tempdir().unwrap();
    for what in ["templates", "samplers", "formats", "datasets", "settings"] {
        let mut args = vec!["list", what];
        args.extend((what == "settings").then_some("run"));
        let list = ergodic(folder.path(), &args);
        assert_eq!(list.status.code(), Some(0), "{}", stderr(&list));
        let text = String::from_utf8(list.stdout).unwrap();
        assert!(
            !text.lines().any(|line| line.trim_end().ends_with(':')),
            "{text}"
        );
    }
}

#[test]
fn pictures_and_reports_of_a_run_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = short_fit(folder.path(), "run", &["--draws", "120"]);
    assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
    let figures = ergodic(folder.path(), &["list", "figures", "--json"]);
    let figures: serde_json::Value = serde_json::from_slice(&figures.stdout).unwrap();
    for figure in figures.as_array().unwrap() {
        let id = figure["id"].as_str().unwrap();
        let args = ["plot", "run", "--what", id, "--out", "p.svg"];
        let drawn = ergodic(folder.path(), &args);
        // Outcomes are yes or no, there are no groups, no clusters and no other run, no rows are held out, and the sampler is exact.
        let refusal = match id {
            "ecdf" | "survival" | "outcomes" | "rootogram" | "groups" | "moments" | "bias"
            | "clusters" | "likelihood" => Some("cannot be drawn"),
            "roc" | "course" => Some("--hold-out"),
            _ => None,
        };
        if let Some(refusal) = refusal {
            assert_refused(&drawn, &[refusal]);
            continue;
        }
        assert_eq!(drawn.status.code(), Some(0), "{id}: {}", stderr(&drawn));
        let svg = fs::read_to_string(folder.path().join("p.svg")).unwrap();
        assert!(
            svg.starts_with("<?xml") && svg.ends_with("</svg>\n"),
            "{id}"
        );
    }
    let named = [
        "--what",
        "trace",
        "--parameters",
        "b[age],b[plan=pro]",
        "--out",
        "p.csv",
    ];
    let drawn = ergodic(folder.path(), &[&["plot", "run"][..], &named].concat());
    assert!(
        stderr(&drawn).contains("Traces of 2 parameters"),
        "{}",
        stderr(&drawn)
    );
    let table = fs::read_to_string(folder.path().join("p.csv")).unwrap();
    // Two parameters, two chains, 120 draws each and where they started.
    assert_eq!(table.lines().count(), 1 + 2 * 2 * (120 + 1));
    let of_draws = ergodic(
        folder.path(),
        &[
            &["plot", "run/draws.csv"][..],
            &named[..4],
            &["--out", "q.csv"],
        ]
        .concat(),
    );
    assert_eq!(of_draws.status.code(), Some(0), "{}", stderr(&of_draws));
    // Draws alone do not tell where chains started.
    let of_run = table.lines().filter(|line| !line.contains(",triangle,"));
    let of_draws = fs::read_to_string(folder.path().join("q.csv")).unwrap();
    assert!(of_draws.lines().eq(of_run), "{of_draws}");

    let refuse = |args: &[&str], words: &[&str]| {
        let args = [&["plot", "run"][..], args].concat();
        assert_refused(&ergodic(folder.path(), &args), words);
    };
    refuse(
        &["--what", "trace", "--out", "p.pdf"],
        &[".svg, .png or .csv", "p.pdf"],
    );
    refuse(
        &["--what", "traces", "--out", "p.svg"],
        &["no figure `traces`", "trace, ranks"],
    );
    refuse(
        &[
            "--what",
            "trace",
            "--parameters",
            "b[agee]",
            "--out",
            "p.svg",
        ],
        &["no parameter `b[agee]`", "is it `b[age]`?"],
    );
    refuse(
        &[
            "--what",
            "pairs",
            "--parameters",
            "b[age]",
            "--out",
            "p.svg",
        ],
        &["2 parameters, not 1"],
    );

    let report = ergodic(folder.path(), &["report", "run", "--out", "report.html"]);
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    let page = fs::read_to_string(folder.path().join("report.html")).unwrap();
    for words in ["<h2>Methods</h2>", "Stan program", "seed 7", "<figure>"] {
        assert!(page.contains(words), "{words}");
    }
    let markdown = ergodic(folder.path(), &["report", "run", "--format", "markdown"]);
    assert!(text(&markdown.stdout).contains("| `b[age]` |"));
    assert_refused(
        &ergodic(folder.path(), &["report", "run", "--format", "pdf"]),
        &["no format `pdf`", "html, markdown, latex"],
    );
    // With the data gone the numbers stay.
    let csv = folder.path().join("data.csv");
    fs::write(&csv, "y,x\n0,1\n1,2\n0,3\n1,4\n0,5\n1,1\n0,2\n1,6\n").unwrap();
    let args = [
        "fit",
        "--data",
        "data.csv",
        "--formula",
        "y ~ x",
        "--out",
        "own",
    ];
    let more = [
        "--chains", "1", "--warmup", "50", "--draws", "20", "--seed", "1",
    ];
    let own = ergodic(folder.path(), &[&args[..], &more].concat());
    assert_eq!(own.status.code(), Some(0), "{}", stderr(&own));
    fs::remove_file(csv).unwrap();
    let report = ergodic(folder.path(), &["report", "own"]);
    assert_eq!(report.status.code(), Some(0), "{}", stderr(&report));
    assert!(stderr(&report).contains("does not describe the model"));
    assert!(text(&report.stdout).contains("<data value="));
}

/// An estimate that takes more rows than the table has is no use: the sampler is refused before the run, and ranks as such.
#[test]
fn a_signed_estimate_from_more_rows_than_there_are_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    // No row of the rare level has the rare outcome, so that its coefficient has a long tail.
    let mut text = String::from("x,y\n");
    for i in 0..2000 {
        text.push_str(&format!(
            "{},{}\n",
            u8::from(i < 20),
            u8::from(i % 400 == 399)
        ));
    }
    fs::write(folder.path().join("t.csv"), text).unwrap();
    let model = ["--data", "t.csv", "--formula", "y ~ x"];
    let mut fit = vec!["fit"];
    fit.extend(model);
    fit.extend(["--sampler", "hmc-ecs-signed", "--draws", "10", "--out", "o"]);
    assert_refused(
        &ergodic(folder.path(), &fit),
        &["hmc-ecs-signed", "there are 2", "`nuts`"],
    );
    assert!(!folder.path().join("o").exists());
    let mut rank = vec!["list", "samplers", "--json"];
    rank.extend(model);
    let ranked = ergodic(folder.path(), &rank);
    let entries: serde_json::Value = serde_json::from_slice(&ranked.stdout).unwrap();
    let entries = entries.as_array().unwrap();
    let of = |id: &str| entries.iter().find(|entry| entry["id"] == id).unwrap();
    assert_eq!(of("hmc-ecs-signed")["fits"], false);
    assert_eq!(of("hmc-ecs")["fits"], true);
}

/// A template without an outcome gets a formula without one, by what columns are called.
#[test]
fn a_first_formula_suits_a_template_without_an_outcome() {
    let folder = tempfile::tempdir().unwrap();
    let mut words = String::from("document,word,count\n");
    let mut bare = String::from("a,b\n");
    for i in 0..60 {
        words.push_str(&format!("d{},w{},{}\n", i % 6, i * 7 % 11, 1 + i % 3));
        bare.push_str(&format!("{},{}\n", i * 7 % 11, i * 5 % 13));
    }
    fs::write(folder.path().join("lda.csv"), words).unwrap();
    fs::write(folder.path().join("bare.csv"), bare).unwrap();
    let show = |data: &str, template: &str| {
        ergodic(folder.path(), &["show", data, "--template", template])
    };
    let shown = show("lda.csv", "topics");
    assert_eq!(shown.status.code(), Some(0), "{}", stderr(&shown));
    assert!(
        stderr(&shown).contains("formula: ~ word + count + (1 | document), guessed"),
        "{}",
        stderr(&shown)
    );
    assert_refused(
        &show("bare.csv", "topics"),
        &["Template `topics`", "~ word + (1 | document)"],
    );
    let shown = show("bare.csv", "multivariate-t");
    assert!(
        stderr(&shown).contains("formula: ~ a + b, guessed"),
        "{}",
        stderr(&shown)
    );
}

/// A recipe of a model as text that names no columns needs no data; one that names some does.
#[test]
fn a_recipe_of_a_model_without_data_names_none() {
    let folder = tempfile::tempdir().unwrap();
    let recipe = |program: &str| {
        let text = format!("[model]\ntemplate = \"own\"\nprogram = \"\"\"\n{program}\n\"\"\"\n");
        fs::write(folder.path().join("r.toml"), text).unwrap();
        ergodic(
            folder.path(),
            &[
                "fit", "r.toml", "--draws", "50", "--chains", "1", "--warmup", "50", "--out", "o",
            ],
        )
    };
    let refused = recipe("parameters\n  m ~ normal(0, 1)\nrows\n  y ~ normal(m, 1)");
    assert_refused(&refused, &["data"]);
    let run = recipe("parameters\n  m ~ normal(0, 1)");
    assert!(
        folder.path().join("o/draws.csv").exists(),
        "{}",
        stderr(&run)
    );
    // The recipe of the run says it.
    let written = fs::read_to_string(folder.path().join("o/recipe.toml")).unwrap();
    assert!(written.contains("sample:none"), "{written}");
}

#[test]
fn benches_tell_how_long_they_take() {
    let folder = tempfile::tempdir().unwrap();
    let plain = ergodic(folder.path(), &["list", "benches"]);
    let plain = text(&plain.stdout);
    assert!(
        plain.contains("time: about 2\u{202f}min on two cores"),
        "{plain}"
    );
    let json = ergodic(folder.path(), &["list", "benches", "--json"]);
    let entries: serde_json::Value = serde_json::from_slice(&json.stdout).unwrap();
    let of = |id: &str| {
        let mut entries = entries.as_array().unwrap().iter();
        entries.find(|entry| entry["id"] == id).unwrap()["seconds"].clone()
    };
    assert_eq!(of("rates"), 132);
    assert!(of("split-merge").is_null());
}
