//! Products of matrices and vectors against sums that are written out.

use super::*;

/// Columns x1 to x3 and yes or no; 40 rows.
fn table() -> Vec<(String, Predictor)> {
    let at = |k: usize| (k as f64 * 0.7).sin();
    let column = |j: usize| (0..40).map(|k| at(k * j + 2 * j)).collect::<Vec<f64>>();
    let yes: Vec<f64> = column(5)
        .iter()
        .map(|x| f64::from(u8::from(*x > 0.1)))
        .collect();
    vec![
        numbers("x1", &column(1)),
        numbers("x2", &column(2)),
        numbers("x3", &column(3)),
        numbers("yes", &yes),
    ]
}

/// A matrix and a vector of columns, two matrices, a vector and a matrix, and a product in a product; and the same written out.
const PAIRS: &[(&str, &str)] = &[
    (
        "data
           x: vector = x*
         parameters
           w: matrix(2, length(x)) ~ normal(0, 1)
           v: matrix(2, 2) ~ normal(0, 1)
           u: vector(2) ~ normal(0, 1)
         rows
           h = tanh(u + matmul(w, x))
           yes ~ bernoulli_logit(sum(square(matmul(v, h))))",
        "parameters
           w: matrix(2, 3) ~ normal(0, 1)
           v: matrix(2, 2) ~ normal(0, 1)
           u: vector(2) ~ normal(0, 1)
         rows
           a = tanh(u[1] + w[1, 1] * x1 + w[1, 2] * x2 + w[1, 3] * x3)
           b = tanh(u[2] + dot(w[2], [x1, x2, x3]))
           yes ~ bernoulli_logit((v[1, 1] * a + v[1, 2] * b)^2 + (v[2, 1] * a + v[2, 2] * b)^2)",
    ),
    (
        "parameters
           w: matrix(2, 3) ~ normal(0, 1)
           v: matrix(3, 2) ~ normal(0, 1)
           m = matmul(w, v)
         target
           -m[1, 1]^2 * m[2, 2] ^ 2 + sin(m[1, 2]) - sum(square(matmul([1, -2], w)))",
        "parameters
           w: matrix(2, 3) ~ normal(0, 1)
           v: matrix(3, 2) ~ normal(0, 1)
           c = w[1, 1] * v[1, 1] + w[1, 2] * v[2, 1] + w[1, 3] * v[3, 1]
           d = w[2, 1] * v[1, 2] + w[2, 2] * v[2, 2] + w[2, 3] * v[3, 2]
           e = w[1, 1] * v[1, 2] + w[1, 2] * v[2, 2] + w[1, 3] * v[3, 2]
         target
           -c^2 * d^2 + sin(e) - sum(square(w[1] - 2 * w[2]))",
    ),
];

#[test]
fn a_product_is_its_sums() {
    let columns = table();
    for (short, long) in PAIRS {
        let (short, long) = (model(short, &columns), model(long, &columns));
        for seed in 0..5 {
            let u = position(short.dim(), seed);
            let (value, grad) = density(short.as_ref(), &u);
            let (other, of_other) = density(long.as_ref(), &u);
            near(&[value], &[other], 1e-13, "value");
            near(&grad, &of_other, 1e-13, "gradient");
            let numeric = slopes(&u, |u| density(short.as_ref(), u).0);
            near(&grad, &numeric, 2e-6, "differences");
        }
    }
    // Known matrices: the second element of [1 2; 3 4] [5, 6], and of the products of both with reported vectors.
    let model = model(
        "parameters\n a: vector(2)\ntarget\n a[1] * matmul([[1, 2], [3, 4]], [5, 6])[2]\nreport\n r = matmul([[1, 2], [3, 4]], a)",
        &[],
    );
    near(
        &[density(model.as_ref(), &[1.0, 7.0]).0],
        &[39.0],
        0.0,
        "39",
    );
}

#[test]
fn a_product_of_columns_is_linear() {
    let text = "data\n x: vector = x*\nparameters\n w: matrix(2, length(x)) ~ normal(0, 1)\nrows\n yes ~ bernoulli_logit(matmul(w, x)[2])";
    let columns = table();
    let model = model(text, &columns);
    let view = model.linear_rows().unwrap();
    for row in [0, 39] {
        let wanted: Vec<f64> = columns[..3]
            .iter()
            .map(|(_, column)| match column {
                Predictor::Numeric(values) => values[row],
                _ => f64::NAN,
            })
            .collect();
        assert_eq!(
            view.covariates(row).to_vec(),
            [&[0.0; 3][..], &wanted].concat()
        );
    }
}

