use std::path::Path;

use super::*;
use crate::RunFolder;
use ergodic_analysis::{Recipe, bias_check};
use ergodic_base::Control;
use ergodic_base::draws::DrawList;
use ergodic_core::engine::found::Found;
use ergodic_core::engine::found::clusters::Clusters;

fn recipe(draws: u64) -> Recipe {
    let mut recipe = Recipe::new("sample:churn", "logistic", "churned ~ age");
    recipe.run.chains = 2;
    recipe.run.warmup = Some(50);
    recipe.run.draws = draws;
    recipe.sampler.id = "mala".to_owned();
    recipe
}

fn job(draws: u64) -> Job {
    Job::prepare(&recipe(draws), Path::new("."), None, &Control::default()).unwrap()
}

fn ended(job: Job) -> Run {
    let mut run = Run::start(Arc::new(job), None, None).unwrap();
    run.join();
    run
}

fn run() -> Run {
    let mut job = job(120);
    let control = bias_check::control_job(&job, None).unwrap();
    job.recipe.sampler = control.recipe.sampler.clone();
    job.sampler = control.sampler;
    ended(job)
}

fn keep(folder: &Path, run: &Run) {
    let mut journal = Journal::start(Claim::take(folder).unwrap(), run);
    assert!(journal.finish(), "{:?}", journal.trouble());
}

fn results(folder: &Path) -> Results {
    let mut results = read(folder).unwrap().results;
    let chains = results.manifest.iter().flat_map(|it| &it.chains);
    let seconds = chains.map(|chain| chain.draw_secs).fold(0.0, f64::max);
    judge_recovered(&mut results, seconds);
    results
}

fn bits(lists: &[DrawList]) -> Vec<Vec<u64>> {
    let column = |list: &DrawList, j| list.column(j).iter().map(|v| v.to_bits()).collect();
    lists
        .iter()
        .flat_map(|list| (0..list.width()).map(move |j| column(list, j)))
        .collect()
}

fn drawn(run: &Run) -> Vec<DrawList> {
    let view = run.view();
    let chains = view.chains.iter();
    chains.map(|chain| chain.draws.draws.clone()).collect()
}

#[test]
fn a_journal_gives_back_every_whole_frame_and_nothing_else() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    keep(folder.path(), &run);
    let view = run.view();
    let back = results(folder.path());
    assert_eq!(bits(&back.draws), bits(&drawn(&run)));
    // Bits, because information may be NaN.
    let info: Vec<DrawList> = view
        .chains
        .iter()
        .map(|chain| chain.draws.info.clone())
        .collect();
    assert_eq!(bits(&back.info), bits(&info));
    assert_eq!(back.summary, run.report().summary);
    let manifest = back.manifest.unwrap();
    assert_eq!(manifest.verdict, run.report().verdict);
    assert_eq!(manifest.chains[1].warmup, 50);

    // Torn anywhere, it is read up to the frame before.
    let path = folder.path().join(DRAWS);
    let bytes = std::fs::read(&path).unwrap();
    for cut in [1, 9, 4000] {
        std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
        let back = results(folder.path());
        assert!(back.draws.iter().all(DrawList::is_empty));
        assert_eq!(
            back.manifest.unwrap().stop_reason,
            Some(StopReason::CutShort)
        );
    }
    std::fs::write(&path, "something else").unwrap();
    assert!(has_no_beginning(&path));
    let error = read(folder.path()).map(|_| ()).unwrap_err();
    assert!(matches!(error, ExportError::Journal(_)), "{error}");
}

/// Frames of `draws[k]` draws each, of one run, one behind the other.
fn in_frames(folder: &Path, run: &Run, draws: &[usize]) {
    let claim = Claim::take(folder).unwrap();
    let writing = Writing {
        folder: folder.to_owned(),
        job: Arc::clone(run.job()),
        views: Arc::clone(run.views()),
        wanted: run.wanted().to_vec(),
        begun_with: run.begun_with().to_vec(),
        shared: Arc::default(),
    };
    let mut view = (*run.view()).clone();
    let whole = view.clone();
    let mut writer = None;
    for &count in draws {
        for (chain, whole) in view.chains.iter_mut().zip(&whole.chains) {
            chain.draws.draws = whole.draws.draws.first(count);
            chain.draws.info = whole.draws.info.first(count);
        }
        view.version += 1;
        let writer = match &mut writer {
            Some(writer) => writer,
            None => writer.insert(Writer::begin(&writing, &view).unwrap()),
        };
        writer.append(&writing, &view).unwrap();
    }
    drop(claim);
}

