//! Reading a journal: every good frame wherever it stands, put in its place, and what is missing between them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

use super::{DRAWS, Frame, HEAD, Header, MAGIC, MAGIC_UNSEALED, frame_sum};
use crate::manifest::{ChainManifest, Manifest};
use crate::saved::{Damage, SavedFiles, SavedRun};
use crate::{ExportError, Results, files};
use ergodic_base::checksum::unseal;
use ergodic_base::draws::{DrawList, LabelList, Labels};
use ergodic_core::engine::{StopReason, found, is_stuck, labels};
use ergodic_core::samplers::{self, DIVERGENT};
use ergodic_diagnostics::{Judgement, VerdictInputs, judge};

/// How the JSON of a frame begins: by this, frames behind damaged bytes are found.
const FRAME_START: &[u8] = b"{\"elapsed_secs\":";
/// Bytes that no frame has: a larger number of them is damage, not a frame that a crash tore off.
const MOST_BYTES: u64 = 1 << 40;

/// The good frames of a journal.
pub(super) struct Scan {
    pub header: Header,
    frames: Vec<Found>,
    /// Where further frames belong: behind the last byte that may still say something.
    pub end: u64,
    /// Bytes of no good frame, except the last frame if it was torn off.
    pub damaged: u64,
}

struct Found {
    frame: Frame,
    numbers: Range<usize>,
    /// Number of the first of its draws of each chain; `None` behind damage in a journal that does not say it.
    first: Vec<Option<u64>>,
}

impl Scan {
    /// The good frames of `bytes`; `None` if the beginning is damaged or of another version.
    pub fn of(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = match bytes.strip_prefix(MAGIC_UNSEALED.as_bytes()) {
            Some(rest) => {
                let end = rest.iter().position(|&byte| byte == b'\n')?;
                (&rest[..end], &rest[end + 1..])
            }
            None => unseal(MAGIC, bytes)?,
        };
        let header: Header = serde_json::from_slice(header).ok()?;
        let chains = header.manifest.chains.len();
        if header
            .base
            .as_ref()
            .is_some_and(|base| base.len() != chains)
        {
            return None;
        }
        let start = bytes.len() - rest.len();
        let mut scan = Self {
            frames: Vec::new(),
            end: start as u64,
            damaged: 0,
            header,
        };
        let mut next = scan.first_draws();
        let mut at = start;
        while at < bytes.len() {
            if let Some((frame, numbers)) = scan.frame_at(bytes, at) {
                at = numbers.end;
                scan.end = at as u64;
                let place = |(chain, next): (&super::ChainFrame, &mut Option<u64>)| {
                    let first = chain.first.or(*next);
                    *next = first.map(|first| first + chain.draws as u64);
                    first
                };
                let first = frame.chains.iter().zip(&mut next).map(place).collect();
                scan.frames.push(Found {
                    frame,
                    numbers,
                    first,
                });
                continue;
            }
            match find(bytes, at + 1).find(|&later| scan.frame_at(bytes, later).is_some()) {
                Some(later) => {
                    scan.damaged += (later - at) as u64;
                    next.fill(None);
                    at = later;
                }
                None => {
                    if !is_torn(&bytes[at..]) {
                        scan.damaged += (bytes.len() - at) as u64;
                        scan.end = bytes.len() as u64;
                    }
                    break;
                }
            }
        }
        Some(scan)
    }

    fn first_draws(&self) -> Vec<Option<u64>> {
        let chains = self.header.manifest.chains.len();
        self.header.base.as_ref().map_or_else(
            || vec![Some(0); chains],
            |base| base.iter().map(|&draws| Some(draws)).collect(),
        )
    }

    /// The good frame that begins at byte `at`, and where its numbers are.
    fn frame_at(&self, bytes: &[u8], at: usize) -> Option<(Frame, Range<usize>)> {
        let (text_len, numbers_len, sum) = head(bytes.get(at..)?)?;
        let text_at = at + HEAD;
        let numbers_at = text_at.checked_add(usize::try_from(text_len).ok()?)?;
        let end = numbers_at.checked_add(usize::try_from(numbers_len).ok()?)?;
        let (text, numbers) = (bytes.get(text_at..numbers_at)?, bytes.get(numbers_at..end)?);
        if frame_sum(text, numbers) != sum {
            return None;
        }
        let frame: Frame = serde_json::from_slice(text).ok()?;
        let draws = (frame.chains.iter()).try_fold(0_usize, |sum, it| sum.checked_add(it.draws))?;
        let numbered = |chain: &super::ChainFrame| {
            chain
                .first
                .is_none_or(|first| first.checked_add(chain.draws as u64).is_some())
        };
        let fits = frame.chains.len() == self.header.manifest.chains.len()
            && frame.chains.iter().all(numbered)
            && draws.checked_mul(8 * self.header.width()) == Some(numbers.len());
        fits.then_some((frame, numbers_at..end))
    }

