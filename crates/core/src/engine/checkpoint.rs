//! Where chains stand, as bytes for a file: a sealed line, a header of JSON and one body of little-endian numbers.
//!
//! Numbers are not JSON, because NaN and infinities do not survive there; the body is exact.

use std::io;

use serde::{Deserialize, Serialize};

use crate::oracle::Oracle;
use crate::samplers::{Kernel, StateVisitor};
use ergodic_base::checksum::{seal, unseal};
use ergodic_base::{RngMark, RunningMoments, Streams};

/// Begins the first line of the file: what it is and which version of the layout.
const MAGIC: &str = "ergodic checkpoint 2";
/// The whole first line of the version before, which had no checksum.
const MAGIC_UNSEALED: &str = "ergodic checkpoint 1\n";

/// Where one chain stands: enough to continue it bit for bit.
#[derive(Clone, Debug, PartialEq)]
pub struct ChainMark {
    /// Iterations done, warm-up included.
    pub iterations: u64,
    /// Draws kept.
    pub draws: u64,
    /// Iteration at which the warm-up ended; `None` if it has not.
    pub warmup_end: Option<u64>,
    /// Gradients of single rows so far.
    pub datum_grads: u64,
    /// Moments of the quantities whose draws are not kept, over the draws so far.
    pub unkept: RunningMoments,
    batch: RngMark,
    noise: RngMark,
    minibatch: [u64; 2],
    names: Vec<(String, usize)>,
    numbers: Vec<f64>,
}

impl ChainMark {
    /// Writes down where a chain stands.
    pub fn take(
        kernel: &mut dyn Kernel,
        oracle: &mut Oracle,
        streams: &Streams,
        iterations: u64,
        draws: u64,
        warmup_end: Option<u64>,
        unkept: &RunningMoments,
    ) -> Self {
        let mut writer = Writer::default();
        kernel.visit(&mut writer);
        Self {
            iterations,
            draws,
            warmup_end,
            datum_grads: oracle.datum_grads,
            unkept: unkept.clone(),
            batch: RngMark::of(&streams.batch),
            noise: RngMark::of(&streams.noise),
            minibatch: oracle
                .minibatch_mut()
                .position_mut()
                .map(|position| *position),
            names: writer.names,
            numbers: writer.numbers,
        }
    }

    /// Of a chain that was stopped before it could begin: `streams` as they were made, and no state.
    pub(crate) fn before_start(streams: &Streams) -> Self {
        Self {
            iterations: 0,
            draws: 0,
            warmup_end: None,
            datum_grads: 0,
            unkept: RunningMoments::default(),
            batch: RngMark::of(&streams.batch),
            noise: RngMark::of(&streams.noise),
            minibatch: [0; 2],
            names: Vec::new(),
            numbers: Vec::new(),
        }
    }

    /// Whether there is a state to restore; a chain without one begins afresh.
    pub(crate) fn has_begun(&self) -> bool {
        !self.names.is_empty()
    }

    /// Puts a freshly built chain where this one stood; `None` if the mark does not fit the sampler.
    pub fn restore(&self, kernel: &mut dyn Kernel, oracle: &mut Oracle) -> Option<Streams> {
        let mut reader = Reader {
            mark: self,
            field: 0,
            offset: 0,
            fits: true,
        };
        kernel.visit(&mut reader);
        let fits = reader.fits && reader.field == self.names.len();
        for (position, saved) in oracle
            .minibatch_mut()
            .position_mut()
            .into_iter()
            .zip(self.minibatch)
        {
            *position = saved;
        }
        oracle.datum_grads = self.datum_grads;
        let streams = Streams {
            batch: self.batch.restore()?,
            noise: self.noise.restore()?,
        };
        fits.then_some(streams)
    }
}

/// A quick copy of a state before a step that may be interrupted; reuses its memory.
#[derive(Debug, Default)]
pub(super) struct Snapshot {
    numbers: Vec<f64>,
    rng: Option<[RngPosition; 2]>,
    datum_grads: u64,
}

#[derive(Clone, Copy, Debug)]
struct RngPosition(u128);

impl Snapshot {
    pub fn take(&mut self, kernel: &mut dyn Kernel, oracle: &Oracle, streams: &Streams) {
        struct Fill<'a>(&'a mut Vec<f64>);
        impl StateVisitor for Fill<'_> {
            fn slice(&mut self, _name: &'static str, values: &mut [f64]) {
                self.0.extend_from_slice(values);
            }
            fn counter(&mut self, _name: &'static str, value: &mut u64) {
                self.0.push(f64::from_bits(*value));
            }
        }
        self.numbers.clear();
        kernel.visit(&mut Fill(&mut self.numbers));
        self.rng =
            Some([&streams.batch, &streams.noise].map(|rng| RngPosition(rng.get_word_pos())));
        self.datum_grads = oracle.datum_grads;
    }

    pub fn restore(&self, kernel: &mut dyn Kernel, oracle: &mut Oracle, streams: &mut Streams) {
        struct Drain<'a>(&'a [f64]);
        impl StateVisitor for Drain<'_> {
            fn slice(&mut self, _name: &'static str, values: &mut [f64]) {
                let (mine, rest) = self.0.split_at(values.len());
                values.copy_from_slice(mine);
                self.0 = rest;
            }
            fn counter(&mut self, _name: &'static str, value: &mut u64) {
                *value = self.0[0].to_bits();
                self.0 = &self.0[1..];
            }
        }
        kernel.visit(&mut Drain(&self.numbers));
        if let Some([batch, noise]) = self.rng {
            streams.batch.set_word_pos(batch.0);
            streams.noise.set_word_pos(noise.0);
        }
        oracle.datum_grads = self.datum_grads;
    }
}

