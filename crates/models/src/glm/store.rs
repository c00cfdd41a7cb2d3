//! Where the numbers of rows are kept, in double or in single precision, and how tiles of eight rows come about.
//!
//! In double precision covariates and extra numbers of a row stand together, so that a random row costs one stretch of memory. In
//! single precision only covariates are rounded: extra numbers, such as responses, stand apart in double precision, and tiles are
//! widened on the way into the buffer of a pass, so that the row loop is the same.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::extra::Extra;
use super::machine::prefetch_span;
use super::source::{BlockOrder, Kept};
use crate::families::rows::{LANES, Lane, RowFamily};
use crate::numerics::arithmetic::{Arithmetic, Separate, Stored as _, columns};
use crate::numerics::pages::{Pages, ROWS_AT_ONCE};
use crate::{Covariates, Rows};
use ergodic_base::linalg::widening_axpy;

/// How often passes read each row before tiles of all are made. To make them takes as long as about eight passes save by them (100,000 rows
/// of ten covariates), and some seven passes find a mode, after which samplers that take rows one by one need no second copy of the table.
pub(super) const WORTH_KEEPING: usize = 16;

/// Covariates and extra numbers of all rows.
#[derive(Debug)]
pub struct RowStore {
    /// P.
    num_columns: usize,
    extra: Extra,
    /// N.
    num_obs: usize,
    numbers: Numbers,
    /// Rows that passes over stretches have read before there were tiles.
    passed: AtomicUsize,
}

/// The numbers that are stored of each row, row by row. `blocks` are the tiles of whole blocks of [`LANES`] neighbouring rows, a lane for each number of a row.
#[derive(Debug)]
enum Numbers {
    Double {
        /// Covariates and then extra numbers.
        rows: Pages<f64>,
        blocks: OnceLock<Pages<Lane>>,
    },
    Single {
        covariates: Pages<f32>,
        extra: Pages<f64>,
        /// Of covariates alone.
        blocks: OnceLock<Pages<[f32; LANES]>>,
    },
}

impl RowStore {
    /// Rows of `num_columns` covariates and then `num_extra` numbers each, in double precision.
    pub fn new(num_columns: usize, num_extra: usize, rows: Pages<f64>) -> Self {
        let width = num_columns + num_extra;
        let num_obs = rows.len() / width;
        let extra = Extra::of(&rows, num_columns, num_extra);
        let stride = num_columns + extra.num_stored();
        let narrowed = || {
            let mut stored = Pages::zeros(num_obs * stride);
            (stored.par_chunks_exact_mut(stride))
                .zip(rows.par_chunks_exact(width))
                .with_min_len(ROWS_AT_ONCE)
                .for_each(|(stored, row)| {
                    let (covariates, rest) = stored.split_at_mut(num_columns);
                    covariates.copy_from_slice(&row[..num_columns]);
                    extra.store(&row[num_columns..], rest);
                });
            stored
        };
        let rows = if stride == width { rows } else { narrowed() };
        Self {
            num_columns,
            extra,
            num_obs,
            numbers: Numbers::Double {
                rows,
                blocks: OnceLock::new(),
            },
            passed: AtomicUsize::default(),
        }
    }

    /// The rows with covariates rounded to single precision.
    pub fn rounded(self) -> Self {
        let Numbers::Double { rows, .. } = &self.numbers else {
            return self;
        };
        if self.num_columns == 0 {
            return self;
        }
        let (columns, count) = (self.num_columns, self.extra.num_stored());
        let mut covariates = Pages::zeros(self.num_obs * columns);
        let mut extra = Pages::zeros(self.num_obs * count);
        for (i, row) in rows.chunks_exact(self.stride()).enumerate() {
            let (x, rest) = row.split_at(columns);
            for (single, &x) in covariates[i * columns..].iter_mut().zip(x) {
                *single = x as f32;
            }
            extra[i * count..][..count].copy_from_slice(rest);
        }
        Self {
            numbers: Numbers::Single {
                covariates,
                extra,
                blocks: OnceLock::new(),
            },
            ..self
        }
    }

