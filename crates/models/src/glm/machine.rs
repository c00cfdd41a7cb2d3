//! What the row loop asks of the machine's caches.

/// Asks for `data[index]` ahead of its use; does nothing where the machine offers no such instruction.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a prefetch hint reads nothing and cannot fault")
)]
pub(super) fn prefetch<T>(data: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no architectural effect, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, index);
}

/// Asks for `len` of `data` from `start` on, a cache line at a time.
#[inline(always)]
pub(super) fn prefetch_span<T>(data: &[T], start: usize, len: usize) {
    /// Bytes of a cache line.
    const LINE: usize = 64;
    let mut at = start;
    while at < start + len {
        prefetch(data, at);
        at += LINE / size_of::<T>();
    }
}
