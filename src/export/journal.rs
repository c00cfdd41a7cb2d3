//! Draws on disk while a run goes on, so that a crash costs at most its last second.
//!
//! `journal.dat` has a line that names its layout, a line of JSON with the manifest as the run began, and then frames:
//! three little-endian 64-bit numbers (bytes of JSON, bytes of numbers, checksum of both), JSON about the chains, and their
//! new draws as little-endian numbers. A frame is good or it is not there: what a crash tore off does not count.
//! `journal.checkpoint` is a checkpoint of the same moment, never ahead of the journal. Both vanish once the results are
//! saved; while they are there they say more than the other files of the folder. `journal.lock` is locked while a program
//! writes, so that no other one takes the run for a run that was cut short.

use std::fs::{File, TryLockError};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::manifest::{ChainManifest, Manifest};
use super::{ExportError, Results};
use crate::base::draws::{DrawList, LabelList};
use crate::diagnostics::verdict::{VerdictInputs, judge};
use crate::engine::checkpoint;
use crate::engine::clusters::{self, Clusters};
use crate::engine::monitor::{Report, is_stuck};
use crate::engine::protocol::ChainView;
use crate::engine::{ChainState, Job, Published, Run, RunState, RunView, StopReason};
use crate::samplers::{self, DIVERGENT};

/// File name of the draws.
pub const DRAWS: &str = "journal.dat";
/// File name of where the chains stand.
pub const MARKS: &str = "journal.checkpoint";
/// File name of what is locked while a program writes the run.
const LOCK: &str = "journal.lock";
/// First line of the file: what it is and which version of the layout.
const MAGIC: &str = "ergodic journal 1";
/// Time between frames: what a crash may cost.
const INTERVAL: Duration = Duration::from_secs(1);
/// Writing may take this share of the time.
const DUTY: u32 = 10;
/// Numbers in a frame: what it takes in memory beside the draws.
const FRAME_NUMBERS: usize = 1 << 20;

/// What does not change while a run goes on.
#[derive(Serialize, Deserialize)]
struct Header {
    variables: Vec<String>,
    info_names: Vec<String>,
    /// Rows in one pass over the data.
    num_obs: usize,
    /// Names of the units whose clusters are kept.
    #[serde(default)]
    units_kept: Vec<String>,
    manifest: Manifest,
}

/// A frame besides its draws.
#[derive(Serialize, Deserialize)]
struct Frame {
    elapsed_secs: f64,
    frozen: bool,
    stop_reason: Option<StopReason>,
    chains: Vec<ChainFrame>,
}

#[derive(Serialize, Deserialize)]
struct ChainFrame {
    /// New draws in this frame.
    draws: usize,
    iterations: u64,
    warmup_end: Option<u64>,
    datum_grads: u64,
    draw_secs: f64,
    warmup_secs: f64,
    failure: Option<String>,
    /// Partitions of these draws that are kept, with the number of the draw.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    labels: Vec<(u64, Vec<u32>)>,
}

/// The right to write a run into a folder. The operating system takes it back from a program that crashed.
#[derive(Debug)]
struct Claim {
    _locked: File,
    path: PathBuf,
}

impl Claim {
    /// `None` where another program has it, or where files cannot be locked.
    fn take(folder: &Path) -> Option<Self> {
        let path = folder.join(LOCK);
        let file = File::create(&path).ok()?;
        file.try_lock().ok()?;
        Some(Self {
            _locked: file,
            path,
        })
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // A file that stays behind unlocked says nothing.
        drop(std::fs::remove_file(&self.path));
    }
}