    /// Draws of each chain from its first on without a gap.
    pub fn whole(&self) -> Vec<u64> {
        let mut whole: Vec<u64> = self.first_draws().into_iter().flatten().collect();
        let mut waiting: Vec<BTreeMap<u64, u64>> = vec![BTreeMap::new(); whole.len()];
        for found in &self.frames {
            for (index, chain) in found.frame.chains.iter().enumerate() {
                let Some(first) = found.first[index] else {
                    continue;
                };
                let ends = waiting[index].entry(first).or_default();
                *ends = (*ends).max(first + chain.draws as u64);
            }
        }
        for (whole, waiting) in whole.iter_mut().zip(&waiting) {
            for (&first, &end) in waiting {
                if first <= *whole {
                    *whole = end.max(*whole);
                }
            }
        }
        whole
    }

    /// Draws of each chain up to the last that is there, gaps included.
    pub fn reach(&self) -> Vec<u64> {
        let mut reach = self.whole();
        for found in &self.frames {
            for (index, chain) in found.frame.chains.iter().enumerate() {
                if let Some(first) = found.first[index].filter(|_| chain.draws > 0) {
                    reach[index] = reach[index].max(first + chain.draws as u64);
                }
            }
        }
        reach
    }
}

/// The three numbers that a frame begins with.
fn head(bytes: &[u8]) -> Option<(u64, u64, u64)> {
    let (numbers, _) = bytes.get(..HEAD)?.as_chunks::<8>();
    let number = |at: usize| u64::from_le_bytes(numbers[at]);
    Some((number(0), number(1), number(2)))
}

/// Whether the last bytes of a journal are the beginning of a frame that a crash tore off.
fn is_torn(bytes: &[u8]) -> bool {
    head(bytes).is_none_or(|(text, numbers, _)| {
        text < MOST_BYTES
            && numbers < MOST_BYTES
            && HEAD as u64 + text + numbers > bytes.len() as u64
    })
}

/// Places from byte `from` on where a frame may begin.
fn find(bytes: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let texts = bytes.get(from + HEAD..).unwrap_or_default();
    texts
        .windows(FRAME_START.len())
        .enumerate()
        .filter(|(_, window)| *window == FRAME_START)
        .map(move |(at, _)| from + at)
}

/// One chain while its frames are put in their places.
struct Rows {
    draws: DrawList,
    info: DrawList,
    /// Rows behind a gap, by the number of the first draw; those of unknown place have none.
    later: Vec<(Option<u64>, Vec<f64>)>,
}

impl Rows {
    /// Takes `rows`, whose first is draw `first`. The same draw comes twice where a run was begun again: then both are equal,
    /// or the run was begun again on another machine, where the new ones count.
    fn put(&mut self, first: u64, rows: &[f64]) {
        let width = self.draws.width();
        let both = (width + self.info.width()).max(1);
        for (i, row) in rows.chunks_exact(both).enumerate() {
            let at = first as usize + i;
            if at < self.draws.len() {
                let same = |(j, value): (usize, &f64)| {
                    let kept = self.draws.value(at, j);
                    kept == *value || (kept.is_nan() && value.is_nan())
                };
                if row[..width].iter().enumerate().all(same) {
                    continue;
                }
                self.draws = self.draws.first(at);
                self.info = self.info.first(at);
            }
            self.draws.push(&row[..width]);
            self.info.push(&row[width..]);
        }
    }

    /// Puts what waited for others where it belongs, as far as these have come.
    fn close_gaps(&mut self) {
        let mut later = std::mem::take(&mut self.later);
        later.sort_by_key(|(first, _)| first.unwrap_or(u64::MAX));
        for (first, rows) in later {
            match first {
                Some(at) if at <= self.draws.len() as u64 => self.put(at, &rows),
                _ => self.later.push((first, rows)),
            }
        }
    }
}

/// What a journal says about its run.
#[derive(Debug)]
pub struct Recovered {
    /// Results of the run, without a summary; draws behind a gap follow those before it.
    pub results: Results,
    /// Draws of each chain from its first on without a gap.
    pub whole: Vec<u64>,
    /// Draws of each chain up to the last that is there, gaps included.
    pub reach: Vec<u64>,
    /// Draws that each chain was to make, if the journal knows.
    pub plan: Option<Vec<u64>>,
    /// Fingerprint of the job, if the journal knows.
    pub job: Option<String>,
    /// Why the run cannot be continued although its draws are whole.
    pub gap: Option<Damage>,
}