#[test]
fn frames_behind_damage_are_found_told_and_made_whole_by_going_on() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    in_frames(folder.path(), &run, &[40, 80, 120]);
    let path = folder.path().join(DRAWS);
    let bytes = std::fs::read(&path).unwrap();
    let starts: Vec<usize> = bytes
        .windows(16)
        .enumerate()
        .filter(|(_, window)| window.starts_with(b"{\"elapsed_secs\":"))
        .map(|(at, _)| at - HEAD)
        .collect();
    assert_eq!(starts.len(), 3);
    // A bit of each part of each frame.
    for (k, &start) in starts.iter().enumerate() {
        let end = starts.get(k + 1).copied().unwrap_or(bytes.len());
        for at in [start, start + 7, start + 9, start + 20, start + 30, end - 5] {
            let mut damaged = bytes.clone();
            damaged[at] ^= 4;
            std::fs::write(&path, &damaged).unwrap();
            let back = read(folder.path()).unwrap();
            let (whole, there) = [(0, 80), (40, 80), (80, 80)][k];
            assert_eq!(back.whole, [whole; 2], "frame {k}, byte {at}");
            assert_eq!(back.results.draws[1].len(), there);
            let expected = &drawn(&run)[1];
            let last = back.results.draws[1].value(there - 1, 0);
            let number = if k == 2 { 79 } else { 119 };
            assert_eq!(last, expected.value(number, 0));
            // What is torn off at the end cannot be told from a crash; everything else is said.
            let torn = k == 2 && [start, start + 9].contains(&at);
            assert!(
                torn || !back.results.remarks.is_empty(),
                "frame {k}, byte {at}"
            );
        }
    }
    // Damage in the second frame: the run is begun again and fills the gap; the damaged file is kept.
    let mut damaged = bytes;
    damaged[starts[1] + 50] ^= 1;
    std::fs::write(&path, &damaged).unwrap();
    assert_eq!(read(folder.path()).unwrap().reach, [120, 120]);
    in_frames(folder.path(), &run, &[60]);
    let back = read(folder.path()).unwrap();
    assert_eq!((back.whole, back.reach), (vec![60; 2], vec![120; 2]));
    assert_eq!(back.results.draws[0].len(), 100);
    in_frames(folder.path(), &run, &[60, 110]);
    let back = read(folder.path()).unwrap();
    assert_eq!(back.whole, [120, 120]);
    assert_eq!(bits(&back.results.draws), bits(&drawn(&run)));
    let aside = std::fs::read(folder.path().join("journal.dat.damaged-1")).unwrap();
    assert!(aside.starts_with(&damaged));
    assert!(!folder.path().join("journal.dat.damaged-2").exists());
}

#[test]
fn a_beginning_with_any_flipped_bit_is_noticed() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    in_frames(folder.path(), &run, &[40]);
    let bytes = std::fs::read(folder.path().join(DRAWS)).unwrap();
    for at in 0..first_frame(&bytes) {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        assert!(recovery::Scan::of(&damaged).is_none(), "byte {at}");
    }
}

#[test]
fn the_journal_of_a_continued_run_has_only_what_is_new_and_its_plan() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("run");
    let mut first = ended(job(100));
    let (place, claim) = RunFolder::create(&path).unwrap();
    place.begin(&claim, first.job()).unwrap();
    let results = Results::of(first.job(), &first.view(), &first.report());
    let start = Arc::clone(first.job());
    place
        .save_all(&claim, &start, &results, first.join(), &mut |_file| {})
        .unwrap();
    let saved = std::fs::read(path.join("draws.csv")).unwrap();
    let mut more = (*start).clone();
    more.recipe.run.draws = 150;
    let continuation = first.continuation();
    let mut second = Run::start(Arc::new(more), Some(continuation), None).unwrap();
    second.join();
    let mut journal = Journal::start(claim, &second);
    assert!(journal.finish());
    assert!(!journal.holds_more_than(&Results::of(second.job(), &second.view(), &second.report())));
    assert!(journal.holds_more_than(&results_of_nothing()));
    // 2 chains, 50 draws each, and not the hundred before.
    let size = std::fs::metadata(path.join(DRAWS)).unwrap().len();
    let width = start.variables().len() + start.sampler.spec.info.len();
    assert!(size < (2 * 60 * width * 8 + 9000) as u64, "{size} bytes");
    assert_eq!(std::fs::read(path.join("draws.csv")).unwrap(), saved);
    let back = read(&path).unwrap();
    assert_eq!(back.plan, Some(vec![150, 150]));
    assert_eq!(back.whole, [150, 150]);
    assert_eq!(bits(&back.results.draws), bits(&drawn(&second)));
    // Without any frame it still knows what was planned, and the results are those that were saved.
    let bytes = std::fs::read(path.join(DRAWS)).unwrap();
    std::fs::write(path.join(DRAWS), &bytes[..first_frame(&bytes)]).unwrap();
    let back = read(&path).unwrap();
    assert_eq!((back.plan, back.whole), (Some(vec![150; 2]), vec![100; 2]));
    assert_eq!(place.results().unwrap().draws[0].len(), 100);
    drop(journal);
}

