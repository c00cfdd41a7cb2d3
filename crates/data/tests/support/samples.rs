//! The generator of the bundled data sets.
//!
//! Every data set is one ChaCha8 stream (seed as below, chain 0, purpose Data) read row by row, and every value
//! is rounded to few decimals when it is written, so that the last bits of a platform's `exp` and `ln` do not
//! show. After a change, `ERGODIC_WRITE_SAMPLES=1 cargo test --test data_samples` writes the files again, and
//! the side-cars must be given the new checksums that the test prints.

use std::fmt::Write as _;

use ergodic_base::{ChainRng, Purpose, stream};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

pub const CHURN_SEED: u64 = 2101;
pub const TALL_SEED: u64 = 2102;
pub const AWKWARD_SEED: u64 = 2103;
pub const FISH_SEED: u64 = 2104;
pub const SCHOOLS_SEED: u64 = 2105;
pub const REACTION_SEED: u64 = 2106;
pub const CLUSTERS_SEED: u64 = 2107;

fn uniform(rng: &mut ChainRng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.random::<f64>()
}

fn normal(rng: &mut ChainRng) -> f64 {
    StandardNormal.sample(rng)
}

/// One of `choices` by the given shares, which sum to 1.
fn choose<'a>(rng: &mut ChainRng, choices: &[(&'a str, f64)]) -> &'a str {
    let mut left = rng.random::<f64>();
    for (choice, share) in choices {
        left -= share;
        if left < 0.0 {
            return choice;
        }
    }
    choices[choices.len() - 1].0
}

fn coin(rng: &mut ChainRng, log_odds: f64) -> bool {
    rng.random::<f64>() < 1.0 / (1.0 + (-log_odds).exp())
}

fn rounded(value: f64, decimals: i32) -> f64 {
    let scale = 10_f64.powi(decimals);
    (value * scale).round() / scale
}

/// Customers of a telephone company, 1,000 rows: who leaves?
pub fn churn() -> String {
    let mut rng = stream(CHURN_SEED, 0, Purpose::Data);
    let mut text =
        String::from("customer,age,tenure_months,monthly_fee,support_calls,region,plan,churned\n");
    for i in 1..=1000 {
        let age = uniform(&mut rng, 18.0, 80.0).floor();
        let tenure = (72.0 * rng.random::<f64>().powi(2)).floor();
        let plan = choose(&mut rng, &[("basic", 0.5), ("plus", 0.3), ("pro", 0.2)]);
        let region = choose(
            &mut rng,
            &[("east", 0.2), ("north", 0.3), ("south", 0.3), ("west", 0.2)],
        );
        let base = match plan {
            "basic" => 15.0,
            "plus" => 25.0,
            _ => 40.0,
        };
        let fee = rounded(base + uniform(&mut rng, 0.0, 40.0), 2);
        // Waiting times between calls are exponential with mean 1/1.5, so the number of calls is Poisson(1.5).
        let mut calls = 0.0;
        let mut waited = -(1.0 - rng.random::<f64>()).ln();
        while waited < 1.5 {
            calls += 1.0;
            waited -= (1.0 - rng.random::<f64>()).ln();
        }
        let by_region = match region {
            "north" => 0.4,
            "south" => 0.0,
            "west" => -0.5,
            _ => 0.0,
        };
        let by_plan = match plan {
            "plus" => -0.5,
            "pro" => -1.0,
            _ => 0.0,
        };
        let log_odds =
            -1.5 - 0.02 * age - 0.03 * tenure + 0.04 * fee + 0.5 * calls + by_region + by_plan;
        let churned = if coin(&mut rng, log_odds) {
            "yes"
        } else {
            "no"
        };
        writeln!(
            text,
            "C{i:04},{age},{tenure},{fee:.2},{calls},{region},{plan},{churned}"
        )
        .unwrap();
    }
    text
}

