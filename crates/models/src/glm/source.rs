//! Where the tiles of a pass come from: kept blocks of neighbours one after the other, or rows one by one.

use super::machine::prefetch;
use super::store::View;
use crate::families::rows::{LANES, Lane};
use crate::numerics::arithmetic::Arithmetic;

/// The tiles of a pass. A type for each way, so that the row loop is compiled without the questions of the others.
pub(super) trait TileSource: Copy {
    /// The `k`-th row of the pass.
    fn row(&self, k: usize) -> usize;
    /// The eight rows from the `first` on, of which `live` count: a kept tile, or put together in `buffer`. Lanes past `live`
    /// repeat the first row; callers zero their weight.
    fn tile<'a, A: Arithmetic>(
        &'a self,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> &'a [Lane];
    /// `T` tiles of `stride` lanes each from the row `first` on, as [`Self::tile`].
    #[inline(always)]
    fn tiles<'a, A: Arithmetic, const T: usize>(
        &'a self,
        first: usize,
        live: usize,
        stride: usize,
        buffer: &'a mut [Lane],
    ) -> [&'a [Lane]; T] {
        // A loop instead of `from_fn`: what the standard library calls is not compiled for vector instructions.
        let mut tiles = [&[][..]; T];
        // No `chunks_exact_mut`, which divides: a group of tiles takes little longer than that.
        let mut rest = buffer;
        for (t, tile) in tiles.iter_mut().enumerate() {
            let (own, after) = rest.split_at_mut(stride);
            *tile = self.tile::<A>(first + t * LANES, live, own);
            rest = after;
        }
        tiles
    }
    /// Asks for `T` tiles from the row `first` on ahead of their use, and for what is `stored` of their rows, `width` numbers each, if
    /// anything is.
    fn prefetch<const T: usize>(&self, first: usize, stored: &[f64], width: usize);
    /// Memory of the `T` tiles after those from the row `first` on, that a row loop asks for little by little while it reads these;
    /// none where [`Self::prefetch`] asks for it.
    #[inline(always)]
    fn ahead<const T: usize>(&self, _first: usize) -> &[Lane] {
        &[]
    }
}

/// Bytes of a group of tiles up to which the next is asked for while it is read: both are to stand in the first cache.
const MOST_AHEAD: usize = 24 << 10;

/// Kept blocks of a whole stretch of rows.
#[derive(Clone, Copy)]
pub(super) struct Neighbours<'a> {
    /// For the last rows, which fill no block.
    pub view: View<'a>,
    /// All kept tiles.
    pub blocks: &'a [Lane],
    /// Lanes per tile.
    pub stride: usize,
    /// The first row, the first of a block.
    pub start: usize,
}

impl TileSource for Neighbours<'_> {
    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        self.start + k
    }

    #[inline(always)]
    fn tile<'a, A: Arithmetic>(
        &'a self,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> &'a [Lane] {
        let at = self.start + first;
        if live == LANES {
            return &self.blocks[at / LANES * self.stride..][..self.stride];
        }
        let row = |k: usize| at + if k < live { k } else { 0 };
        self.view.tile::<A>(None, row, buffer)
    }

    /// One stretch of memory, so that its bounds are checked once.
    #[inline(always)]
    fn tiles<'a, A: Arithmetic, const T: usize>(
        &'a self,
        first: usize,
        live: usize,
        stride: usize,
        buffer: &'a mut [Lane],
    ) -> [&'a [Lane]; T] {
        let mut tiles = [&[][..]; T];
        if live < LANES {
            tiles[0] = self.tile::<A>(first, live, &mut buffer[..stride]);
            return tiles;
        }
        let mut rest = &self.blocks[(self.start + first) / LANES * stride..][..T * stride];
        for tile in &mut tiles {
            (*tile, rest) = rest.split_at(stride);
        }
        tiles
    }

    /// See [`Self::ahead`]: all at once took longer.
    #[inline(always)]
    fn prefetch<const T: usize>(&self, _first: usize, _stored: &[f64], _width: usize) {}

    /// Processors see that memory is read in order, but late where the tiles of a group are read side by side.
    #[inline(always)]
    fn ahead<const T: usize>(&self, first: usize) -> &[Lane] {
        let len = T * self.stride;
        let start = (self.start + first) / LANES * self.stride + len;
        if size_of::<Lane>() * len > MOST_AHEAD || start + len > self.blocks.len() {
            return &[];
        }
        &self.blocks[start..][..len]
    }
}

/// Rows one by one: `row(k)` is the k-th, and where the eight from the k-th on are a block of neighbours whose tile is to be taken,
/// `block(k)` is its number.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a, R, B> {
    pub view: View<'a>,
    pub row: R,
    pub block: B,
}

impl<R, B> TileSource for Picked<'_, R, B>
where
    R: Fn(usize) -> usize + Copy,
    B: Fn(usize) -> Option<usize> + Copy,
{
    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        (self.row)(k)
    }

    #[inline(always)]
    fn tile<'a, A: Arithmetic>(
        &'a self,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> &'a [Lane] {
        let block = if live == LANES {
            (self.block)(first)
        } else {
            None
        };
        let row = |k: usize| (self.row)(first + if k < live { k } else { 0 });
        self.view.tile::<A>(block, row, buffer)
    }

    #[inline(always)]
    fn prefetch<const T: usize>(&self, first: usize, stored: &[f64], width: usize) {
        for first in (first..first + T * LANES).step_by(LANES) {
            if let Some(block) = (self.block)(first) {
                self.view.prefetch_block(block);
                if !stored.is_empty() {
                    prefetch(stored, block * LANES * width);
                }
                continue;
            }
            for k in 0..LANES {
                let row = (self.row)(first + k);
                self.view.prefetch_row(row);
                if !stored.is_empty() {
                    prefetch(stored, row * width);
                }
            }
        }
    }
}

/// The number of the block of neighbours that these eight rows are, if they are one.
#[inline(always)]
pub(super) fn whole_block(rows: &[u32]) -> Option<usize> {
    let first = rows[0];
    let neighbours = || rows.iter().zip(first..).all(|(&row, next)| row == next);
    (first.is_multiple_of(LANES as u32) && neighbours()).then_some(first as usize / LANES)
}
