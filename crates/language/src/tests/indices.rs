//! Elements by the names of what tells them apart, and by number.

use super::*;

fn columns() -> Vec<(String, Predictor)> {
    vec![
        numbers("y", &[0.0, 1.0, 1.0, 2.0]),
        group("grp", &["0", "1", "2"], &[0, 1, 2, 0]),
        group("odd", &["1", "3"], &[0, 1, 1, 0]),
        group("town", &["north", "south"], &[0, 1, 1, 0]),
    ]
}

/// A model that reports these lines.
fn text(report: &str) -> String {
    format!(
        "parameters
  m[grp] ~ normal(0, 1)
  theta = 2 * m + 1
  w[town]: vector(2) ~ normal(0, 1)
  o[odd] ~ normal(0, 1)
  c: vector(2) ~ normal(0, 1)
rows
  y ~ normal(m[grp] + w[town, 1] + o[odd] + m[\"2\"], 1)
report
  {report}"
    )
}

#[test]
fn a_name_says_which_element_is_meant() {
    let lines = [
        "first = m[\"0\"]",
        "middle = theta[\"1\"]",
        "there = w[\"south\"][2]",
        "same = w[2, 2]",
        "one = o[1]",
        "three = o[\"3\"]",
        "total = (sum(w[1]) * o)[\"3\"]",
    ];
    let text = text(&lines.join("\n  "));
    let model = model(&text, &columns());
    // Elements of m, w, o and c.
    let u = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0];
    assert_eq!(model.dim(), u.len());
    let mut theta = vec![0.0; model.params().len()];
    model.constrain(&u, &mut theta);
    assert_eq!(theta[u.len()..], [1.0, 5.0, 7.0, 7.0, 8.0, 9.0, 81.0]);
    let stan = Program::parse(&text).unwrap().stan_of(&columns(), 4);
    let stan = stan.unwrap();
    assert!(stan.contains("o[odd[n]] + m[3], 1.0)"), "{stan}");
    assert!(stan.contains("real first = m[1];"), "{stan}");
}

#[test]
fn a_number_that_could_be_two_elements_is_refused() {
    for (element, wanted) in [
        (
            "m[1]",
            "10:9: 1 could be the position of \"0\" or the `grp` named so; write [\"0\"] or [\"1\"]",
        ),
        (
            "theta[2]",
            "10:13: 2 could be the position of \"1\" or the `grp` named so; write [\"1\"] or [\"2\"]",
        ),
        (
            "m[0]",
            "10:9: 0 is no position, of which there are 3, but the name of a `grp`; write [\"0\"]",
        ),
        (
            "o[2]",
            "10:9: 2 is the position of \"3\", and there is no `odd` named so; write [\"3\"] if it is meant",
        ),
        (
            "o[3]",
            "10:9: 3 is no position, of which there are 2, but the name of a `odd`; write [\"3\"]",
        ),
        ("m[\"4\"]", "10:9: `grp` has no \"4\""),
        (
            "w[\"sout\", 1]",
            "10:9: `town` has no \"sout\"; did you mean `south`?",
        ),
        (
            "c[\"a\"]",
            "10:9: This has no names for its positions; its index is a whole number",
        ),
        ("w[3, 1]", "10:9: The index 3 is not one of 1 to 2"),
    ] {
        let found = refusal(&text(&format!("r = {element}")), &columns());
        assert!(found.starts_with(wanted), "{element}: {found}");
    }
}
