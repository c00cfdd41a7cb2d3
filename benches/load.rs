//! Time to load a CSV of 1,000,000 rows and 10 columns, and to profile it.

use std::fmt::Write as _;
use std::path::PathBuf;

use ergodic_base::{Control, Purpose, stream};
use ergodic_data::{ImportOptions, load, profile};
use rand::RngExt as _;
use rand_distr::StandardNormal;

mod support;

/// Rows of the file.
fn rows() -> usize {
    match support::is_test() {
        true => 1000,
        false => 1_000_000,
    }
}

fn main() {
    divan::main();
}

/// One group column and nine of numbers, about 120 MB; made once per run.
fn file() -> PathBuf {
    let rows = rows();
    let path = std::env::temp_dir().join(format!("ergodic-bench-{rows}x10.csv"));
    if !path.exists() {
        let mut rng = stream(1, 0, Purpose::Data);
        let mut text = String::from("group,a,b,c,d,e,f,g,h,i\n");
        for _ in 0..rows {
            write!(text, "g{}", rng.random_range(0..50_u32)).expect("a string takes everything");
            for _ in 0..9 {
                let value: f64 = rng.sample(StandardNormal);
                write!(text, ",{value:.10}").expect("a string takes everything");
            }
            text.push('\n');
        }
        std::fs::write(&path, text).expect("the temporary folder must take 120 MB");
    }
    path
}

#[divan::bench(sample_count = 5)]
fn load_csv_1e6x10(bencher: divan::Bencher<'_, '_>) {
    let path = file();
    bencher.bench_local(|| {
        load(&path, &ImportOptions::default(), &Control::default()).expect("the file is sound")
    });
}

#[divan::bench(sample_count = 3)]
fn profile_1e6x10(bencher: divan::Bencher<'_, '_>) {
    let loaded =
        load(&file(), &ImportOptions::default(), &Control::default()).expect("the file is sound");
    bencher.bench_local(|| profile(&loaded.table));
}
