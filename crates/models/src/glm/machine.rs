//! What the row loop asks of the machine's caches.

/// A cache of a core.
#[derive(Clone, Copy)]
pub(super) enum Cache {
    First,
    Second,
}

/// Asks for `data[index]` ahead of its use; does nothing where the machine offers no such instruction, or past the end of memory.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a prefetch hint reads nothing and cannot fault")
)]
pub(super) fn prefetch<T>(cache: Cache, data: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _MM_HINT_T1, _mm_prefetch};
        let at = data.as_ptr().wrapping_add(index).cast();
        // SAFETY: prefetching has no architectural effect, whatever the address.
        unsafe {
            match cache {
                Cache::First => _mm_prefetch::<_MM_HINT_T0>(at),
                Cache::Second => _mm_prefetch::<_MM_HINT_T1>(at),
            }
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (cache, data, index);
}

/// Asks for `len` of `data` from `start` on, a cache line at a time, for the second cache: the first takes few requests at once.
#[inline(always)]
pub(super) fn prefetch_span<T>(data: &[T], start: usize, len: usize) {
    /// Bytes of a cache line.
    const LINE: usize = 64;
    let mut at = start;
    while at < start + len {
        prefetch(Cache::Second, data, at);
        at += LINE / size_of::<T>();
    }
}