/// Whether there is a journal at `path` that does not even say what it is of.
pub(crate) fn has_no_beginning(path: &Path) -> bool {
    files::read(path).is_ok_and(|bytes| Scan::of(&bytes).is_none())
}

/// Reads the journal of `folder`, and the saved results that it continues.
///
/// # Errors
/// The journal or those results cannot be read.
pub fn read(folder: &Path) -> Result<Recovered, ExportError> {
    let path = folder.join(DRAWS);
    let bytes = files::read(&path).map_err(|error| {
        ExportError::at(
            "The draws of the unfinished run cannot be read",
            error,
            &path,
        )
    })?;
    let scan = Scan::of(&bytes).ok_or_else(|| ExportError::Journal(path.clone()))?;
    let base = match &scan.header.base {
        None => None,
        Some(base) => {
            let saved = SavedFiles::of(folder)?.results()?;
            let fits = |saved: &SavedRun| {
                let chains = saved.manifest.chains.iter();
                let is_as_long = chains
                    .map(|chain| chain.draws as u64)
                    .eq(base.iter().copied());
                // Information that is damaged has no names.
                let of_same = saved.results.variables == scan.header.variables
                    && (saved.gap.is_some() || saved.results.info_names == scan.header.info_names);
                is_as_long && of_same
            };
            let gone = || ExportError::JournalBase(folder.to_owned());
            Some(saved.filter(fits).ok_or_else(gone)?)
        }
    };
    Ok(recover(scan, &bytes, base, &path))
}

fn recover(scan: Scan, bytes: &[u8], mut base: Option<SavedRun>, path: &Path) -> Recovered {
    let reach = scan.reach();
    let Scan {
        header,
        frames,
        damaged,
        ..
    } = scan;
    let plan = frames
        .iter()
        .rev()
        .find_map(|found| found.frame.wanted.clone())
        .or_else(|| header.wanted.clone());
    let job = header.job.clone();
    if let Some(base) = base.take_if(|base| frames.is_empty() || base.gap.is_some()) {
        // Without frames no more is known than was saved.
        let mut results = base.results;
        if !frames.is_empty() {
            results.remarks.push(format!(
                "The draws that were made since are left out: {}",
                path.display()
            ));
        }
        return Recovered {
            whole: results.lengths(),
            results,
            reach,
            plan,
            job,
            gap: base.gap,
        };
    }
    let base = base.map(|base| base.results);
    let count = header.manifest.chains.len();
    let (width, num_info) = (header.variables.len(), header.info_names.len());
    let mut labels: Vec<BTreeMap<u64, Labels>> = vec![BTreeMap::new(); count];
    let (mut remarks, mut moments) = (Vec::new(), Vec::new());
    let mut chains: Vec<Rows> = match base {
        Some(base) => {
            moments = base.moments;
            for (mine, list) in labels.iter_mut().zip(&base.labels) {
                mine.extend(list.iter().map(|(number, labels)| (number, labels.clone())));
            }
            remarks = base.remarks;
            let lists = base.draws.into_iter().zip(base.info);
            lists
                .map(|(draws, info)| Rows {
                    draws,
                    info,
                    later: Vec::new(),
                })
                .collect()
        }
        None => (0..count)
            .map(|_| Rows {
                draws: DrawList::new(width),
                info: DrawList::new(num_info),
                later: Vec::new(),
            })
            .collect(),
    };
    let mut last = None;
    for mut found in frames {
        let (numbers, _) = bytes[found.numbers.clone()].as_chunks::<8>();
        let mut values = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
        for (index, rows) in chains.iter_mut().enumerate() {
            let chain = &mut found.frame.chains[index];
            let mine: Vec<f64> = values.by_ref().take(chain.draws * header.width()).collect();
            match found.first[index] {
                Some(first) if first <= rows.draws.len() as u64 => rows.put(first, &mine),
                _ if mine.is_empty() => {}
                first => rows.later.push((first, mine)),
            }
            labels[index].extend(
                chain
                    .labels
                    .drain(..)
                    .map(|(number, labels)| (number, Labels::from(labels))),
            );
        }
        last = Some(found.frame);
    }
    let mut whole = Vec::with_capacity(count);
    let mut has_gap = false;
    for (index, rows) in chains.iter_mut().enumerate() {
        rows.close_gaps();
        let from = rows.draws.len();
        whole.push(from as u64);
        let later = std::mem::take(&mut rows.later);
        let Some((next, _)) = later.first() else {
            continue;
        };
        has_gap = true;
        let lost = match next {
            Some(next) => format!("Draws {} to {next}", from + 1),
            None => format!("Some draws after number {from}"),
        };
        remarks.push(format!(
            "{lost} of chain {} cannot be read, later ones can; `ergodic resume` makes the lost ones again: {}",
            index + 1,
            path.display()
        ));
        for (_, more) in later {
            rows.put(rows.draws.len() as u64, &more);
        }
    }
    if damaged > 0 && !has_gap {
        remarks.push(format!(
            "{damaged} bytes of the unfinished run's journal are damaged; every draw before and after them is there, \
             unless they were its last: {}",
            path.display()
        ));
    }
    let keeps_labels = !header.units_kept.is_empty();
    let lists = labels.into_iter().map(|kept| {
        let mut list = labels::label_list(count);
        kept.into_iter()
            .for_each(|(number, labels)| list.push(number, labels));
        list
    });
    let lists: Vec<LabelList> = lists.filter(|_| keeps_labels).collect();
    let (draws, info) = chains
        .into_iter()
        .map(|rows| (rows.draws, rows.info))
        .unzip();
    let mut results = recovered(header, draws, info, lists, last.as_ref());
    results.remarks = remarks;
    results.moments = moments;
    Recovered {
        results,
        whole,
        reach,
        plan,
        job,
        gap: None,
    }
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
    let warmup_of_chains = last.filter(|frame| frame.frozen).map(|frame| {
        let ends = frame.chains.iter();
        ends.map(|chain| chain.warmup_end.unwrap_or(chain.iterations))
            .collect()
    });
    Results {
        warmup_of_chains,
        labels,
        units_kept: header.units_kept,
        manifest: Some(manifest),
        ..Results::without_summary(header.variables, draws, (header.info_names, info))
    }
}

