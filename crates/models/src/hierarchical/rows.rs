//! Rows in the order of their groups, and the passes over any rows of the design as passes over groups.
//!
//! Samplers name rows by their place in the design, which is shuffled. Stored are the rows of the first group, then those
//! of the second, and so on, each group's in the order of the design: what a span of the design has of a group is then one
//! stretch, and the shared row loop runs over it with one θ.

use crate::Rows;
use crate::families::rows::RowFamily;
use crate::glm::GlmRows;
use crate::numerics::pages::Pages;

/// Rows sorted at a time where single rows matter: a few pages of working memory.
pub(super) const SEGMENT: usize = 256;

/// Rows by group.
#[derive(Debug)]
pub(super) struct GroupedRows<F> {
    /// In the order of groups.
    pub rows: GlmRows<F>,
    /// Group of each row of the design (N).
    group: Vec<u32>,
    /// Place of each row of the design in the order of groups (N).
    place: Vec<u32>,
    /// Where the rows of each group begin, and N (G + 1).
    start: Vec<u32>,
}

impl<F: RowFamily> GroupedRows<F> {
    /// From rows in the order and layout of the design ([`GlmRows::new`]); `group` (N) is below `num_groups`.
    pub fn new(
        family: F,
        num_columns: usize,
        data: &[f64],
        group: &[u32],
        num_groups: usize,
    ) -> Self {
        let width = num_columns + F::EXTRA;
        let mut start = vec![0_u32; num_groups + 1];
        for &g in group {
            start[g as usize + 1] += 1;
        }
        for g in 0..num_groups {
            start[g + 1] += start[g];
        }
        let mut next = start.clone();
        let mut sorted = Pages::zeros(data.len());
        let mut place = Vec::with_capacity(group.len());
        for (row, &g) in data.chunks_exact(width).zip(group) {
            let at = next[g as usize];
            next[g as usize] += 1;
            sorted[at as usize * width..][..width].copy_from_slice(row);
            place.push(at);
        }
        Self {
            rows: GlmRows::new(family, num_columns, sorted),
            group: group.to_vec(),
            place,
            start,
        }
    }

    /// G.
    pub fn num_groups(&self) -> usize {
        self.start.len() - 1
    }

    /// Group of row `i` of the design.
    pub fn group_of(&self, i: usize) -> usize {
        self.group[i] as usize
    }

    /// First place and number of the rows of group `g`.
    pub fn span(&self, g: usize) -> (usize, usize) {
        let (from, to) = (self.start[g] as usize, self.start[g + 1] as usize);
        (from, to - from)
    }

    /// Working memory of the visits below.
    pub fn index_len(&self) -> usize {
        3 * self.num_groups() + 2 * SEGMENT
    }

    /// Calls `visit(g, places)` for every group with rows among `rows` of the design. `index` is working memory of
    /// [`Self::index_len`] numbers, zero between calls.
    pub fn visit(&self, rows: Rows<'_>, index: &mut [u32], mut visit: impl FnMut(usize, Rows<'_>)) {
        match rows {
            Rows::All => {
                for g in 0..self.num_groups() {
                    let (start, len) = self.span(g);
                    if len > 0 {
                        visit(g, Rows::Span { start, len });
                    }
                }
            }
            Rows::Span { start, len } => {
                let (count, rest) = index.split_at_mut(self.num_groups());
                let (first, met) = rest.split_at_mut(self.num_groups());
                let mut groups = 0;
                for i in start..start + len {
                    let g = self.group[i] as usize;
                    if count[g] == 0 {
                        first[g] = self.place[i];
                        met[groups] = g as u32;
                        groups += 1;
                    }
                    count[g] += 1;
                }
                for &g in &met[..groups] {
                    let g = g as usize;
                    let span = Rows::Span {
                        start: first[g] as usize,
                        len: count[g] as usize,
                    };
                    count[g] = 0;
                    visit(g, span);
                }
            }
            Rows::Pick(_) | Rows::Blocks(_) => {
                self.visit_single(rows, index, |g, places, _slots| {
                    visit(g, Rows::Pick(places));
                });
            }
        }
    }

    /// Calls `visit(g, places, slots)` for stretches of rows of one group; `slots[k]` says which of `rows` place k is.
    pub fn visit_single(
        &self,
        rows: Rows<'_>,
        index: &mut [u32],
        mut visit: impl FnMut(usize, &[u32], &[u32]),
    ) {
        let total = rows.len(self.group.len());
        let (count, rest) = index.split_at_mut(self.num_groups());
        let (next, rest) = rest.split_at_mut(self.num_groups());
        let (met, rest) = rest.split_at_mut(self.num_groups());
        let (places, slots) = rest.split_at_mut(SEGMENT);
        let mut from = 0;
        while from < total {
            let to = total.min(from + SEGMENT);
            let mut groups = 0;
            for k in from..to {
                let g = self.group_of(rows.get(k));
                if count[g] == 0 {
                    met[groups] = g as u32;
                    groups += 1;
                }
                count[g] += 1;
            }
            let mut begin = 0;
            for &g in &met[..groups] {
                next[g as usize] = begin;
                begin += count[g as usize];
            }
            for k in from..to {
                let i = rows.get(k);
                let at = &mut next[self.group_of(i)];
                places[*at as usize] = self.place[i];
                slots[*at as usize] = k as u32;
                *at += 1;
            }
            for &g in &met[..groups] {
                let g = g as usize;
                let (end, len) = (next[g] as usize, count[g] as usize);
                count[g] = 0;
                visit(g, &places[end - len..end], &slots[end - len..end]);
            }
            from = to;
        }
    }
}