/// Whether a program is writing a run into `folder` now.
pub fn is_claimed(folder: &Path) -> bool {
    File::open(folder.join(LOCK))
        .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// Keeps the journal of a run on a thread of its own. Dropping it writes what is still missing and gives the folder free, so
/// it should live until the results are saved.
#[derive(Debug)]
pub struct Journal {
    _claim: Option<Claim>,
    stop: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<()>>,
    trouble: Arc<Mutex<Option<String>>>,
}

impl Journal {
    /// Begins the journal of `run` in `folder`. Nothing here fails: what cannot be written is [`Self::trouble`].
    pub fn start(folder: &Path, run: &Run) -> Self {
        let claim = Claim::take(folder);
        let (stop, stopped) = mpsc::sync_channel(1);
        let trouble = Arc::new(Mutex::new(None));
        let (folder, job, views) = (
            folder.to_owned(),
            Arc::clone(run.job()),
            Arc::clone(run.views()),
        );
        let mine = Arc::clone(&trouble);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || keep(&folder, &job, &views, &stopped, &mine));
        if let Err(error) = &thread {
            let text = format!("The draws cannot be kept on disk while the run goes on ({error})");
            *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
        }
        Self {
            _claim: claim,
            stop: Some(stop),
            thread: thread.ok(),
            trouble,
        }
    }

    /// Why the newest draws are in memory only, if they are: one sentence.
    pub fn trouble(&self) -> Option<String> {
        self.trouble
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Writes what is missing and ends. True if every draw is on disk.
    pub fn finish(&mut self) -> bool {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            // A panic there costs the journal, never the draws in memory.
            drop(thread.join());
        }
        self.trouble().is_none()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        self.finish();
    }
}

fn keep(
    folder: &Path,
    job: &Job,
    views: &Published<RunView>,
    stopped: &mpsc::Receiver<()>,
    trouble: &Mutex<Option<String>>,
) {
    let mut writer = None;
    let mut wait = Duration::ZERO;
    loop {
        let last = stopped.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
        let begun = Instant::now();
        let view = views.load();
        let written = write(folder, job, &view, &mut writer);
        *trouble.lock().unwrap_or_else(PoisonError::into_inner) = written.err().map(|error| {
            ExportError::at(
                "Draws stay in memory until the run ends, because they cannot be written yet",
                &error,
                folder,
            )
            .to_string()
        });
        if last || view.is_finished() {
            return;
        }
        wait = INTERVAL.max(begun.elapsed() * DUTY);
    }
}

/// Appends what is new; after a failure everything since the last good frame is tried again the next time.
fn write(folder: &Path, job: &Job, view: &RunView, writer: &mut Option<Writer>) -> io::Result<()> {
    let writer = match writer {
        Some(writer) => writer,
        None => writer.insert(Writer::create(folder, job, view)?),
    };
    writer.append(view)
}

struct Writer {
    file: File,
    /// Bytes of the file up to the end of the last good frame.
    good: u64,
    marks: PathBuf,
    fingerprint: String,
    /// Draws of each chain that are in the file.
    written: Vec<usize>,
    numbers: Vec<u8>,
}

impl Writer {
    fn create(folder: &Path, job: &Job, view: &RunView) -> io::Result<Self> {
        let header = Header {
            variables: job.variables(),
            info_names: job
                .sampler
                .spec
                .info
                .iter()
                .map(|column| column.name.to_owned())
                .collect(),
            num_obs: job.model.num_obs(),
            units_kept: clusters::names_kept(job.model.as_ref()),
            manifest: Manifest::of(job, view, &Report::empty(job.model.params().len())),
        };
        // By a temporary name: a journal without a whole header says nothing.
        let temporary = folder.join(format!("{DRAWS}.part"));
        let mut file = File::create(&temporary)?;
        let text = format!("{MAGIC}\n{}\n", serde_json::to_string(&header)?);
        let written = file
            .write_all(text.as_bytes())
            .and_then(|()| std::fs::rename(&temporary, folder.join(DRAWS)));
        if let Err(error) = written {
            // Best effort: the first failure is the one to tell.
            drop(std::fs::remove_file(&temporary));
            return Err(error);
        }
        Ok(Self {
            file,
            good: text.len() as u64,
            marks: folder.join(MARKS),
            fingerprint: job.fingerprint(),
            written: vec![0; view.chains.len()],
            numbers: Vec::new(),
        })
    }

