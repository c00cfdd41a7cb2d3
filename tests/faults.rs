//! A crash, a full disk or a broken one at any file operation of a run, and damage to any of its files afterwards.
//!
//! The program is run with `ERGODIC_FAULT`, which builds with debug assertions know: operation N ends it or fails. Afterwards
//! everything that could be read before must be read still, the run must go on, and every draw must be the one that a run
//! without faults makes. The short forms visit some operations; the whole forms (`--ignored`) visit all.

#![cfg(all(unix, debug_assertions))]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};

use support::{program, text};

mod support;

/// What comes of running the program.
fn ergodic(folder: &Path, args: &[&str]) -> Output {
    program(folder, args).output().unwrap()
}

/// Draws of each chain of the run that is continued, those that are added, and those of the run that has them all.
const BASE: u64 = 60;
const MORE: u64 = 40;
const LONG: u64 = 6 * BASE;

/// The models: one whose draws are numbers, one that keeps partitions too.
const REGRESSION: &[&str] = &[
    "fit",
    "--data",
    "sample:churn",
    "--formula",
    "churned ~ age",
    "--sampler",
    "mala",
    "--warmup",
    "30",
];
const MIXTURE: &[&str] = &[
    "fit",
    "--data",
    "sample:awkward",
    "--template",
    "dp-mixture",
    "--formula",
    "~ weight + smoker",
    "--sampler",
    "dp-gibbs",
    "--warmup",
    "5",
];

/// Lines of a table of draws by chain and iteration.
type Rows = BTreeMap<(String, String), String>;

struct Bench {
    scratch: tempfile::TempDir,
    fit: &'static [&'static str],
    long: Rows,
}

/// What the program is asked to do, and with what it begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Task {
    Fit,
    ExtendFinished,
    ContinueCutShort,
    ExtendCutShort,
}

const TASKS: [Task; 4] = [
    Task::Fit,
    Task::ExtendFinished,
    Task::ContinueCutShort,
    Task::ExtendCutShort,
];

fn rows(table: &str) -> Rows {
    let row = |line: &str| {
        let mut cells = line.splitn(4, ',');
        let mut next = || cells.next().unwrap_or_default().to_owned();
        let place = (next(), next());
        next();
        (place, next())
    };
    table.lines().skip(1).map(row).collect()
}

/// Draws of the chain with the fewest.
fn least(rows: &Rows) -> u64 {
    let count = |chain: &str| rows.keys().filter(|(it, _)| it == chain).count() as u64;
    count("1").min(count("2"))
}

fn copy(from: &Path, to: &Path) {
    if to.exists() {
        fs::remove_dir_all(to).unwrap();
    }
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
    }
}