#[derive(Default)]
struct Writer {
    names: Vec<(String, usize)>,
    numbers: Vec<f64>,
}

impl StateVisitor for Writer {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        self.names.push((name.to_owned(), values.len()));
        self.numbers.extend_from_slice(values);
    }
    fn counter(&mut self, name: &'static str, value: &mut u64) {
        self.names.push((name.to_owned(), 1));
        self.numbers.push(f64::from_bits(*value));
    }
}

struct Reader<'a> {
    mark: &'a ChainMark,
    field: usize,
    offset: usize,
    fits: bool,
}

impl Reader<'_> {
    fn next(&mut self, name: &str, len: usize) -> Option<&[f64]> {
        let matches = self
            .mark
            .names
            .get(self.field)
            .is_some_and(|(known, count)| known == name && *count == len);
        if !matches {
            self.fits = false;
            return None;
        }
        self.field += 1;
        let start = self.offset;
        self.offset += len;
        Some(&self.mark.numbers[start..start + len])
    }
}

impl StateVisitor for Reader<'_> {
    fn slice(&mut self, name: &'static str, values: &mut [f64]) {
        if let Some(saved) = self.next(name, values.len()) {
            values.copy_from_slice(saved);
        }
    }
    fn counter(&mut self, name: &'static str, value: &mut u64) {
        if let Some(saved) = self.next(name, 1) {
            *value = saved[0].to_bits();
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Header {
    job: String,
    chains: Vec<Option<ChainHeader>>,
}

#[derive(Serialize, Deserialize)]
struct ChainHeader {
    iterations: u64,
    draws: u64,
    warmup_end: Option<u64>,
    datum_grads: u64,
    batch: RngMark,
    noise: RngMark,
    minibatch: [u64; 2],
    fields: Vec<(String, usize)>,
    /// How many quantities have moments and no draws; their numbers follow those of the fields.
    #[serde(default, skip_serializing_if = "is_zero")]
    unkept: usize,
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// The bytes of `marks` (one per chain, `None` for failed ones) of the job with fingerprint `job`.
///
/// # Errors
/// The header cannot be written as JSON.
pub fn encode(job: &str, marks: &[Option<ChainMark>]) -> io::Result<Vec<u8>> {
    let chain_header = |mark: &ChainMark| ChainHeader {
        iterations: mark.iterations,
        draws: mark.draws,
        warmup_end: mark.warmup_end,
        datum_grads: mark.datum_grads,
        batch: mark.batch.clone(),
        noise: mark.noise.clone(),
        minibatch: mark.minibatch,
        fields: mark.names.clone(),
        unkept: mark.unkept.width(),
    };
    let header = Header {
        job: job.to_owned(),
        chains: marks
            .iter()
            .map(|mark| mark.as_ref().map(chain_header))
            .collect(),
    };
    let mut body = serde_json::to_vec(&header)?;
    body.push(b'\n');
    for mark in marks.iter().flatten() {
        let unkept = mark.unkept.numbers().filter(|_| mark.unkept.width() > 0);
        for number in mark.numbers.iter().copied().chain(unkept) {
            body.extend_from_slice(&number.to_le_bytes());
        }
    }
    Ok(seal(MAGIC, &body))
}

/// Where each chain stands; `None` for failed ones.
pub type Marks = Vec<Option<ChainMark>>;

/// What [`encode`] made, or the version before it: the job's fingerprint and the marks; `None` if it is damaged.
pub fn decode(bytes: &[u8]) -> Option<(String, Marks)> {
    let body = match bytes.strip_prefix(MAGIC_UNSEALED.as_bytes()) {
        Some(body) => body,
        None => {
            let (body, rest) = unseal(MAGIC, bytes)?;
            rest.is_empty().then_some(body)?
        }
    };
    let mut lines = body.splitn(2, |&byte| byte == b'\n');
    let (header, body) = (lines.next()?, lines.next()?);
    let header: Header = serde_json::from_slice(header).ok()?;
    let (numbers, rest) = body.as_chunks::<8>();
    let mut numbers = numbers.iter().map(|bytes| f64::from_le_bytes(*bytes));
    let mut marks = Vec::with_capacity(header.chains.len());
    for chain in header.chains {
        let Some(chain) = chain else {
            marks.push(None);
            continue;
        };
        let mut lengths = chain.fields.iter().map(|(_, len)| *len);
        let count = lengths.try_fold(0_usize, usize::checked_add)?;
        let mine: Vec<f64> = numbers.by_ref().take(count).collect();
        if mine.len() != count {
            return None;
        }
        let unkept = match chain.unkept {
            0 => RunningMoments::default(),
            width => {
                let count = width.checked_mul(3)?.checked_add(1)?;
                let numbers: Vec<f64> = numbers.by_ref().take(count).collect();
                RunningMoments::from_numbers(chain.draws, &numbers)
                    .filter(|moments| moments.width() == width)?
            }
        };
        marks.push(Some(ChainMark {
            iterations: chain.iterations,
            draws: chain.draws,
            warmup_end: chain.warmup_end,
            datum_grads: chain.datum_grads,
            unkept,
            batch: chain.batch,
            noise: chain.noise,
            minibatch: chain.minibatch,
            names: chain.fields,
            numbers: mine,
        }));
    }
    (numbers.next().is_none() && rest.is_empty()).then_some((header.job, marks))
}
