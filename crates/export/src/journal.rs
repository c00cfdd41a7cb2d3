//! Draws on disk while a run goes on, so that a crash costs at most its last second.
//!
//! `journal.dat` has a sealed line, a header of JSON, and then frames: three little-endian 64-bit numbers (bytes of JSON,
//! bytes of numbers, checksum of both), JSON about the chains, and their new draws as little-endian numbers. A frame says which
//! draws it has, so that frames can be found and put in their places behind damaged bytes. What a crash tore off at the end
//! does not count. A journal of a run that was saved before has only what is new since; frames are only ever appended.
//! `journal.checkpoint` is a checkpoint of the same moment, never ahead of the journal. Both vanish once the results are
//! saved. `docs/run-folder.md` has the order of everything.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::claim::Claim;
use super::files::{self, OutFile};
use super::manifest::Manifest;
use super::saved::SavedFiles;
use super::{ExportError, Results};
use ergodic_analysis::{Job, Run};
use ergodic_base::ParamId;
use ergodic_base::checksum::{checksum, seal};
use ergodic_core::engine::{
    ChainState, ChainView, Published, Report, RunState, RunView, Sampling as _, StopReason,
    checkpoint, labels,
};

mod recovery;
#[cfg(test)]
mod tests;

pub(crate) use recovery::{has_no_beginning, judge_recovered, read};

/// File name of the draws.
pub const DRAWS: &str = "journal.dat";
/// File name of where the chains stand.
pub(crate) const MARKS: &str = "journal.checkpoint";
/// Begins the first line of the file: what it is and which version of the layout.
const MAGIC: &str = "ergodic journal 2";
/// The whole first line of the version before, whose header had no checksum.
const MAGIC_UNSEALED: &str = "ergodic journal 1\n";
/// Bytes of a frame before its JSON.
const HEAD: usize = 24;
/// Time between frames: what a crash may cost.
const INTERVAL: Duration = Duration::from_secs(1);
/// Writing may take this share of the time.
const DUTY: u32 = 10;
/// Numbers in a frame: what it takes in memory beside the draws.
const FRAME_NUMBERS: usize = 1 << 20;

/// What does not change while a run goes on.
#[derive(Serialize, Deserialize)]
struct Header {
    variables: Vec<ParamId>,
    info_names: Vec<String>,
    /// Rows in one pass over the data.
    num_obs: usize,
    /// Names of the units whose labels are kept.
    #[serde(default)]
    units_kept: Vec<String>,
    /// Fingerprint of the job.
    #[serde(default)]
    job: Option<String>,
    /// Draws of each chain that were saved before, if the journal continues saved results.
    #[serde(default)]
    base: Option<Vec<u64>>,
    /// Draws that each chain is to make.
    #[serde(default)]
    wanted: Option<Vec<u64>>,
    manifest: Manifest,
}

impl Header {
    /// Numbers of one draw.
    fn width(&self) -> usize {
        self.variables.len() + self.info_names.len()
    }
}

/// A frame besides its draws.
#[derive(Serialize, Deserialize)]
struct Frame {
    // Stays the first entry: by it frames are found behind damaged bytes.
    elapsed_secs: f64,
    frozen: bool,
    stop_reason: Option<StopReason>,
    /// Draws that each chain is to make.
    #[serde(default)]
    wanted: Option<Vec<u64>>,
    chains: Vec<ChainFrame>,
}

#[derive(Serialize, Deserialize)]
struct ChainFrame {
    /// New draws in this frame.
    draws: usize,
    /// Number of the first of them, from 0.
    #[serde(default)]
    first: Option<u64>,
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

fn frame_sum(text: &[u8], numbers: &[u8]) -> u64 {
    checksum(&[text, numbers])
}

/// What a journal and its owner both know.
#[derive(Debug, Default)]
struct Shared {
    /// Why the newest draws are in memory only.
    trouble: Option<String>,
    /// Draws of each chain, the farthest, that the folder held when the journal was begun.
    before: Vec<u64>,
    /// Draws of each chain that are on disk.
    written: Vec<u64>,
}

/// What is needed to write the journal of a run.
struct Writing {
    folder: PathBuf,
    job: Arc<Job>,
    views: Arc<Published<RunView>>,
    wanted: Vec<Arc<AtomicU64>>,
    /// Draws with which each chain began.
    begun_with: Vec<u64>,
    shared: Arc<Mutex<Shared>>,
}

/// Keeps the journal of a run on a thread of its own. Dropping it writes what is still missing and gives the folder free, so
/// it should live until the results are saved.
pub struct Journal {
    claim: Claim,
    stop: Option<mpsc::SyncSender<()>>,
    thread: Option<JoinHandle<Option<Writer>>>,
    writer: Option<Writer>,
    writing: Arc<Writing>,
}

impl Journal {
    /// Begins the journal of `run` in the folder of `claim`; first of all the number of draws that are wanted is written
    /// down. Nothing here fails: what cannot be written is [`Self::trouble`].
    pub fn start(claim: Claim, run: &Run) -> Self {
        let (stop, stopped) = mpsc::sync_channel(1);
        let writing = Arc::new(Writing {
            folder: claim.folder().to_owned(),
            job: Arc::clone(run.job()),
            views: Arc::clone(run.views()),
            wanted: run.wanted().to_vec(),
            begun_with: run.begun_with().to_vec(),
            shared: Arc::default(),
        });
        let mine = Arc::clone(&writing);
        let thread = std::thread::Builder::new()
            .name("journal".to_owned())
            .spawn(move || mine.keep(&stopped));
        if let Err(error) = &thread {
            let text = format!("The draws cannot be kept on disk while the run goes on ({error})");
            writing.shared().trouble = Some(text);
        }
        Self {
            claim,
            stop: Some(stop),
            thread: thread.ok(),
            writer: None,
            writing,
        }
    }