impl Bench {
    /// Runs without faults: `long`, `finished`, and `cut`, which was killed when its draws were in the journal.
    fn new(fit: &'static [&'static str]) -> Self {
        let mut bench = Self {
            scratch: tempfile::tempdir().unwrap(),
            fit,
            long: Rows::new(),
        };
        fs::create_dir(bench.at("tmp")).unwrap();
        for (name, draws) in [("long", LONG), ("finished", BASE)] {
            let output = bench.run(&bench.fitting(name, draws), None);
            assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        }
        bench.long = rows(&fs::read_to_string(bench.at("long/draws.csv")).unwrap());
        assert_eq!(bench.long.len() as u64, 2 * LONG);
        bench.cut_short();
        bench
    }

    /// A run that was killed when all its draws were in the journal. How many operations that takes depends on the time, so
    /// that it may take more than one attempt.
    fn cut_short(&self) {
        for _ in 0..10 {
            for name in ["listed", "cut"] {
                if self.at(name).exists() {
                    fs::remove_dir_all(self.at(name)).unwrap();
                }
            }
            let listed = self.run(&self.fitting("listed", BASE), Some("list:1"));
            let listed = text(&listed.stderr);
            let line = listed
                .lines()
                .find(|line| line.contains("Create") && line.contains("draws.csv"));
            let number = line.and_then(|line| line.split([' ', ':']).nth(1)).unwrap();
            self.run(&self.fitting("cut", BASE), Some(&format!("kill:{number}")));
            let read = self.ask(&["export", "cut", "--format", "draws-csv"]);
            if self.at("cut/journal.dat").exists() && least(&rows(&text(&read.stdout))) == BASE {
                return;
            }
        }
        panic!("no run was cut short when its draws were in the journal");
    }

    fn at(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn fitting(&self, folder: &str, draws: u64) -> Vec<String> {
        let mut args: Vec<String> = self.fit.iter().map(|&arg| arg.to_owned()).collect();
        let draws = draws.to_string();
        for arg in [
            "--chains", "2", "--seed", "7", "--draws", &draws, "--out", folder,
        ] {
            args.push(arg.to_owned());
        }
        args
    }

    fn run(&self, args: &[String], fault: Option<&str>) -> Output {
        let mut command = program(self.scratch.path(), args);
        command.env("TMPDIR", self.at("tmp"));
        if let Some(fault) = fault {
            command.env("ERGODIC_FAULT", fault);
        }
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(
            !said.contains("panicked"),
            "{args:?} with {fault:?}: {said}"
        );
        output
    }

    fn ask(&self, args: &[&str]) -> Output {
        let args: Vec<String> = args.iter().map(|&arg| arg.to_owned()).collect();
        self.run(&args, None)
    }

    /// Prepares the folder `x`, and says what is to be run and how many draws of each chain can be read before.
    fn prepare(&self, task: Task) -> (Vec<String>, u64) {
        let x = self.at("x");
        let resume = |more: &[&str]| -> Vec<String> {
            let args = ["resume", "x"].iter().chain(more);
            args.map(|&arg| arg.to_owned()).collect()
        };
        let more = MORE.to_string();
        match task {
            Task::Fit => {
                if x.exists() {
                    fs::remove_dir_all(&x).unwrap();
                }
                (self.fitting("x", BASE), 0)
            }
            Task::ExtendFinished => {
                copy(&self.at("finished"), &x);
                (resume(&["--draws", &more]), BASE)
            }
            Task::ContinueCutShort => {
                copy(&self.at("cut"), &x);
                (resume(&[]), BASE)
            }
            Task::ExtendCutShort => {
                copy(&self.at("cut"), &x);
                (resume(&["--draws", &more]), BASE)
            }
        }
    }

    /// File operations of `task`.
    fn operations(&self, task: Task) -> u64 {
        let (args, _) = self.prepare(task);
        let output = self.run(&args, Some("list:1"));
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        let listed = text(&output.stderr);
        listed
            .lines()
            .filter(|line| line.starts_with("operation "))
            .count() as u64
    }

    /// Lets operation `number` of `task` fail and looks at what is left. False if the program did not come that far.
    fn strike(&self, task: Task, kind: &str, number: u64) -> bool {
        let fault = format!("{kind}:{number}");
        let (args, before) = self.prepare(task);
        let output = self.run(&args, Some(&fault));
        let said = text(&output.stderr);
        let what = format!("{task:?} with {fault}: {said}");
        if kind == "kill" {
            if output.status.signal().is_none() {
                assert_eq!(output.status.code(), Some(0), "{what}");
                return false;
            }
        } else {
            assert!(matches!(output.status.code(), Some(0 | 2 | 3)), "{what}");
            assert!(
                output.status.success() || said.contains("error: "),
                "{what}"
            );
        }
        self.check_rescue(&said, &what);
        self.check_left(task, before, &what);
        true
    }

    /// Draws that were saved elsewhere are right.
    fn check_rescue(&self, said: &str, what: &str) {
        if let Some(place) = said.split("here instead: ").nth(1) {
            let place = Path::new(place.lines().next().unwrap());
            let saved = rows(&fs::read_to_string(place.join("draws.csv")).unwrap());
            self.check_rows(&saved, BASE, what);
        }
    }

    fn check_rows(&self, found: &Rows, fewest: u64, what: &str) {
        for (place, row) in found {
            assert_eq!(self.long.get(place), Some(row), "{what}: draw {place:?}");
        }
        assert!(
            least(found) >= fewest,
            "{what}: {} draws of a chain",
            least(found)
        );
    }

    fn check_left(&self, task: Task, before: u64, what: &str) {
        let x = self.at("x");
        if !x.join("recipe.toml").exists() {
            // Nothing began: the same command can.
            assert_eq!(before, 0, "{what}");
            let again = self.run(&self.fitting("x", BASE), None);
            assert_eq!(
                again.status.code(),
                Some(0),
                "{what}, then {}",
                text(&again.stderr)
            );
            return;
        }
        let read = self.ask(&["export", "x", "--format", "draws-csv"]);
        let what = format!("{what}, then {}", text(&read.stderr));
        if before > 0 || read.status.success() {
            assert_eq!(read.status.code(), Some(0), "{what}");
            self.check_rows(&rows(&text(&read.stdout)), before, &what);
        }
        // What was planned is known from the moment at which it can be read.
        let planned = task == Task::ExtendFinished
            && x.join("journal.dat").exists()
            && !x.join("saving.json").exists();
        let resumed = self.ask(&["resume", "x"]);
        let what = format!("{what}, then {}", text(&resumed.stderr));
        assert_eq!(resumed.status.code(), Some(0), "{what}");
        let saved = rows(&fs::read_to_string(x.join("draws.csv")).unwrap());
        self.check_rows(&saved, BASE, &what);
        if planned {
            assert_eq!(least(&saved), BASE + MORE, "{what}");
        }
        for entry in fs::read_dir(&x).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let left =
                name.starts_with("journal.") || name.ends_with(".part") || name == "saving.json";
            assert!(!left, "{what}: {name} stays behind");
        }
        let summary = self.ask(&["summarise", "x"]);
        assert_eq!(summary.status.code(), Some(0), "{what}");
        assert_eq!(text(&summary.stderr), "", "{what}");
    }

    /// Strikes every `step`th operation from `first` on.
    fn sweep(&self, task: Task, kind: &str, first: u64, step: u64) {
        let last = self.operations(task) + 2;
        let mut number = first;
        while number <= last {
            if !self.strike(task, kind, number) {
                break;
            }
            number += step;
        }
    }
}

