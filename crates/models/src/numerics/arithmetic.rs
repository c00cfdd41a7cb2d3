//! How products are added, by what the processor has: the class of arithmetic, and the vector instructions of row loops.
//!
//! With fused multiply-add a b + c is rounded once, without it twice. Which of the two a processor uses decides the last digits of
//! draws, so there are two classes of processors. Within a class the width of vectors changes no bit.

use std::cell::Cell;

use serde::{Deserialize, Serialize};

use super::elementary::{LANES, Lane};
#[cfg(target_arch = "x86_64")]
use super::vector::{Halves, Whole};
use super::vector::{Plain, Vector};

#[cfg(target_arch = "x86_64")]
mod transpose;

/// Whether products are added with one rounding or with two.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// By fused multiply-add: x86-64 with AVX2 and FMA or with AVX-512, and aarch64.
    Fused,
    /// One after the other: other processors.
    Separate,
}

thread_local! {
    /// The class that this thread was told to use.
    static CHOSEN: Cell<Option<Class>> = Cell::new(at_first());
}

#[cfg(not(test))]
fn at_first() -> Option<Class> {
    None
}
#[cfg(test)]
use tests::at_first;

impl Class {
    /// Every class; all of them run on a processor that has the first.
    pub const ALL: [Self; 2] = [Self::Fused, Self::Separate];

    /// The class of models that this thread builds.
    pub fn in_use() -> Self {
        SimdLevel::detect().class()
    }

    /// Lets this thread build models of another class than its processor's from now on; `None` undoes that. For tests: a machine
    /// with fused multiply-add can do what one without it does, and a model keeps its class. A class that the processor does not
    /// have is not taken.
    #[doc(hidden)]
    pub fn choose(class: Option<Self>) {
        CHOSEN.set(class);
    }
}

/// What a level of instructions does in its own way, as a type: known where a row loop is compiled.
pub trait Arithmetic: Copy + 'static {
    /// Eight numbers at once.
    type V: Vector;

    /// a b + c.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;

    /// Puts eight rows of one length side by side: `tile[j][k]` is `rows[k][j]`.
    #[inline(always)]
    fn transpose(rows: [&[f64]; LANES], tile: &mut [Lane]) {
        columns(rows, tile);
    }

    /// Does `work` in a function of its own that is compiled for these instructions: for what is rare and would make a row loop long.
    fn apart<T>(work: impl FnOnce() -> T) -> T;
}

/// A number as it may be stored: arithmetic is in double precision.
pub(crate) trait Stored: Copy {
    /// The number in double precision.
    fn widen(self) -> f64;
}

impl Stored for f64 {
    #[inline(always)]
    fn widen(self) -> f64 {
        self
    }
}

impl Stored for f32 {
    #[inline(always)]
    fn widen(self) -> f64 {
        f64::from(self)
    }
}

/// [`Arithmetic::transpose`] as compilers find it, of rows in any precision.
#[inline(always)]
pub(crate) fn columns<T: Stored>(
    [r0, r1, r2, r3, r4, r5, r6, r7]: [&[T]; LANES],
    tile: &mut [Lane],
) {
    let length = tile.len();
    // Slices of one known length: no bounds are checked below, and a lane is put together in registers (eight single stores would
    // stall the vector load that follows them).
    let (r0, r1, r2, r3) = (&r0[..length], &r1[..length], &r2[..length], &r3[..length]);
    let (r4, r5, r6, r7) = (&r4[..length], &r5[..length], &r6[..length], &r7[..length]);
    for j in 0..length {
        one_column_at_a_time();
        tile[j] = [
            r0[j].widen(),
            r1[j].widen(),
            r2[j].widen(),
            r3[j].widen(),
            r4[j].widen(),
            r5[j].widen(),
            r6[j].widen(),
            r7[j].widen(),
        ];
    }
}

/// See [`Class::Fused`]. Only in functions that are compiled for such instructions; elsewhere each call is one of a library.
#[derive(Clone, Copy, Debug)]
pub struct Fused;

/// [`Fused`] with vectors of AVX-512, which must be there.
#[cfg(target_arch = "x86_64")]
#[derive(Clone, Copy, Debug)]
pub struct FusedWide;

