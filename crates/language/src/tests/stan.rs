//! Programs in Stan: the code that is written, and Stan's own densities of it (`tests/reference/own_stan.py`).

use std::path::{Path, PathBuf};

use super::{density, group, model, numbers};
use crate::Program;
use crate::distributions::{DISTRIBUTIONS, Support};
use crate::functions::FUNCTIONS;
use crate::lower::{OTHER_FUNCTIONS, TAILS};
use ergodic_core::design::Predictor;

/// Points that `own_stan.py` takes for each model.
const POINTS: usize = 4;
/// Rows of `data.csv`.
const ROWS: usize = 8;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/reference/own_stan")
}

fn read(name: &str) -> String {
    let path = folder().join(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Names of the models, in the order of the alphabet.
fn names() -> Vec<String> {
    let files = std::fs::read_dir(folder()).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names
        .filter_map(|name| name.strip_suffix(".model").map(str::to_owned))
        .collect();
    names.sort_unstable();
    names
}

/// The columns of `data.csv`, categories in the order of the alphabet.
fn columns() -> Vec<(String, Predictor)> {
    let text = read("data.csv");
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let rows: Vec<Vec<&str>> = lines.collect();
    (heads.iter().enumerate())
        .map(|(k, head)| {
            let values: Vec<&str> = rows.iter().map(|row| row[k]).collect();
            match values.iter().map(|value| value.parse()).collect() {
                Ok(all) => numbers(head, &Vec::<f64>::clone(&all)),
                Err(_) => {
                    let mut levels = values.clone();
                    levels.sort_unstable();
                    levels.dedup();
                    let code = |value| levels.iter().position(|level| level == value).unwrap();
                    let codes: Vec<u32> = values.iter().map(|value| code(value) as u32).collect();
                    group(head, &levels, &codes)
                }
            }
        })
        .collect()
}

#[test]
fn programs_are_those_that_stan_has_read() {
    let columns = columns();
    let update = std::env::var_os("ERGODIC_UPDATE_STAN").is_some();
    for name in names() {
        let program = Program::parse(&read(&format!("{name}.model")))
            .unwrap_or_else(|error| panic!("{name}: {error}\n{}", error.excerpt()));
        let stan = program
            .stan_of(&columns, ROWS)
            .unwrap_or_else(|error| panic!("{name}: {error}\n{}", error.excerpt()));
        let file = format!("{name}.stan");
        if update {
            std::fs::write(folder().join(&file), &stan).unwrap();
        }
        assert_eq!(
            stan,
            read(&file),
            "{file} has changed: set ERGODIC_UPDATE_STAN, then run own_stan.py"
        );
    }
}

#[test]
fn stan_has_the_same_density() {
    let columns = columns();
    for name in names() {
        let model = model(&read(&format!("{name}.model")), &columns);
        let table = read(&format!("{name}.csv"));
        let points: Vec<Vec<f64>> = table
            .lines()
            .skip(1)
            .map(|line| line.split(',').map(|x| x.trim().parse().unwrap()).collect())
            .collect();
        let apart = |point: &Vec<f64>| {
            let (log_density, u) = point.split_last().unwrap();
            assert_eq!(u.len(), model.dim(), "{name}");
            density(model.as_ref(), u).0 - log_density
        };
        assert_eq!(points.len(), POINTS, "{name}");
        let constant = apart(&points[0]);
        for point in &points {
            let size = 1.0 + point.last().unwrap().abs();
            assert!(
                (apart(point) - constant).abs() < 1e-10 * size,
                "{name}: {} for {constant}",
                apart(point)
            );
        }
    }
}

#[test]
fn everything_that_is_in_the_language_is_compared_with_stan() {
    let texts: String = names()
        .iter()
        .map(|name| read(&format!("{name}.model")))
        .collect();
    let of_letters = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let calls = |name: &str| {
        texts.match_indices(&format!("{name}(")).any(|(at, _)| {
            let before = texts[..at].chars().next_back();
            !before.is_some_and(of_letters)
        })
    };
    for it in DISTRIBUTIONS {
        let name = it.name;
        assert!(texts.contains(&format!("~ {name}(")), "~ {name}");
        // Shares of a whole have no density as a function.
        let ending = match it.support.is_discrete() {
            true => "lpmf",
            false => "lpdf",
        };
        let is_function = it.support != Support::Simplex;
        assert!(
            !is_function || calls(&format!("{name}_{ending}")),
            "{name}_{ending}"
        );
    }
    let functions = FUNCTIONS.iter().map(|(name, _)| *name);
    for name in functions
        .chain(OTHER_FUNCTIONS)
        .chain(TAILS.map(|(name, ..)| name))
    {
        assert!(calls(name), "{name}");
    }
}

#[test]
fn halves_of_distributions_end_in_stan_too() {
    let columns = [numbers("y", &[1.0, 2.0, 3.0, 4.0])];
    let text = "parameters
  m ~ normal(0, 1)
  z: vector(2) ~ normal(0, 1)
  s ~ exponential(1)
  d = m + z
rows
  y ~ half_normal(s)
  y - m ~ half_normal(s)
  y - m ~ lognormal(m, s)
target
  d ~ half_cauchy(s)
  exp(z) ~ half_student_t(3, 0, s)
";
    let stan = Program::parse(text).unwrap().stan_of(&columns, 4).unwrap();
    for line in [
        "y[n] ~ normal(0, s);",
        "target += (0 <= y[n] - m ? (log(2) + normal_lpdf(y[n] - m | 0, s)) : negative_infinity());",
        "target += (0 < y[n] - m ? lognormal_lpdf(y[n] - m | m, s) : negative_infinity());",
        "for (i in 1:2) target += (0 <= d[i] ? (log(2) + cauchy_lpdf(d[i] | 0, s)) : negative_infinity());",
        "for (i in 1:2) target += (log(2) + student_t_lpdf(exp(z[i]) | 3.0, 0.0, s));",
    ] {
        assert!(stan.contains(line), "{line} in {stan}");
    }
}

#[test]
fn names_of_stan_are_left_to_it() {
    let text = "parameters\n  lower ~ normal(0, 1)\n  `fee (monthly)`__ ~ normal(lower, 2)\n";
    let program = Program::parse(
        "parameters\n  lower ~ normal(0, 1)\n  real_2 ~ normal(lower, 2)\ntarget\n  exp(real_2)",
    );
    let stan = program.unwrap().stan_of(&[], 0).unwrap();
    assert!(
        stan.contains("real lower_2;") && stan.contains("real_2 ~ normal(lower_2, 2.0);"),
        "{stan}"
    );
    assert!(!stan.contains("data {"), "{stan}");
    assert!(Program::parse(text).is_err());
    // What is too long to be written out is refused, with its place.
    let long = "parameters\n  x: vector(2000) ~ normal(0, 1)\ntarget\n  -log_sum_exp(x)";
    let stan = Program::parse(long).unwrap().stan_of(&[], 0);
    assert!(stan.is_err_and(|error| error.line == 4 && error.message.contains("too long")));
}

/// Columns `stem`1, `stem`2, … of two rows.
fn many(stem: &str, count: usize) -> Vec<(String, Predictor)> {
    let column = |j: usize| numbers(&format!("{stem}{j}"), &[0.0, 1.0]);
    (1..=count).map(column).collect()
}

#[test]
fn no_element_of_a_long_vector_is_left_out() {
    let text = "data
  x: vector = x*
parameters
  a ~ normal(0, 1)
  s ~ half_normal(1)
rows
  x ~ normal(a, max([s, 0.1]))";
    let program = Program::parse(text).unwrap();
    let stan = program.stan_of(&many("x", 1000), 2).unwrap();
    let line = "x[n, 1000] ~ normal(a, max({s, 0.1}));";
    assert!(stan.contains(line), "{stan}");
    assert_eq!(stan.matches("] ~ normal(a, ").count(), 1000);
    let why = program.stan_of(&many("x", 1001), 2).unwrap_err();
    assert_eq!((why.line, why.column, why.width), (7, 3, 1));
    assert!(why.message.contains("too long"), "{why}");
    // A definition is no different.
    let text = "parameters
  a ~ normal(0, 1)
  w: vector(1001) ~ normal(0, 1)
  z = w * max([a, 0.1])
target
  -square(z[1])";
    let why = Program::parse(text).unwrap().stan_of(&[], 0).unwrap_err();
    assert_eq!(why.line, 4);
    assert!(why.message.contains("too long"), "{why}");
}

#[test]
fn whole_numbers_of_vectors_are_columns() {
    let columns = [many("k", 2), many("t", 2)].concat();
    let stan = |rows: &str| {
        let text = format!(
            "data
  k: vector = [k1, k2]
  t: vector = [t1, t2]
parameters
  p: vector(2) ~ beta(1, 1)
rows
  {rows}"
        );
        Program::parse(&text).unwrap().stan_of(&columns, 2)
    };
    // The trials are as whole as the outcome.
    for rows in ["sum(binomial_lpmf(k, t, p))", "k ~ binomial(t, p)"] {
        let made = stan(rows).unwrap();
        for line in [
            "array[N, K_k] int<lower=0> k;",
            "array[N, K_t] int<lower=0> t;",
        ] {
            assert!(made.contains(line), "{line} in {made}");
        }
    }
    let made = stan("sum(binomial_lpmf(k, t, p))").unwrap();
    let line =
        "sum({binomial_lpmf(k[n, 1] | t[n, 1], p[1]), binomial_lpmf(k[n, 2] | t[n, 2], p[2])})";
    assert!(made.contains(line), "{made}");
    // Numbers that are made of columns are data of their own.
    let made = stan("[k1, 2 * k2] ~ poisson(p)").unwrap();
    for line in [
        "array[N] int<lower=0> y1;  // k1",
        "array[N] int<lower=0> y2;  // 2 * k2",
        "y1[n] ~ poisson(p[1]);",
        "y2[n] ~ poisson(p[2]);",
    ] {
        assert!(made.contains(line), "{line} in {made}");
    }
    // One number per row cannot stand for a vector.
    for (rows, line) in [
        ("sum(poisson_lpmf(k + 1, p))", 7),
        ("2 * k ~ poisson(p)", 7),
        ("k ~ binomial(t + 1, p)", 7),
        ("z = [k1, k2]\n  z ~ bernoulli(p)", 8),
    ] {
        let why = stan(rows).unwrap_err();
        assert_eq!(why.line, line, "{rows}");
        let wanted = "Stan needs whole numbers of this vector as data";
        assert!(why.message.starts_with(wanted), "{rows}: {why}");
    }
}

#[test]
fn thresholds_are_vectors_however_they_are_written() {
    let columns = [
        numbers("y", &[1.0, 2.0, 3.0, 4.0]),
        numbers("x", &[0.5, -1.0, 0.0, 3.0]),
        group("g", &["a", "b"], &[0, 1, 1, 0]),
    ];
    let stan = |rows: &str| {
        let text = format!(
            "parameters\n  cut: ordered(3) ~ normal(0, 2)\n  sh[g] ~ normal(0, 1)\n  w ~ normal(0, 1)\nrows\n  {rows}"
        );
        let made = Program::parse(&text).unwrap().stan_of(&columns, 4);
        made.unwrap_or_else(|error| panic!("{error}\n{}", error.excerpt()))
    };
    let made = stan("mine = cut - sh[g]\n  y ~ ordered_logistic(w * x, mine)");
    for line in [
        "array[N] int<lower=1, upper=K_g> g;",
        "y[n] ~ ordered_logistic(w * x[n], [cut[1] - sh[g[n]], cut[2] - sh[g[n]], cut[3] - sh[g[n]]]');",
    ] {
        assert!(made.contains(line), "{line} in {made}");
    }
    let made = stan("y ~ ordered_logistic(w, [-1, 0, 1])");
    assert!(
        made.contains("ordered_logistic(w, [-1.0, 0.0, 1.0]');"),
        "{made}"
    );
    let made = stan("y ~ ordered_logistic(w, cut)");
    assert!(made.contains("ordered_logistic(w, cut);"), "{made}");
}

#[test]
fn definitions_stand_before_what_uses_them() {
    let columns = [
        numbers("y", &[1.0, 2.0, 3.0, 4.0]),
        numbers("x", &[0.5, -1.0, 0.0, 3.0]),
    ];
    let text = "parameters
  th = aa * 2
  aa = a + 1
  a ~ normal(0, 1)
rows
  y ~ normal(m, s)
  m = th + k
  s = 1 + x^2
  k = a * x
report
  twice = 2 * once
  once = exp(th)
";
    let stan = Program::parse(text).unwrap().stan_of(&columns, 4).unwrap();
    let places = [
        "real aa = a + 1.0;",
        "real th = aa * 2.0;",
        "real k = a * x[n];",
        "real m = th + k;",
        "real s = 1.0 + x[n]^2.0;",
        "y[n] ~ normal(m, s);",
        "real once = exp(th);",
        "real twice = 2.0 * once;",
    ]
    .map(|line| {
        stan.find(line)
            .unwrap_or_else(|| panic!("{line} in {stan}"))
    });
    assert!(places.is_sorted(), "{stan}");
}

#[test]
fn whole_numbers_that_are_known_are_no_data() {
    let text = "parameters
  p ~ beta(1, 1)
  s ~ gamma(2, 1)
target
  N = 50
  10 ~ binomial(N, p)
  (10 - 3) ~ poisson(s)
  y = [3, 5, 2]
  y ~ poisson(s)
";
    let program = Program::parse(text).unwrap();
    let stan = program.stan_of(&[], 0).unwrap();
    for line in [
        "10 ~ binomial(50, p);",
        "7 ~ poisson(s);",
        "3 ~ poisson(s);",
        "5 ~ poisson(s);",
        "2 ~ poisson(s);",
    ] {
        assert!(stan.contains(line), "{line} in {stan}");
    }
    assert!(!stan.contains("data {"), "{stan}");
}

#[test]
fn names_of_types_and_blocks_are_left_to_stan() {
    for name in ["ordered", "simplex", "row_vector", "void", "generated"] {
        let text = format!("parameters\n  {name}: real ~ normal(0, 1)\n");
        let stan = Program::parse(&text).unwrap().stan_of(&[], 0).unwrap();
        assert!(stan.contains(&format!("real {name}_2;")), "{stan}");
    }
}