    /// The right to write into the folder.
    pub fn claim(&self) -> &Claim {
        &self.claim
    }

    /// Why the newest draws are in memory only, if they are: one sentence.
    pub fn trouble(&self) -> Option<String> {
        self.writing.shared().trouble.clone()
    }

    /// Draws on disk, over all chains.
    pub fn written(&self) -> u64 {
        self.writing.shared().written.iter().sum()
    }

    /// Whether the folder held draws, when the journal was begun, that the run has not made again yet: then its results must
    /// not take their place.
    pub(crate) fn holds_more_than(&self, results: &Results) -> bool {
        let mut before = self.writing.shared().before.clone();
        if before.is_empty()
            && let Ok(bytes) = files::read(&self.writing.folder.join(DRAWS))
            && let Some(scan) = recovery::Scan::of(&bytes)
        {
            // The journal of an earlier part could not be gone on with.
            before = scan.reach();
        }
        let mut chains = before.iter().zip(&results.draws);
        chains.any(|(&before, draws)| before > draws.len() as u64)
    }

    /// Writes what is missing and ends. True if every draw is on disk. May be called again, after room was made.
    pub fn finish(&mut self) -> bool {
        self.stop = None;
        if let Some(thread) = self.thread.take() {
            match thread.join() {
                Ok(writer) => self.writer = writer,
                // Costs the journal, never the draws in memory.
                Err(_panic) => {
                    self.writing.shared().trouble = Some(
                        "The journal ended by an internal error; please report this".to_owned(),
                    );
                    return false;
                }
            }
        } else if self.trouble().is_some() {
            self.writing.write(&mut self.writer);
        }
        self.trouble().is_none()
    }
}

impl Drop for Journal {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.finish();
        }
    }
}

impl Writing {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, stopped: &mpsc::Receiver<()>) -> Option<Writer> {
        let mut writer = None;
        let mut wait = Duration::ZERO;
        loop {
            let last = stopped.recv_timeout(wait) == Err(RecvTimeoutError::Disconnected);
            let begun = Instant::now();
            let finished = self.write(&mut writer);
            if last || finished {
                return writer;
            }
            wait = INTERVAL.max(begun.elapsed() * DUTY);
        }
    }

    /// Appends what is new; after a failure everything since the last good frame is tried again the next time. True if the run
    /// has ended.
    fn write(&self, writer: &mut Option<Writer>) -> bool {
        let view = self.views.load();
        let written = (|| {
            let writer = match writer {
                Some(writer) => writer,
                None => writer.insert(Writer::begin(self, &view)?),
            };
            writer.append(self, &view)
        })();
        let mut shared = self.shared();
        if let Some(writer) = writer {
            shared.written.clone_from(&writer.written);
        }
        shared.trouble = written.err().map(|error| {
            let what =
                "Draws stay in memory until the run ends, because they cannot be written yet";
            ExportError::at(what, error, &self.folder).to_string()
        });
        view.is_finished()
    }

    fn wanted(&self) -> Vec<u64> {
        let wanted = self.wanted.iter();
        wanted.map(|it| it.load(Ordering::Relaxed)).collect()
    }
}

#[derive(Debug)]
struct Writer {
    file: OutFile,
    /// Bytes of the file up to the end of the last good frame.
    good: u64,
    /// Whether bytes of half a frame, or of frames that the disk may have lost, may follow.
    is_torn: bool,
    /// Draws of each chain that are in the folder.
    written: Vec<u64>,
    /// Bytes and draws that the disk is known to have.
    synced: (u64, Vec<u64>),
    /// What the last frame was about.
    shown: Option<(u64, Vec<u64>)>,
    numbers: Vec<u8>,
}