#[test]
fn a_crash_at_a_file_operation_loses_nothing() {
    let bench = Bench::new(REGRESSION);
    bench.sweep(Task::Fit, "kill", 3, 8);
    bench.sweep(Task::ExtendFinished, "kill", 2, 9);
    bench.sweep(Task::ContinueCutShort, "kill", 5, 9);
    bench.sweep(Task::ExtendCutShort, "kill", 7, 17);
}

#[test]
fn a_full_or_broken_disk_at_a_file_operation_loses_nothing() {
    let bench = Bench::new(REGRESSION);
    bench.sweep(Task::Fit, "full", 4, 15);
    bench.sweep(Task::ExtendFinished, "full", 9, 19);
    bench.sweep(Task::ExtendFinished, "broken", 6, 19);
    bench.sweep(Task::ContinueCutShort, "broken", 11, 19);
}

#[test]
fn an_export_leaves_the_file_before_or_the_whole_new_one() {
    let bench = Bench::new(REGRESSION);
    let place = bench.at("out.csv");
    let new = fs::read(bench.at("finished/draws.csv")).unwrap();
    let args = [
        "export",
        "finished",
        "--format",
        "draws-csv",
        "--out",
        "out.csv",
    ]
    .map(str::to_owned);
    let listed = text(&bench.run(&args, Some("list:1")).stderr);
    let count = listed.matches("operation ").count();
    assert!(listed.contains("Rename") && count > 8, "{listed}");
    assert_eq!(fs::read(&place).unwrap(), new);
    for kind in ["kill", "full", "broken"] {
        for number in 1..=count {
            fs::write(&place, "before").unwrap();
            let fault = format!("{kind}:{number}");
            let output = bench.run(&args, Some(&fault));
            let there = fs::read(&place).unwrap();
            assert!(there == new || there == b"before", "{fault}");
            match output.status.code() {
                Some(0) => assert!(there == new, "{fault}"),
                Some(2 | 3) => assert!(text(&output.stderr).contains("error: "), "{fault}"),
                code => assert!(kind == "kill" && code.is_none(), "{fault}: {code:?}"),
            }
        }
    }
}

