//! What benchmarks share.

/// Whether the benchmark is only to show that it runs: `cargo bench` says `--bench`, `cargo test --bench NAME` does not.
pub fn is_test() -> bool {
    let is = |flag: &str| std::env::args().any(|arg| arg == flag);
    is("--test") || !is("--bench")
}