#[test]
fn a_journal_is_not_joined_to_the_results_of_another_run() {
    let scratch = tempfile::tempdir().unwrap();
    let saved = |name: &str, formula: &str| {
        let mut recipe = recipe(60);
        recipe.model.formula = formula.to_owned();
        let job = Job::prepare(&recipe, Path::new("."), None, &Control::default()).unwrap();
        let mut run = ended(job);
        let (place, claim) = RunFolder::create(&scratch.path().join(name)).unwrap();
        place.begin(&claim, run.job()).unwrap();
        let results = Results::of(run.job(), &run.view(), &run.report());
        let job = Arc::clone(run.job());
        place
            .save_all(&claim, &job, &results, run.join(), &mut |_file| {})
            .unwrap();
        (place, claim, run)
    };
    let (place, claim, mut first) = saved("a", "churned ~ age");
    let mut more = (**first.job()).clone();
    more.recipe.run.draws = 90;
    let mut second = Run::start(Arc::new(more), Some(first.continuation()), None).unwrap();
    second.join();
    let mut journal = Journal::start(claim, &second);
    assert!(journal.finish());
    assert_eq!(read(place.path()).unwrap().whole, [90, 90]);
    // As many draws, as many columns, all whole.
    let (other, ..) = saved("b", "churned ~ monthly_fee");
    for name in ["run.json", "draws.csv", "info.csv"] {
        std::fs::copy(other.path().join(name), place.path().join(name)).unwrap();
    }
    let refused = read(place.path()).map(|_| ()).unwrap_err();
    assert!(matches!(refused, ExportError::JournalBase(_)), "{refused}");
}

/// A frame with `text` as its JSON.
fn framed(text: &str, numbers: &[u8]) -> Vec<u8> {
    let sum = frame_sum(text.as_bytes(), numbers);
    let head = [text.len() as u64, numbers.len() as u64, sum];
    let head = head.iter().flat_map(|number| number.to_le_bytes());
    head.chain(text.bytes())
        .chain(numbers.iter().copied())
        .collect()
}

/// The JSON and the numbers of the frame that begins at byte `at`, and where it ends.
fn frame_of(bytes: &[u8], at: usize) -> (String, &[u8], usize) {
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize;
    let numbers_at = at + HEAD + number(at);
    let end = numbers_at + number(at + 8);
    let text = String::from_utf8(bytes[at + HEAD..numbers_at].to_vec()).unwrap();
    (text, &bytes[numbers_at..end], end)
}

/// Where the first frame begins.
fn first_frame(bytes: &[u8]) -> usize {
    let text = bytes
        .windows(16)
        .position(|window| window.starts_with(b"{\"elapsed_secs\":"));
    text.unwrap() - HEAD
}

#[test]
fn what_the_version_before_wrote_is_read_and_gone_on_with() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    in_frames(folder.path(), &run, &[40, 80]);
    let (path, marks) = (folder.path().join(DRAWS), folder.path().join(MARKS));
    let bytes = std::fs::read(&path).unwrap();
    let without = |text: &[u8], keys: &[&str]| {
        let mut value: serde_json::Value = serde_json::from_slice(text).unwrap();
        for key in keys {
            assert!(value.as_object_mut().unwrap().remove(*key).is_some());
        }
        value
    };
    let mut at = first_frame(&bytes);
    let header = bytes[..at].split(|&byte| byte == b'\n').nth(1).unwrap();
    let header = without(header, &["job", "base", "wanted"]);
    let mut old = format!("{MAGIC_UNSEALED}{header}\n").into_bytes();
    while at < bytes.len() {
        let (text, numbers, end) = frame_of(&bytes, at);
        let mut frame = without(text.as_bytes(), &["wanted"]);
        for chain in frame["chains"].as_array_mut().unwrap() {
            assert!(chain.as_object_mut().unwrap().remove("first").is_some());
        }
        // The order of its entries, of which the first is known.
        let elapsed = frame
            .as_object_mut()
            .unwrap()
            .remove("elapsed_secs")
            .unwrap();
        let rest = frame.to_string();
        old.extend(framed(
            &format!("{{\"elapsed_secs\":{elapsed},{}", &rest[1..]),
            numbers,
        ));
        at = end;
    }
    std::fs::write(&path, &old).unwrap();
    let sealed = std::fs::read(&marks).unwrap();
    let body = sealed.iter().position(|&byte| byte == b'\n').unwrap() + 1;
    std::fs::write(
        &marks,
        [&b"ergodic checkpoint 1\n"[..], &sealed[body..]].concat(),
    )
    .unwrap();
    let decode = || checkpoint::decode(&std::fs::read(&marks).unwrap());
    assert!(decode().is_some());
    // Numbers may be NaN.
    let shown = |marks| format!("{marks:?}");
    assert_eq!(shown(decode()), shown(checkpoint::decode(&sealed)));
    let back = read(folder.path()).unwrap();
    assert_eq!(
        (back.whole, back.plan, back.job),
        (vec![80, 80], None, None)
    );
    let first: Vec<DrawList> = drawn(&run).iter().map(|list| list.first(80)).collect();
    assert_eq!(bits(&back.results.draws), bits(&first));
    in_frames(folder.path(), &run, &[120]);
    assert!(std::fs::read(&path).unwrap().starts_with(&old));
    let back = read(folder.path()).unwrap();
    assert_eq!(
        (back.whole, back.plan),
        (vec![120, 120], Some(vec![120, 120]))
    );
    assert_eq!(bits(&back.results.draws), bits(&drawn(&run)));
}

