//! Draws in memory: blocks travel from chains to the collector, chunks are kept and shared.
//!
//! Rows in blocks (a draw is written at once), columns in chunks (a plot or a diagnostic reads one
//! parameter). A chunk never changes once full, so sharing it is a reference count.

use std::sync::Arc;

use super::moments::RunningMoments;

/// Draws in a full chunk of few columns; of many columns see [`chunk_draws`].
pub(crate) const CHUNK_DRAWS: usize = 1024;
/// Values in a full chunk, at most: a partial one is copied each time a view of it was published.
const CHUNK_VALUES: usize = 128 * CHUNK_DRAWS;
/// Draws in a full chunk at least, whatever the number of columns.
const FEWEST_CHUNK_DRAWS: usize = 16;

/// Draws in a full chunk of `width` columns: a power of two.
pub fn chunk_draws(width: usize) -> usize {
    let most = (CHUNK_VALUES / width.max(1)).clamp(FEWEST_CHUNK_DRAWS, CHUNK_DRAWS);
    1 << most.ilog2()
}

/// A piece of one chain on its way to the collector; recycled, so that a steady run does not allocate.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Chain, 0-based.
    pub chain: usize,
    /// Iteration of the first draw, 0-based, counted from the start of the chain (warm-up included).
    pub first_iter: u64,
    /// Whether these draws belong to the warm-up.
    pub warmup: bool,
    /// Number of draws in the block.
    pub len: usize,
    /// `len`×Q, row-major, reported quantities whose draws are kept.
    pub draws: Vec<f64>,
    /// `len`×S, row-major, the sampler's information columns.
    pub info: Vec<f64>,
    /// Gradients of single rows that the chain has computed by the end of the block.
    pub datum_grads: u64,
    /// The sampler's outputs of numbers at the end of the block, by name.
    pub numbers: Vec<(&'static str, Vec<f64>)>,
    /// The sampler's labels at some of the kept draws, each with the number of the draw ([`LabelList`]); empty without labels.
    pub labels: Vec<(u64, Labels)>,
    /// Moments of the quantities whose draws are not kept, over all draws up to the end of the block.
    pub unkept: RunningMoments,
    /// Iterations at the end of the block since which no reported quantity has changed; known where draws of some are not kept, so that
    /// these cannot be looked at.
    pub unmoved: Option<u32>,
}

impl Block {
    /// Empties the block and keeps its memory.
    pub fn clear(&mut self) {
        self.len = 0;
        self.draws.clear();
        self.info.clear();
        self.labels.clear();
    }
}

/// Cluster of each unit of a partition, numbered by first appearance.
pub type Labels = Arc<[u32]>;

/// Thinned partitions of one chain. Which draws are kept follows from their number alone: all until the list is full, then
/// every second, every fourth, …, so that a continued run keeps the same as a longer one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelList {
    most: usize,
    draws: Vec<(u64, Labels)>,
}

impl LabelList {
    /// An empty list of at most `most` partitions.
    pub fn new(most: usize) -> Self {
        Self {
            most: most.max(2),
            draws: Vec::new(),
        }
    }

    /// Draws from one kept partition to the next once `count` draws are there.
    fn stride(&self, count: u64) -> u64 {
        count.div_ceil(self.most as u64).next_power_of_two()
    }

    /// Whether draw `number` (0-based) is kept when it is the last one.
    pub fn keeps(&self, number: u64) -> bool {
        number.is_multiple_of(self.stride(number + 1))
    }

    /// Appends the partition of draw `number`, if it is kept.
    pub fn push(&mut self, number: u64, labels: Labels) {
        if self.keeps(number) {
            let stride = self.stride(number + 1);
            self.draws.retain(|(kept, _)| kept.is_multiple_of(stride));
            self.draws.push((number, labels));
        }
    }

    /// The partitions of the first `count` draws.
    #[must_use]
    pub fn first(mut self, count: u64) -> Self {
        self.draws.retain(|(number, _)| *number < count);
        self
    }

    /// Draws and their partitions, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &Labels)> {
        self.draws.iter().map(|(number, labels)| (*number, labels))
    }

    /// Number of partitions.
    pub fn len(&self) -> usize {
        self.draws.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.draws.is_empty()
    }
}

/// Up to [`chunk_draws`] draws of one chain, column by column, with the extremes of each column.
#[derive(Clone, Debug)]
pub struct Chunk {
    width: usize,
    len: usize,
    /// Draws when full.
    capacity: usize,
    values: Vec<f64>,
    min: Vec<f64>,
    max: Vec<f64>,
    all_finite: Vec<bool>,
}