    fn append(&mut self, view: &RunView) -> io::Result<()> {
        loop {
            if let Err(error) = self.frame(view) {
                // Half a frame would hide those after it.
                self.file.set_len(self.good)?;
                self.file.seek(io::SeekFrom::Start(self.good))?;
                return Err(error);
            }
            let behind =
                |(chain, written): (&ChainView, &usize)| chain.draws.draws.len() > *written;
            if !view.chains.iter().zip(&self.written).any(behind) {
                break;
            }
        }
        self.file.sync_data()?;
        let marks: Vec<_> = view
            .chains
            .iter()
            .map(|chain| chain.mark.as_deref().cloned())
            .collect();
        checkpoint::write(&self.marks, &self.fingerprint, &marks)
    }

    /// One frame with as many of the new draws as it may hold.
    fn frame(&mut self, view: &RunView) -> io::Result<()> {
        self.numbers.clear();
        let mut chains = Vec::with_capacity(view.chains.len());
        for (chain, &written) in view.chains.iter().zip(&self.written) {
            let (draws, info) = (&chain.draws.draws, &chain.draws.info);
            let width = (draws.width() + info.width()).max(1);
            let most = (FRAME_NUMBERS / view.chains.len() / width).max(1);
            let count = (draws.len() - written).min(most);
            for i in written..written + count {
                for list in [draws, info] {
                    for j in 0..list.width() {
                        self.numbers
                            .extend_from_slice(&list.value(i, j).to_le_bytes());
                    }
                }
            }
            let new = written as u64..(written + count) as u64;
            let labels = chain.draws.labels.iter();
            chains.push(ChainFrame {
                labels: labels
                    .filter(|(number, _)| new.contains(number))
                    .map(|(number, labels)| (number, labels.to_vec()))
                    .collect(),
                draws: count,
                iterations: chain.iterations,
                warmup_end: chain.warmup_end,
                datum_grads: chain.datum_grads,
                draw_secs: chain.draw_secs,
                warmup_secs: chain.warmup_secs,
                failure: match &chain.state {
                    ChainState::Failed(why) => Some(why.clone()),
                    _ => None,
                },
            });
        }
        let frame = Frame {
            elapsed_secs: view.elapsed_secs,
            frozen: view.frozen,
            stop_reason: match view.state {
                RunState::Finished(reason) => Some(reason),
                _ => None,
            },
            chains,
        };
        let text = serde_json::to_vec(&frame)?;
        let sum = checksum([&text, &self.numbers]);
        let mut bytes = Vec::with_capacity(24 + text.len() + self.numbers.len());
        for number in [text.len() as u64, self.numbers.len() as u64, sum] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&text);
        bytes.extend_from_slice(&self.numbers);
        self.file.write_all(&bytes)?;
        self.good += bytes.len() as u64;
        for (written, chain) in self.written.iter_mut().zip(&frame.chains) {
            *written += chain.draws;
        }
        Ok(())
    }
}

/// FNV-1a over eight bytes at a time: it has to tell a torn frame from a whole one, not to resist anybody.
fn checksum(parts: [&[u8]; 2]) -> u64 {
    let mut sum = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for word in part.chunks(8) {
            let mut bytes = [0; 8];
            bytes[..word.len()].copy_from_slice(word);
            sum = (sum ^ u64::from_le_bytes(bytes)).wrapping_mul(0x0000_0100_0000_01b3);
            sum ^= sum >> 32;
        }
    }
    sum
}

/// Removes the journal of `folder`: its results are saved.
///
/// # Errors
/// A file is there and cannot be removed.
pub fn remove(folder: &Path) -> Result<(), ExportError> {
    for name in [MARKS, DRAWS] {
        let path = folder.join(name);
        if let Err(error) = std::fs::remove_file(&path)
            && !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            )
        {
            return Err(ExportError::at(
                "The journal could not be removed",
                &error,
                &path,
            ));
        }
    }
    Ok(())
}