#[test]
fn a_frame_that_counts_beyond_all_numbers_is_none() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    in_frames(folder.path(), &run, &[40]);
    let path = folder.path().join(DRAWS);
    let bytes = std::fs::read(&path).unwrap();
    let at = first_frame(&bytes);
    let (text, numbers, _end) = frame_of(&bytes, at);
    for (mine, theirs) in [
        ("\"first\":0", format!("\"first\":{}", u64::MAX)),
        ("\"draws\":40", format!("\"draws\":{}", u64::MAX / 2 + 1)),
    ] {
        assert!(text.contains(mine), "{text}");
        let forged = framed(&text.replace(mine, &theirs), numbers);
        std::fs::write(&path, [&bytes[..at], &forged].concat()).unwrap();
        let back = read(folder.path()).unwrap();
        assert_eq!(back.reach, [0, 0], "{theirs}");
        assert!(!back.results.remarks.is_empty());
    }
}

fn results_of_nothing() -> Results {
    let lists = vec![DrawList::new(2); 2];
    Results::new(Vec::new(), lists.clone(), (Vec::new(), lists), 0.0)
}

#[test]
fn partitions_reach_the_journal_and_come_back() {
    let mut recipe = Recipe::new("sample:churn", "dp-mixture", "~ age + plan");
    recipe.run.chains = 2;
    recipe.run.warmup = Some(2);
    // More than a chain keeps, so that they are thinned.
    recipe.run.draws = 110;
    recipe.sampler.id = "dp-slice".to_owned();
    let job = Job::prepare(&recipe, Path::new("."), None, &Control::default()).unwrap();
    let mut run = Run::start(Arc::new(job), None, None).unwrap();
    let folder = tempfile::tempdir().unwrap();
    // While it goes on, so that there is more than one frame where time allows.
    let mut journal = Journal::start(Claim::take(folder.path()).unwrap(), &run);
    run.join();
    assert!(journal.finish());
    let (view, back) = (run.view(), results(folder.path()));
    for (list, chain) in back.labels.iter().zip(&view.chains) {
        assert_eq!(*list, chain.draws.labels);
        assert_eq!(list.len(), 55);
    }
    assert_eq!(back.units_kept.len(), 1000);
    let clusters = |found: &Found| found.get::<Clusters>().unwrap();
    let (mine, made) = (clusters(&back.found), clusters(&run.report().found));
    assert_eq!(
        (&mine.partition, &mine.pairs),
        (&made.partition, &made.pairs)
    );
    assert_eq!((&mine.units, &mine.together), (&made.units, &made.together));
    assert_eq!(mine.profiles[0].size, made.profiles[0].size);
    assert!(made.has_profiles() && !mine.has_profiles());
}

#[test]
#[cfg(unix)]
fn a_place_that_cannot_be_written_is_trouble_and_nothing_else() {
    let run = run();
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("run");
    std::fs::create_dir(&place).unwrap();
    let claim = Claim::take(&place).unwrap();
    std::fs::remove_dir_all(&place).unwrap();
    let mut journal = Journal::start(claim, &run);
    assert!(!journal.finish());
    assert!(journal.trouble().unwrap().contains("stay in memory"));
    // Once there is a place again, everything is written.
    std::fs::create_dir(&place).unwrap();
    assert!(journal.finish());
    assert_eq!(read(&place).unwrap().whole, [120, 120]);
}
