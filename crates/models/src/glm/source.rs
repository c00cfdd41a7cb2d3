//! Where the tiles of a pass come from: kept blocks of neighbours, or rows one by one.

use super::machine::{Cache, prefetch, prefetch_span};
use super::store::View;
use super::tiled::GROUP;
use crate::families::rows::{LANES, Lane};
use crate::likelihood::row_of_block;
use crate::numerics::arithmetic::Arithmetic;

/// The tiles of a pass. A type for each way, so that the row loop is compiled without the questions of the others.
pub(super) trait TileSource: Copy {
    /// Whether both loops over the columns of a group ask for what is ahead, each for half of it.
    const EVENLY: bool = false;
    /// Whether groups of tiles of `stride` lanes are read faster than one tile after the other.
    #[inline(always)]
    fn groups_fit(_stride: usize) -> bool {
        true
    }
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
    /// What a row loop asks for little by little while it reads the `T` tiles from the row `first` on.
    #[inline(always)]
    fn ahead<const T: usize>(&self, _first: usize) -> Ahead<'_, T> {
        Ahead::Nothing
    }
}

/// Memory that a row loop asks for little by little while it reads a group of tiles: all at once takes longer.
#[derive(Clone, Copy)]
pub(super) enum Ahead<'a, const T: usize> {
    /// None: it is near enough, or [`TileSource::prefetch`] asks for it.
    Nothing,
    /// The next tiles, which stand here and there, for this cache.
    Tiles([&'a [Lane]; T], Cache),
    /// From the next tiles on, which follow each other.
    Stretch(&'a [Lane], Reach),
    /// The rows of the next tile, which stand here and there.
    Rows([&'a [f64]; LANES]),
}

/// How far ahead a stretch of memory is asked for.
#[derive(Clone, Copy)]
pub(super) enum Reach {
    /// The next group, for the first cache.
    Next,
    /// The group after the next, for the second cache.
    Far,
    Both,
}

/// For which caches the next tiles are worth asking.
struct Worth {
    first: bool,
    second: bool,
}

impl Worth {
    /// For groups of `group` lanes out of `blocks`.
    #[inline(always)]
    fn of(group: usize, blocks: &[Lane]) -> Self {
        /// Bytes of a group of which the first cache holds two, the one that is read and the next.
        const FIRST: usize = 24 << 10;
        /// Bytes of a group of which the second cache holds three.
        const SECOND: usize = 160 << 10;
        /// Bytes of a table that third caches hold, from where it comes soon enough, if other cores leave it there.
        const THIRD: usize = 20 << 20;
        let bytes = size_of::<Lane>() * group;
        Self {
            first: bytes <= FIRST,
            second: bytes <= SECOND && size_of_val(blocks) > THIRD,
        }
    }
}

/// Numbers, 1 MB, up to which what is stored of rows stays in the second cache, from where it comes soon enough: to ask for it one by one
/// takes longer.
const NEAR: usize = 1 << 17;

/// In which order a pass reads kept blocks.
pub(super) trait BlockOrder: Copy {
    /// Whether they follow each other.
    const IN_ORDER: bool;
    /// The block of the rows of the pass from the `k`-th on.
    fn block(self, k: usize) -> usize;
    /// The `k`-th row of the pass.
    fn row(self, k: usize) -> usize;
    /// What to ask for while the `T` tiles of `stride` lanes before the `k`-th row of the pass are read from `blocks`.
    fn ahead<const T: usize>(self, k: usize, blocks: &[Lane], stride: usize) -> Ahead<'_, T>;
}

/// One after the other, from this row on, which is the first of a block.
#[derive(Clone, Copy)]
pub(super) struct InOrder(pub usize);

impl BlockOrder for InOrder {
    const IN_ORDER: bool = true;

    #[inline(always)]
    fn block(self, k: usize) -> usize {
        (self.0 + k) / LANES
    }

    #[inline(always)]
    fn row(self, k: usize) -> usize {
        self.0 + k
    }

    #[inline(always)]
    fn ahead<const T: usize>(self, k: usize, blocks: &[Lane], stride: usize) -> Ahead<'_, T> {
        let (start, len) = (self.block(k) * stride, T * stride);
        let Some(next) = blocks.get(start..start + len) else {
            return Ahead::Nothing;
        };
        // The last groups ask for what would follow the table, which processors let be.
        let worth = Worth::of(len, blocks);
        match (worth.first, worth.second) {
            (true, true) => Ahead::Stretch(next, Reach::Both),
            (true, false) => Ahead::Stretch(next, Reach::Next),
            (false, true) => Ahead::Stretch(next, Reach::Far),
            (false, false) => Ahead::Nothing,
        }
    }
}

/// By number.
#[derive(Clone, Copy)]
pub(super) struct Numbered<'a>(pub &'a [u32]);

impl BlockOrder for Numbered<'_> {
    const IN_ORDER: bool = false;

    #[inline(always)]
    fn block(self, k: usize) -> usize {
        self.0[k / LANES] as usize
    }

    #[inline(always)]
    fn row(self, k: usize) -> usize {
        row_of_block(self.0, k)
    }

    #[inline(always)]
    fn ahead<const T: usize>(self, k: usize, blocks: &[Lane], stride: usize) -> Ahead<'_, T> {
        let Some(numbers) = self.0.get(k / LANES..k / LANES + T) else {
            return Ahead::Nothing;
        };
        let worth = Worth::of(T * stride, blocks);
        let cache = match worth.second {
            true => Cache::Second,
            false if worth.first => Cache::First,
            false => return Ahead::Nothing,
        };
        let mut tiles = [&[][..]; T];
        for (tile, &block) in tiles.iter_mut().zip(numbers) {
            *tile = &blocks[block as usize * stride..][..stride];
        }
        Ahead::Tiles(tiles, cache)
    }
}