/// See [`Class::Separate`].
#[derive(Clone, Copy, Debug)]
pub struct Separate;

impl Arithmetic for Fused {
    #[cfg(target_arch = "x86_64")]
    type V = Halves;
    #[cfg(not(target_arch = "x86_64"))]
    type V = Plain<true>;

    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    fn transpose(rows: [&[f64]; LANES], tile: &mut [Lane]) {
        transpose::by_halves(rows, tile);
    }

    #[inline(always)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        #[cfg(target_arch = "x86_64")]
        return with_fma(work);
        #[cfg(not(target_arch = "x86_64"))]
        return plainly(work);
    }
}

#[cfg(target_arch = "x86_64")]
impl Arithmetic for FusedWide {
    type V = Whole;

    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }

    #[inline(always)]
    fn transpose(rows: [&[f64]; LANES], tile: &mut [Lane]) {
        transpose::whole(rows, tile);
    }

    #[inline(always)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        with_avx512(work)
    }
}

impl Arithmetic for Separate {
    type V = Plain<false>;

    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }

    #[inline(always)]
    fn apart<T>(work: impl FnOnce() -> T) -> T {
        plainly(work)
    }
}

#[inline(never)]
fn plainly<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Vector instructions that row loops are compiled for. A level other than the first is proof that this machine has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimdLevel {
    /// What every processor of the platform has.
    Baseline,
    /// Four numbers at a time, with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Fma,
    /// Eight numbers at a time, with fused multiply-add.
    #[cfg(target_arch = "x86_64")]
    Avx512,
    /// Two numbers at a time, with fused multiply-add.
    #[cfg(target_arch = "aarch64")]
    Neon,
}

impl SimdLevel {
    /// What this machine offers, narrowest first.
    pub fn available() -> Vec<Self> {
        let mut levels = vec![Self::Baseline];
        #[cfg(target_arch = "x86_64")]
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            levels.push(Self::Fma);
            if is_x86_feature_detected!("avx512f")
                && is_x86_feature_detected!("avx512dq")
                && is_x86_feature_detected!("avx512vl")
            {
                levels.push(Self::Avx512);
            }
        }
        #[cfg(target_arch = "aarch64")]
        levels.push(Self::Neon);
        levels
    }

    /// The widest that this machine offers, in the class that this thread was told to use if it has it.
    pub fn detect() -> Self {
        let levels = Self::available();
        let of_class = |class| levels.iter().rfind(|level| level.class() == class);
        let chosen = CHOSEN.get().and_then(of_class);
        *chosen.or(levels.last()).unwrap_or(&Self::Baseline)
    }

    /// How products are added at this level.
    pub fn class(self) -> Class {
        match self {
            Self::Baseline => Class::Separate,
            #[cfg(target_arch = "x86_64")]
            Self::Fma | Self::Avx512 => Class::Fused,
            #[cfg(target_arch = "aarch64")]
            Self::Neon => Class::Fused,
        }
    }
}

/// Keeps the compiler from handling eight columns of one row together instead of one column of eight rows: that needs gathers and
/// scatters, and takes three times as long. No instruction comes of it.
#[inline(always)]
#[cfg_attr(
    any(target_arch = "x86_64", target_arch = "aarch64"),
    expect(unsafe_code, reason = "assembly without an instruction")
)]
pub(crate) fn one_column_at_a_time() {
    #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
    // SAFETY: there is no instruction, and nothing is said to change.
    unsafe {
        std::arch::asm!("", options(nomem, nostack, preserves_flags));
    }
}

/// Evaluates an expression with the instructions of a [`SimdLevel`]; within it the named type is the [`Arithmetic`] of the level.
/// Functions that it calls are compiled for these instructions if they are inlined.
macro_rules! at_level {
    ($level:expr, $arithmetic:ident => $row_loop:expr) => {{
        use $crate::numerics::arithmetic;
        match $level {
            arithmetic::SimdLevel::Baseline => {
                type $arithmetic = arithmetic::Separate;
                $row_loop
            }
            #[cfg(target_arch = "x86_64")]
            arithmetic::SimdLevel::Fma => arithmetic::with_fma(
                #[inline(always)]
                || {
                    type $arithmetic = arithmetic::Fused;
                    $row_loop
                },
            ),
            #[cfg(target_arch = "x86_64")]
            arithmetic::SimdLevel::Avx512 => arithmetic::with_avx512(
                #[inline(always)]
                || {
                    type $arithmetic = arithmetic::FusedWide;
                    $row_loop
                },
            ),
            #[cfg(target_arch = "aarch64")]
            arithmetic::SimdLevel::Neon => {
                type $arithmetic = arithmetic::Fused;
                $row_loop
            }
        }
    }};
}
pub(crate) use at_level;

