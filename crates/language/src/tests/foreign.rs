//! What people write who come from other languages, and lines that would say something else than they seem to.

use super::*;

fn columns() -> Vec<(String, Predictor)> {
    vec![
        numbers("y", &[0.0, 1.0, 1.0, 2.0]),
        numbers("x", &[0.5, 1.0, 0.2, 3.0]),
        group("g", &["a", "b"], &[0, 1, 1, 0]),
    ]
}

#[test]
fn words_and_signs_of_other_languages_are_answered() {
    for (parameters, rows, wanted) in [
        (
            "a ~ normal(0, 1);",
            "",
            "2:18: `;` has no meaning here; a line ends",
        ),
        (
            "real a",
            "",
            "2:2: `real` begins no line here; a type stands after",
        ),
        (
            "real<lower=0> a",
            "",
            "2:2: `real` begins no line here; a type",
        ),
        (
            "vector[3] w",
            "",
            "2:2: `vector` begins no line here; a type",
        ),
        ("w: vector[3]", "", "2:11: Sizes stand in round brackets"),
        ("s: real<lower=0>", "", "2:9: Bounds stand after `in`"),
        (
            "transformed parameters",
            "",
            "2:2: `transformed` begins no line here; definitions",
        ),
        (
            "a: real\nmodel",
            "",
            "3:1: `model` begins no line here; priors stand",
        ),
        (
            "a ~ dnorm(0, 1)",
            "",
            "2:6: There is no distribution `dnorm`; write normal(mu, sigma), of a precision",
        ),
        (
            "a ~ multi_normal(0, 1)",
            "",
            "2:6: There is no distribution `multi_normal`; with a known inverse",
        ),
        (
            "a: real",
            "y ~ normal(pow(a, 2), 1)",
            "4:13: There is no function `pow`; write x^y",
        ),
        (
            "a: real",
            "y ~ normal(a ** 2, 1)",
            "4:15: `**` has no meaning here; a power is written x^2",
        ),
        (
            "a: real",
            "y ~ normal(a, 1) // likelihood",
            "4:19: `//` has no meaning here; a comment begins with `#`",
        ),
        (
            "a: real",
            "y ~ normal(x > 0 && x < 1, 1)",
            "4:19: `&&` has no meaning here; that both hold",
        ),
        (
            "a: real",
            "y ~ normal(x > 0 ? a : 0, 1)",
            "4:19: `?` has no meaning here; `condition ? a : b`",
        ),
        (
            "a: real",
            "target += a",
            "4:9: `+=` has no meaning here; a summand of the log density is a line",
        ),
        (
            "a: real",
            "for (i in 1:N) y ~ normal(a, 1)",
            "4:2: `for` begins no line here; there are no loops",
        ),
        (
            "a: real",
            "y ~ normal(a, 1) T[0, ]",
            "4:19: There is no `T[…]`",
        ),
        (
            "b[g]: real",
            "y ~ normal(b, 1)",
            "4:13: This is a vector of 2, but what has the distribution is a number; write `b[g]` for that of the row",
        ),
    ] {
        let text = format!("parameters\n {parameters}\nrows\n {rows}\n");
        let found = refusal(&text, &columns());
        assert!(found.starts_with(wanted), "{text}: {found}");
    }
    assert!(
        refusal("model\n a ~ normal(0, 1)\n", &[])
            .starts_with("1:1: Expected a section (data, parameters, rows, target, report), found `model`; priors stand")
    );
    // Names are free where they are names.
    let text = "parameters\n model ~ normal(0, 1)\n real: positive\n t in (0, 1)\nrows\n y ~ normal(model + real, t)\n";
    assert_eq!(model(text, &columns()).dim(), 3);
}

#[test]
fn comparisons_are_no_lines_and_arrows_no_definitions() {
    let refused = |rows: &str| {
        let text = format!("parameters\n a ~ normal(0, 1)\nrows\n {rows}\n y ~ normal(a, 1)\n");
        refusal(&text, &columns())
    };
    for name in ["z <- log(x)", "z <- 3"] {
        assert_eq!(
            refused(name),
            "4:4: `<-` defines nothing here; a definition is written `z = …`"
        );
    }
    for line in ["y == 3", "a < x", "(x >= a)", "y != 0"] {
        let found = refused(line);
        assert!(
            found.contains("A comparison alone adds 1 or 0 to the log density"),
            "{line}: {found}"
        );
    }
    // Part of a summand, they are numbers as any other.
    let text = "parameters\n a ~ normal(0, 1)\nrows\n z = x < -1\n -a * (a <-x) + z\n";
    model(text, &columns());
}