    /// N.
    pub fn num_obs(&self) -> usize {
        self.num_obs
    }

    /// Numbers stored per row.
    pub fn stride(&self) -> usize {
        self.num_columns + self.extra.num_stored()
    }

    /// Bytes of the numbers of all rows, and of the tiles that are kept.
    #[cfg(test)]
    pub fn bytes(&self) -> [usize; 2] {
        match &self.numbers {
            Numbers::Double { rows, blocks } => [
                size_of_val(&rows[..]),
                blocks.get().map_or(0, |it| size_of_val(&it[..])),
            ],
            Numbers::Single {
                covariates,
                extra,
                blocks,
            } => [
                size_of_val(&covariates[..]) + size_of_val(&extra[..]),
                blocks.get().map_or(0, |it| size_of_val(&it[..])),
            ],
        }
    }

    /// Covariates of row `i`.
    #[inline]
    pub fn covariates(&self, i: usize) -> Covariates<'_> {
        let columns = self.num_columns;
        match &self.numbers {
            Numbers::Double { rows, .. } => {
                Covariates::Double(&rows[i * self.stride()..][..columns])
            }
            Numbers::Single { covariates, .. } => {
                Covariates::Single(&covariates[i * columns..][..columns])
            }
        }
    }

    /// ADDS Σ w_k a_k to `out` (D), where a_k are the covariates of row `row(k)`: where they are is looked up once.
    #[inline]
    pub fn add_weighted(&self, row: impl Fn(usize) -> usize, weights: &[f64], out: &mut [f64]) {
        let columns = self.num_columns;
        let weights = weights.iter().enumerate();
        match &self.numbers {
            Numbers::Double { rows, .. } => {
                for (k, &weight) in weights {
                    widening_axpy(weight, &rows[row(k) * self.stride()..][..columns], out);
                }
            }
            Numbers::Single { covariates, .. } => {
                for (k, &weight) in weights {
                    widening_axpy(weight, &covariates[row(k) * columns..][..columns], out);
                }
            }
        }
    }

    /// Extra numbers of row `i`.
    #[inline]
    pub fn extra(&self, i: usize) -> [f64; 4] {
        let count = self.extra.num_stored();
        self.extra.of_row(match &self.numbers {
            Numbers::Double { rows, .. } => &rows[i * self.stride() + self.num_columns..][..count],
            Numbers::Single { extra, .. } => &extra[i * count..][..count],
        })
    }

    /// Extra numbers of the rows of a tile.
    #[inline(always)]
    pub fn extra_lanes<'a, F: RowFamily>(&'a self, tile: &'a [Lane]) -> [&'a Lane; 4] {
        self.extra.of_tile::<F>(&tile[self.num_columns..])
    }

    /// Offsets of the rows of a tile, of families that have them.
    #[inline(always)]
    pub fn offsets<'a>(&'a self, tile: &'a [Lane]) -> &'a Lane {
        self.extra.of_place(0, &tile[self.num_columns..])
    }

    /// Makes the tiles of blocks where a pass over `rows` is to read them and there are none yet.
    #[inline]
    pub fn make_tiles_for(&self, rows: Rows<'_>) {
        if self.has_blocks() {
            return;
        }
        let is_worth_it = match rows {
            Rows::Pick(_) => false,
            Rows::Blocks(_) => true,
            Rows::All | Rows::Span { .. } => {
                let passed = (self.passed).fetch_add(rows.len(self.num_obs), Ordering::Relaxed);
                passed >= WORTH_KEEPING * self.num_obs
            }
        };
        if is_worth_it {
            self.view().make_tiles();
        }
    }

    /// Whether the tiles of blocks are kept already.
    #[inline]
    pub fn has_blocks(&self) -> bool {
        match &self.numbers {
            Numbers::Double { blocks, .. } => blocks.get().is_some(),
            Numbers::Single { blocks, .. } => blocks.get().is_some(),
        }
    }

    /// What a pass over rows reads.
    #[inline(always)]
    pub fn view(&self) -> View<'_> {
        View {
            num_columns: self.num_columns,
            num_extra: self.extra.num_stored(),
            num_obs: self.num_obs,
            numbers: match &self.numbers {
                Numbers::Double { rows, blocks } => Viewed::Double { rows, blocks },
                Numbers::Single {
                    covariates,
                    extra,
                    blocks,
                } => Viewed::Single {
                    covariates,
                    extra,
                    blocks,
                },
            },
        }
    }
}