/// The results of an unfinished run as far as they reached the journal of `folder`.
///
/// # Errors
/// The journal cannot be read, or is of another version.
pub fn read(folder: &Path) -> Result<Results, ExportError> {
    let path = folder.join(DRAWS);
    let mut bytes = Vec::new();
    File::open(&path)
        .and_then(|mut file| file.read_to_end(&mut bytes))
        .map_err(|error| {
            ExportError::at(
                "The draws of the unfinished run cannot be read",
                &error,
                &path,
            )
        })?;
    parse(&bytes).ok_or_else(|| {
        ExportError(format!(
            "The journal of the unfinished run is damaged or of another version; remove it to open what was saved \
             before: {}",
            path.display()
        ))
    })
}

fn parse(bytes: &[u8]) -> Option<Results> {
    let mut lines = bytes.splitn(3, |&byte| byte == b'\n');
    if lines.next()? != MAGIC.as_bytes() {
        return None;
    }
    let header: Header = serde_json::from_slice(lines.next()?).ok()?;
    let mut rest = lines.next()?;
    let (width, num_info) = (header.variables.len(), header.info_names.len());
    let count = header.manifest.chains.len();
    let mut draws = vec![DrawList::new(width); count];
    let mut info = vec![DrawList::new(num_info); count];
    let mut labels = match header.units_kept[..] {
        [] => Vec::new(),
        _ => vec![clusters::label_list(count); count],
    };
    let mut last = None;
    while let Some((mut frame, numbers, after)) = next_frame(rest) {
        rest = after;
        let mut values = numbers
            .as_chunks::<8>()
            .0
            .iter()
            .map(|bytes| f64::from_le_bytes(*bytes));
        let total: usize = frame.chains.iter().map(|chain| chain.draws).sum();
        if frame.chains.len() != count || values.len() != total * (width + num_info) {
            return None;
        }
        let mut row = Vec::with_capacity(width + num_info);
        for (chain, (draws, info)) in frame.chains.iter().zip(draws.iter_mut().zip(&mut info)) {
            for _ in 0..chain.draws {
                row.clear();
                row.extend(values.by_ref().take(width + num_info));
                draws.push(&row[..width]);
                info.push(&row[width..]);
            }
        }
        for (list, chain) in labels.iter_mut().zip(&mut frame.chains) {
            for (number, labels) in chain.labels.drain(..) {
                list.push(number, labels.into());
            }
        }
        last = Some(frame);
    }
    Some(recovered(header, draws, info, labels, last.as_ref()))
}

/// The first whole frame of `bytes`, its numbers, and what follows.
fn next_frame(bytes: &[u8]) -> Option<(Frame, &[u8], &[u8])> {
    let (sizes, rest) = bytes.split_at_checked(24)?;
    let number =
        |at: usize| -> Option<u64> { Some(u64::from_le_bytes(sizes[at..at + 8].try_into().ok()?)) };
    let (text, rest) = rest.split_at_checked(usize::try_from(number(0)?).ok()?)?;
    let (numbers, rest) = rest.split_at_checked(usize::try_from(number(8)?).ok()?)?;
    if checksum([text, numbers]) != number(16)? {
        return None;
    }
    Some((serde_json::from_slice(text).ok()?, numbers, rest))
}