impl Chunk {
    /// An empty chunk for `width` columns.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            len: 0,
            capacity: chunk_draws(width),
            values: vec![0.0; width * chunk_draws(width)],
            min: vec![f64::INFINITY; width],
            max: vec![f64::NEG_INFINITY; width],
            all_finite: vec![true; width],
        }
    }

    /// Number of draws.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether the chunk holds no draw.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Whether no further draw fits.
    pub fn is_full(&self) -> bool {
        self.len == self.capacity
    }

    /// Appends one draw of `width` values; the caller checks [`Self::is_full`].
    pub fn push(&mut self, row: &[f64]) {
        for (j, &value) in row.iter().enumerate() {
            self.values[j * self.capacity + self.len] = value;
            // A NaN leaves the extremes alone; plots break their line there.
            if value < self.min[j] {
                self.min[j] = value;
            }
            if value > self.max[j] {
                self.max[j] = value;
            }
            self.all_finite[j] &= value.is_finite();
        }
        self.len += 1;
    }

    /// The values of column `j`, oldest first.
    pub fn column(&self, j: usize) -> &[f64] {
        let start = j * self.capacity;
        &self.values[start..start + self.len]
    }

    /// Smallest and largest finite value of column `j`; infinite bounds in reverse order if there is none.
    pub fn extremes(&self, j: usize) -> (f64, f64) {
        (self.min[j], self.max[j])
    }

    /// Whether column `j` holds only finite values, so that [`Self::extremes`] says all about its range.
    pub fn all_finite(&self, j: usize) -> bool {
        self.all_finite[j]
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }
}

/// A growing list of draws of one chain: full shared chunks and a partial one.
#[derive(Clone, Debug)]
pub struct DrawList {
    width: usize,
    full: Vec<Arc<Chunk>>,
    tail: Arc<Chunk>,
}

impl DrawList {
    /// An empty list for `width` columns.
    pub fn new(width: usize) -> Self {
        Self {
            width,
            full: Vec::new(),
            tail: Arc::new(Chunk::new(width)),
        }
    }

    /// Number of columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Number of draws.
    pub fn len(&self) -> usize {
        self.full.len() * self.chunk_draws() + self.tail.len()
    }

    /// Draws in each full chunk.
    pub fn chunk_draws(&self) -> usize {
        chunk_draws(self.width)
    }

    /// Whether the list holds no draw.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends one draw. Copies the partial chunk if a published view still holds it.
    pub fn push(&mut self, row: &[f64]) {
        let tail = Arc::make_mut(&mut self.tail);
        tail.push(row);
        if tail.is_full() {
            self.full.push(std::mem::replace(
                &mut self.tail,
                Arc::new(Chunk::new(self.width)),
            ));
        }
    }

    /// The first `count` draws, or all if there are fewer; full chunks are shared.
    #[must_use]
    pub fn first(&self, count: usize) -> Self {
        if count >= self.len() {
            return self.clone();
        }
        let full = count / self.chunk_draws();
        let mut kept = Self {
            width: self.width,
            full: self.full[..full].to_vec(),
            tail: Arc::new(Chunk::new(self.width)),
        };
        for i in full * self.chunk_draws()..count {
            let row: Vec<f64> = (0..self.width).map(|j| self.value(i, j)).collect();
            kept.push(&row);
        }
        kept
    }

    /// All chunks in order, the partial one last.
    pub fn chunks(&self) -> impl Iterator<Item = &Chunk> {
        self.full
            .iter()
            .map(Arc::as_ref)
            .chain(std::iter::once(self.tail.as_ref()).filter(|tail| !tail.is_empty()))
    }

    /// Copies column `j` into `out`, replacing its content.
    pub(crate) fn copy_column(&self, j: usize, out: &mut Vec<f64>) {
        out.clear();
        out.reserve(self.len());
        for chunk in self.chunks() {
            out.extend_from_slice(chunk.column(j));
        }
    }

    /// Column `j` as one vector.
    pub fn column(&self, j: usize) -> Vec<f64> {
        let mut out = Vec::new();
        self.copy_column(j, &mut out);
        out
    }

    /// The value of column `j` at draw `i`.
    pub fn value(&self, i: usize, j: usize) -> f64 {
        let (chunk, place) = (i / self.chunk_draws(), i % self.chunk_draws());
        let chunk = self.full.get(chunk).unwrap_or(&self.tail);
        chunk.column(j)[place]
    }
}