/// Parts tested at the end of a line, 60,000 rows: more than a full-data sampler likes.
pub fn tall_logistic() -> String {
    let mut rng = stream(TALL_SEED, 0, Purpose::Data);
    let mut text = String::from(
        "temperature,pressure,humidity,vibration,speed,load,night_shift,line,defect\n",
    );
    for _ in 0..60_000 {
        // Temperature, pressure and load share a common cause, so that the posterior is correlated.
        let common = normal(&mut rng);
        let mut shared =
            |weight: f64| weight * common + (1.0 - weight * weight).sqrt() * normal(&mut rng);
        let (temperature, pressure, load) = (shared(0.8), shared(0.7), shared(0.6));
        let temperature = rounded(180.0 + 6.0 * temperature, 1);
        let pressure = rounded(2.5 + 0.2 * pressure, 2);
        let load = rounded(60.0 + 12.0 * load, 0);
        let humidity = rounded(45.0 + 9.0 * normal(&mut rng), 0);
        let vibration = rounded((0.5 * normal(&mut rng)).exp(), 2);
        let speed = rounded(30.0 + 4.0 * normal(&mut rng), 1);
        let night = if rng.random::<f64>() < 0.3 { 1.0 } else { 0.0 };
        let line = choose(&mut rng, &[("A", 0.4), ("B", 0.3), ("C", 0.2), ("D", 0.1)]);
        let by_line = match line {
            "B" => 0.3,
            "C" => -0.2,
            "D" => 0.6,
            _ => 0.0,
        };
        let log_odds = -12.1 + 0.05 * temperature - 0.8 * pressure
            + 0.02 * humidity
            + 0.6 * vibration
            + 0.04 * speed
            + 0.01 * load
            + 0.25 * night
            + by_line;
        let defect = u8::from(coin(&mut rng, log_odds));
        writeln!(
            text,
            "{temperature},{pressure},{humidity},{vibration},{speed},{load},{night},{line},{defect}"
        )
        .unwrap();
    }
    text
}

/// Pupils of 12 schools, 1,200 rows: who passes? Base rate and effect of an hour differ between schools.
pub fn schools() -> String {
    let mut rng = stream(SCHOOLS_SEED, 0, Purpose::Data);
    let mut text = String::from("school,hours,passed\n");
    for school in 1..=12 {
        let intercept = -1.2 + 0.8 * normal(&mut rng);
        let slope = 0.15 + 0.05 * normal(&mut rng);
        for _ in 0..100 {
            let hours = rounded(uniform(&mut rng, 0.0, 12.0), 1);
            let passed = if coin(&mut rng, intercept + slope * hours) {
                "yes"
            } else {
                "no"
            };
            writeln!(text, "S{school:02},{hours:.1},{passed}").unwrap();
        }
    }
    text
}

/// Reaction times of 18 drivers on ten days with little sleep, 180 rows, in milliseconds.
pub fn reaction() -> String {
    let mut rng = stream(REACTION_SEED, 0, Purpose::Data);
    let mut text = String::from("driver,day,reaction\n");
    for driver in 1..=18 {
        let start = 250.0 + 25.0 * normal(&mut rng);
        let slope = 10.0 + 6.0 * normal(&mut rng);
        for day in 0..10 {
            let time = start + slope * f64::from(day) + 25.0 * normal(&mut rng);
            let time = rounded(time, 1);
            writeln!(text, "D{driver:02},{day},{time:.1}").unwrap();
        }
    }
    text
}

/// Share, mean length and mean width of each kind of flower.
pub const FLOWERS: [(f64, f64, f64); 3] = [(0.5, 2.0, 1.0), (0.3, 6.0, 2.5), (0.2, 4.0, 5.0)];

/// Petals of 300 flowers of three kinds, which the file does not name.
pub fn clusters() -> String {
    let mut rng = stream(CLUSTERS_SEED, 0, Purpose::Data);
    let mut text = String::from("petal_length,petal_width\n");
    for _ in 0..300 {
        let mut left = rng.random::<f64>();
        let (_, length, width) = FLOWERS
            .into_iter()
            .find(|(share, _, _)| {
                left -= share;
                left < 0.0
            })
            .unwrap_or(FLOWERS[2]);
        let length = rounded(length + 0.5 * normal(&mut rng), 2);
        let width = rounded(width + 0.5 * normal(&mut rng), 2);
        writeln!(text, "{length:.2},{width:.2}").unwrap();
    }
    text
}

