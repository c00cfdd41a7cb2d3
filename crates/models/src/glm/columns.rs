//! The loop over the columns of a group of tiles.

use super::machine::{Cache, prefetch};
use super::source::{Ahead, Reach};
use crate::families::rows::LANES;

/// Which of the lanes ahead a loop over columns asks for.
#[derive(Clone, Copy)]
pub(super) enum Part {
    All,
    Half,
    /// All but that half.
    Rest,
}

/// A loop over the columns of `T` tiles, which asks for a part of what is ahead of them meanwhile.
pub(super) struct Columns<I, W, const T: usize> {
    /// What belongs to each column.
    items: I,
    part: Part,
    /// Lanes per tile.
    stride: usize,
    /// What to do with the number of a column and what belongs to it.
    work: W,
}

impl<I: ExactSizeIterator, W: FnMut(usize, I::Item), const T: usize> Columns<I, W, T> {
    #[inline(always)]
    pub fn new(items: I, part: Part, stride: usize, work: W) -> Self {
        Self {
            items,
            part,
            stride,
            work,
        }
    }

    /// Does the work for each column.
    #[inline(always)]
    pub fn each(mut self, ahead: Ahead<'_, T>) {
        match ahead {
            Ahead::Nothing => {
                for (j, item) in self.items.enumerate() {
                    (self.work)(j, item);
                }
            }
            Ahead::Tiles(tiles, Cache::First) => self.asking(
                #[inline(always)]
                |k| prefetch(Cache::First, tiles[k % T], k / T),
            ),
            Ahead::Tiles(tiles, Cache::Second) => self.asking(
                #[inline(always)]
                |k| prefetch(Cache::Second, tiles[k % T], k / T),
            ),
            // Lines of a row where it begins one: else the last is left out.
            Ahead::Rows(rows) => self.asking(
                #[inline(always)]
                |k| prefetch(Cache::Second, rows[k % LANES], k / LANES * LANES),
            ),
            Ahead::Stretch(next, Reach::Next) => self.asking(
                #[inline(always)]
                |k| prefetch(Cache::First, next, k),
            ),
            Ahead::Stretch(next, Reach::Far) => self.asking(
                #[inline(always)]
                |k| prefetch(Cache::Second, next, next.len() + k),
            ),
            Ahead::Stretch(next, Reach::Both) => self.asking(
                #[inline(always)]
                |k| {
                    prefetch(Cache::First, next, k);
                    prefetch(Cache::Second, next, next.len() + k);
                },
            ),
        }
    }

    /// [`Self::each`] where there is something to `ask` for, lane by lane.
    #[inline(always)]
    fn asking(mut self, ask: impl Fn(usize)) {
        let count = self.items.len();
        let (start, at_each) = match self.part {
            Part::All => (0, T),
            Part::Half => (0, T / 2),
            Part::Rest => (count * (T / 2), T - T / 2),
        };
        for (j, item) in self.items.enumerate() {
            if T == 1 {
                // The lane of a column cannot be halved: they take turns. A range of lanes per column would say this and the rest in one,
                // but such loops are not unrolled: steps with long random rows take a third longer.
                let asks = match self.part {
                    Part::All => true,
                    Part::Half => j % 2 == 0,
                    Part::Rest => j % 2 == 1,
                };
                if asks {
                    ask(j);
                }
            } else {
                for t in 0..at_each {
                    ask(start + j * at_each + t);
                }
            }
            (self.work)(j, item);
        }
        if !matches!(self.part, Part::Half) {
            for k in count * T..self.stride * T {
                ask(k);
            }
        }
    }
}