/// The draws of one chain as published.
#[derive(Clone, Debug)]
pub struct ChainDraws {
    /// Warm-up draws, one column for each reported quantity whose draws are kept: shown shaded, never part of a summary.
    pub warmup: DrawList,
    /// Kept draws, as many columns.
    pub draws: DrawList,
    /// The sampler's information columns for the kept draws, S columns.
    pub info: DrawList,
    /// The sampler's information columns for the warm-up, S columns.
    pub warmup_info: DrawList,
    /// Partitions of some of the kept draws, for samplers of partitions.
    pub labels: LabelList,
    /// Moments of the reported quantities whose draws are not kept; empty where all are.
    pub unkept: Arc<RunningMoments>,
}

impl ChainDraws {
    /// An empty chain of `num_params` reported quantities whose draws are kept and `num_info` information columns.
    pub fn new(num_params: usize, num_info: usize) -> Self {
        Self {
            warmup: DrawList::new(num_params),
            draws: DrawList::new(num_params),
            info: DrawList::new(num_info),
            warmup_info: DrawList::new(num_info),
            labels: LabelList::default(),
            unkept: Arc::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_returns_what_was_pushed_across_chunks() {
        let mut list = DrawList::new(2);
        let total = 2 * CHUNK_DRAWS + 3;
        for i in 0..total {
            list.push(&[i as f64, -(i as f64)]);
        }
        assert_eq!(list.len(), total);
        assert_eq!(
            list.column(0),
            (0..total).map(|i| i as f64).collect::<Vec<_>>()
        );
        assert_eq!(list.value(CHUNK_DRAWS + 1, 1), -((CHUNK_DRAWS + 1) as f64));
        assert_eq!(list.chunks().count(), 3);
    }

    /// A view that is held costs a copy of the partial chunk, so that of many columns must be short.
    #[test]
    fn chunks_of_many_columns_are_short() {
        assert_eq!(
            [1, 128, 129, 4_100, 1_000_000].map(chunk_draws),
            [1024, 1024, 512, 16, 16]
        );
        let mut list = DrawList::new(1_000);
        assert_eq!(list.chunk_draws(), 128);
        for i in 0..300 {
            list.push(&vec![f64::from(i); 1_000]);
        }
        assert_eq!((list.len(), list.chunks().count()), (300, 3));
        assert_eq!((list.value(128, 3), list.value(299, 999)), (128.0, 299.0));
        assert_eq!(list.column(7), (0..300).map(f64::from).collect::<Vec<_>>());
    }

    #[test]
    fn the_first_draws_of_a_list_are_a_list_that_goes_on() {
        let mut list = DrawList::new(2);
        for i in 0..2 * CHUNK_DRAWS + 3 {
            list.push(&[i as f64, -(i as f64)]);
        }
        for count in [
            0,
            1,
            CHUNK_DRAWS,
            CHUNK_DRAWS + 7,
            2 * CHUNK_DRAWS + 3,
            9999,
        ] {
            let mut first = list.first(count);
            let count = count.min(list.len());
            assert_eq!(first.column(1), list.column(1)[..count]);
            first.push(&[0.5, 0.5]);
            assert_eq!(first.value(count, 0), 0.5);
        }
        assert_eq!(list.value(CHUNK_DRAWS + 7, 0), (CHUNK_DRAWS + 7) as f64);
        // Many columns have short chunks.
        let mut wide = DrawList::new(1_000);
        for i in 0..300 {
            wide.push(&vec![f64::from(i); 1_000]);
        }
        assert_eq!(wide.first(270).column(9), wide.column(9)[..270]);
    }

    #[test]
    fn partitions_are_thinned_by_the_number_of_their_draw() {
        let mut list = LabelList::new(8);
        let labels = |number: u64| -> Labels { vec![number as u32].into() };
        for number in 0..100 {
            list.push(number, labels(number));
            assert!(list.len() <= 8, "{number}");
        }
        let kept: Vec<u64> = list.iter().map(|(number, _)| number).collect();
        assert_eq!(kept, [0, 16, 32, 48, 64, 80, 96]);
        // A list that is read back goes on as if it had never ended.
        let mut again = LabelList::new(8);
        for number in 0..100 {
            again.push(number, labels(number));
            if number == 57 {
                let read: Vec<_> = again.iter().map(|(n, l)| (n, l.clone())).collect();
                again = LabelList::new(8);
                for (number, labels) in read {
                    again.push(number, labels);
                }
            }
        }
        assert_eq!(again, list);
    }

    #[test]
    fn a_published_copy_does_not_change_when_the_list_grows() {
        let mut list = DrawList::new(1);
        list.push(&[1.0]);
        let published = list.clone();
        list.push(&[2.0]);
        assert_eq!(published.column(0), [1.0]);
        assert_eq!(list.column(0), [1.0, 2.0]);
    }
}