/// Adds what takes time: the summary, what outputs come to, and the verdict.
pub(crate) fn judge_recovered(results: &mut Results, seconds: f64) {
    results.summarise(seconds);
    let Some(mut manifest) = results.manifest.take() else {
        return;
    };
    let working = |index: &usize| manifest.chains[*index].failure.is_none();
    let (usable, failed): (Vec<usize>, Vec<usize>) = (0..manifest.chains.len()).partition(working);
    let divergent = results.info_names.iter().position(|name| name == DIVERGENT);
    manifest.divergences = divergent.map_or(0, |column| {
        let flags = usable
            .iter()
            .flat_map(|&chain| results.info[chain].column(column));
        flags.filter(|&flag| flag == 1.0).count() as u64
    });
    let stuck: Vec<usize> = usable
        .iter()
        .copied()
        // What is kept may stand still where the others move.
        .filter(|&chain| manifest.not_kept.is_empty() && is_stuck(&results.draws[chain]))
        .collect();
    let partitions: Vec<&[u32]> = (usable.iter().filter_map(|&chain| results.labels.get(chain)))
        .flat_map(|list| list.iter().map(|(_, labels)| labels.as_ref()))
        .collect();
    let sampler = samplers::find(&manifest.sampler);
    results
        .found
        .recover(sampler, &results.units_kept, &partitions);
    let said = judged(&manifest, results, [&usable, &failed, &stuck]);
    (manifest.verdict, manifest.verdict_sentence) = (said.verdict, said.sentence);
    // What an earlier verdict was made of is found again, or no longer so.
    let is_new = |code: &str| said.findings.iter().any(|it| it.code == code);
    manifest.warnings.retain(|old| !is_new(&old.code));
    manifest.warnings.extend(said.findings);
    results.manifest = Some(manifest);
}

fn judged(
    manifest: &Manifest,
    results: &Results,
    [usable, failed, stuck]: [&[usize]; 3],
) -> Judgement {
    let one_based = |chains: &[usize]| chains.iter().map(|chain| chain + 1).collect::<Vec<_>>();
    let title = samplers::find(&manifest.sampler)
        .map_or(manifest.sampler.as_str(), |entry| entry.spec.title);
    let draws_per_chain = (usable.iter())
        .map(|&chain| results.draws[chain].len())
        .min()
        .unwrap_or(0);
    let fractions = results.ebfmi().into_iter().enumerate();
    let fractions: Vec<(usize, f64)> = fractions
        .filter(|(chain, _)| usable.contains(chain))
        .filter_map(|(chain, fraction)| Some((chain + 1, fraction?)))
        .collect();
    let found = &results.found;
    let others: Vec<_> = found.findings(&results.summary, usable.len()).collect();
    judge(&VerdictInputs {
        failed: &one_based(failed),
        stuck: &one_based(stuck),
        divergences: manifest.divergences,
        ebfmi: &fractions,
        biased: manifest.approximation.as_ref().map(|_| title),
        decides: found::criterion(found.kinds()),
        unkept: results.estimates.len(),
        others: &others,
        ..VerdictInputs::of(&results.summary, draws_per_chain, manifest.chains.len())
    })
}