/// Shares of the species in a river.
pub const FISH: [(&str, f64); 16] = [
    ("bream", 0.38),
    ("roach", 0.22),
    ("perch", 0.14),
    ("rudd", 0.09),
    ("gudgeon", 0.06),
    ("pike", 0.04),
    ("bleak", 0.03),
    ("tench", 0.02),
    ("ruffe", 0.01),
    ("chub", 0.005),
    ("dace", 0.003),
    ("eel", 0.001),
    ("burbot", 0.0005),
    ("zander", 0.0003),
    ("barbel", 0.0001),
    ("wels", 0.0001),
];

/// Fish caught in a river, 20 stations with 50 fish each: counts of 16 species, some of which were never caught.
pub fn fish() -> String {
    let mut rng = stream(FISH_SEED, 0, Purpose::Data);
    let mut text = String::from("station,species,count\n");
    for station in 1..=20 {
        let mut counts = [0; FISH.len()];
        for _ in 0..50 {
            let caught = choose(&mut rng, &FISH);
            let species = FISH.iter().position(|(name, _)| *name == caught);
            counts[species.unwrap()] += 1;
        }
        for ((species, _), count) in FISH.iter().zip(counts) {
            writeln!(text, "S{station:02},{species},{count}").unwrap();
        }
    }
    text
}

/// Visitors of a surgery, 400 rows, written as awkwardly as real files are: Windows-1252, semicolons, decimal
/// commas, blanks, repeated and empty names, several codes for "missing". Bytes, because it is not UTF-8.
pub fn awkward() -> Vec<u8> {
    let mut rng = stream(AWKWARD_SEED, 0, Purpose::Data);
    let mut text = String::from(
        "patient;age (years) ;weight;weight;;Cafés per week;smoker;post code;seen on;ill\r\n",
    );
    for i in 1..=400 {
        let age = uniform(&mut rng, 20.0, 85.0).floor();
        let weight = rounded(75.0 + 12.0 * normal(&mut rng), 1);
        let later = rounded(weight + 2.0 * normal(&mut rng), 1);
        let coffee = uniform(&mut rng, 0.0, 15.0).floor();
        let smoker = choose(&mut rng, &[("no", 0.7), ("yes", 0.3)]);
        let post_code = format!("{:05}", uniform(&mut rng, 1000.0, 20_000.0).floor());
        let day = uniform(&mut rng, 1.0, 29.0).floor();
        let month = uniform(&mut rng, 1.0, 13.0).floor();
        let log_odds = -7.0 + 0.04 * age + 0.05 * weight + if smoker == "yes" { 1.0 } else { 0.0 };
        let ill = u8::from(coin(&mut rng, log_odds));
        let mut cell = |value: String, missing: &str, share: f64| {
            if rng.random::<f64>() < share {
                missing.to_owned()
            } else {
                value.replace('.', ",")
            }
        };
        let age = cell(format!("{age}"), "NA", 0.04);
        let weight = cell(format!("{weight:.1}"), "", 0.06);
        let later = cell(format!("{later:.1}"), "-", 0.15);
        let coffee = cell(format!(" {coffee}"), "?", 0.05);
        let smoker = cell(smoker.to_owned(), "", 0.03);
        let remark = cell(String::new(), "\"called; came later\"", 0.02);
        writeln!(
            text,
            "P{i:03};{age};{weight};{later};{remark};{coffee};{smoker};{post_code};2023-{month:02}-{day:02};{ill}\r"
        )
        .unwrap();
    }
    // Every character of it is in Latin-1.
    text.chars()
        .map(|c| u8::try_from(u32::from(c)).unwrap())
        .collect()
}