#[test]
#[ignore = "long: visits every file operation"]
fn no_file_operation_may_lose_anything() {
    for model in [REGRESSION, MIXTURE] {
        let bench = Bench::new(model);
        for kind in ["kill", "full", "broken"] {
            for task in TASKS {
                bench.sweep(task, kind, 1, 1);
            }
        }
    }
}

/// Numbers that look random, the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }
}

/// Damages one file of `source` at a time, `count` times in all, and asks what the folder says then: the same as before, or a
/// sentence, but never other numbers without a word.
fn damage(bench: &Bench, source: &str, count: u64) {
    let mut dice = Dice(count);
    let x = bench.at("x");
    let mut names: Vec<String> = fs::read_dir(bench.at(source))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name != "journal.lock")
        .collect();
    names.sort();
    let answer = |args: &[&str]| {
        let output = bench.ask(args);
        assert!(
            matches!(output.status.code(), Some(0 | 2 | 3)),
            "{}",
            text(&output.stderr)
        );
        output
    };
    copy(&bench.at(source), &x);
    let whole = answer(&["summarise", "x", "--json"]);
    assert_eq!(whole.status.code(), Some(0), "{}", text(&whole.stderr));
    answer(&["resume", "x"]);
    let resumed = fs::read_to_string(x.join("draws.csv")).unwrap();
    for trial in 0..count {
        let name = &names[(trial % names.len() as u64) as usize];
        copy(&bench.at(source), &x);
        let mut bytes = fs::read(x.join(name)).unwrap();
        let at = dice.below(bytes.len() as u64) as usize;
        let how = match dice.below(10) {
            0 => {
                bytes.truncate(at);
                "cut"
            }
            1 => {
                let end = (at + 512).min(bytes.len());
                bytes[at..end].fill(0);
                "zeroed"
            }
            _ => {
                bytes[at] ^= 1 << dice.below(8);
                "flipped"
            }
        };
        fs::write(x.join(name), bytes).unwrap();
        let what = format!("{source}/{name} {how} at {at}");
        let told = |output: &Output| {
            let said = text(&output.stderr);
            // That a run was cut short says nothing about damage.
            let says = |line: &str| line.starts_with("note: ") && !line.contains("was cut short");
            said.lines()
                .any(|line| line.starts_with("error: ") || says(line))
        };
        let summary = answer(&["summarise", "x", "--json"]);
        assert!(
            told(&summary) || summary.stdout == whole.stdout || torn(name, how, &summary),
            "{what}: other numbers without a word"
        );
        let more = answer(&["resume", "x"]);
        let draws = fs::read_to_string(x.join("draws.csv")).unwrap_or_default();
        assert!(
            told(&more) || draws == resumed,
            "{what}: other draws without a word: {}",
            text(&more.stderr)
        );
    }
}

/// The end of a journal may be missing: that is what a crash leaves, and the checkpoint beside it may be older.
fn torn(name: &str, how: &str, summary: &Output) -> bool {
    name == "journal.dat" && how == "cut" && text(&summary.stdout).contains("cut_short")
}

#[test]
fn damaged_files_are_told() {
    let bench = Bench::new(REGRESSION);
    damage(&bench, "finished", 14);
    damage(&bench, "cut", 9);
}

