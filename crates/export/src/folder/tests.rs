use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::record;
use ergodic_analysis::Run;
use ergodic_base::Control;

fn job(source: &str, folder: &Path) -> Job {
    let mut recipe = Recipe::new(source, "logistic", "churned ~ age");
    recipe.run.chains = 2;
    recipe.run.warmup = Some(20);
    recipe.run.draws = 40;
    recipe.sampler.id = "mala".to_owned();
    Job::prepare(&recipe, folder, None, &Control::default()).unwrap()
}

fn entries(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn programs_that_begin_at_the_same_moment_are_not_in_each_others_way() {
    let folder = tempfile::tempdir().unwrap();
    let runs = folder.path().join("deep/runs");
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..50 {
                    RunFolder::check_numbered(&runs).unwrap();
                }
            });
        }
    });
    assert!(entries(folder.path()).is_empty());
    std::fs::create_dir_all(&runs).unwrap();
    RunFolder::check_numbered(&runs).unwrap();
    assert!(entries(&runs).is_empty());
    std::fs::write(folder.path().join("file"), "").unwrap();
    let refused = RunFolder::check_numbered(&folder.path().join("file/runs")).unwrap_err();
    let refused = refused.to_string();
    assert!(refused.contains("is a file, not a folder"), "{refused}");
}

#[test]
fn data_with_the_longest_name_have_a_folder_too() {
    let folder = tempfile::tempdir().unwrap();
    let name = format!("{}.csv", "ü".repeat(125));
    let rows: String = (0..30)
        .map(|i| format!("{},{}\n", ["no", "yes"][i * 7 % 5 % 2], i * 11 % 17))
        .collect();
    std::fs::write(folder.path().join(&name), format!("churned,age\n{rows}")).unwrap();
    let job = job(&name, folder.path());
    let stem = RunFolder::stem_of(&job);
    assert_eq!(stem, format!("{}-mala", "ü".repeat(50)));
    let (place, claim) = RunFolder::create_numbered(folder.path(), &stem).unwrap();
    place.begin(&claim, &job).unwrap();
    let (rescue, _claim) = RunFolder::create_rescue(&job).unwrap();
    assert!(rescue.path().is_dir());
}

#[test]
fn a_list_of_new_files_reaches_nothing_outside_of_the_folder() {
    let token = "0123456789abcdef";
    for (names, token) in [
        (&["../victim"][..], token),
        (&["draws.csv", "/victim"][..], token),
        (&["draws.csv"][..], "x/../../victim"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let run = folder.path().join("run");
        std::fs::create_dir(&run).unwrap();
        std::fs::write(run.join(RECIPE), "").unwrap();
        std::fs::write(folder.path().join("victim"), "precious").unwrap();
        let part = files::part_of(&folder.path().join("victim"), "0123456789abcdef");
        std::fs::write(&part, "new").unwrap();
        let list = serde_json::json!({"files": names, "token": token});
        std::fs::write(run.join(SAVING), record::seal(&list).unwrap()).unwrap();
        let refused = RunFolder::claim(&run).map(|_claimed| ()).unwrap_err();
        assert!(matches!(refused, ExportError::SavingList(_)), "{refused}");
        let victim = std::fs::read(folder.path().join("victim")).unwrap();
        assert_eq!(victim, b"precious", "{names:?} {token}");
        assert!(part.exists());
    }
}

#[test]
fn new_files_that_vanish_before_they_count_are_an_error() {
    let scratch = tempfile::tempdir().unwrap();
    let job = Arc::new(job("sample:churn", Path::new(".")));
    let mut run = Run::start(Arc::clone(&job), None, None).unwrap();
    let marks = run.join().to_vec();
    let results = Results::of(&job, &run.view(), &run.report());
    let (folder, claim) = RunFolder::create(&scratch.path().join("run")).unwrap();
    folder.begin(&claim, &job).unwrap();
    let draws_part = || {
        let entries = std::fs::read_dir(folder.path()).unwrap();
        let mut paths = entries.map(|entry| entry.unwrap().path());
        paths.find(|path| {
            let name = path.file_name().unwrap().to_str().unwrap();
            files::whole_of(name) == Some("draws.csv")
        })
    };
    let vanish = &mut |file: &str| {
        if file == "summary.json" {
            std::fs::remove_file(draws_part().unwrap()).unwrap();
        }
    };
    let lost = folder.save_all(&claim, &job, &results, &marks, vanish);
    assert!(matches!(lost, Err(ExportError::Io { .. })), "{lost:?}");
    assert!(folder.standing().unwrap().is_none());
    let quietly = &mut |_file: &str| {};
    folder
        .save_all(&claim, &job, &results, &marks, quietly)
        .unwrap();
    assert!(folder.standing().unwrap().is_some());
}

/// Between two files of one reading the run may be saved anew: then the second is not as the first one says, and not damaged.
#[test]
fn results_that_are_read_while_they_are_saved_are_not_called_damaged() {
    let scratch = tempfile::tempdir().unwrap();
    let job = Arc::new(job("sample:churn", Path::new(".")));
    let mut run = Run::start(Arc::clone(&job), None, None).unwrap();
    let marks = run.join().to_vec();
    let mut results = Results::of(&job, &run.view(), &run.report());
    let (folder, claim) = RunFolder::create(&scratch.path().join("run")).unwrap();
    folder.begin(&claim, &job).unwrap();
    let quietly = &mut |_file: &str| {};
    folder
        .save_all(&claim, &job, &results, &marks, quietly)
        .unwrap();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let mut readings = 0;
            while !is_over.load(Ordering::Relaxed) {
                let standing = folder.standing().unwrap().unwrap();
                assert_eq!(standing.results().remarks, [""; 0]);
                readings += 1;
            }
            readings
        });
        for _ in 0..40 {
            // The same draws with other information.
            results.info.reverse();
            folder
                .save_all(&claim, &job, &results, &marks, quietly)
                .unwrap();
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
        assert!(reader.join().unwrap() > 1);
    });
}
