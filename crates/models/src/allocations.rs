//! Counts heap allocations of the present thread, for tests that steps and passes do not allocate.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // No destructor and no lazy start: using it allocates nothing itself.
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// The system's allocator with a counter per thread.
struct Counting;

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // A thread that is being torn down has no counter any more, and nobody reads it.
    if COUNT.try_with(|count| count.set(count.get() + 1)).is_err() {}
}

#[expect(
    unsafe_code,
    reason = "an allocator is an unsafe trait; every call is passed on to the system's allocator unchanged"
)]
// SAFETY: all memory comes from and goes back to `System` with the caller's own layout.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's obligations are those of `System`.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller's obligations are those of `System`.
        unsafe { System.dealloc(memory, layout) }
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: the caller's obligations are those of `System`.
        unsafe { System.realloc(memory, layout, new_size) }
    }
}

/// Allocations and reallocations of this thread while `work` runs.
pub fn count_during(work: impl FnOnce()) -> u64 {
    let before = COUNT.get();
    work();
    COUNT.get() - before
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn allocations_are_seen_and_plain_arithmetic_is_not() {
        let mut kept = Vec::new();
        assert_eq!(count_during(|| kept = vec![1.0_f64; 1000]), 1);
        assert_eq!(count_during(|| kept[7] += kept[3]), 0);
        assert_eq!(count_during(|| kept.push(1.0)), 1);
    }
}