#[test]
fn a_prior_on_itself_is_refused() {
    for (parameters, name) in [
        ("a ~ normal(a, 1)", "a"),
        ("a ~ normal(b, 1)\n b = 2 * a", "a"),
        ("w: vector(20) ~ normal(0.5 * w, 1)", "w"),
        ("w: vector(20) ~ normal(mean(w), 1)", "w"),
        ("p: simplex(2) ~ dirichlet(p)", "p"),
    ] {
        let found = refusal(&format!("parameters\n {parameters}\n"), &[]);
        let wanted = format!("The prior of `{name}` depends on `{name}` itself");
        assert!(found.contains(&wanted), "{parameters}: {found}");
    }
    // A walk, whose steps depend on those before.
    let text = "parameters\n w: vector(3) ~ normal([0, w[1], w[2]], 1)\n";
    let (value, _) = density(model(text, &[]).as_ref(), &[1.0, 3.0, 2.5]);
    let wanted = -0.5 * (1.0 + 4.0 + 0.25) - 1.5 * (2.0 * std::f64::consts::PI).ln();
    near(&[value], &[wanted], 1e-14, "walk");
}

#[test]
fn definitions_are_sizes_and_are_reported_by_their_names() {
    let text = "parameters
  K = 2 * half
  half = 1
  w: vector(K) ~ normal(0, 1)
  r in (0, K) ~ uniform(0, K)
  total = sum(w)
  both = w + r
report
  total
  both
";
    let model = model(text, &[]);
    let names: Vec<&str> = model.params().iter().map(|it| it.name.as_str()).collect();
    assert_eq!(names, ["w[1]", "w[2]", "r", "total", "both[1]", "both[2]"]);
    let mut theta = [0.0; 6];
    model.constrain(&[1.5, -3.0, 0.0], &mut theta);
    near(
        &theta,
        &[1.5, -3.0, 1.0, -1.5, 2.5, -2.0],
        1e-14,
        "reported",
    );
    let stan = Program::parse(text).unwrap().stan_of(&[], 0).unwrap();
    assert!(!stan.contains("generated quantities"), "{stan}");
    for (report, wanted) in [
        ("w", "5:2: `w` is reported already; leave this line out"),
        ("t\n t", "6:2: `t` is reported already; leave this line out"),
        ("v", "5:2: There is no parameter, definition or column `v`"),
    ] {
        let text =
            format!("parameters\n w: vector(2) ~ normal(0, 1)\n t = sum(w)\nreport\n {report}\n");
        let found = refusal(&text, &[]);
        assert!(found.starts_with(wanted), "{report}: {found}");
    }
    let found = refusal("parameters\n w: vector(k) ~ normal(0, 1)\n k = 1.5\n", &[]);
    assert!(
        found.starts_with("2:12: `k` is no whole number from 1 that is known"),
        "{found}"
    );
}

/// A vector of scales goes along the last dimension of a matrix, few elements or many.
#[test]
fn a_vector_of_scales_is_spread_over_groups() {
    let many: Vec<String> = (0..12).map(|k| format!("g{k}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let text = "parameters\n tau: vector(2) ~ half_normal(1)\n u[g]: vector(2) ~ normal(0, tau)\nrows\n y ~ normal(u[g, 1] + u[g, 2] * x, 1)\n";
    for levels in [&many[..2], &many[..]] {
        let columns = [
            numbers("y", &[0.0, 1.0]),
            numbers("x", &[0.0, 2.0]),
            group("g", levels, &[0, 1]),
        ];
        let model = model(text, &columns);
        let u = position(model.dim(), 7);
        let (tau, effects) = u.split_at(2);
        let half_log_tau = 0.5 * (2.0 * std::f64::consts::PI).ln();
        let normal = |x: f64, sd: f64| -0.5 * (x / sd).powi(2) - sd.ln() - half_log_tau;
        let scale = [tau[0].exp(), tau[1].exp()];
        // Half normal densities with the Jacobian of the logarithm.
        let mut wanted: f64 = (scale.iter().zip(tau))
            .map(|(s, u)| normal(*s, 1.0) + 2.0_f64.ln() + u)
            .sum();
        for (k, effect) in effects.iter().enumerate() {
            wanted += normal(*effect, scale[k % 2]);
        }
        wanted += normal(effects[0], 1.0) + normal(1.0 - effects[2] - 2.0 * effects[3], 1.0);
        let (value, grad) = density(model.as_ref(), &u);
        near(&[value], &[wanted], 1e-13, "value");
        let numeric = slopes(&u, |u| density(model.as_ref(), u).0);
        near(&grad, &numeric, 1e-7, "slopes");
        let stan = Program::parse(text).unwrap().stan_of(&columns, 2).unwrap();
        let groups = levels.len();
        let line = format!("for (i in 1:{groups}) for (j in 1:2) u[i, j] ~ normal(0.0, tau[j]);");
        assert!(stan.contains(&line), "{stan}");
    }
    let other = text.replace("tau: vector(2)", "tau: vector(3)");
    assert!(
        refusal(&other, &columns())
            .contains("This is a vector of 3, but what has the distribution is a 2 × 2 matrix")
    );
}
