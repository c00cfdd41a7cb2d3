//! What the row loop asks of the machine: its vector instructions, its caches, and a say in how the compiler uses them.

/// Vector instructions that the row loop is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::models) enum SimdLevel {
    Baseline,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl SimdLevel {
    /// What this machine offers, narrowest first.
    pub(in crate::models) fn available() -> Vec<Self> {
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                levels.push(Self::Avx2);
            }
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self::Avx512);
            }
        }
        levels
    }

    pub(super) fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self::Baseline)
    }

    /// Runs a loop with these instructions, of which the machine must have them.
    #[inline(always)]
    #[cfg_attr(
        target_arch = "x86_64",
        expect(
            unsafe_code,
            reason = "calls the same safe loop compiled for CPU features that were detected"
        )
    )]
    pub(super) fn run<T>(self, row_loop: impl FnOnce() -> T) -> T {
        match self {
            Self::Baseline => row_loop(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level was detected on this machine.
            Self::Avx2 => unsafe { with_avx2(row_loop) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the level was detected on this machine.
            Self::Avx512 => unsafe { with_avx512(row_loop) },
        }
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn with_avx2<T>(row_loop: impl FnOnce() -> T) -> T {
    row_loop()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl")]
fn with_avx512<T>(row_loop: impl FnOnce() -> T) -> T {
    row_loop()
}

/// Keeps the compiler from handling eight columns of one row together instead of one column of eight rows: that needs gathers and
/// scatters, and takes three times as long. No instruction comes of it.
#[inline(always)]
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "assembly without an instruction")
)]
pub(super) fn one_column_at_a_time() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: there is no instruction, and nothing is said to change.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// Asks for `data[index]` ahead of its use; does nothing where the machine offers no such instruction.
#[inline(always)]
#[cfg_attr(
    target_arch = "x86_64",
    expect(unsafe_code, reason = "a prefetch hint reads nothing and cannot fault")
)]
pub(super) fn prefetch(data: &[f64], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching has no architectural effect, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(data.as_ptr().wrapping_add(index).cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (data, index);
}