/// Kept blocks.
#[derive(Clone, Copy)]
pub(super) struct Kept<'a, O> {
    /// For the last rows, which fill no block.
    pub view: View<'a>,
    /// All kept tiles.
    pub blocks: &'a [Lane],
    /// Lanes per tile.
    pub stride: usize,
    pub order: O,
}

impl<O: BlockOrder> Kept<'_, O> {
    /// The tile of the rows from the `k`-th on.
    #[inline(always)]
    fn at(&self, k: usize) -> &[Lane] {
        &self.blocks[self.order.block(k) * self.stride..][..self.stride]
    }
}

impl<O: BlockOrder> TileSource for Kept<'_, O> {
    const EVENLY: bool = O::IN_ORDER;

    #[inline(always)]
    fn row(&self, k: usize) -> usize {
        self.order.row(k)
    }

    #[inline(always)]
    fn tile<'a, A: Arithmetic>(
        &'a self,
        first: usize,
        live: usize,
        buffer: &'a mut [Lane],
    ) -> &'a [Lane] {
        if live == LANES {
            return self.at(first);
        }
        let row = |k: usize| self.row(first + if k < live { k } else { 0 });
        self.view.tile::<A>(None, row, buffer)
    }

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
        } else if O::IN_ORDER {
            // One stretch of memory, so that its bounds are checked once.
            let mut rest = &self.blocks[self.order.block(first) * stride..][..T * stride];
            for tile in &mut tiles {
                (*tile, rest) = rest.split_at(stride);
            }
        } else {
            for (t, tile) in tiles.iter_mut().enumerate() {
                *tile = self.at(first + t * LANES);
            }
        }
        tiles
    }

    /// Of what is stored of rows alone; for tiles see [`Self::ahead`]: all at once took longer.
    #[inline(always)]
    fn prefetch<const T: usize>(&self, first: usize, stored: &[f64], width: usize) {
        if O::IN_ORDER || stored.is_empty() {
            return;
        }
        for t in 0..T {
            let row = self.order.row(first + t * LANES);
            prefetch_span(stored, row * width, LANES * width);
        }
    }

    /// Processors see that memory is read in order, but late where the tiles of a group are read side by side.
    #[inline(always)]
    fn ahead<const T: usize>(&self, first: usize) -> Ahead<'_, T> {
        self.order
            .ahead(first + T * LANES, self.blocks, self.stride)
    }
}

/// Rows one by one: `row(k)` is the k-th, and where the eight from the k-th on are a block of neighbours, whose tile is taken if it is kept,
/// `block(k)` is its number.
#[derive(Clone, Copy)]
pub(super) struct Picked<'a, R, B> {
    pub view: View<'a>,
    pub row: R,
    pub block: B,
    /// Rows of the pass.
    pub len: usize,
}

impl<R, B> TileSource for Picked<'_, R, B>
where
    R: Fn(usize) -> usize + Copy,
    B: Fn(usize) -> Option<usize> + Copy,
{
    const EVENLY: bool = true;

    /// Tiles that are put together are written before they are read.
    #[inline(always)]
    fn groups_fit(stride: usize) -> bool {
        Self::has_room(stride)
    }

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
        let is_far = stored.len() > NEAR;
        let in_burst = self.long_rows::<T>(first).is_none();
        for first in (first..first + T * LANES).step_by(LANES) {
            if let Some(block) = (self.block)(first) {
                self.view.prefetch_block(block);
                if is_far {
                    prefetch(Cache::Second, stored, block * LANES * width);
                }
                continue;
            }
            let row = |k: usize| (self.row)(first + k);
            if in_burst {
                self.view.prefetch_rows(row);
            }
            if is_far {
                for k in 0..LANES {
                    prefetch(Cache::Second, stored, row(k) * width);
                }
            }
        }
    }

    #[inline(always)]
    fn ahead<const T: usize>(&self, first: usize) -> Ahead<'_, T> {
        match self.long_rows::<T>(first + LANES) {
            Some(rows) => Ahead::Rows(rows),
            None => Ahead::Nothing,
        }
    }
}

impl<'a, R: Fn(usize) -> usize, B> Picked<'a, R, B> {
    /// Whether the first cache holds a group of tiles of `stride` lanes.
    #[inline(always)]
    fn has_room(stride: usize) -> bool {
        /// Bytes of the smallest first caches.
        const CACHE: usize = 32 << 10;
        size_of::<Lane>() * GROUP * stride <= CACHE
    }

    /// The rows of the tile from the row `first` on where they are so long that hundreds of cache lines, asked for at once, would be
    /// waited for: they are asked for little by little.
    #[inline(always)]
    fn long_rows<const T: usize>(&self, first: usize) -> Option<[&'a [f64]; LANES]> {
        if T > 1 || Self::has_room(self.view.stride()) || first + LANES > self.len {
            return None;
        }
        self.view.rows(
            #[inline(always)]
            |k| (self.row)(first + k),
        )
    }
}
