//! Memory of tables that passes read again and again.

use std::marker::PhantomData;
use std::ops::{Deref, DerefMut};

use bytemuck::Pod;
use memmap2::MmapMut;

/// Rows of a table that one thread fills at a time: some tens of kilobytes.
pub const ROWS_AT_ONCE: usize = 1024;

/// Numbers in pages of their own, which start cache lines and, where the system offers it, are huge: a pass over a table in small pages
/// waits for the addresses of thousands of them, and processors stop at the end of each to read ahead.
#[derive(Debug)]
pub struct Pages<T> {
    memory: MmapMut,
    len: usize,
    kind: PhantomData<T>,
}

impl<T: Pod> Pages<T> {
    /// Memory of `len` zeros.
    ///
    /// # Panics
    ///
    /// When there is not that much memory.
    pub fn zeros(len: usize) -> Self {
        // The system maps no stretch without bytes.
        let bytes = (len * size_of::<T>()).max(1);
        let memory = MmapMut::map_anon(bytes)
            .unwrap_or_else(|error| panic!("no memory for a table of {bytes} bytes: {error}"));
        // Systems without huge pages refuse: the table is as good in small ones, though slower.
        #[cfg(target_os = "linux")]
        drop(memory.advise(memmap2::Advice::HugePage));
        Self {
            memory,
            len,
            kind: PhantomData,
        }
    }
}

impl From<&[f64]> for Pages<f64> {
    fn from(numbers: &[f64]) -> Self {
        let mut pages = Self::zeros(numbers.len());
        pages.copy_from_slice(numbers);
        pages
    }
}

impl<T: Pod> Deref for Pages<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        bytemuck::cast_slice(&self.memory[..self.len * size_of::<T>()])
    }
}

impl<T: Pod> DerefMut for Pages<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.memory[..self.len * size_of::<T>()])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_hold_what_was_put_in_and_start_cache_lines() {
        for len in [0, 1, 1000, 300_000] {
            let numbers: Vec<f64> = (0..len).map(f64::from).collect();
            let pages = Pages::from(&numbers[..]);
            assert_eq!(*pages, *numbers);
            assert_eq!(pages.as_ptr().align_offset(64), 0);
        }
        assert!(
            Pages::<[f32; 8]>::zeros(3)
                .as_flattened()
                .iter()
                .all(|&x| x == 0.0)
        );
    }
}