impl Writer {
    /// Goes on with the journal of the folder, or begins one.
    fn begin(writing: &Writing, view: &RunView) -> io::Result<Self> {
        let folder = &writing.folder;
        let marks = folder.join(MARKS);
        if let Ok(bytes) = std::fs::read(&marks)
            && checkpoint::decode(&bytes).is_none()
        {
            files::set_aside(&marks)?;
        }
        let path = folder.join(DRAWS);
        if path.symlink_metadata().is_ok_and(|about| about.is_file()) {
            let scan = recovery::Scan::of(&files::read(&path)?);
            if scan.as_ref().is_none_or(|scan| scan.damaged > 0) {
                files::set_aside(&path)?;
            }
            if let Some(scan) = scan {
                writing.shared().before = scan.reach();
                return Ok(Self::new(
                    OutFile::reopen(&path, scan.end)?,
                    scan.end,
                    &scan.whole(),
                    writing,
                ));
            }
        }
        let base = SavedFiles::of(folder)
            .and_then(|saved| saved.manifest())
            .map_err(io::Error::other)?
            .map(|(manifest, _)| -> Vec<u64> {
                let chains = manifest.chains.iter();
                chains.map(|chain| chain.draws as u64).collect()
            });
        let nothing = vec![0; view.chains.len()];
        let job = &writing.job;
        let header = Header {
            variables: job.variables(),
            info_names: job.info_names(),
            num_obs: job.model.num_obs(),
            units_kept: labels::names_kept(job.model.as_ref()),
            job: Some(job.fingerprint()),
            base: base.clone(),
            wanted: Some(writing.wanted()),
            manifest: Manifest::of(job, view, &Report::empty(job.keep().kept().len())),
        };
        // By a temporary name: a journal without a whole header says nothing.
        let bytes = seal(MAGIC, &serde_json::to_vec(&header)?);
        files::replace(&path, |out| out.write_all(&bytes))?;
        let on_disk = base.unwrap_or(nothing);
        writing.shared().before.clone_from(&on_disk);
        let end = bytes.len() as u64;
        Ok(Self::new(
            OutFile::reopen(&path, end)?,
            end,
            &on_disk,
            writing,
        ))
    }

    fn new(file: OutFile, good: u64, on_disk: &[u64], writing: &Writing) -> Self {
        // What is on disk already is not written again, except what a run that was begun again makes again.
        let written = on_disk.iter().zip(&writing.begun_with);
        let written: Vec<u64> = written.map(|(&disk, &begun)| disk.min(begun)).collect();
        Self {
            file,
            good,
            is_torn: false,
            synced: (good, written.clone()),
            written,
            shown: None,
            numbers: Vec::new(),
        }
    }

    fn append(&mut self, writing: &Writing, view: &RunView) -> io::Result<()> {
        let shown = Some((view.version, writing.wanted()));
        if self.shown == shown && !self.is_torn {
            return Ok(());
        }
        loop {
            self.frame(writing, view)?;
            let behind =
                |(chain, written): (&ChainView, &u64)| chain.draws.draws.len() as u64 > *written;
            if !view.chains.iter().zip(&self.written).any(behind) {
                break;
            }
        }
        if let Err(error) = self.file.sync() {
            // What was written since the last time may be gone although it can be read: it is written again.
            (self.good, self.written) = self.synced.clone();
            self.is_torn = true;
            return Err(error);
        }
        self.synced = (self.good, self.written.clone());
        let marks: Vec<_> = view
            .chains
            .iter()
            .map(|chain| chain.mark.as_deref().cloned())
            .collect();
        let bytes = checkpoint::encode(&writing.job.fingerprint(), &marks)?;
        files::replace(&writing.folder.join(MARKS), |out| out.write_all(&bytes))?;
        self.shown = shown;
        Ok(())
    }

    /// One frame with as many of the new draws as it may hold.
    fn frame(&mut self, writing: &Writing, view: &RunView) -> io::Result<()> {
        self.numbers.clear();
        let mut chains = Vec::with_capacity(view.chains.len());
        for (chain, &written) in view.chains.iter().zip(&self.written) {
            let (draws, info) = (&chain.draws.draws, &chain.draws.info);
            let width = (draws.width() + info.width()).max(1);
            let most = (FRAME_NUMBERS / view.chains.len() / width).max(1);
            let from = (written as usize).min(draws.len());
            let count = (draws.len() - from).min(most);
            for i in from..from + count {
                for list in [draws, info] {
                    for j in 0..list.width() {
                        self.numbers
                            .extend_from_slice(&list.value(i, j).to_le_bytes());
                    }
                }
            }
            let new = from as u64..(from + count) as u64;
            let labels = chain.draws.labels.iter();
            chains.push(ChainFrame {
                labels: labels
                    .filter(|(number, _)| new.contains(number))
                    .map(|(number, labels)| (number, labels.to_vec()))
                    .collect(),
                draws: count,
                first: Some(new.start),
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
            wanted: Some(writing.wanted()),
            chains,
        };
        let text = serde_json::to_vec(&frame)?;
        let sum = frame_sum(&text, &self.numbers);
        let mut bytes = Vec::with_capacity(HEAD + text.len() + self.numbers.len());
        for number in [text.len() as u64, self.numbers.len() as u64, sum] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(&text);
        bytes.extend_from_slice(&self.numbers);
        if self.is_torn {
            self.file.cut(self.good)?;
        }
        self.is_torn = true;
        self.file.write_all(&bytes)?;
        self.is_torn = false;
        self.good += bytes.len() as u64;
        for (written, chain) in self.written.iter_mut().zip(&frame.chains) {
            *written += chain.draws as u64;
        }
        Ok(())
    }
}