/// What a pass reads of a [`RowStore`], looked up once: compilers keep it in registers, as they cannot keep what stands beside the
/// tiles that are made on demand.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    num_columns: usize,
    /// Extra numbers stored per row.
    num_extra: usize,
    num_obs: usize,
    numbers: Viewed<'a>,
}

/// [`Numbers`] by reference.
#[derive(Clone, Copy)]
enum Viewed<'a> {
    Double {
        rows: &'a [f64],
        blocks: &'a OnceLock<Pages<Lane>>,
    },
    Single {
        covariates: &'a [f32],
        extra: &'a [f64],
        blocks: &'a OnceLock<Pages<[f32; LANES]>>,
    },
}

impl<'a> View<'a> {
    /// Numbers per row.
    #[inline(always)]
    pub fn stride(&self) -> usize {
        self.num_columns + self.num_extra
    }

    /// Eight rows, of which `row(k)` is the k-th, where they are kept in double precision.
    #[inline(always)]
    pub fn rows(&self, row: impl Fn(usize) -> usize) -> Option<[&'a [f64]; LANES]> {
        let Viewed::Double { rows, .. } = self.numbers else {
            return None;
        };
        let stride = self.stride();
        Some(eight(
            #[inline(always)]
            |k| &rows[row(k) * stride..][..stride],
        ))
    }