/// A loop over rows outside of this crate, compiled for the instructions of every [`SimdLevel`]; what it calls is too, if it is
/// inlined.
pub trait RowLoop {
    /// Result of the loop.
    type Output;
    /// The loop, to be inlined.
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// Runs a loop with the instructions of `level`.
#[inline]
pub fn run_loop<L: RowLoop>(level: SimdLevel, row_loop: L) -> L::Output {
    at_level!(level, A => row_loop.run::<A>())
}

/// Runs a row loop that is compiled for AVX2 with fused multiply-add; only the arm of a level that was detected calls it.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(
    unsafe_code,
    reason = "calls the same safe loop compiled for CPU features that were detected"
)]
pub(crate) fn with_fma<T>(row_loop: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx2,fma")]
    #[inline(never)]
    fn compiled<T>(row_loop: impl FnOnce() -> T) -> T {
        row_loop()
    }
    // SAFETY: the level was detected on this machine.
    unsafe { compiled(row_loop) }
}

/// Runs a loop compiled for AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
#[expect(
    unsafe_code,
    reason = "calls the same safe loop compiled for CPU features that were detected"
)]
pub(crate) fn with_avx512<T>(row_loop: impl FnOnce() -> T) -> T {
    #[target_feature(enable = "avx512f,avx512dq,avx512vl,fma")]
    #[inline(never)]
    fn compiled<T>(row_loop: impl FnOnce() -> T) -> T {
        row_loop()
    }
    // SAFETY: the level was detected on this machine.
    unsafe { compiled(row_loop) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All tests of this crate run in the other class where `ERGODIC_ARITHMETIC` is `separate`.
    pub(super) fn at_first() -> Option<Class> {
        let word = std::env::var_os("ERGODIC_ARITHMETIC")?;
        (word == "separate").then_some(Class::Separate)
    }

    #[test]
    fn a_class_is_taken_where_the_processor_has_it() {
        let levels = SimdLevel::available();
        let widest = *levels.last().unwrap();
        for class in Class::ALL {
            Class::choose(Some(class));
            let has = levels.iter().any(|level| level.class() == class);
            assert_eq!(Class::in_use() == class, has);
        }
        Class::choose(None);
        assert_eq!(SimdLevel::detect(), widest);
    }

    #[test]
    fn rows_are_transposed_at_every_level() {
        for length in 0..20 {
            let number = |k: usize, j: usize| (100 * k + j) as f64;
            let rows: [Vec<f64>; LANES] =
                std::array::from_fn(|k| (0..length).map(|j| number(k, j)).collect());
            for level in SimdLevel::available() {
                let mut tile = vec![[-1.0; LANES]; length];
                let rows = rows.each_ref().map(Vec::as_slice);
                at_level!(level, A => A::transpose(rows, &mut tile));
                for (j, lane) in tile.iter().enumerate() {
                    assert_eq!(*lane, std::array::from_fn(|k| number(k, j)), "{level:?}");
                }
            }
        }
    }

    #[test]
    fn products_are_added_by_class() {
        // (1 + 2^-30)² − 1 − 2^-29 is 2^-60, which two roundings lose.
        let (a, rest) = (1.0 + 0.5_f64.powi(30), 1.0 + 0.5_f64.powi(29));
        for level in SimdLevel::available() {
            let got = at_level!(level, A => A::mul_add(a, a, -rest));
            let expected = match level.class() {
                Class::Fused => 0.5_f64.powi(60),
                Class::Separate => 0.0,
            };
            assert_eq!(got, expected, "{level:?}");
        }
    }
}