#[test]
#[ignore = "long: a thousand damaged files"]
fn a_thousand_damaged_files_are_told() {
    let bench = Bench::new(REGRESSION);
    damage(&bench, "finished", 350);
    damage(&bench, "cut", 300);
    let bench = Bench::new(MIXTURE);
    damage(&bench, "finished", 350);
}

#[test]
fn two_programs_never_write_one_folder() {
    let bench = Bench::new(REGRESSION);
    let start = |args: &[String]| {
        program(bench.scratch.path(), args)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap()
    };
    for task in [
        Task::Fit,
        Task::ExtendFinished,
        Task::Fit,
        Task::ExtendFinished,
    ] {
        let (args, _) = bench.prepare(task);
        let both = [start(&args), start(&args)].map(|child| child.wait_with_output().unwrap());
        let done = both.iter().filter(|output| output.status.success()).count();
        let said: String = both.iter().map(|output| text(&output.stderr)).collect();
        // One after the other is possible too, where the first has ended before the second begins.
        let in_turn = task == Task::ExtendFinished && done == 2;
        assert!(done == 1 || in_turn, "{task:?}: {said}");
        if done == 1 {
            let refused = both.iter().find(|output| !output.status.success()).unwrap();
            assert_eq!(refused.status.code(), Some(2), "{said}");
        }
        let saved = rows(&fs::read_to_string(bench.at("x/draws.csv")).unwrap());
        bench.check_rows(&saved, BASE, &said);
    }
}

#[test]
fn links_in_a_run_folder_are_never_written_through() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new(REGRESSION);
    let outside = bench.at("outside");
    for name in [
        "journal.lock",
        "journal.dat",
        "journal.checkpoint",
        "saving.json",
        "recipe.toml",
        "draws.csv",
        "info.csv",
        "run.json",
        "checkpoint.dat",
        "summary.json",
    ] {
        let (args, _) = bench.prepare(Task::ExtendFinished);
        fs::write(&outside, "precious").unwrap();
        let link = bench.at("x").join(name);
        if link.exists() {
            fs::remove_file(&link).unwrap();
        }
        symlink(&outside, &link).unwrap();
        bench.run(&args, None);
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious", "{name}");
    }
}

#[test]
fn missing_information_of_the_sampler_is_told_and_nothing_is_made_up() {
    let bench = Bench::new(REGRESSION);
    let (args, _) = bench.prepare(Task::ExtendFinished);
    let whole = bench.ask(&["summarise", "x", "--json"]);
    for content in [None, Some(""), Some("rubbish\n1\n")] {
        match content {
            None => fs::remove_file(bench.at("x/info.csv")).unwrap(),
            Some(content) => fs::write(bench.at("x/info.csv"), content).unwrap(),
        }
        let told = bench.ask(&["summarise", "x", "--json"]);
        assert_eq!(told.status.code(), Some(0));
        assert!(
            text(&told.stderr).contains("info.csv"),
            "{}",
            text(&told.stderr)
        );
        assert_eq!(text(&told.stdout), text(&whole.stdout));
        let before = fs::read(bench.at("x/draws.csv")).unwrap();
        let refused = bench.run(&args, None);
        assert_eq!(refused.status.code(), Some(2));
        assert!(text(&refused.stderr).contains("info.csv"));
        assert_eq!(fs::read(bench.at("x/draws.csv")).unwrap(), before);
    }
}

#[test]
fn a_run_without_information_columns_keeps_a_row_per_draw_when_it_goes_on() {
    let scratch = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = ergodic(scratch.path(), args);
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    };
    run(&[
        "fit",
        "--data",
        "sample:fish",
        "--sampler",
        "conjugate",
        "--chains",
        "2",
        "--draws",
        "90",
        "--out",
        "x",
    ]);
    run(&["resume", "x"]);
    for name in ["draws.csv", "info.csv"] {
        let text = fs::read_to_string(scratch.path().join("x").join(name)).unwrap();
        assert_eq!(text.lines().count(), 1 + 2 * 180, "{name}");
    }
}