#[test]
fn errors_of_products_say_where() {
    for (line, wanted) in [
        (
            "sum(w * x)",
            "8:6: a 2 × 3 matrix and a vector of 3 do not go together; their product as matrices is `matmul(…, …)`",
        ),
        (
            "sum(w + u)",
            "8:6: a 2 × 3 matrix and a vector of 2 do not go together",
        ),
        (
            "sum(matmul(x, w))",
            "8:6: `matmul` sums over the columns of the first and the rows of the second, but a vector of 3 and a 2 × 3 matrix are given",
        ),
        (
            "sum(matmul(w, w))",
            "8:6: `matmul` sums over the columns of the first and the rows of the second, but a 2 × 3 matrix and a 2 × 3 matrix are given",
        ),
        (
            "matmul(x, x)",
            "8:2: `matmul` takes a matrix at least, but a vector of 3 and a vector of 3 are given; `dot` is the product of vectors",
        ),
        (
            "sum(matmul(w, x1))",
            "8:6: `matmul` takes two matrices, or a matrix and a vector, but a 2 × 3 matrix and a number are given",
        ),
        (
            "sum(matmul(w))",
            "8:6: `matmul` takes two matrices, or a matrix and a vector",
        ),
        (
            "matmul(w, x)",
            "8:2: The log density is a number, but this is a vector of 2; take its sum",
        ),
        ("matmul(w, x)[3]", "8:15: The index 3 is not one of 1 to 2"),
        (
            "yes ~ normal(matmul(w, x), 1)",
            "8:15: This is a vector of 2, but what has the distribution is a number",
        ),
    ] {
        let text = format!(
            "data\n x: vector = x*\nparameters\n u: vector(2) ~ normal(0, 1)\n w: matrix(2, 3) ~ normal(0, 1)\nrows\n yes ~ bernoulli_logit(u[1])\n {line}"
        );
        assert_eq!(refusal(&text, &table()), wanted, "{line}");
    }
}

#[test]
fn layers_of_a_network_are_kept_in_stan() {
    let stan = |text: &str| {
        let program = Program::parse(text).unwrap();
        program
            .stan_of(&table(), 40)
            .unwrap_or_else(|error| panic!("{error}"))
    };
    let network = stan(PAIRS[0].0);
    for line in [
        "matrix[N, K_x] x;  // x1, x2, x3",
        "array[2] vector[K_x] w;",
        "    vector[2] h;\n    for (i in 1:2) h[i] = tanh(u[i] + dot_product(w[i], x[n]));",
        "yes[n] ~ bernoulli_logit(sum({square(dot_product(v[1], h)), square(dot_product(v[2], h))}));",
    ] {
        assert!(network.contains(line), "{line} in {network}");
    }
    let matrices = stan(PAIRS[1].0);
    for line in [
        "array[2] vector[2] m;",
        "for (i in 1:2) for (j in 1:2) m[i, j] = w[i, 1] * v[1, j] + w[i, 2] * v[2, j] + w[i, 3] * v[3, j];",
        "square(1.0 * w[1, 3] + -2.0 * w[2, 3])",
    ] {
        assert!(matrices.contains(line), "{line} in {matrices}");
    }
}

/// Three layers of 60 units have 12,960,000 paths: each sum is read once.
#[test]
fn deep_products_are_read_once() {
    const UNITS: usize = 60;
    let text = "parameters
           a: matrix(60, 60) ~ normal(0, 0.1)
           b: matrix(60, 60) ~ normal(0, 0.1)
           c: matrix(60, 60) ~ normal(0, 0.1)
           v: vector(60) ~ normal(0, 1)
         target
           sum(matmul(a, tanh(matmul(b, tanh(matmul(c, v))))))";
    let model = model(text, &[]);
    let u = position(model.dim(), 5);
    let (matrices, v) = u.split_at(3 * UNITS * UNITS);
    let times = |k: usize, v: &[f64]| -> Vec<f64> {
        let rows = matrices[k * UNITS * UNITS..].chunks_exact(UNITS);
        rows.take(UNITS)
            .map(|row| row.iter().zip(v).map(|(a, b)| a * b).sum())
            .collect()
    };
    let tanh = |v: Vec<f64>| v.into_iter().map(f64::tanh).collect::<Vec<f64>>();
    let layers = times(0, &tanh(times(1, &tanh(times(2, v)))));
    let log_normal =
        |x: f64, s: f64| -0.5 * (x / s).powi(2) - s.ln() - 0.5 * (2.0 * std::f64::consts::PI).ln();
    let prior: f64 = matrices.iter().map(|x| log_normal(*x, 0.1)).sum::<f64>()
        + v.iter().map(|x| log_normal(*x, 1.0)).sum::<f64>();
    let wanted = prior + layers.iter().sum::<f64>();
    near(&[density(model.as_ref(), &u).0], &[wanted], 1e-12, "value");
}