fn recovered(
    header: Header,
    draws: Vec<DrawList>,
    info: Vec<DrawList>,
    labels: Vec<LabelList>,
    last: Option<&Frame>,
) -> Results {
    let mut manifest = header.manifest;
    let about = last.map_or(&[][..], |frame| &frame.chains);
    for (index, chain) in manifest.chains.iter_mut().enumerate() {
        let about = about.get(index);
        *chain = ChainManifest {
            draws: draws[index].len(),
            warmup: about
                .and_then(|chain| chain.warmup_end)
                .map_or(chain.warmup, |end| end as usize),
            warmup_secs: about.map_or(0.0, |chain| chain.warmup_secs),
            draw_secs: about.map_or(0.0, |chain| chain.draw_secs),
            failure: about.and_then(|chain| chain.failure.clone()),
        };
    }
    manifest.elapsed_secs = last.map_or(0.0, |frame| frame.elapsed_secs);
    manifest.datum_grads = about.iter().map(|chain| chain.datum_grads).sum();
    manifest.passes = manifest.datum_grads as f64 / header.num_obs.max(1) as f64;
    manifest.stop_reason = last
        .and_then(|frame| frame.stop_reason)
        .or(Some(StopReason::CutShort));
    let divergent = header.info_names.iter().position(|name| name == DIVERGENT);
    let seconds = about
        .iter()
        .map(|chain| chain.draw_secs)
        .fold(0.0, f64::max);
    let warmup_of_chains = last.filter(|frame| frame.frozen).map(|frame| {
        let ends = frame.chains.iter();
        ends.map(|chain| chain.warmup_end.unwrap_or(chain.iterations))
            .collect()
    });
    let mut results = Results {
        warmup_of_chains,
        ..Results::new(header.variables, draws, (header.info_names, info), seconds)
    };
    results.leave_out_failed(&manifest, seconds);
    let working = |index: &usize| manifest.chains[*index].failure.is_none();
    let (usable, failed): (Vec<usize>, Vec<usize>) = (0..manifest.chains.len()).partition(working);
    manifest.divergences = divergent.map_or(0, |column| {
        let flags = usable
            .iter()
            .flat_map(|&chain| results.info[chain].column(column));
        flags.filter(|&flag| flag == 1.0).count() as u64
    });
    let stuck: Vec<usize> = usable
        .iter()
        .copied()
        .filter(|&chain| is_stuck(&results.draws[chain]))
        .collect();
    let partitions: Vec<&[u32]> = (usable.iter().filter_map(|&chain| labels.get(chain)))
        .flat_map(|list| list.iter().map(|(_, labels)| labels.as_ref()))
        .collect();
    results.clusters = Clusters::of_labels(&header.units_kept, &partitions).map(Arc::new);
    results.labels = labels;
    results.units_kept = header.units_kept;
    let one_based = |chains: &[usize]| chains.iter().map(|chain| chain + 1).collect::<Vec<_>>();
    let title = samplers::find(&manifest.sampler)
        .map_or(manifest.sampler.as_str(), |entry| entry.spec.title);
    (manifest.verdict, manifest.verdict_sentence) = judge(&VerdictInputs {
        rows: &results.summary,
        draws_per_chain: usable
            .iter()
            .map(|&chain| results.draws[chain].len())
            .min()
            .unwrap_or(0),
        running: false,
        chains: manifest.chains.len(),
        failed: &one_based(&failed),
        stuck: &one_based(&stuck),
        divergences: manifest.divergences,
        biased: manifest.approximation.as_ref().map(|_| title),
        bias: None,
        secs_to_target: None,
        target: None,
    });
    results.manifest = Some(manifest);
    results
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::recipe::Recipe;
    use crate::engine::{PrepareControl, bias_check};

    fn run() -> Run {
        let mut recipe = Recipe::new("sample:churn", "logistic", "churned ~ age");
        recipe.run.chains = 2;
        recipe.run.warmup = Some(50);
        recipe.run.draws = 120;
        let job = Job::prepare(&recipe, Path::new("."), None, &PrepareControl::default()).unwrap();
        let control = bias_check::control_job(&job).unwrap();
        let mut job = job;
        job.recipe.sampler = control.recipe.sampler.clone();
        job.sampler = control.sampler;
        let mut run = Run::start(Arc::new(job), None, Arc::new(|| {})).unwrap();
        run.join();
        run
    }

    #[test]
    fn a_journal_gives_back_every_whole_frame_and_nothing_else() {
        let run = run();
        let folder = tempfile::tempdir().unwrap();
        assert!(Journal::start(folder.path(), &run).finish());
        let view = run.view();
        let back = read(folder.path()).unwrap();
        for (chain, (draws, info)) in back.draws.iter().zip(&back.info).enumerate() {
            let kept = &view.chains[chain].draws;
            assert_eq!(draws.len(), 120);
            for j in 0..draws.width() {
                assert_eq!(draws.column(j), kept.draws.column(j));
            }
            // Bits, because information may be NaN.
            let bits = |list: &DrawList| {
                list.column(0)
                    .iter()
                    .map(|v| v.to_bits())
                    .collect::<Vec<_>>()
            };
            assert_eq!(bits(info), bits(&kept.info));
        }
        assert_eq!(back.summary, run.report().summary);
        let manifest = back.manifest.unwrap();
        assert_eq!(manifest.verdict, run.report().verdict);
        assert_eq!(manifest.chains[1].warmup, 50);

        // Torn anywhere, it is read up to the frame before.
        let path = folder.path().join(DRAWS);
        let bytes = std::fs::read(&path).unwrap();
        for cut in [1, 9, 4000] {
            std::fs::write(&path, &bytes[..bytes.len() - cut]).unwrap();
            let back = read(folder.path()).unwrap();
            assert!(back.draws.iter().all(DrawList::is_empty));
            assert_eq!(
                back.manifest.unwrap().stop_reason,
                Some(StopReason::CutShort)
            );
        }
        let mut flipped = bytes.clone();
        let middle = bytes.len() - 100;
        flipped[middle] ^= 1;
        std::fs::write(&path, &flipped).unwrap();
        assert!(read(folder.path()).unwrap().draws[0].is_empty());
        std::fs::write(&path, "something else").unwrap();
        assert!(read(folder.path()).unwrap_err().0.contains("damaged"));
        remove(folder.path()).unwrap();
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn partitions_reach_the_journal_and_come_back() {
        let mut recipe = Recipe::new("sample:churn", "dp-mixture", "~ age + plan");
        recipe.run.chains = 2;
        recipe.run.warmup = Some(2);
        // More than a chain keeps, so that they are thinned.
        recipe.run.draws = 110;
        recipe.sampler.id = "dp-slice".to_owned();
        let job = Job::prepare(&recipe, Path::new("."), None, &PrepareControl::default()).unwrap();
        let mut run = Run::start(Arc::new(job), None, Arc::new(|| {})).unwrap();
        let folder = tempfile::tempdir().unwrap();
        // While it goes on, so that there is more than one frame where time allows.
        let mut journal = Journal::start(folder.path(), &run);
        run.join();
        assert!(journal.finish());
        let (view, back) = (run.view(), read(folder.path()).unwrap());
        for (list, chain) in back.labels.iter().zip(&view.chains) {
            assert_eq!(*list, chain.draws.labels);
            assert_eq!(list.len(), 55);
        }
        assert_eq!(back.units_kept.len(), 1000);
        let (mine, made) = (
            back.clusters.unwrap(),
            run.report().clusters.clone().unwrap(),
        );
        assert_eq!(
            (&mine.partition, &mine.pairs),
            (&made.partition, &made.pairs)
        );
        assert_eq!((&mine.units, &mine.together), (&made.units, &made.together));
        assert_eq!(mine.profiles[0].size, made.profiles[0].size);
        assert!(made.has_profiles() && !mine.has_profiles());
    }

    #[test]
    fn a_place_that_cannot_be_written_is_trouble_and_nothing_else() {
        let run = run();
        let mut journal = Journal::start(Path::new("/dev/null/nowhere"), &run);
        assert!(!journal.finish());
        assert!(journal.trouble().unwrap().contains("stay in memory"));
    }
}