    /// The kept tiles, if there are some that are read in place, in the order of a pass.
    #[inline(always)]
    pub fn kept<O: BlockOrder>(self, order: O) -> Option<Kept<'a, O>> {
        let Viewed::Double { blocks, .. } = self.numbers else {
            return None;
        };
        Some(Kept {
            blocks: blocks.get()?,
            stride: self.stride(),
            view: self,
            order,
        })
    }

    /// The tile of eight rows, of which `row(k)` is the k-th and which are the `block` if they are one: the kept tile of this, or put
    /// together in `buffer`, a lane for each number of a row.
    #[inline(always)]
    pub fn tile<A: Arithmetic>(
        &self,
        block: Option<usize>,
        row: impl Fn(usize) -> usize,
        buffer: &'a mut [Lane],
    ) -> &'a [Lane] {
        let stride = self.stride();
        match self.numbers {
            Viewed::Double { rows, blocks } => match block.zip(blocks.get()) {
                Some((block, blocks)) => &blocks[block * stride..][..stride],
                None => {
                    let rows = eight(
                        #[inline(always)]
                        |k| &rows[row(k) * stride..][..stride],
                    );
                    A::transpose(rows, buffer);
                    buffer
                }
            },
            Viewed::Single {
                covariates,
                extra,
                blocks,
            } => {
                let rows = [
                    row(0),
                    row(1),
                    row(2),
                    row(3),
                    row(4),
                    row(5),
                    row(6),
                    row(7),
                ];
                A::apart(
                    #[inline(always)]
                    || self.widened(covariates, extra, blocks, block, rows, buffer),
                );
                buffer
            }
        }
    }

    /// [`Self::tile`] of rows in single precision.
    #[inline(always)]
    fn widened(
        &self,
        covariates: &[f32],
        extra: &[f64],
        blocks: &OnceLock<Pages<[f32; LANES]>>,
        block: Option<usize>,
        rows: [usize; LANES],
        buffer: &mut [Lane],
    ) {
        let (p, count) = (self.num_columns, self.num_extra);
        let (x, rest) = buffer.split_at_mut(p);
        match block.zip(blocks.get()) {
            Some((block, blocks)) => {
                for (lane, stored) in x.iter_mut().zip(&blocks[block * p..][..p]) {
                    for k in 0..LANES {
                        lane[k] = stored[k].widen();
                    }
                }
            }
            None => columns(eight(|k| &covariates[rows[k] * p..][..p]), x),
        }
        match (block, rest) {
            // The responses of a block stand one after the other already.
            (Some(block), [lane]) => lane.copy_from_slice(&extra[block * LANES..][..LANES]),
            (_, rest) => columns(eight(|k| &extra[rows[k] * count..][..count]), rest),
        }
    }

    #[cold]
    fn make_tiles(&self) {
        match self.numbers {
            Viewed::Double { rows, blocks } => {
                blocks.get_or_init(|| self.transposed(rows));
            }
            Viewed::Single {
                covariates, blocks, ..
            } => {
                blocks.get_or_init(|| self.transposed_single(covariates));
            }
        }
    }

    fn transposed(&self, rows: &[f64]) -> Pages<Lane> {
        let stride = self.stride();
        let mut blocks = Pages::zeros(self.num_obs / LANES * stride);
        for (block, tile) in blocks.chunks_exact_mut(stride).enumerate() {
            let row = |k: usize| &rows[(block * LANES + k) * stride..][..stride];
            Separate::transpose(eight(row), tile);
        }
        blocks
    }

    fn transposed_single(&self, covariates: &[f32]) -> Pages<[f32; LANES]> {
        let p = self.num_columns;
        let mut blocks = Pages::<[f32; LANES]>::zeros(self.num_obs / LANES * p);
        for (tile, rows) in blocks
            .chunks_exact_mut(p)
            .zip(covariates.chunks_exact(LANES * p))
        {
            for (k, row) in rows.chunks_exact(p).enumerate() {
                for (lane, &x) in tile.iter_mut().zip(row) {
                    lane[k] = x;
                }
            }
        }
        blocks
    }

    /// Asks for the numbers of a block ahead of their use, where its tile is kept or else its rows.
    #[inline(always)]
    pub fn prefetch_block(&self, block: usize) {
        let stride = self.stride();
        match self.numbers {
            Viewed::Double { rows, blocks } => match blocks.get() {
                Some(blocks) => prefetch_span(blocks, block * stride, stride),
                None => prefetch_span(rows, block * LANES * stride, LANES * stride),
            },
            Viewed::Single { .. } => self.prefetch_single_block(block),
        }
    }

    /// Asks for the numbers of eight rows ahead of their use, of which `row(k)` is the k-th.
    #[inline(always)]
    pub fn prefetch_rows(&self, row: impl Fn(usize) -> usize) {
        let stride = self.stride();
        match self.numbers {
            Viewed::Double { rows, .. } => {
                for k in 0..LANES {
                    prefetch_span(rows, row(k) * stride, stride);
                }
            }
            Viewed::Single { .. } => {
                for k in 0..LANES {
                    self.prefetch_single_row(row(k));
                }
            }
        }
    }

    #[inline(never)]
    fn prefetch_single_block(&self, block: usize) {
        let Viewed::Single {
            covariates,
            extra,
            blocks,
        } = self.numbers
        else {
            return;
        };
        let (first, len) = (block * self.num_columns, self.num_columns);
        match blocks.get() {
            Some(blocks) => prefetch_span(blocks, first, len),
            None => prefetch_span(covariates, LANES * first, LANES * len),
        }
        let count = LANES * self.num_extra;
        prefetch_span(extra, block * count, count);
    }

    #[inline(never)]
    fn prefetch_single_row(&self, i: usize) {
        let Viewed::Single {
            covariates, extra, ..
        } = self.numbers
        else {
            return;
        };
        prefetch_span(covariates, i * self.num_columns, self.num_columns);
        prefetch_span(extra, i * self.num_extra, self.num_extra);
    }
}

/// Eight rows. No `from_fn`: what the standard library calls is not compiled for vector instructions.
#[inline(always)]
fn eight<'a, T>(row: impl Fn(usize) -> &'a [T]) -> [&'a [T]; LANES] {
    [
        row(0),
        row(1),
        row(2),
        row(3),
        row(4),
        row(5),
        row(6),
        row(7),
    ]
}
